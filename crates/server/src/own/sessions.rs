//! Sessions of a scope.

use super::wire::{self, Moved, Page, Session};
use crate::app::App;
use crate::auth::{Caller, Right};
use crate::body::{self, Asked, At, Body, Optional};
use crate::idempotency::{self, AsOf, InScope};
use crate::problem::Problem;
use axum::extract::State;
use axum::{Extension, Json};
use segue_core::message::Message;
use segue_core::notice::Notice;
use segue_core::retention::KeepChoice;
use segue_core::session::{Number, Title};
use segue_core::state::State as ScopeState;
use segue_engine::pins::Repin;
use segue_engine::{Pick, Request};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// How many messages are shown with a session; the rest is at `.../messages`.
const MESSAGES_SHOWN: usize = 500;

/// Which sessions are asked for.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct SessionsQuery {
    /// Whether archived sessions are listed too.
    #[serde(default)]
    archived: Option<bool>,
    /// Where the page begins: `next` of the page before.
    #[serde(default)]
    cursor: Option<String>,
    /// How many at most.
    #[serde(default)]
    #[param(minimum = 1, maximum = 1_000_000)]
    limit: Option<usize>,
}

/// List the sessions of a scope
///
/// The newest first.
#[utoipa::path(get, path = "/api/v1/scopes/{scope}/sessions", tag = "sessions",
    params(("scope" = String, Path, description = "The scope, percent-encoded"), SessionsQuery),
    responses((status = 200, description = "A page of sessions", body = Page<Session>)))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(scope): At<String>,
    Asked(query): Asked<SessionsQuery>,
) -> Result<Json<Page<Session>>, Problem> {
    let scope = body::scope_there(&caller, &scope)?;
    let limit = wire::limit(query.limit)?;
    let before: Option<u64> = match query.cursor.as_deref() {
        None => None,
        Some(cursor) => Some(wire::cursor(cursor)?),
    };
    let state = app.state(&scope).await?;
    let numbers = session_numbers(&state, query.archived);
    let mut behind =
        numbers.into_iter().filter(|number| before.is_none_or(|before| u64::from(number.0) < before));
    let mut items = Vec::new();
    for number in behind.by_ref().take(limit) {
        items.push(Session::of(&app.engine.describe(&state, number).await?));
    }
    let next = items.last().map(|last: &Session| last.index.to_string()).filter(|_| behind.next().is_some());
    Ok(Json(Page { items, next }))
}

/// Lists the numbers of a scope's sessions, newest first.
fn session_numbers(state: &ScopeState, archived: Option<bool>) -> Vec<Number> {
    match archived {
        Some(true) => state.all().map(|(number, _)| number).collect(),
        Some(false) | None => state.list().map(|(number, _)| number).collect(),
    }
}

/// The first message of a new session.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct FirstMessage {
    /// What is said.
    #[serde(default)]
    text: Option<String>,
}

/// Begin a session
///
/// What `/new` does, with what stands behind it.
#[utoipa::path(post, path = "/api/v1/scopes/{scope}/sessions", tag = "sessions",
    params(("scope" = String, Path, description = "The scope, percent-encoded")),
    request_body = Option<FirstMessage>,
    responses((status = 200, description = "The new session", body = Moved)))]
pub(crate) async fn begin(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(scope): At<String>,
    key: Option<Extension<idempotency::Key>>,
    Optional(first): Optional<FirstMessage>,
) -> Result<InScope<Json<Moved>>, Problem> {
    let scope = body::scope_there(&caller, &scope)?;
    caller.may(Right::Write)?;
    let to = segue_engine::Target::Scope(scope.clone());
    let is_new_scope = app.admit_scope(&caller, &to).await?;
    let bytes_max = app.engine.config().limits.message_bytes_max;
    let mut as_of = AsOf::now(&app, &scope, key.as_ref()).await?;
    let by = key.map(|Extension(key)| key.command("new"));
    let message_id = by.as_ref().map(|by| by.id.clone());
    let first = first.text.map(|text| Message { text, message_id, ..Message::default() });
    if let Some(message) = &first {
        if message.text.trim().is_empty() {
            return Err(Problem::wrong("the first message is empty").hint("leave \"text\" out"));
        }
        if message.bytes() > bytes_max {
            return Err(Problem::too_large(format!("a message has at most {bytes_max} bytes")));
        }
    }
    let outcome = app.request_as(&scope, &Request::New(first), by).await?;
    as_of.behind(&app, &outcome).await;
    app.begun_scope(&caller, is_new_scope).await;
    Ok(as_of.answer(Json(Moved::of(&outcome))))
}

/// A session with all that belongs to it.
#[derive(Debug, Serialize, ToSchema)]
pub struct WholeSession {
    /// The session.
    #[serde(flatten)]
    session: Session,
    /// The agent that it is held to.
    active_agent: Option<String>,
    /// The skills that it began with.
    #[schema(value_type = Object)]
    skill_snapshot: Value,
    /// The persona that it began with.
    #[schema(value_type = Object)]
    persona: Value,
    /// The model that answers in it.
    #[schema(value_type = Object)]
    model_config: Value,
    /// The segments that it is made of.
    segments: Vec<Segment>,
    /// Its newest messages, in order.
    conversation_state: Vec<wire::Message>,
}

/// A segment of a session.
#[derive(Debug, Serialize, ToSchema)]
pub struct Segment {
    /// Its name.
    id: String,
    /// Whether it is sealed, and can never change.
    sealed: bool,
    /// The digest of its entries.
    digest: Option<String>,
}

