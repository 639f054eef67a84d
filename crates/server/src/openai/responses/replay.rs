//! The events of a response that was made, for who asks for it later or again.

use super::build::part;
use crate::openai::chat::set;
use crate::openai::sse::written;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

/// Tells of a response that was made as of one that is being made, behind the last event that the client has seen.
pub(crate) fn replayed(response: &Value, after: Option<u64>) -> Response {
    let mut events = Replay::default();
    let mut begun = response.clone();
    for (field, value) in [
        ("status", json!("in_progress")),
        ("output", json!([])),
        ("usage", Value::Null),
        ("error", Value::Null),
    ] {
        set(&mut begun, field, value);
    }
    events.tell("response.created", json!({ "response": begun }));
    events.tell("response.in_progress", json!({ "response": begun }));
    let output = response.get("output").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    for (index, item) in output.iter().enumerate() {
        events.item(index, item);
    }
    let name = match response.get("status").and_then(Value::as_str) {
        Some("incomplete") => "response.incomplete",
        Some("failed" | "cancelled") => "response.failed",
        _ => "response.completed",
    };
    events.tell(name, json!({ "response": response }));
    let skipped = after.map_or(0, |after| usize::try_from(after).unwrap_or(usize::MAX).saturating_add(1));
    let text: String = events.0.into_iter().skip(skipped).collect();
    ([(CONTENT_TYPE, "text/event-stream")], text).into_response()
}

/// The events of a response that was made.
#[derive(Default)]
struct Replay(Vec<String>);

impl Replay {
    fn tell(&mut self, name: &str, mut data: Value) {
        set(&mut data, "type", name.into());
        set(&mut data, "sequence_number", self.0.len().into());
        self.0.push(written(Some(name), &data.to_string()));
    }

    fn item(&mut self, index: usize, item: &Value) {
        let mut begun = item.clone();
        set(&mut begun, "status", "in_progress".into());
        for (field, empty) in [("content", json!([])), ("arguments", json!("")), ("input", json!(""))] {
            if item.get(field).is_some() {
                set(&mut begun, field, empty);
            }
        }
        self.tell("response.output_item.added", json!({ "output_index": index, "item": begun }));
        let at = json!({ "item_id": item.get("id"), "output_index": index });
        let parts = item.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for (nth, told) in parts.iter().enumerate() {
            let text = told.get("text").cloned().unwrap_or_default();
            let at = with(&at, "content_index", nth.into());
            let with = |field: &str, value: Value| with(&at, field, value);
            self.tell("response.content_part.added", with("part", part("")));
            self.tell("response.output_text.delta", with("delta", text.clone()));
            self.tell("response.output_text.done", with("text", text));
            self.tell("response.content_part.done", with("part", told.clone()));
        }
        for (field, name) in [("arguments", "function_call_arguments"), ("input", "custom_tool_call_input")] {
            if let Some(value) = item.get(field) {
                self.tell(&format!("response.{name}.delta"), with(&at, "delta", value.clone()));
                self.tell(&format!("response.{name}.done"), with(&at, field, value.clone()));
            }
        }
        self.tell("response.output_item.done", json!({ "output_index": index, "item": item }));
    }
}

fn with(value: &Value, field: &str, more: Value) -> Value {
    let mut value = value.clone();
    set(&mut value, field, more);
    value
}
