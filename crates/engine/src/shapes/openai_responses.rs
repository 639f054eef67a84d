//! OpenAI's responses: one list of items, in which messages, calls and results stand side by side.

use super::NOTHING_SAID;
use super::pair::{Call, Paired, Said};
use serde_json::{Value, json};

/// Gives messages as `{"input": [...]}`.
pub fn project(paired: &Paired<'_>) -> Value {
    let mut items = Vec::with_capacity(paired.turns.len());
    for turn in &paired.turns {
        match &turn.said {
            Said::System(text) => items.push(message("system", text)),
            Said::User(text) => items.push(message("user", text)),
            Said::Assistant { text, calls } => {
                items.extend(text.map(|text| message("assistant", text)));
                items.extend(calls.iter().map(call));
                items.extend(calls.iter().map(result));
            }
        }
    }
    if items.is_empty() {
        items.push(message("user", NOTHING_SAID));
    }
    json!({"input": items})
}

fn message(role: &str, text: &str) -> Value {
    json!({"type": "message", "role": role, "content": text})
}

/// An item's own id would have to be one that OpenAI gave; without it the call's id is enough.
fn call(call: &Call<'_>) -> Value {
    json!({
        "type": "function_call",
        "call_id": call.id,
        "name": call.name,
        "arguments": call.arguments.text(),
    })
}

fn result(call: &Call<'_>) -> Value {
    json!({"type": "function_call_output", "call_id": call.id, "output": call.result.text()})
}
