//! A response that is put together, and the events that tell of it: the names and the order are OpenAI's.

use crate::openai::chat::set;
use crate::openai::reply::Delta;
use crate::openai::sse::written;
use segue_core::message::Usage;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Fields of the request that a response repeats, and what they are if nothing was said.
pub(super) fn repeated() -> [(&'static str, Value); 13] {
    [
        ("instructions", Value::Null),
        ("max_output_tokens", Value::Null),
        ("metadata", json!({})),
        ("parallel_tool_calls", json!(true)),
        ("previous_response_id", Value::Null),
        ("reasoning", json!({ "effort": null, "summary": null })),
        ("store", json!(true)),
        ("temperature", json!(1.0)),
        ("text", json!({ "format": { "type": "text" } })),
        ("tool_choice", json!("auto")),
        ("tools", json!([])),
        ("top_p", json!(1.0)),
        ("truncation", json!("disabled")),
    ]
}

/// An item that is not done yet.
enum Open {
    Message { id: String, text: String },
    Call { id: String, at: u64, call_id: String, name: String, arguments: String },
}

/// A response that is put together.
pub(crate) struct Building {
    head: Value,
    output: Vec<Value>,
    open: Option<Open>,
    number: u64,
    prefix: Option<String>,
    custom: BTreeSet<String>,
}

impl Building {
    /// Begins a response to a request.
    pub(crate) fn new(
        fields: &Value,
        model: &str,
        id: &str,
        created_at: i64,
        prefix: Option<String>,
        custom: BTreeSet<String>,
    ) -> Self {
        let mut head = json!({
            "id": format!("resp_{id}"),
            "object": "response",
            "created_at": created_at,
            "status": "in_progress",
            "background": fields.get("background").and_then(Value::as_bool).unwrap_or(false),
            "error": null,
            "incomplete_details": null,
            "model": model,
            "output": [],
            "usage": null,
        });
        for (field, usual) in repeated() {
            let value = fields.get(field).filter(|value| !value.is_null()).cloned().unwrap_or(usual);
            set(&mut head, field, value);
        }
        for field in ["user", "prompt_cache_key", "safety_identifier"] {
            if let Some(value) = fields.get(field) {
                set(&mut head, field, value.clone());
            }
        }
        if let Some(conversation) = fields.get("conversation").filter(|value| !value.is_null()) {
            let id = conversation.get("id").unwrap_or(conversation).clone();
            set(&mut head, "conversation", json!({ "id": id }));
        }
        Self { head, output: Vec::new(), open: None, number: 0, prefix, custom }
    }

    fn event(&mut self, name: &str, mut data: Value) -> String {
        set(&mut data, "type", name.into());
        set(&mut data, "sequence_number", self.number.into());
        self.number += 1;
        written(Some(name), &data.to_string())
    }

    /// Says that the response has begun.
    pub(crate) fn begin(&mut self) -> String {
        let response = json!({ "response": self.head });
        let created = self.event("response.created", response.clone());
        created + &self.event("response.in_progress", response)
    }

    /// Takes a piece of a chat completion.
    pub(crate) fn take(&mut self, delta: &Delta) -> String {
        let mut out = String::new();
        if !delta.text.is_empty() {
            out += &self.text(&delta.text);
        }
        for (at, id, name, arguments) in &delta.calls {
            out += &self.call(*at, id.as_deref(), name.as_deref(), arguments);
        }
        out
    }

    /// Takes more text.
    pub(crate) fn text(&mut self, text: &str) -> String {
        let mut out = String::new();
        if !matches!(self.open, Some(Open::Message { .. })) {
            out += &self.close();
            let id = format!("msg_{}", crate::ids::fresh().simple());
            let index = self.output.len();
            let item = json!({
                "id": id, "type": "message", "status": "in_progress", "role": "assistant", "content": [],
            });
            out += &self.event("response.output_item.added", json!({ "output_index": index, "item": item }));
            let part = part("");
            out += &self.event(
                "response.content_part.added",
                json!({ "item_id": id, "output_index": index, "content_index": 0, "part": part }),
            );
            self.open = Some(Open::Message { id, text: String::new() });
        }
        let text = match self.prefix.take() {
            Some(prefix) => prefix + text,
            None => text.to_owned(),
        };
        let index = self.output.len();
        let Some(Open::Message { id, text: all }) = &mut self.open else { return out };
        *all += &text;
        let data = json!({
            "item_id": id, "output_index": index, "content_index": 0, "delta": text, "logprobs": [],
        });
        out += &self.event("response.output_text.delta", data);
        out
    }

    fn call(&mut self, at: u64, id: Option<&str>, name: Option<&str>, more: &str) -> String {
        let mut out = String::new();
        let is_open = matches!(&self.open, Some(Open::Call { at: open, .. }) if *open == at);
        if !is_open {
            out += &self.close();
            let item_id = format!("fc_{}", crate::ids::fresh().simple());
            let (call_id, name) = (id.unwrap_or_default().to_owned(), name.unwrap_or_default().to_owned());
            let (index, arguments) = (self.output.len(), String::new());
            let item = self.call_item(&item_id, &call_id, &name, "", "in_progress");
            out += &self.event("response.output_item.added", json!({ "output_index": index, "item": item }));
            self.open = Some(Open::Call { id: item_id, at, call_id, name, arguments });
        }
        let index = self.output.len();
        let Some(Open::Call { id, name, arguments, .. }) = &mut self.open else { return out };
        *arguments += more;
        if more.is_empty() || self.custom.contains(name.as_str()) {
            return out;
        }
        let data = json!({ "item_id": id, "output_index": index, "delta": more });
        out += &self.event("response.function_call_arguments.delta", data);
        out
    }

    fn call_item(&self, id: &str, call_id: &str, name: &str, arguments: &str, status: &str) -> Value {
        match self.custom.contains(name) {
            true => json!({
                "id": id, "type": "custom_tool_call", "status": status, "call_id": call_id, "name": name,
                "input": custom_input(arguments),
            }),
            false => json!({
                "id": id, "type": "function_call", "status": status, "call_id": call_id, "name": name,
                "arguments": arguments,
            }),
        }
    }

    /// Says that the open item is done.
    fn close(&mut self) -> String {
        let index = self.output.len();
        let Some(open) = self.open.take() else { return String::new() };
        let mut out = String::new();
        let item = match open {
            Open::Message { id, text } => {
                let at = json!({ "item_id": id, "output_index": index, "content_index": 0 });
                let mut done = at.clone();
                set(&mut done, "text", text.clone().into());
                set(&mut done, "logprobs", json!([]));
                out += &self.event("response.output_text.done", done);
                let mut done = at;
                set(&mut done, "part", part(&text));
                out += &self.event("response.content_part.done", done);
                json!({
                    "id": id, "type": "message", "status": "completed", "role": "assistant",
                    "content": [part(&text)],
                })
            }
            Open::Call { id, call_id, name, arguments, .. } => {
                let at = json!({ "item_id": id, "output_index": index });
                let mut done = at.clone();
                match self.custom.contains(&name) {
                    true => {
                        let input = custom_input(&arguments);
                        let mut delta = at;
                        set(&mut delta, "delta", input.clone().into());
                        out += &self.event("response.custom_tool_call_input.delta", delta);
                        set(&mut done, "input", input.into());
                        out += &self.event("response.custom_tool_call_input.done", done);
                    }
                    false => {
                        set(&mut done, "name", name.clone().into());
                        set(&mut done, "arguments", arguments.clone().into());
                        out += &self.event("response.function_call_arguments.done", done);
                    }
                }
                self.call_item(&id, &call_id, &name, &arguments, "completed")
            }
        };
        self.output.push(item.clone());
        out += &self.event("response.output_item.done", json!({ "output_index": index, "item": item }));
        out
    }

    /// Ends the items, so that the reply can be stored before the response is said to be complete.
    pub(crate) fn end_items(&mut self) -> String {
        self.close()
    }

    /// Says that the response is complete, or why not.
    pub(crate) fn complete(&mut self, finish: &str, usage: Option<Usage>) -> String {
        let (status, name, why) = match finish {
            "length" => ("incomplete", "response.incomplete", Some("max_output_tokens")),
            "content_filter" => ("incomplete", "response.incomplete", Some("content_filter")),
            _ => ("completed", "response.completed", None),
        };
        set(&mut self.head, "status", status.into());
        if let Some(reason) = why {
            set(&mut self.head, "incomplete_details", json!({ "reason": reason }));
        }
        if let Some(usage) = usage {
            set(&mut self.head, "usage", usage_of(usage));
        }
        set(&mut self.head, "output", self.output.clone().into());
        let response = json!({ "response": self.head });
        self.event(name, response)
    }

    /// Says that there is no response.
    pub(crate) fn fail(&mut self, why: &str) -> String {
        set(&mut self.head, "status", "failed".into());
        set(&mut self.head, "error", json!({ "code": "server_error", "message": why }));
        let response = json!({ "response": self.head });
        self.event("response.failed", response)
    }

    /// Gives a response of an endpoint what only we know: its id here, and what it goes on from.
    pub(crate) fn adopt(&self, response: &mut Value) {
        for field in ["id", "previous_response_id", "conversation", "background"] {
            if let Some(value) = self.head.get(field) {
                set(response, field, value.clone());
            }
        }
    }

    /// Takes the notice that stands before the reply.
    pub(crate) fn take_prefix(&mut self) -> Option<String> {
        self.prefix.take()
    }

    /// Returns the response's id.
    pub(crate) fn id(&self) -> &str {
        self.head.get("id").and_then(Value::as_str).unwrap_or_default()
    }

    /// Returns the response as it is.
    pub(crate) fn response(&self) -> &Value {
        &self.head
    }
}

pub(crate) fn part(text: &str) -> Value {
    json!({ "type": "output_text", "text": text, "annotations": [], "logprobs": [] })
}

/// Unwraps the text of a tool that takes a text: endpoints that know only functions wrap it.
fn custom_input(arguments: &str) -> String {
    let wrapped: Option<Value> = serde_json::from_str(arguments).ok();
    let input = wrapped.as_ref().and_then(|value| value.get("input")?.as_str());
    input.unwrap_or(arguments).to_owned()
}

fn usage_of(usage: Usage) -> Value {
    json!({
        "input_tokens": usage.tokens_in,
        "input_tokens_details": { "cached_tokens": usage.tokens_cached },
        "output_tokens": usage.tokens_out,
        "output_tokens_details": { "reasoning_tokens": usage.tokens_reasoning },
        "total_tokens": usage.tokens_in.saturating_add(usage.tokens_out),
    })
}
