//! Requests that belong to no scope. Nothing is stored.

use super::build::Building;
use super::from_chat::from_chat;
use super::keeper::Keeper;
use super::translate;
use crate::app::App;
use crate::idempotency::Tells;
use crate::openai::chat::set;
use crate::openai::relay::{REQUEST_ENDS, passed_on, passing, streamed_through, through};
use crate::openai::request_message;
use crate::openai::upstream::{Api, Upstream};
use crate::problem::Problem;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::Value;

/// Passes a request on as it is, to an endpoint that speaks responses; else it is translated.
pub(crate) async fn pass(
    app: &App,
    upstream: &Upstream,
    fields: &Value,
    model: &str,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    if upstream.api_for_responses() == Api::Responses {
        let mut sent = fields.clone();
        set(&mut sent, "model", upstream.model.clone().into());
        if !upstream.may_speak_other() {
            return through(app, upstream, Api::Responses, &sent, headers).await;
        }
        let (answer, call) =
            upstream.send(Api::Responses, &sent, &passing(headers, &REQUEST_ENDS), app).await?;
        if !is_missing(&answer) {
            upstream.learn_from(Api::Responses, &answer);
            return Ok(streamed_through(answer, call));
        }
    }
    let flag = |field: &str| fields.get(field).and_then(Value::as_bool).unwrap_or(false);
    let streams = flag("stream");
    if flag("background") {
        let problem = Problem::wrong("a response in the background belongs to a scope");
        return Err(problem.hint("send \"user\""));
    }
    if let Some(id) = fields.get("previous_response_id").and_then(Value::as_str) {
        return Err(Problem::not_found(format!("there is no response {id:?}")));
    }
    let said = request_message::of_input(fields.get("input").unwrap_or(&Value::Null))?;
    let chat = translate::request(fields, &upstream.model, &said, None);
    let (answer, call) = upstream.send(Api::Chat, &chat, &passing(headers, &REQUEST_ENDS), app).await?;
    if !answer.status().is_success() {
        return passed_on(answer).await;
    }
    upstream.learn_from(Api::Chat, &answer);
    let custom = translate::custom_tools(fields);
    let id = crate::ids::fresh().simple().to_string();
    let building = Building::new(fields, model, &id, app.engine.now().as_second(), None, custom);
    let mut response = from_chat(answer, building, streams, Keeper::Nobody(call)).await?;
    response.extensions_mut().insert(Tells::Private);
    Ok(response)
}

/// Tells whether an endpoint does not have an interface.
pub(crate) fn is_missing(answer: &reqwest::Response) -> bool {
    matches!(
        answer.status(),
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_IMPLEMENTED
    )
}
