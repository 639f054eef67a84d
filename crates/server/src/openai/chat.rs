//! Chat completions.

use super::relay::{Relay, passed_on, through};
use super::reply::Reply;
use super::scope;
use super::turn::{self, Next, Sends, Turn};
use super::upstream::{Api, Upstream, whole};
use super::{conversations, said, sse};
use crate::app::App;
use crate::auth::{Caller, Right};
use crate::body::Body;
use crate::idempotency;
use crate::problem::Problem;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use segue_core::message::{Message, Role, ToolCall};
use segue_engine::config::Notices;
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// Answers a request for a chat completion.
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    key: Option<Extension<idempotency::Key>>,
    headers: HeaderMap,
    Body(fields): Body<Map<String, Value>>,
) -> Result<Response, Problem> {
    caller.may(Right::Write)?;
    let mut fields = Value::Object(fields);
    let messages = match fields.get("messages") {
        Some(Value::Array(messages)) if !messages.is_empty() => messages.clone(),
        _ => return Err(Problem::wrong("\"messages\" is a list with at least one message")),
    };
    let upstream = app.upstreams().find(fields.get("model").and_then(Value::as_str))?;
    let streams = fields.get("stream").and_then(Value::as_bool).unwrap_or(false);
    let asked_model = fields.get("model").and_then(Value::as_str).unwrap_or(&upstream.name).to_owned();
    let scope = match scope::explicit(&app, &caller, &headers, &fields)? {
        Some(scope) => Some(scope),
        None => match conversations::named(&app, &caller, &fields).await? {
            Some(scope) => Some(scope),
            None => scope::of_request(&app, &caller, &headers, &fields)?,
        },
    };
    set(&mut fields, "model", upstream.model.clone().into());
    let Some(scope) = scope else { return through(&app, &upstream, Api::Chat, &fields).await };
    without_scope(&mut fields);
    // The endpoint knows nothing of our conversations.
    if let Value::Object(fields) = &mut fields {
        fields.remove("conversation");
    }
    let message_id = message_id(&headers, key)?;
    let said = said::of_chat(&messages)?;
    let turn = turn::begin(&app, &caller, scope, said, Sends::Unsaid, message_id).await?;
    let notices = app.serve().notices;
    match &turn.next {
        Next::Answer(message) => {
            let mut response = own_answer(&app, &asked_model, message, streams);
            turn.marks.write(&mut response, notices);
            return Ok(response);
        }
        Next::AsSent => {}
        Next::Managed(messages) => set(&mut fields, "messages", messages.clone().into()),
    }
    let answer = upstream.send(Api::Chat, &fields, &app.metrics).await?;
    let marks = turn.marks.clone();
    let mut response = if !answer.status().is_success() {
        passed_on(answer).await?
    } else if is_stream(&answer) {
        let pieces = ChatPieces::new(turn.prefix(notices));
        Relay::new(Arc::clone(&app), Arc::clone(&upstream), turn).run(answer, pieces)
    } else {
        let value = finish(&app, &upstream, &turn, answer, notices).await?;
        if streams { as_pieces(&value) } else { Json(value).into_response() }
    };
    marks.write(&mut response, notices);
    Ok(response)
}

/// Reads the client's id of the message, by which a second delivery is recognised.
pub(crate) fn message_id(
    headers: &HeaderMap,
    key: Option<Extension<idempotency::Key>>,
) -> Result<Option<String>, Problem> {
    let given = scope::header(headers, "x-segue-message-id")?;
    Ok(given.or_else(|| key.map(|Extension(key)| key.message_id())))
}

pub(crate) fn set(fields: &mut Value, name: &str, value: Value) {
    if let Value::Object(fields) = fields {
        fields.insert(name.to_owned(), value);
    }
}

/// The scope is nobody's business but ours.
pub(crate) fn without_scope(fields: &mut Value) {
    let Value::Object(fields) = fields else { return };
    if let Some(Value::Object(metadata)) = fields.get_mut("metadata")
        && metadata.remove("segue_scope").is_some()
        && metadata.is_empty()
    {
        fields.remove("metadata");
    }
}

