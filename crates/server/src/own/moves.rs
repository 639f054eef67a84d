//! What moves sessions: resume, fork, restore, undo, redo, split, and answers to questions.

use super::wire::Moved;
use crate::app::App;
use crate::auth::{Caller, Right};
use crate::body::{self, At, Body, Optional};
use crate::idempotency::{self, AsOf, InScope};
use crate::problem::Problem;
use axum::extract::State;
use axum::{Extension, Json};
use segue_core::entry::Seq;
use segue_core::observed::Answer;
use segue_core::scope;
use segue_engine::{Pick, Request};
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;

type Done = Result<InScope<Json<Moved>>, Problem>;

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
    answer: String,
}

/// A body that says nothing.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Nothing {}

/// Who asks for a move, and under which key.
struct Mover {
    app: Arc<App>,
    caller: Caller,
    key: Option<Extension<idempotency::Key>>,
}

impl Mover {
    async fn of_session(
        self,
        scope: &str,
        n: u32,
        verb: &str,
        request: impl FnOnce(Pick) -> Request,
    ) -> Done {
        let scope = body::scope_there(&self.caller, scope)?;
        self.caller.may(Right::Write)?;
        let (_, number) = self.app.session(&scope, n).await?;
        self.done(&scope, &format!("{verb} {n}"), &request(Pick::Numbered(number))).await
    }

    async fn of_scope(self, scope: &str, verb: &str, request: &Request) -> Done {
        let scope = body::scope_there(&self.caller, scope)?;
        self.caller.may(Right::Write)?;
        self.app.state(&scope).await?;
        self.done(&scope, verb, request).await
    }

    async fn done(self, scope: &scope::Key, text: &str, request: &Request) -> Done {
        let mut as_of = AsOf::now(&self.app, scope, self.key.as_ref()).await?;
        let by = self.key.map(|Extension(key)| key.command(text));
        let outcome = self.app.request_as(scope, request, by).await?;
        as_of.behind(&self.app, &outcome).await;
        Ok(as_of.answer(Json(Moved::of(&outcome))))
    }
}

/// Make a session the latest one again
#[utoipa::path(post, path = "/api/v1/scopes/{scope}/sessions/{n}/resume", tag = "sessions",
    params(("scope" = String, Path, description = "The scope, percent-encoded"),
        ("n" = u32, Path, description = "The session's number")),
    request_body = Option<Nothing>,
    responses((status = 200, description = "What was done", body = Moved)))]
pub(crate) async fn resume(
    State(app): State<Arc<App>>,
    caller: Caller,
    At((scope, n)): At<(String, u32)>,
    key: Option<Extension<idempotency::Key>>,
    Optional(Nothing {}): Optional<Nothing>,
) -> Done {
    Mover { app, caller, key }.of_session(&scope, n, "resume", Request::Resume).await
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
    key: Option<Extension<idempotency::Key>>,
    Optional(fork): Optional<ForkAt>,
) -> Done {
    let request = |pick| Request::Fork(pick, fork.at.map(Seq));
    Mover { app, caller, key }.of_session(&scope, n, "fork", request).await
}

/// Bring an archived session back
#[utoipa::path(post, path = "/api/v1/scopes/{scope}/sessions/{n}/restore", tag = "sessions",
    params(("scope" = String, Path, description = "The scope, percent-encoded"),
        ("n" = u32, Path, description = "The session's number")),
    request_body = Option<Nothing>,
    responses((status = 200, description = "What was done", body = Moved)))]
pub(crate) async fn restore(
    State(app): State<Arc<App>>,
    caller: Caller,
    At((scope, n)): At<(String, u32)>,
    key: Option<Extension<idempotency::Key>>,
    Optional(Nothing {}): Optional<Nothing>,
) -> Done {
    Mover { app, caller, key }.of_session(&scope, n, "restore", Request::Restore).await
}

/// Take back the last boundary
#[utoipa::path(post, path = "/api/v1/scopes/{scope}/undo", tag = "sessions",
    params(("scope" = String, Path, description = "The scope, percent-encoded")),
    request_body = Option<Nothing>,
    responses((status = 200, description = "What was done", body = Moved)))]
pub(crate) async fn undo(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(scope): At<String>,
    key: Option<Extension<idempotency::Key>>,
    Optional(Nothing {}): Optional<Nothing>,
) -> Done {
    Mover { app, caller, key }.of_scope(&scope, "undo", &Request::Undo).await
}

/// Do again what was taken back
#[utoipa::path(post, path = "/api/v1/scopes/{scope}/redo", tag = "sessions",
    params(("scope" = String, Path, description = "The scope, percent-encoded")),
    request_body = Option<Nothing>,
    responses((status = 200, description = "What was done", body = Moved)))]
pub(crate) async fn redo(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(scope): At<String>,
    key: Option<Extension<idempotency::Key>>,
    Optional(Nothing {}): Optional<Nothing>,
) -> Done {
    Mover { app, caller, key }.of_scope(&scope, "redo", &Request::Redo).await
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
    key: Option<Extension<idempotency::Key>>,
    Body(split): Body<SplitAt>,
) -> Done {
    Mover { app, caller, key }.of_scope(&scope, "split", &Request::Split(Seq(split.at))).await
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
    key: Option<Extension<idempotency::Key>>,
    Body(new): Body<NewAnswer>,
) -> Done {
    let answer = Answer::named(&new.answer).ok_or_else(|| {
        Problem::wrong(format!("there is no answer {:?}", new.answer)).hint("it is continue, fresh or older")
    })?;
    Mover { app, caller, key }.of_scope(&scope, "answer", &Request::Answer(answer)).await
}
