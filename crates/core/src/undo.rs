//! What `/undo` takes back: the boundaries of a scope, newest last.
//!
//! Undo has one rule: afterwards the scope reads as if the boundary had never happened. What was said
//! since belongs to the session that was latest before it, in order, nothing lost, nothing twice.
//!
//! Another `/undo` in a row is a step to the session before, which leaves everything where it is. `/redo` goes
//! the same way forward. A [`Walk`] is where that stands; it is over as soon as anything else happens.

use crate::entry::Seq;
use crate::session::Number;
use crate::span::Spans;
use serde::{Deserialize, Serialize};

/// How many boundaries can be taken back, one after the other.
pub(crate) const BOUNDARIES_MAX: usize = 32;

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
        /// The sessions that were archived because it made too many.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        archived: Vec<Number>,
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
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Boundary> {
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

    /// Notes sessions that were archived because of the boundary at an entry.
    pub(crate) fn note_archived(&mut self, boundary: Seq, sessions: &[Number]) {
        if let Some(Boundary::Created { at, archived, .. }) = self.0.last_mut()
            && *at == boundary
        {
            archived.extend(sessions);
        }
    }

    /// Returns the boundary with so many older ones.
    pub fn get(&self, older: usize) -> Option<&Boundary> {
        self.0.get(older)
    }

    /// Counts the boundaries.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Tells whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes the newest boundary.
    pub fn pop(&mut self) -> Option<Boundary> {
        self.0.pop()
    }

    /// Forgets that a session was begun, if that was the last thing.
    pub(crate) fn forget_import(&mut self, session: Number) {
        self.0.pop_if(|last| matches!(last, Boundary::Created { to, .. } if *to == session));
    }

    /// Forgets the boundaries that name a session, and all older ones, which lead through them.
    pub fn forget(&mut self, session: Number) {
        if let Some(newest) = self.0.iter().rposition(|boundary| boundary.names(session)) {
            self.0.drain(..=newest);
        }
    }
}

/// Where a person stands who goes back and forth between sessions.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Walk {
    /// The boundary that the first `/undo` took back, if it can be made again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undone: Option<Undone>,
    /// The sessions that were left by steps back, the last one at the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<Number>,
    /// How many boundaries are older than where the person stands.
    pub cursor: u32,
}

/// A boundary that was taken back, with what is needed to make it again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Undone {
    /// The boundary.
    pub boundary: Boundary,
    /// What the session before it saw then, without the open segment.
    pub from_saw: Spans,
    /// What the session behind it had of other sessions.
    pub inherited: Spans,
}
