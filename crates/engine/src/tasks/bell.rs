//! Bells: how an agent learns that somebody spoke while it worked, without asking the store (C-4).

use segue_core::scope::Key;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::Notify;

/// A scope's bell.
#[derive(Debug, Default)]
pub struct Bell {
    rung: AtomicU64,
    notify: Notify,
}

impl Bell {
    /// Counts how often it rang. It costs one load.
    pub fn rung(&self) -> u64 {
        self.rung.load(Ordering::Acquire)
    }

    fn ring(&self) {
        self.rung.fetch_add(1, Ordering::AcqRel);
        self.notify.notify_waiters();
    }

    /// Waits until it has rung more often than `heard`.
    pub async fn wait(&self, heard: u64) -> u64 {
        loop {
            let notified = self.notify.notified();
            let rung = self.rung();
            if rung != heard {
                return rung;
            }
            notified.await;
        }
    }
}

/// The bells of the scopes in which agents work.
#[derive(Debug, Default)]
pub(crate) struct Bells(Mutex<HashMap<Key, Arc<Bell>>>);

impl Bells {
    /// Returns the bell of a scope; it is kept as long as somebody holds it.
    pub(crate) fn of(&self, scope: &Key) -> Arc<Bell> {
        let mut bells = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        bells.retain(|_, bell| Arc::strong_count(bell) > 1);
        bells.entry(scope.clone()).or_default().clone()
    }

    /// Rings, if anybody listens.
    pub(crate) fn ring(&self, scope: &Key) {
        let bells = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bell) = bells.get(scope) {
            bell.ring();
        }
    }
}
