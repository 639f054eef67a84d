//! What agents do with tasks.

use super::turns::refused;
use crate::app::App;
use crate::auth::{Caller, Right};
use crate::body::{self, At, Optional};
use crate::problem::Problem;
use axum::Json;
use axum::extract::State;
use segue_core::decision::Action;
use segue_engine::tasks::op::Op;
use serde::Serialize;
use serde_json::Value;
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
/// plan, relations, flush, compact or resume; the body has the fields that the same line of a replay has.
#[utoipa::path(post, path = "/api/v1/scopes/{scope}/task/{op}", tag = "tasks",
    params(("scope" = String, Path, description = "The scope, percent-encoded"),
        ("op" = String, Path, description = "The operation")),
    request_body = Option<Object>,
    responses((status = 200, description = "Where the task stands", body = TaskDone)))]
pub(crate) async fn act(
    State(app): State<Arc<App>>,
    caller: Caller,
    At((scope, op)): At<(String, String)>,
    Optional(fields): Optional<Value>,
) -> Result<Json<TaskDone>, Problem> {
    let scope = body::scope_there(&caller, &scope)?;
    caller.may(Right::Write)?;
    if !(fields.is_object() || fields.is_null()) {
        return Err(Problem::wrong("the body is an object"));
    }
    let op = Op::parse(&op, &fields).map_err(|error| Problem::wrong(error.to_string()))?;
    if !op.begins() {
        app.state(&scope).await?;
    }
    let to = segue_engine::Target::Scope(scope.clone());
    app.admit_scope(&caller, &to).await?;
    let begun = Instant::now();
    let outcome = Box::pin(op.run(&app.engine, &scope, app.engine.now())).await?;
    app.count(&outcome, begun);
    if outcome.action == Action::Refused {
        return Err(refused(&outcome));
    }
    Ok(Json(TaskDone {
        action: outcome.action.name().to_owned(),
        state: outcome.state.name().to_owned(),
        session: outcome.session_key().to_string(),
        session_id: outcome.session_id.map(|id| id.to_string()),
        seq: outcome.seq.map(|seq| seq.0),
        notice: outcome.notice.clone().or_else(|| outcome.reply.clone()),
    }))
}
