//! What the person is told about a task, in a form that can be told in any language. It holds no words of the
//! task: they are read from where they stand.

use crate::Timestamp;
use crate::entry::Seq;
use crate::notice::Undoable;
use crate::session::Number;
use crate::task::canonical::CommitKind;
use crate::task::commit::CommitId;
use serde::{Deserialize, Serialize};

/// One line about a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskNotice {
    /// A task began in a session of its own.
    Started {
        /// The session.
        session: Number,
        /// The session before it.
        previous: Number,
        /// How the task before it was kept, if there was something to keep.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kept: Option<CommitKind>,
        /// How many old sessions were pruned.
        pruned: u32,
        /// Whether `/undo` takes it back.
        way_back: Undoable,
    },
    /// A task began where the conversation is.
    Begun {
        /// The session.
        session: Number,
    },
    /// The task is complete.
    Completed {
        /// The session.
        session: Number,
        /// What is kept of it.
        commit: CommitId,
    },
    /// The task was given up.
    GivenUp {
        /// The session.
        session: Number,
        /// What is kept of it.
        commit: CommitId,
    },
    /// The task was left alone for too long; the message began a session.
    Expired {
        /// The session.
        session: Number,
        /// The session before it.
        previous: Number,
        /// How long it had been.
        gap_ms: i64,
        /// How many old sessions were pruned.
        pruned: u32,
        /// Whether `/undo` takes it back.
        way_back: Undoable,
    },
    /// The task was left alone for too long; the person came back and said nothing yet.
    Lapsed {
        /// The session.
        session: Number,
        /// How long it had been.
        gap_ms: i64,
    },
    /// The person came back in time: the task is shown as it stands (C-12).
    Back {
        /// The session.
        session: Number,
        /// When the task was started.
        started_at: Timestamp,
    },
    /// What is kept of the task.
    Kept {
        /// The session.
        session: Number,
        /// The commit.
        commit: CommitId,
    },
    /// A message waits for the agent's next check.
    Queued {
        /// The message.
        message: Seq,
    },
}
