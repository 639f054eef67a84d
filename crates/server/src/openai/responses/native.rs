//! Endpoints that speak responses themselves.

use super::build::Building;
use super::keeper::Keeper;
use crate::openai::chat::{is_stream, set};
use crate::openai::relay::{Ended, Events, Sink};
use crate::openai::reply::{Reply, model_of, usage_of_response};
use crate::openai::request_message::{RequestMessage, of_chat, of_items, to_items};
use crate::openai::sse::written;
use crate::openai::upstream::whole;
use crate::problem::Problem;
use axum::Json;
use axum::response::{IntoResponse as _, Response};
use segue_core::message::Role;
use serde_json::{Map, Value};

/// Makes the request: as it was sent, or with the context of Segue. What only we know of is left out.
pub(crate) fn request(fields: &Value, model: &str, managed: Option<Vec<Value>>) -> Result<Value, Problem> {
    let mut fields = fields.clone();
    set(&mut fields, "model", model.into());
    if let Some(messages) = managed {
        let said: Vec<RequestMessage> = of_chat(&messages)?;
        let items = said.iter().flat_map(|said| {
            let items = to_items(said.role, &said.message, "0");
            items.into_iter().map(|item| without_id(item, said.role))
        });
        set(&mut fields, "input", items.collect());
        if let Value::Object(fields) = &mut fields {
            fields.remove("previous_response_id");
            fields.remove("conversation");
        }
    }
    Ok(fields)
}

/// The ids of our items mean nothing to the endpoint.
fn without_id(item: Value, _role: Role) -> Value {
    match item {
        Value::Object(fields) => {
            let keep = |(name, _): &(String, Value)| name != "id" && name != "status";
            Value::Object(fields.into_iter().filter(keep).collect::<Map<_, _>>())
        }
        other => other,
    }
}

/// Reads the reply of a whole response; nothing if it is none, or not whole.
fn reply_of(response: &Value) -> Option<Reply> {
    let status = response.get("status").and_then(Value::as_str).unwrap_or("completed");
    let output = response.get("output")?.as_array()?;
    if !matches!(status, "completed" | "incomplete") {
        return None;
    }
    let mut reply = Reply::default();
    reply.usage = usage_of_response(response);
    reply.model = model_of(response);
    reply.finish = Some("stop".to_owned());
    for said in of_items(output).ok()? {
        if said.role == Role::Assistant {
            reply.add(&said.message);
        }
    }
    Some(reply)
}

/// What the client is shown of an endpoint's response: our ids, and the notice before the first text.
struct Shown {
    building: Building,
    prefix: Option<String>,
    /// The item that begins with the notice.
    first: Option<Value>,
}

impl Shown {
    fn new(mut building: Building) -> Self {
        let prefix = building.take_prefix();
        Self { building, prefix, first: None }
    }

    /// Changes a whole response.
    fn response(&self, response: &mut Value) {
        self.building.adopt(response);
        let items = response.get_mut("output").and_then(Value::as_array_mut).into_iter().flatten();
        let message = items.into_iter().find(|item| is_message(item));
        if let Some(text) = message.and_then(|item| item.pointer_mut("/content/0/text")) {
            self.put_before(text);
        }
    }

    /// Changes an event.
    fn event(&mut self, kind: &str, value: &mut Value) {
        if let Some(response) = value.get_mut("response") {
            return self.response(response);
        }
        if self.prefix.is_none() {
            return;
        }
        let id = value.get("item_id").or_else(|| value.pointer("/item/id")).cloned();
        if kind == "response.output_text.delta" && self.first.is_none() {
            self.first = id;
            if let Some(text) = value.get_mut("delta") {
                self.put_before(text);
            }
            return;
        }
        let place = match kind {
            "response.output_text.done" => "/text",
            "response.content_part.done" => "/part/text",
            "response.output_item.done" => "/item/content/0/text",
            _ => return,
        };
        if id.is_some()
            && id == self.first
            && let Some(text) = value.pointer_mut(place)
        {
            self.put_before(text);
        }
    }

    fn put_before(&self, text: &mut Value) {
        if let (Some(prefix), Some(said)) = (&self.prefix, text.as_str()) {
            *text = format!("{prefix}{said}").into();
        }
    }
}

fn is_message(item: &Value) -> bool {
    item.get("type").and_then(Value::as_str) == Some("message")
}

/// Relays a response, whole or piece by piece, and stores the reply before the client is told that it is complete.
pub(crate) async fn relay(
    answer: reqwest::Response,
    building: Building,
    keeper: Keeper,
) -> Result<Response, Problem> {
    let shown = Shown::new(building);
    if is_stream(&answer) {
        let (sink, response) = keeper.sink();
        tokio::spawn(pieces(answer, shown, keeper, sink));
        return Ok(response);
    }
    let bytes = whole(answer).await?;
    let no_response = || Problem::upstream("the model's endpoint answered with no response");
    let mut value: Value = serde_json::from_slice(&bytes).map_err(|_| no_response())?;
    let reply = reply_of(&value);
    shown.response(&mut value);
    if let Some(reply) = reply {
        keeper.keep(&reply, &value).await?;
    }
    Ok(Json(value).into_response())
}

async fn pieces(answer: reqwest::Response, mut shown: Shown, keeper: Keeper, sink: Sink) {
    let mut events = Events::new(answer);
    let (mut is_over, mut bytes) = (false, 0);
    let why = loop {
        let event = match events.next(&sink).await {
            Ok(Some(event)) => event,
            Ok(None) | Err(Ended::Done) if is_over => return,
            Ok(None) | Err(Ended::Done) => {
                break "the model's endpoint stopped before its answer was whole".to_owned();
            }
            Err(Ended::HungUp) => return,
            Err(Ended::Broke(_)) if is_over => return,
            Err(Ended::Broke(why)) => break why,
        };
        if event.data.trim() == "[DONE]" {
            continue;
        }
        let Ok(mut value) = serde_json::from_str::<Value>(&event.data) else {
            break "the model's endpoint sent what is no response".to_owned();
        };
        let kind = value.get("type").and_then(Value::as_str).unwrap_or_default().to_owned();
        let ends = matches!(kind.as_str(), "response.completed" | "response.incomplete" | "response.failed");
        let reply = value.get("response").filter(|_| ends).and_then(reply_of);
        // What is shown is kept: a reply that cannot be is none.
        if kind.ends_with(".delta") && !kind.contains("reasoning") {
            bytes += value.get("delta").and_then(Value::as_str).map_or(0, str::len);
        }
        let bytes = reply.as_ref().map_or(bytes, Reply::bytes);
        if let Some(why) = keeper.too_long(bytes) {
            break why;
        }
        shown.event(&kind, &mut value);
        if ends && let Some(response) = value.get("response") {
            is_over = true;
            match reply {
                Some(reply) => {
                    if let Err(problem) = keeper.keep(&reply, response).await {
                        break problem.detail().to_owned();
                    }
                }
                None => keeper.failed(response).await,
            }
        }
        if !sink.send(written(event.name.as_deref(), &value.to_string())).await {
            return;
        }
    };
    let failed = shown.building.fail(&why);
    keeper.failed(shown.building.response()).await;
    sink.send(failed).await;
}
