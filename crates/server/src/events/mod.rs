//! Events: what happens in scopes, told from the log. The log is what is told, so nothing is lost: whoever comes back
//! with the id of the last event is told the rest.

mod of_record;

pub(crate) use of_record::{Event, events_of};

use crate::app::App;
use segue_core::scope;
use segue_store::{Error, Position};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::sleep;

/// How long to wait after the store did not answer.
const PAUSE: Duration = Duration::from_secs(1);

/// Wakes those who wait for something to happen in a scope. Who waits for another scope is not woken.
#[derive(Default)]
pub(crate) struct Hub(Mutex<HashMap<scope::Key, watch::Sender<u64>>>);

/// From how many scopes on those are dropped that nobody listens to.
const SCOPES_KEPT: usize = 1_024;

impl Hub {
    fn wake(&self, scope: &scope::Key) {
        let hub = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = hub.get(scope) {
            sender.send_modify(|count| *count += 1);
        }
    }

    fn wake_all(&self) {
        let hub = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        hub.values().for_each(|sender| sender.send_modify(|count| *count += 1));
    }

    /// Listens to a scope.
    pub(crate) fn listen(&self, scope: &scope::Key) -> watch::Receiver<u64> {
        let mut hub = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if hub.len() >= SCOPES_KEPT {
            hub.retain(|_, sender| sender.receiver_count() > 0);
        }
        hub.entry(scope.clone()).or_insert_with(|| watch::Sender::new(0)).subscribe()
    }
}

/// Reads the store's commits behind a position, whoever made them, and wakes those who wait for their scopes.
///
/// The position is from before the first request: what is said while this task starts is behind it.
pub(crate) async fn pump(app: Arc<App>, from: Position) {
    let mut stopping = app.stopping.clone();
    tokio::select! {
        () = follow(&app, from) => {}
        _ = stopping.wait_for(|stop| *stop) => {}
    }
}

async fn follow(app: &App, from: Position) {
    let mut commits = app.engine.store().watch(from);
    loop {
        match commits.next().await {
            Ok(commit) => app.hub.wake(&commit.scope),
            Err(error) => {
                tracing::warn!(%error, "the store cannot be watched; it is tried again");
                sleep(PAUSE).await;
                if let (Error::Expired { .. }, Ok(now)) = (error, app.engine.store().position().await) {
                    commits = app.engine.store().watch(now);
                }
                // What was missed is found in the log.
                app.hub.wake_all();
            }
        }
    }
}
