//! The history: what clients asked for, and what they were told.

use serde::Serialize;
use std::sync::{Mutex, PoisonError};

/// What a client was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ClientOutcome {
    /// It was accepted.
    Acknowledged,
    /// It was refused: nothing of it may be there.
    Failed,
    /// Nobody knows: all of it is there, or nothing.
    Unknown,
}

/// What a client asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Action {
    /// A message of a person, or a command.
    Message,
    /// A model's answer, for a session.
    Reply {
        /// The session's key.
        session: String,
    },
    /// Something about a task. It has no id, so it is sent once.
    Task {
        /// The operation, as the interface calls it.
        op: &'static str,
    },
    /// An earlier message of this client is erased.
    Erase {
        /// The message's id.
        id: String,
        /// Its place in the log.
        seq: u64,
    },
}

impl Action {
    /// Names it, for counting.
    pub fn name(&self, text: &str) -> &'static str {
        match self {
            Self::Message if text.starts_with('/') => "commands",
            Self::Message => "messages",
            Self::Reply { .. } => "replies",
            Self::Task { .. } => "tasks",
            Self::Erase { .. } => "erasures",
        }
    }

    /// Tells whether it may be sent again: it is known by its id, or changes nothing the second time.
    pub fn is_repeatable(&self) -> bool {
        !matches!(self, Self::Task { .. })
    }
}

/// One request, as a client saw it. Times are microseconds of one clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Operation {
    /// The client.
    pub client: usize,
    /// What it is.
    pub action: Action,
    /// The scope that it was sent to.
    pub scope: String,
    /// Its id, by which it is known however often it is sent.
    pub id: String,
    /// What it says.
    pub text: String,
    /// When it was first sent.
    pub invoked_us: u64,
    /// When the answer came, or the client gave up.
    pub ended_us: u64,
    /// How often it was sent.
    pub tries: u32,
    /// What the client was told in the end.
    pub told: ClientOutcome,
    /// Where the client was told that it stands in the log.
    pub seq: Option<u64>,
}

/// What a client is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Whether it was done.
    pub told: ClientOutcome,
    /// Where a message stands in the log.
    pub seq: Option<u64>,
    /// The session that it went to.
    pub session: Option<String>,
}

impl From<ClientOutcome> for Answer {
    fn from(told: ClientOutcome) -> Self {
        Self { told, seq: None, session: None }
    }
}

/// All operations of a run.
#[derive(Debug, Default)]
pub struct History(Mutex<Vec<Operation>>);

impl History {
    /// Adds an operation.
    pub fn add(&self, operation: Operation) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(operation);
    }

    /// Returns what there is.
    pub fn all(&self) -> Vec<Operation> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
