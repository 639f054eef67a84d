//! Responses that are made while nobody waits: `background`. They can be asked for and cancelled by their id.
//!
//! A lease tells other processes that the maker lives. A response whose maker is gone has failed.

use super::record::Record;
use crate::app::App;
use crate::openai::chat::set;
use crate::problem::Problem;
use segue_core::entry::Seq;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

/// How many responses are made at the same time.
const RUNNING_MAX: usize = 1_000;

/// How long a maker is believed to live without a word.
const LEASE: Duration = Duration::from_secs(30);

/// How far a response is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Running,
    /// The reply is being stored: too late to cancel.
    Storing,
    Cancelled,
    Ended,
}

/// The responses that this process is making.
pub(crate) struct Background {
    holder: String,
    running: Mutex<HashMap<String, watch::Sender<Phase>>>,
    count: watch::Sender<usize>,
}

impl Default for Background {
    fn default() -> Self {
        let holder = crate::ids::fresh().to_string();
        Self { holder, running: Mutex::default(), count: watch::Sender::new(0) }
    }
}

impl Background {
    fn find(&self, id: &str) -> Option<watch::Sender<Phase>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    /// Waits until all responses are made, at most this long; then gives the rest up.
    pub(crate) async fn ended(&self, grace: Duration) {
        let mut count = self.count.subscribe();
        if timeout(grace, count.wait_for(|count| *count == 0)).await.is_err() {
            tracing::warn!("some responses in the background did not end in time; what was asked is kept");
            for phase in self.running.lock().unwrap_or_else(PoisonError::into_inner).values() {
                change(phase, Phase::Running, Phase::Cancelled);
            }
        }
    }
}

/// A response in the making. When this is dropped, nobody makes it any more.
pub(crate) struct Maker {
    app: Arc<App>,
    id: String,
    phase: watch::Sender<Phase>,
}

impl Maker {
    /// Begins to make a response, and writes that down.
    pub(crate) async fn begin(app: &Arc<App>, id: &str, record: Record, since: Seq) -> Result<Self, Problem> {
        let phase = watch::Sender::new(Phase::Running);
        {
            let mut running = app.background.running.lock().unwrap_or_else(PoisonError::into_inner);
            if running.len() >= RUNNING_MAX {
                let detail = format!("at most {RUNNING_MAX} responses are made in the background at a time");
                return Err(Problem::too_many(1, detail));
            }
            running.insert(id.to_owned(), phase.clone());
            app.background.count.send_replace(running.len());
        }
        let maker = Self { app: Arc::clone(app), id: id.to_owned(), phase };
        app.engine.store().lease(&lease(id), &app.background.holder, LEASE, app.engine.now()).await?;
        app.keep_response(id, record, since).await?;
        tokio::spawn(renew(Arc::clone(app), id.to_owned(), maker.phase.subscribe()));
        Ok(maker)
    }

    /// Waits until somebody cancels the response.
    pub(crate) async fn cancelled(&self) {
        let mut phase = self.phase.subscribe();
        if phase.wait_for(|phase| *phase == Phase::Cancelled).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Tells whether somebody cancelled the response.
    pub(crate) fn is_cancelled(&self) -> bool {
        *self.phase.borrow() == Phase::Cancelled
    }

    /// Makes sure that nobody can cancel the response any more; an error if somebody has.
    pub(crate) fn store(&self) -> Result<(), Problem> {
        match change(&self.phase, Phase::Running, Phase::Storing) {
            true => Ok(()),
            false => Err(Problem::refused("the response was cancelled")),
        }
    }
}

impl Drop for Maker {
    fn drop(&mut self) {
        self.phase.send_replace(Phase::Ended);
        let mut running = self.app.background.running.lock().unwrap_or_else(PoisonError::into_inner);
        running.remove(&self.id);
        self.app.background.count.send_replace(running.len());
    }
}

fn change(phase: &watch::Sender<Phase>, from: Phase, to: Phase) -> bool {
    phase.send_if_modified(|phase| {
        let is_from = *phase == from;
        if is_from {
            *phase = to;
        }
        is_from
    })
}

fn lease(id: &str) -> String {
    format!("serve.response.{id}")
}

/// Says that the maker lives, and looks whether another process has cancelled the response.
async fn renew(app: Arc<App>, id: String, mut phase: watch::Receiver<Phase>) {
    let (store, name) = (app.engine.store(), lease(&id));
    loop {
        tokio::select! {
            () = sleep(LEASE / 3) => {}
            _ = phase.wait_for(|phase| *phase == Phase::Ended) => break,
        }
        if let Err(error) = store.lease(&name, &app.background.holder, LEASE, app.engine.now()).await {
            tracing::warn!(%error, "the lease of a response was not renewed");
        }
        if let Ok(Some(record)) = app.response_record(&id).await
            && status(&record) == "cancelled"
            && let Some(running) = app.background.find(&id)
        {
            change(&running, Phase::Running, Phase::Cancelled);
        }
    }
    if let Err(error) = store.release(&name, &app.background.holder).await {
        tracing::debug!(%error, "the lease of a response runs out by itself");
    }
}

fn status(record: &Record) -> &str {
    record.head.get("status").and_then(Value::as_str).unwrap_or_default()
}

pub(crate) fn is_open(record: &Record) -> bool {
    matches!(status(record), "queued" | "in_progress")
}

impl App {
    /// Makes sure that a response which is said to be in the making has a maker; else it has failed.
    pub(crate) async fn settle(&self, id: &str, mut record: Record) -> Result<Record, Problem> {
        if !is_open(&record) || self.background.find(id).is_some() {
            return Ok(record);
        }
        let (store, holder) = (self.engine.store(), &self.background.holder);
        let leased = store.lease(&lease(id), holder, Duration::from_secs(1), self.engine.now()).await?;
        // It may have been completed meanwhile.
        let since = self.end_of(&record).await?;
        if let Some(now) = self.response_record(id).await? {
            record = now;
        }
        if is_open(&record) && leased.is_held() {
            end(&mut record, "failed", Some("the server stopped before the response was complete"));
            self.keep_response(id, record.clone(), since).await?;
        }
        store.release(&lease(id), holder).await?;
        Ok(record)
    }

    /// Cancels a response, unless it is over.
    pub(crate) async fn cancel(&self, id: &str, mut record: Record) -> Result<Record, Problem> {
        if let Some(running) = self.background.find(id)
            && !change(&running, Phase::Running, Phase::Cancelled)
        {
            let mut phase = running.subscribe();
            drop(running);
            let _ = phase.wait_for(|phase| *phase == Phase::Ended).await;
            return Ok(self.response_record(id).await?.unwrap_or(record));
        }
        let since = self.end_of(&record).await?;
        if let Some(now) = self.response_record(id).await? {
            record = now;
        }
        if is_open(&record) {
            end(&mut record, "cancelled", None);
            self.keep_response(id, record.clone(), since).await?;
        }
        Ok(record)
    }

    /// Tells where the log of a response's scope ends.
    async fn end_of(&self, record: &Record) -> Result<Seq, Problem> {
        match record.scope.parse() {
            Ok(scope) => self.head_of(&scope).await,
            Err(_) => Ok(Seq::ZERO),
        }
    }
}

/// Says how a response ended.
pub(crate) fn end(record: &mut Record, status: &str, why: Option<&str>) {
    set(&mut record.head, "status", status.into());
    if let Some(why) = why {
        set(&mut record.head, "error", json!({ "code": "server_error", "message": why }));
    }
}
