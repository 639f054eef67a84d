//! The history: what clients asked for, and what they were told.

use serde::Serialize;
use std::sync::{Mutex, PoisonError};

/// What a client was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Told {
    /// It was accepted.
    Acknowledged,
    /// It was refused: nothing of it may be there.
    Failed,
    /// Nobody knows: all of it is there, or nothing.
    Unknown,
}

/// One message, as a client saw it. Times are microseconds of one clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Operation {
    /// The client.
    pub client: usize,
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
    pub told: Told,
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