/// Show a session
#[utoipa::path(get, path = "/api/v1/scopes/{scope}/sessions/{n}", tag = "sessions",
    params(("scope" = String, Path, description = "The scope, percent-encoded"),
        ("n" = u32, Path, description = "The session's number")),
    responses((status = 200, description = "The session", body = WholeSession)))]
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    caller: Caller,
    At((scope, n)): At<(String, u32)>,
) -> Result<Json<WholeSession>, Problem> {
    let scope = body::scope_there(&caller, &scope)?;
    let (state, number) = app.session(&scope, n).await?;
    whole(&app, &state, number).await.map(Json)
}

async fn whole(app: &App, state: &ScopeState, number: Number) -> Result<WholeSession, Problem> {
    let listed = app.engine.describe(state, number).await?;
    let messages = app.engine.messages(state, number, MESSAGES_SHOWN).await?;
    // What a session is held to may be damaged; the session is shown all the same.
    let pinned = match app.engine.pinned(state, number).await {
        Ok(pinned) => super::context::pins(&pinned),
        Err(error) => {
            tracing::warn!(%error, "what a session is pinned to cannot be read");
            super::context::no_pins()
        }
    };
    let view = state.view(number);
    let segment = |span: &segue_core::span::Span| {
        let sealed = state.segments.get(&span.segment).map(|sealed| sealed.digest);
        let open = || state.open.as_ref().filter(|open| open.number == span.segment).map(|open| open.digest);
        Segment {
            id: wire::segment_name(&state.scope, span.segment),
            sealed: sealed.is_some(),
            digest: sealed.or_else(open).map(|digest| digest.to_string()),
        }
    };
    Ok(WholeSession {
        session: Session::of(&listed),
        active_agent: pinned.agent,
        skill_snapshot: pinned.skills,
        persona: pinned.persona,
        model_config: pinned.model,
        segments: view.iter().map(segment).collect(),
        conversation_state: messages.iter().map(wire::Message::of).collect(),
    })
}

/// What is to change about a session.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Change {
    /// Its title.
    #[serde(default)]
    title: Option<String>,
    /// Whether it is kept, whatever its age.
    #[serde(default)]
    kept: Option<bool>,
    /// The agent that it is held to.
    #[serde(default)]
    agent: Option<String>,
    /// The model that answers in it.
    #[serde(default)]
    model: Option<String>,
}

/// Change a session
#[utoipa::path(patch, path = "/api/v1/scopes/{scope}/sessions/{n}", tag = "sessions",
    params(("scope" = String, Path, description = "The scope, percent-encoded"),
        ("n" = u32, Path, description = "The session's number")),
    request_body = Change,
    responses((status = 200, description = "The session as it is now", body = WholeSession)))]
pub(crate) async fn change(
    State(app): State<Arc<App>>,
    caller: Caller,
    At((scope, n)): At<(String, u32)>,
    Body(change): Body<Change>,
) -> Result<Json<WholeSession>, Problem> {
    let scope = body::scope_there(&caller, &scope)?;
    caller.may(Right::Write)?;
    let (_, number) = app.session(&scope, n).await?;
    let pick = Pick::Numbered(number);
    let mut requests = Vec::new();
    if let Some(title) = change.title {
        let title = Title::new(&title).ok_or_else(|| Problem::wrong("a title is not empty"))?;
        requests.push(Request::Rename(pick, title));
    }
    if let Some(kept) = change.kept {
        requests.push(Request::KeepChoice(pick, if kept { KeepChoice::Keep } else { KeepChoice::Release }));
    }
    if let Some(agent) = change.agent {
        requests.push(Request::Pin(pick, Repin::Agent(agent)));
    }
    if let Some(model) = change.model {
        requests.push(Request::Pin(pick, Repin::Model(model)));
    }
    // All or nothing: what would be refused is found before anything is done.
    for request in &requests {
        if let Some(why) = app.engine.would_refuse(&scope, app.now_in(&scope), request).await? {
            return Err(Problem::refused(why));
        }
    }
    for request in &requests {
        app.request(&scope, request).await?;
    }
    let (state, number) = app.session(&scope, n).await?;
    whole(&app, &state, number).await.map(Json)
}

/// Delete a session
///
/// The latest one cannot be deleted. The answer is the session as it was, and whether nothing of it is left.
#[utoipa::path(delete, path = "/api/v1/scopes/{scope}/sessions/{n}", tag = "sessions",
    params(("scope" = String, Path, description = "The scope, percent-encoded"),
        ("n" = u32, Path, description = "The session's number")),
    responses((status = 200, description = "The session as it was", body = DeletedSession)))]
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    caller: Caller,
    At((scope, n)): At<(String, u32)>,
) -> Result<Json<DeletedSession>, Problem> {
    let scope = body::scope_there(&caller, &scope)?;
    caller.may(Right::Write)?;
    let (state, number) = app.session(&scope, n).await?;
    let session = whole(&app, &state, number).await?;
    let outcome = app.request(&scope, &Request::Delete(Pick::Numbered(number))).await?;
    let finished = outcome.also != Some(Notice::Unfinished);
    Ok(Json(DeletedSession { session, finished }))
}

/// A session that was deleted.
#[derive(Debug, Serialize, ToSchema)]
pub struct DeletedSession {
    /// The session as it was.
    #[serde(flatten)]
    session: WholeSession,
    /// Whether no byte of it is left in the store's files. If something is in the way, that is finished later.
    finished: bool,
}
