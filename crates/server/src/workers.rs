//! Workers: what is done beside the road of messages: memory, titles, retention, embeddings. One process of many does it, by a
//! lease, and never more than a page of scopes at a time.

use crate::app::App;
use segue_core::scope;
use segue_engine::Error;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// The name of the lease.
const LEASE: &str = "serve.workers";

/// How many scopes are looked at in one round, the last written first.
const SCOPES_MAX: usize = 1_000;

/// The workers of a running server.
pub(crate) struct Workers(JoinHandle<()>);

/// Starts the workers.
pub(crate) fn start(app: &Arc<App>) -> Workers {
    Workers(tokio::spawn(work(Arc::clone(app))))
}

impl Workers {
    /// Waits until the workers have ended: they are told by the server's own signal.
    pub(crate) async fn stop(self) {
        let _ = self.0.await;
    }
}

async fn work(app: Arc<App>) {
    let holder = crate::ids::fresh().to_string();
    let mut stopping = app.stopping.clone();
    loop {
        let every = app.serve().work_every.unsigned_abs();
        tokio::select! {
            () = sleep(every) => {}
            _ = stopping.wait_for(|stop| *stop) => break,
        }
        tokio::select! {
            () = round(&app, &holder, every) => {}
            _ = stopping.wait_for(|stop| *stop) => break,
        }
    }
    if let Err(error) = app.engine.store().release(LEASE, &holder).await {
        tracing::debug!(%error, "the workers' lease runs out by itself");
    }
}

/// Looks at the scopes that were written last, if this process has the lease.
async fn round(app: &App, holder: &str, every: Duration) {
    let store = app.engine.store();
    match store.lease(LEASE, holder, every * 3, app.engine.now()).await {
        Ok(leased) if leased.is_held() => {}
        Ok(_) => return app.metrics.workers.add(&[("worker", "lease"), ("result", "taken")], 1),
        Err(error) => return tracing::warn!(%error, "the workers' lease was not given"),
    }
    let scopes = match store.scopes(&segue_store::Page::first(SCOPES_MAX)).await {
        Ok(page) => page.rows,
        Err(error) => return tracing::warn!(%error, "the workers cannot list the scopes"),
    };
    for row in scopes {
        one(app, &row.scope).await;
    }
    // What was erased or dropped, and could not be taken out of the store's files then.
    if !app.engine.purge().await {
        tracing::debug!("an erasure is not finished yet");
    }
}

async fn one(app: &App, scope: &scope::Key) {
    let engine = &app.engine;
    told(app, "memory", Box::pin(engine.archive(scope)).await.map(|_| ()));
    told(app, "titles", Box::pin(engine.name_sessions(scope)).await.map(|_| ()));
    told(app, "retention", Box::pin(engine.retain(scope, engine.now())).await.map(|_| ()));
    told(app, "embeddings", Box::pin(engine.prepare_recall(scope)).await);
}

fn told(app: &App, worker: &str, result: Result<(), Error>) {
    let word = match &result {
        Ok(()) => "done",
        Err(error) => {
            tracing::warn!(worker, %error, "a worker failed; it is tried again");
            "failed"
        }
    };
    app.metrics.workers.add(&[("worker", worker), ("result", word)], 1);
}
