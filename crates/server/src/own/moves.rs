//! What moves sessions: resume, fork, restore, undo, redo, split, and answers to questions.

use super::wire::Moved;
use crate::app::App;
use crate::auth::{Caller, Right};
use crate::body::{self, At, Body, Optional};
use crate::problem::Problem;
use axum::Json;
use axum::extract::State;
use segue_core::entry::Seq;
use segue_core::observed::Answer;
use segue_engine::{Pick, Request};
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;

type Done = Result<Json<Moved>, Problem>;

/// Where a session is cut.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ForkAt {
    /// The last message that is taken along; all of them if nothing is said.
    #[serde(default)]
    at: Option<u64>,
}

/// Where a session is split.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SplitAt {
    /// The message that begins the new session.
    at: u64,
}

/// An answer to the question that is open.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAnswer {
    /// One of the question's options: continue, fresh or older.
    #[schema(pattern = "^(continue|fresh|older)$")]
    answer: String,
}

async fn of_session(
    app: &App,
    caller: &Caller,
    scope: &str,
    n: u32,
    request: impl FnOnce(Pick) -> Request,
) -> Done {
    let scope = body::scope_there(caller, scope)?;
    caller.may(Right::Write)?;
    let (_, number) = app.session(&scope, n).await?;
    let outcome = app.request(&scope, &request(Pick::Numbered(number))).await?;
    Ok(Json(Moved::of(&outcome)))
}

async fn of_scope(app: &App, caller: &Caller, scope: &str, request: &Request) -> Done {
    let scope = body::scope_there(caller, scope)?;
    caller.may(Right::Write)?;
    app.state(&scope).await?;
    let outcome = app.request(&scope, request).await?;
    Ok(Json(Moved::of(&outcome)))
}

/// Make a session the latest one again
#[utoipa::path(post, path = "/api/v1/scopes/{scope}/sessions/{n}/resume", tag = "sessions",
    params(("scope" = String, Path, description = "The scope, percent-encoded"),
        ("n" = u32, Path, description = "The session's number")),
    responses((status = 200, description = "What was done", body = Moved)))]
pub(crate) async fn resume(
    State(app): State<Arc<App>>,
    caller: Caller,
    At((scope, n)): At<(String, u32)>,
) -> Done {
    of_session(&app, &caller, &scope, n, Request::Resume).await
}

/// Begin a session with another one's past
#[utoipa::path(post, path = "/api/v1/scopes/{scope}/sessions/{n}/fork", tag = "sessions",
    params(("scope" = String, Path, description = "The scope, percent-encoded"),
        ("n" = u32, Path, description = "The session's number")),
    request_body = Option<ForkAt>,
    responses((status = 200, description = "What was done", body = Moved)))]
pub(crate) async fn fork(
    State(app): State<Arc<App>>,
    caller: Caller,
    At((scope, n)): At<(String, u32)>,
    Optional(fork): Optional<ForkAt>,
) -> Done {
    of_session(&app, &caller, &scope, n, |pick| Request::Fork(pick, fork.at.map(Seq))).await
}

/// Bring an archived session back
#[utoipa::path(post, path = "/api/v1/scopes/{scope}/sessions/{n}/restore", tag = "sessions",
    params(("scope" = String, Path, description = "The scope, percent-encoded"),
        ("n" = u32, Path, description = "The session's number")),
    responses((status = 200, description = "What was done", body = Moved)))]
pub(crate) async fn restore(
    State(app): State<Arc<App>>,
    caller: Caller,
    At((scope, n)): At<(String, u32)>,
) -> Done {
    of_session(&app, &caller, &scope, n, Request::Restore).await
}

/// Take back the last boundary
#[utoipa::path(post, path = "/api/v1/scopes/{scope}/undo", tag = "sessions",
    params(("scope" = String, Path, description = "The scope, percent-encoded")),
    responses((status = 200, description = "What was done", body = Moved)))]
pub(crate) async fn undo(State(app): State<Arc<App>>, caller: Caller, At(scope): At<String>) -> Done {
    of_scope(&app, &caller, &scope, &Request::Undo).await
}

/// Do again what was taken back
#[utoipa::path(post, path = "/api/v1/scopes/{scope}/redo", tag = "sessions",
    params(("scope" = String, Path, description = "The scope, percent-encoded")),
    responses((status = 200, description = "What was done", body = Moved)))]
pub(crate) async fn redo(State(app): State<Arc<App>>, caller: Caller, At(scope): At<String>) -> Done {
    of_scope(&app, &caller, &scope, &Request::Redo).await
}

/// Move what was said from a message on to a new session
#[utoipa::path(post, path = "/api/v1/scopes/{scope}/split", tag = "sessions",
    params(("scope" = String, Path, description = "The scope, percent-encoded")),
    request_body = SplitAt,
    responses((status = 200, description = "What was done", body = Moved)))]
pub(crate) async fn split(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(scope): At<String>,
    Body(split): Body<SplitAt>,
) -> Done {
    of_scope(&app, &caller, &scope, &Request::Split(Seq(split.at))).await
}

/// Answer the question that is open
#[utoipa::path(post, path = "/api/v1/scopes/{scope}/answer", tag = "sessions",
    params(("scope" = String, Path, description = "The scope, percent-encoded")),
    request_body = NewAnswer,
    responses((status = 200, description = "What was done", body = Moved)))]
pub(crate) async fn answer(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(scope): At<String>,
    Body(new): Body<NewAnswer>,
) -> Done {
    let answer = Answer::named(&new.answer).ok_or_else(|| {
        Problem::wrong(format!("there is no answer {:?}", new.answer)).hint("it is continue, fresh or older")
    })?;
    of_scope(&app, &caller, &scope, &Request::Answer(answer)).await
}
