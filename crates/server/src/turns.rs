//! Turns: who does the same waits for each other.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// One lock for each name, as long as somebody holds it.
#[derive(Debug, Default)]
pub(crate) struct Turns(Mutex<HashMap<String, Weak<tokio::sync::Mutex<()>>>>);

/// From how many names on those are dropped that nobody holds.
const NAMES_KEPT: usize = 1_024;

impl Turns {
    /// Returns the lock of a name.
    pub(crate) fn of(&self, name: &str) -> Arc<tokio::sync::Mutex<()>> {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turn) = turns.get(name).and_then(Weak::upgrade) {
            return turn;
        }
        if turns.len() >= NAMES_KEPT {
            turns.retain(|_, turn| turn.strong_count() > 0);
        }
        let turn = Arc::new(tokio::sync::Mutex::new(()));
        turns.insert(name.to_owned(), Arc::downgrade(&turn));
        turn
    }
}
