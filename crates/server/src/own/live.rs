//! Live: events as they happen, and interrupts for running agents.

use crate::app::App;
use crate::auth::{Admission, Caller, Right};
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
use segue_store::Position;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};
use utoipa::{IntoParams, ToSchema};

/// How many entries are read at a time.
const ENTRIES: usize = 200;

/// How often an idle stream says that it is there.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// How long a long poll waits at most, in seconds.
const WAIT_MAX: f64 = 60.0;

/// How many commits are read at a time.
const COMMITS: usize = 64;

/// How many entries of one commit are told.
const ENTRIES_MAX: usize = 10_000;

/// An event. Its data is JSON.
#[derive(ToSchema)]
#[allow(dead_code, reason = "it only describes what is written")]
pub struct StreamedEvent {
    /// Its id, for `Last-Event-ID`.
    id: String,
    /// What kind: message, boundary, question, task or deleted.
    event: String,
    /// What happened, as JSON: `scope`, `seq`, `at`, and more by its kind.
    data: String,
}

/// Watch a scope
///
/// Server-sent events: `message`, `boundary`, `question`, `task`, `deleted`. Come back with `Last-Event-ID` and nothing
/// is missed, also after a restart. Without it the stream begins now; `0` begins with the first entry.
#[utoipa::path(get, path = "/api/v1/scopes/{scope}/events", tag = "events",
    params(("scope" = String, Path, description = "The scope, percent-encoded"),
        ("Last-Event-ID" = Option<String>, Header, description = "The id of the last event that was seen")),
    responses((status = 200, description = "Events", content_type = "text/event-stream", body = StreamedEvent)))]
pub(crate) async fn of_scope(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(scope): At<String>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let scope = body::scope_there(&caller, &scope)?;
    // A scope may be watched before anything is said there.
    let head = app.engine.store().head(&scope).await?.unwrap_or(Seq::ZERO);
    let from = match last_id(&headers)? {
        Some(id) => Seq(number(&id)?),
        None => head,
    };
    Ok(stream(Follow::new(app, caller, scope, from)))
}

/// Watch all scopes
///
/// The same events, of every scope that the token may know of.
#[utoipa::path(get, path = "/api/v1/events", tag = "events",
    params(("Last-Event-ID" = Option<String>, Header, description = "The id of the last event that was seen")),
    responses((status = 200, description = "Events", content_type = "text/event-stream", body = StreamedEvent)))]
pub(crate) async fn of_all(
    State(app): State<Arc<App>>,
    caller: Caller,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let store = app.engine.store();
    let (position, within) = match last_id(&headers)? {
        Some(text) => place(&text)?,
        None => (store.position().await?, None),
    };
    match store.commits(position, 1).await {
        Ok(_) => {}
        Err(segue_store::Error::Expired { .. }) => {
            let detail = "the events behind this Last-Event-ID are not kept any more";
            return Err(Problem::wrong(detail).hint("read the scopes anew, then watch without Last-Event-ID"));
        }
        Err(error) => return Err(error.into()),
    }
    Ok(stream(FollowAll::new(app, caller, position, within)))
}

/// Reads the id of an event of all scopes: the position of its commit, and its place in the log.
fn place(text: &str) -> Result<(Position, Option<Seq>), Problem> {
    match text.split_once('.') {
        Some((position, seq)) => {
            let (position, seq) = (number(position)?, number(seq)?);
            Ok((Position(position.saturating_sub(1)), Some(Seq(seq))))
        }
        None => Ok((Position(number(text)?), None)),
    }
}

fn number(text: &str) -> Result<u64, Problem> {
    body::digits(text).ok_or_else(|| Problem::wrong("Last-Event-ID is not the id of an event"))
}

fn last_id(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(id) = headers.get("last-event-id") else { return Ok(None) };
    let id = id.to_str().map_err(|_| Problem::wrong("Last-Event-ID is not the id of an event"))?.trim();
    Ok(Some(id.to_owned()).filter(|id| !id.is_empty()))
}

