//! What can go wrong in a store, by what the caller can do about it.

use crate::commits::Position;
use segue_core::entry::Seq;
use segue_core::segment;

/// Why a store did not do what it was asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Someone else appended first. Load the state again and decide again.
    #[error("the scope has moved on to entry {found}, the append was decided on entry {expected}")]
    Conflict {
        /// The head that the append was decided on.
        expected: Seq,
        /// The head that the store has.
        found: Seq,
    },
    /// The message was accepted before. Answer as it was answered then.
    #[error("the message was accepted before, as entry {seq}")]
    Duplicate {
        /// Where it was accepted.
        seq: Seq,
    },
    /// The append writes to a sealed segment. Nothing makes this right.
    #[error("segment {segment} is sealed and cannot be written")]
    Sealed {
        /// The segment.
        segment: segment::Number,
    },
    /// The store was written by a newer Segue. Use that one.
    #[error("the store has format {found}, this Segue knows formats up to {known}: use a newer Segue")]
    NewerFormat {
        /// The store's format.
        found: i64,
        /// The newest format that this program knows.
        known: i64,
    },
    /// An entry is of a kind that a newer Segue has added. Use that one: nothing was changed, and nothing is lost.
    #[error("{what} is of kind '{kind}', which this Segue does not know: use a newer Segue")]
    NewerEntry {
        /// The entry.
        what: String,
        /// Its kind.
        kind: String,
    },
    /// The bytes on disk are not what was written. Run `segue verify`, restore a backup.
    #[error("{what} is damaged: {why}")]
    Damaged {
        /// What is damaged.
        what: String,
        /// How.
        why: String,
    },
    /// It is encrypted, and the key is missing or is another one. Give the right key: nothing was changed, and nothing is
    /// lost.
    #[error("{what} is encrypted: {why}")]
    Locked {
        /// What is encrypted.
        what: String,
        /// Which key is missing, and how to give it.
        why: String,
    },
    /// The acknowledgement was lost: the append may have been committed or not. Ask [`appended`](crate::Log::appended), or
    /// send the same append again.
    #[error("{what}: nobody knows whether it was written: {why}")]
    Unknown {
        /// What was tried.
        what: String,
        /// How the acknowledgement was lost.
        why: String,
    },
    /// The store cannot do this. Use one that can.
    #[error("{store} cannot {what}")]
    Unsupported {
        /// The store.
        store: String,
        /// What was asked.
        what: String,
    },
    /// The commits behind this position are not all kept any more. Read the logs, and watch from a newer position.
    #[error("commits before position {oldest} are not kept any more")]
    Expired {
        /// The oldest commit that is kept.
        oldest: Position,
    },
    /// What was given is too large. Give less.
    #[error("{what} has {bytes} bytes, {bytes_max} are the most")]
    TooLarge {
        /// What is too large.
        what: String,
        /// Its size.
        bytes: usize,
        /// The largest size.
        bytes_max: usize,
    },
    /// What was given means nothing here.
    #[error("{what} is not valid: {why}")]
    Invalid {
        /// What was given.
        what: String,
        /// What is wrong with it.
        why: String,
    },
    /// The disk, the folder or a lock is in the way. Mend that and try again: nothing was changed.
    #[error("{what}: {why}")]
    Unavailable {
        /// What was tried.
        what: String,
        /// What is in the way.
        why: String,
    },
}

impl Error {
    /// Says that something on disk is damaged.
    pub fn damaged(what: impl Into<String>, why: impl ToString) -> Self {
        Self::Damaged { what: what.into(), why: why.to_string() }
    }

    /// Says the same to another caller that waited for the same commit.
    pub(crate) fn for_another(&self) -> Self {
        match self {
            Self::Damaged { what, why } => Self::damaged(what, why),
            Self::NewerEntry { what, kind } => Self::NewerEntry { what: what.clone(), kind: kind.clone() },
            Self::Unavailable { what, why } => Self::unavailable(what, why),
            Self::Locked { what, why } => Self::Locked { what: what.clone(), why: why.clone() },
            Self::Unknown { what, why } => Self::Unknown { what: what.clone(), why: why.clone() },
            other => Self::unavailable("nothing was written", other),
        }
    }

    /// Says that something is in the way.
    pub fn unavailable(what: impl Into<String>, why: impl ToString) -> Self {
        Self::Unavailable { what: what.into(), why: why.to_string() }
    }
}
