//! What agents do with tasks.

use super::messages::time_stamp;
use super::turns::refused;
use crate::app::App;
use crate::auth::{Caller, Right};
use crate::body::{self, At, Optional};
use crate::idempotency::{self, AsOf, InScope};
use crate::problem::Problem;
use axum::extract::State;
use axum::{Extension, Json};
use segue_core::decision::Action;
use segue_engine::tasks::op::Op;
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;
use tokio::time::Instant;
use utoipa::ToSchema;

/// Where a task stands.
#[derive(Debug, Serialize, ToSchema)]
pub struct TaskDone {
    /// What was done.
    action: String,
    /// Where the task stands now: running, awaiting_user, ...
    state: String,
    /// The session.
    session: String,
    /// The session's id.
    session_id: Option<String>,
    /// What was written.
    seq: Option<u64>,
    /// What to tell the person.
    notice: Option<String>,
}

/// Do something with a task
///
/// `op` is start, ask, respond, finish, confirm, interrupt, incorporate, abort, note, file_read, file_write, command,
/// plan, relations, flush, compact or resume; the body has the fields that the same line of a replay has, `at` included.
#[utoipa::path(post, path = "/api/v1/scopes/{scope}/task/{op}", tag = "tasks",
    params(("scope" = String, Path, description = "The scope, percent-encoded"),
        ("op" = String, Path, description = "The operation")),
    request_body = Option<Object>,
    responses((status = 200, description = "Where the task stands", body = TaskDone)))]
pub(crate) async fn act(
    State(app): State<Arc<App>>,
    caller: Caller,
    At((scope, name)): At<(String, String)>,
    key: Option<Extension<idempotency::Key>>,
    Optional(mut fields): Optional<Map<String, Value>>,
) -> Result<InScope<Json<TaskDone>>, Problem> {
    let scope = body::scope_there(&caller, &scope)?;
    caller.may(Right::Write)?;
    let given = match fields.remove("at").filter(|at| !at.is_null()) {
        Some(Value::String(at)) => Some(time_stamp(&at)?),
        Some(_) => return Err(Problem::wrong("\"at\" is no time stamp")),
        None => None,
    };
    let op = Op::parse_strictly(&name, &Value::Object(fields))
        .map_err(|error| Problem::wrong(error.to_string()))?;
    if !op.begins() {
        app.state(&scope).await?;
    }
    let to = segue_engine::Target::Scope(scope.clone());
    let is_new_scope = app.admit_scope(&caller, &to).await?;
    if given.is_some() {
        app.clocks.note(&scope, given, app.engine.now());
    }
    let at = given.unwrap_or_else(|| app.now_in(&scope));
    let mut as_of = AsOf::now(&app, &scope, key.as_ref()).await?;
    let by = key.map(|Extension(key)| key.command(format!("task {name}")));
    let begun = Instant::now();
    let outcome = Box::pin(op.run_as(&app.engine, &scope, at, by)).await?;
    app.count(&outcome, begun);
    as_of.behind(&app, &outcome).await;
    app.begun_scope(&caller, is_new_scope).await;
    if outcome.action == Action::Refused {
        return Err(refused(&outcome));
    }
    Ok(as_of.answer(Json(TaskDone {
        action: outcome.action.name().to_owned(),
        state: outcome.state.name().to_owned(),
        session: outcome.session_key().to_string(),
        session_id: outcome.session_id.map(|id| id.to_string()),
        seq: outcome.seq.map(|seq| seq.0),
        notice: outcome.notice.clone().or_else(|| outcome.reply.clone()),
    })))
}
