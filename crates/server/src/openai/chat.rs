//! Chat completions.

use super::relay::{Relay, passed_on, through};
use super::reply::Reply;
use super::scope;
use super::sends::Sends;
use super::turn::{self, Asked, Next, Turn};
use super::upstream::{Api, Upstream, whole};
use super::{conversations, request_message, sse};
use crate::app::App;
use crate::auth::{Caller, Right};
use crate::body::Body;
use crate::idempotency::{self, Tells};
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
    let mut fields = Value::Object(fields);
    let messages = match fields.get("messages") {
        Some(Value::Array(messages)) if !messages.is_empty() => messages.clone(),
        _ => return Err(Problem::wrong("\"messages\" is a list with at least one message")),
    };
    let upstream = app.upstreams().find(fields.get("model").and_then(Value::as_str))?;
    let streams = fields.get("stream").and_then(Value::as_bool).unwrap_or(false);
    let asked_model = fields.get("model").and_then(Value::as_str).unwrap_or(&upstream.name).to_owned();
    let mut sends = Sends::Unsaid;
    let place = match scope::explicit(&app, &caller, &headers, &fields)? {
        Some(place) => Some(place),
        None => match conversations::named(&app, &caller, &fields).await? {
            Some(named) => {
                if named.is_kept {
                    sends = Sends::InConversation;
                }
                Some(named.scope.into())
            }
            None => scope::of_request(&app, &caller, &headers, &fields)?,
        },
    };
    caller.may(Right::Write)?;
    set(&mut fields, "model", upstream.model.clone().into());
    let Some(place) = place else { return through(&app, &upstream, Api::Chat, &fields, &headers).await };
    without_scope(&mut fields);
    // The endpoint knows nothing of our conversations.
    if let Value::Object(fields) = &mut fields {
        fields.remove("conversation");
    }
    let message_id = message_id(&headers, key)?;
    let said = request_message::of_chat(&messages)?;
    let usage = if streams { Usage::of_request(&mut fields) } else { Usage::Told };
    let asked = Asked { place, said, sends, message_id, previous: None };
    let turn = turn::begin(&app, &caller, asked).await?;
    // The message is kept by now: also an error tells where.
    let (marks, notices) = (turn.marks.clone(), app.serve().notices);
    let tells = Tells::Scope(turn.scope.clone(), turn.since);
    let answered = answer(&app, upstream, turn, fields, Wish { model: asked_model, streams, usage }).await;
    let mut response = answered.unwrap_or_else(Problem::into_response);
    marks.write(&mut response, notices);
    response.extensions_mut().get_or_insert(tells);
    Ok(response)
}

/// How the client wants its answer.
struct Wish {
    model: String,
    streams: bool,
    usage: Usage,
}

async fn answer(
    app: &Arc<App>,
    upstream: Arc<Upstream>,
    mut turn: Turn,
    mut fields: Value,
    wish: Wish,
) -> Result<Response, Problem> {
    let Wish { model, streams, usage } = wish;
    match &turn.next {
        Next::Answer(message) => {
            let value = completion(app, &model, message);
            return Ok(if streams { as_pieces(&value, usage) } else { Json(value).into_response() });
        }
        Next::AsSent => {}
        Next::Managed(messages) => set(&mut fields, "messages", messages.clone().into()),
    }
    let (answer, call) = upstream.send(Api::Chat, &fields, &HeaderMap::new(), app).await?;
    turn.called(app, call).await;
    let notices = app.serve().notices;
    if !answer.status().is_success() {
        return passed_on(answer).await;
    }
    if is_stream(&answer) {
        let pieces = ChatPieces { prefix: turn.prefix(notices), usage };
        return Ok(Relay::new(Arc::clone(app), upstream, turn).run(answer, pieces));
    }
    let value = finish(app, &upstream, &turn, answer, notices).await?;
    Ok(if streams { as_pieces(&value, usage) } else { Json(value).into_response() })
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
    // A call without a word stays one: what the client sends back must be what the model said.
    if let Some(prefix) = turn.prefix(notices).filter(|_| !reply.text.is_empty())
        && let Some(content) = value.pointer_mut("/choices/0/message/content")
    {
        *content = format!("{prefix}{}", content.as_str().unwrap_or_default()).into();
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
            self.count_tokens(&upstream.name, usage);
        }
        turn.call.whole(reply);
        let Some(message) = reply.message() else { return Ok(None) };
        if let Some(why) = self.too_long(message.bytes()) {
            return Err(Problem::upstream(why));
        }
        let outcome =
            self.reply(&turn.scope, turn.session, self.engine.now(), Role::Assistant, message).await?;
        Ok(outcome.seq.map(|seq| seq.0))
    }

    /// Tells why a reply of so many bytes cannot be kept, if it cannot.
    pub(crate) fn too_long(&self, bytes: usize) -> Option<String> {
        let bytes_max = self.engine.config().limits.message_bytes_max;
        (bytes > bytes_max).then(|| {
            format!("the model's reply is longer than {bytes_max} bytes, which is what a message may have")
        })
    }
}

