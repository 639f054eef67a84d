//! What `/undo` takes back: the boundaries of a scope, newest last.
//!
//! Undo has one rule: afterwards the scope reads as if the boundary had never happened. What was said
//! since belongs to the session that was latest before it, in order, nothing lost, nothing twice.

use crate::entry::Seq;
use crate::session::Number;
use crate::span::Spans;
use serde::{Deserialize, Serialize};

/// How many boundaries can be taken back, one after the other.
pub const BOUNDARIES_MAX: usize = 32;

/// A boundary that can be taken back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Boundary {
    /// A session was created: by `/new`, a rotation, a fork or a split.
    Created {
        /// The session that was latest before.
        from: Number,
        /// The session that was created.
        to: Number,
        /// The entry that created it.
        at: Seq,
    },
    /// An older session was resumed.
    Resumed {
        /// The session that was latest before.
        from: Number,
        /// The session that was resumed.
        to: Number,
        /// The entry that resumed it.
        at: Seq,
        /// What it took along from the session before.
        #[serde(default, skip_serializing_if = "Spans::is_empty")]
        taken: Spans,
    },
    /// The one session of a legacy scope was emptied.
    Cleared {
        /// The session.
        session: Number,
        /// All that it saw before, what was then in the open segment included.
        view: Spans,
    },
}

impl Boundary {
    fn names(&self, session: Number) -> bool {
        match self {
            Self::Created { from, to, .. } | Self::Resumed { from, to, .. } => {
                *from == session || *to == session
            }
            Self::Cleared { session: cleared, .. } => *cleared == session,
        }
    }
}

/// The boundaries that can be taken back, newest last.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Boundaries(Vec<Boundary>);

impl Boundaries {
    /// Returns the boundaries, newest last.
    pub fn iter(&self) -> impl Iterator<Item = &Boundary> {
        self.0.iter()
    }

    /// Returns the newest boundary.
    pub fn last(&self) -> Option<&Boundary> {
        self.0.last()
    }

    /// Remembers a boundary, forgetting the oldest one past [`BOUNDARIES_MAX`].
    pub fn push(&mut self, boundary: Boundary) {
        if self.0.len() == BOUNDARIES_MAX {
            self.0.remove(0);
        }
        self.0.push(boundary);
    }

    /// Takes the newest boundary.
    pub fn pop(&mut self) -> Option<Boundary> {
        self.0.pop()
    }

    /// Forgets the boundaries that name a session, and all older ones, which lead through them.
    pub fn forget(&mut self, session: Number) {
        if let Some(newest) = self.0.iter().rposition(|boundary| boundary.names(session)) {
            self.0.drain(..=newest);
        }
    }
}
