//! How an agent learns that somebody spoke while it worked, without asking the store (C-4).

use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Notify;

/// Wakes the agents of a scope.
#[derive(Debug, Default)]
pub(crate) struct Interrupts {
    count: AtomicU64,
    notify: Notify,
}

impl Interrupts {
    /// Counts how often agents were woken. It costs one load.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Acquire)
    }

    /// Wakes who waits.
    pub(crate) fn wake(&self) {
        self.count.fetch_add(1, Ordering::AcqRel);
        self.notify.notify_waiters();
    }

    /// Waits until the count is another one than `seen`.
    pub(crate) async fn wait(&self, seen: u64) -> u64 {
        loop {
            let notified = self.notify.notified();
            let count = self.count();
            if count != seen {
                return count;
            }
            notified.await;
        }
    }
}
