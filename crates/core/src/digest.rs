//! Digests: what makes the log provable.
//!
//! `docs/log-format.md` draws how they hang together.

use crate::Timestamp;
use crate::entry::{Record, Seq};
use crate::scope;
use crate::segment;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A BLAKE3 digest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// The digest before anything was sealed.
    pub const NONE: Self = Self([0; 32]);

    /// Digests the bytes of a body.
    pub fn of_body(bytes: &[u8]) -> Self {
        Self(blake3::hash(bytes).into())
    }

    /// Digests the birth of a segment, to which its entries are added one by one.
    pub fn of_segment(scope: &scope::Key, number: segment::Number) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(b"segue segment 1\0");
        hasher.update(scope.as_str().as_bytes());
        hasher.update(&number.0.to_le_bytes());
        Self(hasher.finalize().into())
    }

    /// Adds an entry to the running digest of its segment.
    ///
    /// The body goes in as its own hash, so that an erased body leaves the proof intact.
    #[must_use]
    pub fn with(self, entry: &Record) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.0);
        hasher.update(&entry.seq.0.to_le_bytes());
        hasher.update(&entry.at.as_microsecond().to_le_bytes());
        hasher.update(&[entry.kind.code()]);
        hasher.update(&entry.body_hash().0);
        Self(hasher.finalize().into())
    }

    /// Chains the seal of a segment to the seal before it: one value proves the scope's history.
    #[must_use]
    pub fn chain(self, segment: segment::Number, sealed: Self, seq: Seq, at: Timestamp) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.0);
        hasher.update(&segment.0.to_le_bytes());
        hasher.update(&seq.0.to_le_bytes());
        hasher.update(&at.as_microsecond().to_le_bytes());
        hasher.update(&sealed.0);
        Self(hasher.finalize().into())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text is not 64 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a digest is 64 hexadecimal digits")]
pub struct NotADigest;

impl FromStr for Digest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        blake3::Hash::from_hex(text).map(|hash| Self(hash.into())).map_err(|_| NotADigest)
    }
}

impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(from)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