/// Something that tells events, one after the other, until the server stops.
trait Follows: Send + 'static {
    /// Waits for the next event; nothing when the stream is over.
    fn next(&mut self) -> impl Future<Output = Option<(String, crate::events::Event)>> + Send;
}

/// Follows the log of a scope.
struct Follow {
    app: Arc<App>,
    admission: Admission,
    scope: scope::Key,
    after: Seq,
    waiting: VecDeque<crate::events::Event>,
    woken: watch::Receiver<u64>,
    stopping: watch::Receiver<bool>,
}

impl Follow {
    fn new(app: Arc<App>, caller: Caller, scope: scope::Key, after: Seq) -> Self {
        let (woken, stopping) = (app.hub.listen(&scope), app.stopping.clone());
        app.metrics.streams.add(1);
        let admission = app.admission(caller);
        Self { app, admission, scope, after, waiting: VecDeque::new(), woken, stopping }
    }

    /// Reads on, and tells whether there was anything.
    async fn read(&mut self) -> Result<bool, Problem> {
        let store = self.app.engine.store();
        if store.head(&self.scope).await?.is_none_or(|head| head <= self.after) {
            return Ok(false);
        }
        let records = store.tail(&self.scope, self.after, ENTRIES).await?;
        let Some(last) = records.last() else { return Ok(false) };
        self.admission.check(&self.app).await?;
        let state = self.app.state(&self.scope).await?;
        self.after = last.seq;
        self.waiting.extend(events_of(&self.app, &state, &records).await?);
        Ok(true)
    }
}

impl Follows for Follow {
    async fn next(&mut self) -> Option<(String, crate::events::Event)> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Some((event.seq.to_string(), event));
            }
            // Marked as seen before the log is read, so that nothing comes between unnoticed.
            self.woken.borrow_and_update();
            if !self.read().await.ok()? {
                tokio::select! {
                    woken = self.woken.changed() => woken.ok()?,
                    () = self.admission.ended() => return None,
                    _ = self.stopping.wait_for(|stop| *stop) => return None,
                }
            }
        }
    }
}

impl Drop for Follow {
    fn drop(&mut self) {
        self.app.metrics.streams.add(-1);
    }
}

/// Follows the commits of the store.
struct FollowAll {
    app: Arc<App>,
    admission: Admission,
    at: Position,
    /// How far the first commit was told already.
    within: Option<Seq>,
    waiting: VecDeque<(String, crate::events::Event)>,
    news: watch::Receiver<Position>,
    stopping: watch::Receiver<bool>,
}

impl FollowAll {
    fn new(app: Arc<App>, caller: Caller, at: Position, within: Option<Seq>) -> Self {
        let (news, stopping) = (app.engine.store().subscribe(), app.stopping.clone());
        app.metrics.streams.add(1);
        let admission = app.admission(caller);
        Self { app, admission, at, within, waiting: VecDeque::new(), news, stopping }
    }

    /// Reads on, and tells whether there was anything.
    async fn read(&mut self) -> Result<bool, Problem> {
        let store = self.app.engine.store();
        let commits = store.commits(self.at, COMMITS).await?;
        let sees = |scope: &scope::Key| self.admission.caller().sees(scope.as_str());
        if commits.iter().any(|commit| sees(&commit.scope)) {
            self.admission.check(&self.app).await?;
        }
        for commit in &commits {
            self.at = commit.position;
            let told = self.within.take();
            if !self.admission.caller().sees(commit.scope.as_str()) {
                continue;
            }
            let after = told.unwrap_or(commit.after).max(commit.after);
            let count = usize::try_from(commit.head.0.saturating_sub(after.0)).unwrap_or(usize::MAX);
            let mut records = store.tail(&commit.scope, after, count.clamp(1, ENTRIES_MAX)).await?;
            records.retain(|record| record.seq <= commit.head);
            let state = self.app.state(&commit.scope).await?;
            let named = |event: crate::events::Event| (format!("{}.{}", commit.position, event.seq), event);
            let events = events_of(&self.app, &state, &records).await?;
            self.waiting.extend(events.into_iter().map(named));
        }
        Ok(!commits.is_empty())
    }
}