pub(crate) fn is_stream(answer: &reqwest::Response) -> bool {
    let kind = answer.headers().get("content-type").and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

/// Reads a whole completion, stores the reply, and puts the notice before it.
async fn finish(
    app: &App,
    upstream: &Upstream,
    turn: &Turn,
    answer: reqwest::Response,
    notices: Notices,
) -> Result<Value, Problem> {
    let bytes = whole(answer).await?;
    let no_completion = || Problem::upstream("the model's endpoint answered with no chat completion");
    let mut value: Value = serde_json::from_slice(&bytes).map_err(|_| no_completion())?;
    let reply = Reply::of_chat(&value).ok_or_else(no_completion)?;
    app.keep_reply(upstream, turn, &reply).await?;
    if let (Some(prefix), Some(content)) =
        (turn.prefix(notices), value.pointer_mut("/choices/0/message/content"))
    {
        let text = content.as_str().unwrap_or_default();
        *content = format!("{prefix}{text}").into();
    }
    Ok(value)
}

impl App {
    /// Stores the reply of a model. It is durable on return. Returns its place in the log.
    pub(crate) async fn keep_reply(
        &self,
        upstream: &Upstream,
        turn: &Turn,
        reply: &Reply,
    ) -> Result<Option<u64>, Problem> {
        if let Some(usage) = reply.usage {
            self.count_tokens(&upstream.name, usage.tokens_in, usage.tokens_out);
        }
        let Some(message) = reply.message() else { return Ok(None) };
        let outcome = self.reply(&turn.scope, turn.session, Role::Assistant, message).await?;
        Ok(outcome.seq.map(|seq| seq.0))
    }
}

/// The pieces of a chat completion, on their way to the client.
pub(crate) struct ChatPieces {
    prefix: Option<String>,
}

impl ChatPieces {
    fn new(prefix: Option<String>) -> Self {
        Self { prefix }
    }

    /// Takes a piece, and returns what goes to the client.
    pub(crate) fn pass(&mut self, value: &Value) -> Vec<String> {
        let mut out = Vec::new();
        let has_choice = value.get("choices").and_then(Value::as_array).is_some_and(|list| !list.is_empty());
        if has_choice && let Some(prefix) = self.prefix.take() {
            let mut first = value.clone();
            if let Some(choice) = first.pointer_mut("/choices/0") {
                *choice = json!({
                    "index": 0, "finish_reason": null, "delta": { "role": "assistant", "content": prefix },
                });
            }
            out.push(sse::written(None, &first.to_string()));
        }
        out.push(sse::written(None, &value.to_string()));
        out
    }
}

/// Answers for Segue itself, as an ordinary completion.
fn own_answer(app: &App, model: &str, message: &Message, streams: bool) -> Response {
    let value = completion(app, model, message);
    if streams { as_pieces(&value) } else { Json(value).into_response() }
}

fn completion(app: &App, model: &str, message: &Message) -> Value {
    let call = |call: &ToolCall| {
        let function = json!({ "name": call.name, "arguments": call.arguments });
        json!({ "id": call.id, "type": "function", "function": function })
    };
    let calls: Vec<Value> = message.tool_calls.iter().map(call).collect();
    let finish = if calls.is_empty() { "stop" } else { "tool_calls" };
    let mut said = json!({ "role": "assistant", "content": message.text, "refusal": null });
    if !calls.is_empty() {
        set(&mut said, "tool_calls", calls.into());
    }
    json!({
        "id": format!("chatcmpl-{}", crate::ids::fresh().simple()),
        "object": "chat.completion",
        "created": app.engine.now().as_second(),
        "model": model,
        "choices": [{ "index": 0, "message": said, "logprobs": null, "finish_reason": finish }],
        "usage": { "prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0 },
    })
}

/// Gives a whole completion piece by piece, to a client that asked for it so.
fn as_pieces(value: &Value) -> Response {
    let piece = |delta: Value, finish: Value| {
        json!({
            "id": value.get("id"), "object": "chat.completion.chunk", "created": value.get("created"),
            "model": value.get("model"),
            "choices": [{ "index": 0, "delta": delta, "logprobs": null, "finish_reason": finish }],
        })
    };
    let choice = value.pointer("/choices/0").cloned().unwrap_or_default();
    let mut delta = json!({
        "role": "assistant",
        "content": choice.pointer("/message/content").cloned().unwrap_or_default(),
    });
    if let Some(Value::Array(calls)) = choice.pointer("/message/tool_calls") {
        let numbered = calls.iter().enumerate().map(|(at, call)| {
            let mut call = call.clone();
            set(&mut call, "index", at.into());
            call
        });
        set(&mut delta, "tool_calls", numbered.collect());
    }
    let finish = choice.get("finish_reason").cloned().unwrap_or_else(|| "stop".into());
    let mut text = sse::written(None, &piece(delta, Value::Null).to_string());
    text += &sse::written(None, &piece(json!({}), finish).to_string());
    text += &sse::written(None, "[DONE]");
    ([(CONTENT_TYPE, "text/event-stream")], text).into_response()
}
