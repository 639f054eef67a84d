//! Segments: runs of the log, append-only while open, never changed once sealed.

use crate::Timestamp;
use crate::digest::Digest;
use crate::entry::Seq;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The number of a segment in its scope: 1, 2, 3, ... in the order of opening, never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Number(pub u32);

impl Number {
    /// The first segment of a scope.
    pub const FIRST: Self = Self(1);

    /// Returns the number after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A sealed segment: its place in the log and the digest that proves it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sealed {
    /// The first entry.
    pub first: Seq,
    /// The last entry, which is the seal.
    pub last: Seq,
    /// How many messages it holds.
    pub messages: u32,
    /// The digest over its entries.
    pub digest: Digest,
    /// When it was sealed.
    pub sealed_at: Timestamp,
}

/// A segment that can still be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// Its number.
    pub number: Number,
    /// The session whose view it belongs to.
    pub session: crate::session::Number,
    /// The first entry.
    pub first: Seq,
    /// How many messages it holds so far.
    pub messages: u32,
    /// The running digest over its entries.
    pub digest: Digest,
    /// When it was opened.
    pub opened_at: Timestamp,
    /// When the user last wrote into it; heartbeats, system events and answers do not count.
    pub last_user_at: Option<Timestamp>,
    /// When anything was last written into it.
    pub updated_at: Timestamp,
    /// Where the session's view of it begins; later than `first` only after a legacy clear.
    pub view_from: Seq,
    /// How many of its messages lie before `view_from`.
    pub view_skips: u32,
}
