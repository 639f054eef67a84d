//! OpenAI's responses: one list of items, in which messages, calls and results stand side by side.

use super::NOTHING_SAID;
use super::pair::{Call, Paired, RoleContent};
use segue_core::message::{Reasoning, ReasoningForm};
use serde_json::{Value, json};
use std::collections::HashSet;

/// Gives messages as `{"input": [...]}`.
pub fn project(paired: &Paired<'_>) -> Value {
    let mut items = Vec::with_capacity(paired.turns.len());
    let mut thoughts = HashSet::new();
    for turn in &paired.turns {
        match &turn.said {
            RoleContent::System(text) => items.push(message("system", text)),
            RoleContent::User(text) => items.push(message("user", text)),
            RoleContent::Assistant { text, calls, reasoning } => {
                items.extend(reasoning.iter().filter_map(|one| thought(one, &mut thoughts)));
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

/// Reasoning stands right before what came of it. No two items may have one id.
fn thought<'a>(one: &'a Reasoning, seen: &mut HashSet<&'a str>) -> Option<Value> {
    if one.form != ReasoningForm::Item {
        return None;
    }
    let summary = match one.text.trim().is_empty() {
        true => json!([]),
        false => json!([{"type": "summary_text", "text": one.text}]),
    };
    let mut item = json!({"type": "reasoning", "summary": summary, "encrypted_content": one.signature});
    if let Some(id) = one.id.as_deref().filter(|id| is_item_id(id)) {
        if !seen.insert(id) {
            return None;
        }
        item["id"] = id.into();
    }
    Some(item)
}

/// Ids that OpenAI gives to reasoning; one that looks otherwise is better not sent.
fn is_item_id(id: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    id.len() <= 64 && id.strip_prefix("rs_").is_some_and(|rest| !rest.is_empty() && rest.chars().all(plain))
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
