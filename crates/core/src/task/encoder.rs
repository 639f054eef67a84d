//! The canonical encoding that ids of commits and observations are hashes of.
//!
//! Everything has a fixed width or its length in front, so that two contents never have the same bytes.

use crate::digest::Digest;
use blake3::Hasher;

/// Hashes a content field by field.
pub(crate) struct Encoder(Hasher);

impl Encoder {
    /// Begins with what kind of content it is, and in which version of the encoding.
    pub(crate) fn new(domain: &str) -> Self {
        Self(Hasher::new()).text(domain)
    }

    pub(crate) fn number(mut self, value: u64) -> Self {
        self.0.update(&value.to_le_bytes());
        self
    }

    pub(crate) fn signed(mut self, value: i64) -> Self {
        self.0.update(&value.to_le_bytes());
        self
    }

    pub(crate) fn text(self, text: &str) -> Self {
        let mut with_length = self.number(text.len() as u64);
        with_length.0.update(text.as_bytes());
        with_length
    }

    pub(crate) fn digest(mut self, digest: Digest) -> Self {
        self.0.update(&digest.0);
        self
    }

    /// Adds what may not be there.
    pub(crate) fn maybe<T>(self, value: Option<T>, add: impl FnOnce(Self, T) -> Self) -> Self {
        match value {
            None => self.number(0),
            Some(value) => add(self.number(1), value),
        }
    }

    /// Adds a list, in its order.
    pub(crate) fn list<'a, T: 'a>(self, list: &'a [T], add: impl Fn(Self, &'a T) -> Self) -> Self {
        list.iter().fold(self.number(list.len() as u64), add)
    }

    pub(crate) fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}