/// Whether a client is told what a stream took. The endpoint is asked in any case: the usage is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Usage {
    Told,
    Untold,
}

impl Usage {
    /// Reads what the client asked for, and asks the endpoint for it.
    fn of_request(fields: &mut Value) -> Self {
        let mut options = fields.get("stream_options").filter(|options| options.is_object()).cloned();
        let options = options.get_or_insert_with(|| json!({}));
        let is_told = options.get("include_usage").and_then(Value::as_bool).unwrap_or(false);
        set(options, "include_usage", true.into());
        set(fields, "stream_options", options.clone());
        if is_told { Self::Told } else { Self::Untold }
    }
}

/// The pieces of a chat completion, on their way to the client.
pub(crate) struct ChatPieces {
    prefix: Option<String>,
    usage: Usage,
}

impl ChatPieces {
    /// Takes a piece and the text that it adds, and returns what goes to the client.
    pub(crate) fn pass(&mut self, value: &Value, text: &str) -> Vec<String> {
        let mut out = Vec::new();
        let has_choice = value.get("choices").and_then(Value::as_array).is_some_and(|list| !list.is_empty());
        let mut value = value.clone();
        if self.usage == Usage::Untold
            && let Value::Object(fields) = &mut value
            && fields.remove("usage").is_some_and(|usage| !usage.is_null())
            && !has_choice
        {
            return out;
        }
        if !text.is_empty()
            && let Some(prefix) = self.prefix.take()
        {
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

/// Makes an ordinary completion of what Segue itself answers, or of a reply that is in the log.
fn completion(app: &App, model: &str, message: &Message) -> Value {
    let call = |call: &ToolCall| {
        let function = json!({ "name": call.name, "arguments": call.arguments });
        json!({ "id": call.id, "type": "function", "function": function })
    };
    let calls: Vec<Value> = message.tool_calls.iter().map(call).collect();
    let finish = if calls.is_empty() { "stop" } else { "tool_calls" };
    let content = Some(&message.text).filter(|text| !text.is_empty() || calls.is_empty());
    let mut said = json!({ "role": "assistant", "content": content, "refusal": null });
    if !calls.is_empty() {
        set(&mut said, "tool_calls", calls.into());
    }
    json!({
        "id": format!("chatcmpl-{}", crate::ids::fresh().simple()),
        "object": "chat.completion",
        "created": app.engine.now().as_second(),
        "model": model,
        "choices": [{ "index": 0, "message": said, "logprobs": null, "finish_reason": finish }],
        "usage": usage(message),
    })
}

/// Tells what a message took: nothing, if no model said it.
fn usage(message: &Message) -> Value {
    let usage = message.usage.unwrap_or_default();
    let total = usage.tokens_in.saturating_add(usage.tokens_out);
    json!({ "prompt_tokens": usage.tokens_in, "completion_tokens": usage.tokens_out, "total_tokens": total })
}

/// Gives a whole completion piece by piece, to a client that asked for it so.
fn as_pieces(value: &Value, usage: Usage) -> Response {
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
    if usage == Usage::Told {
        let mut last = piece(json!({}), Value::Null);
        set(&mut last, "choices", json!([]));
        set(&mut last, "usage", value.get("usage").cloned().unwrap_or_default());
        text += &sse::written(None, &last.to_string());
    }
    text += &sse::written(None, "[DONE]");
    ([(CONTENT_TYPE, "text/event-stream")], text).into_response()
}
