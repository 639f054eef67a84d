//! Workers: what is done beside the road of messages: memory, titles, retention.

use crate::app::App;
use std::sync::Arc;
use tokio::task::JoinHandle;

/// The workers of a running server.
pub(crate) struct Workers(Vec<JoinHandle<()>>);

/// Starts the workers.
pub(crate) fn start(_app: &Arc<App>) -> Workers {
    Workers(Vec::new())
}

impl Workers {
    /// Waits until the workers have ended: they are told by the server's own signal.
    pub(crate) async fn stop(self) {
        for worker in self.0 {
            let _ = worker.await;
        }
    }
}
