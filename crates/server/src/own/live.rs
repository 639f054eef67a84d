//! Live: events as they happen, and interrupts for running agents.

use crate::app::App;
use crate::auth::Caller;
use crate::body::{self, Asked, At};
use crate::events::events_of;
use crate::problem::Problem;
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::IntoResponse as _;
use axum::response::Response;
use axum::response::sse::{Event, KeepAlive, Sse};
use segue_core::entry::Seq;
use segue_core::scope;
use segue_engine::tasks::Tasks;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;
use utoipa::{IntoParams, ToSchema};

/// How many entries are read at a time.
const ENTRIES: usize = 200;

/// How often an idle stream says that it is there.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// How long a long poll waits at most, in seconds.
const WAIT_MAX: u64 = 60;

/// How often the log is looked at although nobody in this process wrote.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Watch a scope
///
/// Server-sent events: `message`, `boundary`, `question`, `task`, `deleted`. Come back with `Last-Event-ID` and nothing
/// is missed, also after a restart. Without it the stream begins now; `0` begins with the first entry.
#[utoipa::path(get, path = "/api/v1/scopes/{scope}/events", tag = "events",
    params(("scope" = String, Path, description = "The scope, percent-encoded"),
        ("Last-Event-ID" = Option<String>, Header, description = "The id of the last event that was seen")),
    responses((status = 200, description = "Events", content_type = "text/event-stream", body = String)))]
pub(crate) async fn of_scope(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(scope): At<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let scope = body::scope(&caller, &scope)?;
    let state = app.state(&scope).await?;
    let from = match last_id(&headers)? {
        Some(seq) => Seq(seq),
        None => state.head,
    };
    Ok(stream(Follow::new(app, scope, from)))
}

/// Watch all scopes
///
/// The same events, of every scope that the token may know of.
#[utoipa::path(get, path = "/api/v1/events", tag = "events",
    params(("Last-Event-ID" = Option<String>, Header, description = "The id of the last event that was seen")),
    responses((status = 200, description = "Events", content_type = "text/event-stream", body = String)))]
pub(crate) async fn of_all(
    State(_app): State<Arc<App>>,
    _caller: Caller,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    last_id(&headers)?;
    Err(Problem::unavailable("the store cannot be watched as a whole yet"))
}

fn last_id(headers: &HeaderMap) -> Result<Option<u64>, Problem> {
    let Some(id) = headers.get("last-event-id") else { return Ok(None) };
    let id = id.to_str().ok().map(str::trim).filter(|id| !id.is_empty()).map(str::parse);
    match id {
        None => Ok(None),
        Some(Ok(id)) => Ok(Some(id)),
        Some(Err(_)) => Err(Problem::wrong("Last-Event-ID is not the id of an event")),
    }
}

/// Follows the log of a scope.
struct Follow {
    app: Arc<App>,
    scope: scope::Key,
    after: Seq,
    waiting: VecDeque<crate::events::Event>,
    woken: tokio::sync::watch::Receiver<u64>,
    stopping: tokio::sync::watch::Receiver<bool>,
}

impl Follow {
    fn new(app: Arc<App>, scope: scope::Key, after: Seq) -> Self {
        let (woken, stopping) = (app.hub.listen(&scope), app.stopping.clone());
        app.metrics.streams.add(1);
        Self { app, scope, after, waiting: VecDeque::new(), woken, stopping }
    }

    /// Waits for the next event; nothing when the stream is over.
    async fn next(&mut self) -> Option<crate::events::Event> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Some(event);
            }
            self.woken.mark_unchanged();
            if !self.read().await.ok()? {
                let mut stopping = self.stopping.clone();
                tokio::select! {
                    _ = timeout(LOOK_EVERY, self.woken.changed()) => {}
                    _ = stopping.wait_for(|stop| *stop) => return None,
                }
            }
        }
    }

    /// Reads on, and tells whether there was anything.
    async fn read(&mut self) -> Result<bool, Problem> {
        if self.app.engine.store().head(&self.scope).await?.is_none_or(|head| head <= self.after) {
            return Ok(false);
        }
        let records = self.app.engine.store().log(&self.scope, self.after, ENTRIES).await?;
        let Some(last) = records.last() else { return Ok(false) };
        let state = self.app.state(&self.scope).await?;
        self.after = last.seq;
        self.waiting.extend(events_of(&state, &records));
        Ok(true)
    }
}

impl Drop for Follow {
    fn drop(&mut self) {
        self.app.metrics.streams.add(-1);
    }
}

fn stream(follow: Follow) -> Response {
    let events = futures_util::stream::unfold(follow, |mut follow| async move {
        let event = follow.next().await?;
        let told = Event::default().event(event.name).id(event.seq.to_string()).data(event.data.to_string());
        Some((Ok::<_, Infallible>(told), follow))
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
}

/// How long to wait.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct WaitQuery {
    /// How many seconds to wait for something to be said, at most.
    #[serde(default)]
    #[param(minimum = 0, maximum = 60)]
    wait: Option<u64>,
}

/// What was said while an agent worked.
#[derive(Debug, Serialize, ToSchema)]
pub struct Interrupts {
    /// Where the task stands.
    state: String,
    /// The messages, in order, each told once.
    interrupts: Vec<Interrupt>,
}

/// A message to a running agent.
#[derive(Debug, Serialize, ToSchema)]
pub struct Interrupt {
    /// Its place in the log.
    seq: u64,
    /// What was said; null if it was erased.
    text: Option<String>,
}

/// Wait for interrupts
///
/// Answers as soon as the person says something to the task that is at work, and at the latest after `wait` seconds.
/// Each message is told once: the work goes on with it.
#[utoipa::path(get, path = "/api/v1/scopes/{scope}/interrupts", tag = "events",
    params(("scope" = String, Path, description = "The scope, percent-encoded"), WaitQuery),
    responses((status = 200, description = "What was said", body = Interrupts)))]
pub(crate) async fn interrupts(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(scope): At<String>,
    Asked(query): Asked<WaitQuery>,
) -> Result<Json<Interrupts>, Problem> {
    let scope = body::scope(&caller, &scope)?;
    let wait = query.wait.unwrap_or(0);
    if wait > WAIT_MAX {
        return Err(Problem::wrong(format!("\"wait\" is a number of seconds from 0 to {WAIT_MAX}")));
    }
    app.state(&scope).await?;
    let tasks = Tasks::new(Arc::clone(&app.engine), scope.clone());
    let Some(session) = tasks.active_session().await? else {
        return Ok(Json(Interrupts { state: "none".to_owned(), interrupts: Vec::new() }));
    };
    let mut said = session.look_for_interrupts().await?;
    if said.is_empty() && wait > 0 {
        let mut stopping = app.stopping.clone();
        tokio::select! {
            waited = timeout(Duration::from_secs(wait), session.wait_for_interrupts()) => {
                if let Ok(heard) = waited {
                    said = heard?;
                }
            }
            _ = stopping.wait_for(|stop| *stop) => {}
        }
    }
    let interrupt = |one: segue_engine::tasks::Interruption| Interrupt { seq: one.message.0, text: one.text };
    let state = session.state().await?.name().to_owned();
    Ok(Json(Interrupts { state, interrupts: said.into_iter().map(interrupt).collect() }))
}
