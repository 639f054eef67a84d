//! OpenAI's chat completions: one list of messages, in which results follow their calls.

use super::NOTHING_SAID;
use super::pair::{Call, Paired, RoleContent};
use serde_json::{Value, json};

/// Gives messages as `{"messages": [...]}`.
pub fn project(paired: &Paired<'_>) -> Value {
    let mut messages = Vec::with_capacity(paired.turns.len());
    for turn in &paired.turns {
        match &turn.said {
            RoleContent::System(text) => messages.push(json!({"role": "system", "content": text})),
            RoleContent::User(text) => messages.push(json!({"role": "user", "content": text})),
            RoleContent::Assistant { text, calls, .. } if calls.is_empty() => {
                messages.push(json!({"role": "assistant", "content": text}));
            }
            RoleContent::Assistant { text, calls, .. } => {
                let tool_calls: Vec<Value> = calls.iter().map(call).collect();
                messages.push(json!({"role": "assistant", "content": text, "tool_calls": tool_calls}));
                messages.extend(calls.iter().map(result));
            }
        }
    }
    if messages.is_empty() {
        messages.push(json!({"role": "user", "content": NOTHING_SAID}));
    }
    json!({"messages": messages})
}

fn call(call: &Call<'_>) -> Value {
    let function = json!({"name": call.name, "arguments": call.arguments.text()});
    json!({"id": call.id, "type": "function", "function": function})
}

fn result(call: &Call<'_>) -> Value {
    json!({"role": "tool", "tool_call_id": call.id, "content": call.result.text()})
}
