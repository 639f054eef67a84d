//! Events: what happens in scopes, told from the log. The log is what is told, so nothing is lost: whoever comes back
//! with the id of the last event is told the rest.

mod of_record;

pub(crate) use of_record::{Event, events_of};

use segue_core::scope;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use tokio::sync::watch;

/// Wakes those who wait for something to happen in a scope.
#[derive(Default)]
pub(crate) struct Hub(Mutex<HashMap<scope::Key, watch::Sender<u64>>>);

impl Hub {
    /// Tells everyone who waits for a scope to look at its log.
    pub(crate) fn wake(&self, scope: &scope::Key) {
        let hub = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = hub.get(scope) {
            sender.send_modify(|count| *count += 1);
        }
    }

    /// Listens to a scope.
    pub(crate) fn listen(&self, scope: &scope::Key) -> watch::Receiver<u64> {
        let mut hub = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        hub.retain(|_, sender| sender.receiver_count() > 0);
        hub.entry(scope.clone()).or_insert_with(|| watch::Sender::new(0)).subscribe()
    }
}