impl Follows for FollowAll {
    async fn next(&mut self) -> Option<(String, crate::events::Event)> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Some(event);
            }
            self.news.borrow_and_update();
            if !self.read().await.ok()? {
                tokio::select! {
                    news = self.news.changed() => news.ok()?,
                    () = self.admission.ended() => return None,
                    _ = self.stopping.wait_for(|stop| *stop) => return None,
                }
            }
        }
    }
}

impl Drop for FollowAll {
    fn drop(&mut self) {
        self.app.metrics.streams.add(-1);
    }
}

fn stream(follows: impl Follows) -> Response {
    let events = futures_util::stream::unfold(follows, |mut follows| async move {
        let (id, event) = follows.next().await?;
        let told = Event::default().event(event.name).id(id).data(event.data.to_string());
        Some((Ok::<_, Infallible>(told), follows))
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
    wait: Option<f64>,
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
/// Each message is told once: the work goes on with it. With a token that may only read, what waits is shown and goes on
/// waiting.
#[utoipa::path(get, path = "/api/v1/scopes/{scope}/interrupts", tag = "events",
    params(("scope" = String, Path, description = "The scope, percent-encoded"), WaitQuery),
    responses((status = 200, description = "What was said", body = Interrupts)))]
pub(crate) async fn interrupts(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(scope): At<String>,
    Asked(query): Asked<WaitQuery>,
) -> Result<Json<Interrupts>, Problem> {
    let scope = body::scope_there(&caller, &scope)?;
    let wait = query.wait.unwrap_or(0.0);
    if !(0.0..=WAIT_MAX).contains(&wait) {
        return Err(Problem::wrong(format!("\"wait\" is a number of seconds from 0 to {WAIT_MAX}")));
    }
    // To take what was said changes where the task stands.
    let look = if caller.may(Right::Write).is_ok() { Look::Take } else { Look::Only };
    let tasks = Tasks::new(Arc::clone(&app.engine), scope.clone());
    let until = Instant::now() + Duration::from_secs_f64(wait);
    let (mut stopping, mut admission) = (app.stopping.clone(), app.admission(caller));
    let mut woken = app.hub.listen(&scope);
    loop {
        // Marked as seen before the log is read, so that nothing comes between unnoticed.
        woken.borrow_and_update();
        let heard = heard(&tasks, look).await?;
        if !heard.interrupts.is_empty() {
            return Ok(Json(heard));
        }
        let is_over = tokio::select! {
            woken = timeout_at(until, woken.changed()) => woken.is_err(),
            () = admission.ended() => return Err(Problem::unauthorized("the token is revoked or expired")),
            _ = stopping.wait_for(|stop| *stop) => true,
        };
        if is_over {
            return Ok(Json(heard));
        }
    }
}

/// What becomes of what was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    /// It is taken: the work goes on with it.
    Take,
    /// It goes on waiting.
    Only,
}

/// Finds what was said to the task that is at work, if there is one.
async fn heard(tasks: &Tasks, look: Look) -> Result<Interrupts, Problem> {
    let Some(session) = tasks.active_session().await? else {
        return Ok(Interrupts { state: "none".to_owned(), interrupts: Vec::new() });
    };
    let said = match look {
        Look::Take => session.look_for_interrupts().await?,
        Look::Only => session.waiting_interrupts().await?,
    };
    let interrupt = |one: segue_engine::tasks::Interruption| Interrupt { seq: one.message.0, text: one.text };
    let state = session.state().await?.name().to_owned();
    Ok(Interrupts { state, interrupts: said.into_iter().map(interrupt).collect() })
}
