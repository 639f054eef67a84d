//! Facts: what a decision needs to read of the log, declared and read before it is made.
//!
//! The rules read nothing. [`needs`](crate::decide::needs) says what a command may need on a state; whoever decides
//! reads that once and hands it to [`decide`](crate::decide::decide).

use crate::entry::{Body, Kind, Record, Seq};
use crate::erasure::Sources;
use crate::memory::Extracted;
use crate::session::Number;
use crate::task::history::{Reach, TaskHistory};

/// What has to be read before a command is decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Need {
    /// The history of a session's task.
    TaskHistory {
        /// The session.
        session: Number,
        /// How far back.
        reach: Reach,
    },
    /// What was made of entries that are to go: it goes with them.
    Derived {
        /// What goes.
        sources: Sources,
    },
    /// How many sessions a boundary that may be taken back deleted from the backlog: they do not come back (P-8).
    Pruned {
        /// The entry that made the boundary.
        boundary: Seq,
    },
    /// What is worth remembering of sessions that may be dropped (P-11).
    Memories {
        /// The sessions.
        sessions: Vec<Number>,
    },
}

/// What was read for a command.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Facts {
    /// The history of the task that the command is about.
    pub task: Option<Box<TaskHistory>>,
    /// What is worth remembering of the sessions that it may drop.
    pub memories: Vec<Extracted>,
    /// The entries that were made of what it lets go.
    pub derived: Vec<Seq>,
    /// How many sessions the boundary deleted that it takes back.
    pub pruned: u32,
}

/// How many entries behind a boundary belong to it at most, up to the decision about it.
pub const BOUNDARY_ENTRIES_MAX: usize = 8;

/// Counts the sessions that a boundary deleted, by the entries behind it: those up to the decision were written with it.
pub fn pruned_by(behind: &[Record]) -> u32 {
    let own = behind.iter().take(BOUNDARY_ENTRIES_MAX).take_while(|record| record.kind != Kind::Decision);
    let pruned = own.map(|record| match record.body() {
        Ok(Body::Pruned(dropped)) => u32::try_from(dropped.sessions.len()).unwrap_or(u32::MAX),
        _ => 0,
    });
    pruned.sum()
}
