//! From a request for a response to one for a chat completion, for endpoints that speak only that.

use crate::openai::chat::set;
use crate::openai::request_message::{RequestMessage, to_chat};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Fields that mean the same in both.
const SAME: [&str; 9] = [
    "temperature",
    "top_p",
    "parallel_tool_calls",
    "metadata",
    "user",
    "safety_identifier",
    "prompt_cache_key",
    "service_tier",
    "stream",
];

/// Returns the names of the tools that take a text instead of arguments.
pub(crate) fn custom_tools(fields: &Value) -> BTreeSet<String> {
    let custom = |tool: &Value| tool.get("type").and_then(Value::as_str) == Some("custom");
    let name = |tool: &Value| Some(tool.get("name")?.as_str()?.to_owned());
    tools(fields).iter().filter(|tool| custom(tool)).filter_map(name).collect()
}

fn tools(fields: &Value) -> &[Value] {
    fields.get("tools").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// Makes the request for a chat completion. `messages` are those of a chat that are sent instead of the input.
pub(crate) fn request(
    fields: &Value,
    model: &str,
    said: &[RequestMessage],
    messages: Option<Vec<Value>>,
) -> Value {
    let mut chat = Map::new();
    chat.insert("model".into(), model.into());
    let mut all = Vec::new();
    if let Some(instructions) = fields.get("instructions").and_then(Value::as_str) {
        all.push(json!({ "role": "system", "content": instructions }));
    }
    all.extend(messages.unwrap_or_else(|| together(said)));
    chat.insert("messages".into(), all.into());
    for field in SAME {
        if let Some(value) = fields.get(field).filter(|value| !value.is_null()) {
            chat.insert(field.into(), value.clone());
        }
    }
    if fields.get("stream").and_then(Value::as_bool) == Some(true) {
        chat.insert("stream_options".into(), json!({ "include_usage": true }));
    }
    if let Some(most) = fields.get("max_output_tokens").filter(|most| !most.is_null()) {
        chat.insert("max_tokens".into(), most.clone());
    }
    if let Some(effort) = fields.pointer("/reasoning/effort").filter(|effort| effort.is_string()) {
        chat.insert("reasoning_effort".into(), effort.clone());
    }
    if let Some(verbosity) = fields.pointer("/text/verbosity").filter(|verbosity| verbosity.is_string()) {
        chat.insert("verbosity".into(), verbosity.clone());
    }
    if let Some(format) = fields.pointer("/text/format").and_then(response_format) {
        chat.insert("response_format".into(), format);
    }
    let translated: Vec<Value> = tools(fields).iter().filter_map(tool).collect();
    if translated.is_empty() {
        chat.remove("parallel_tool_calls");
    } else {
        chat.insert("tools".into(), translated.into());
        if let Some(choice) = fields.get("tool_choice").and_then(tool_choice) {
            chat.insert("tool_choice".into(), choice);
        }
    }
    Value::Object(chat)
}

/// Writes messages as those of a chat. Calls that were made one after the other before any result belong together.
fn together(said: &[RequestMessage]) -> Vec<Value> {
    said.iter().map(to_chat).collect()
}

fn response_format(format: &Value) -> Option<Value> {
    match format.get("type")?.as_str()? {
        "json_schema" => {
            let mut schema = format.clone();
            if let Value::Object(fields) = &mut schema {
                fields.remove("type");
            }
            Some(json!({ "type": "json_schema", "json_schema": schema }))
        }
        "json_object" => Some(json!({ "type": "json_object" })),
        _ => None,
    }
}

/// Translates a tool. Tools that run at the provider have no counterpart.
fn tool(tool: &Value) -> Option<Value> {
    let name = tool.get("name");
    match tool.get("type")?.as_str()? {
        "function" => {
            let mut function = json!({ "name": name? });
            for field in ["description", "parameters", "strict"] {
                if let Some(value) = tool.get(field).filter(|value| !value.is_null()) {
                    set(&mut function, field, value.clone());
                }
            }
            Some(json!({ "type": "function", "function": function }))
        }
        "custom" => {
            let parameters = json!({
                "type": "object", "properties": { "input": { "type": "string" } }, "required": ["input"],
            });
            let description = tool.get("description").and_then(Value::as_str).unwrap_or_default();
            let function = json!({ "name": name?, "description": description, "parameters": parameters });
            Some(json!({ "type": "function", "function": function }))
        }
        _ => None,
    }
}

fn tool_choice(choice: &Value) -> Option<Value> {
    match choice {
        Value::String(_) => Some(choice.clone()),
        Value::Object(fields) => {
            let name = fields.get("name")?;
            Some(json!({ "type": "function", "function": { "name": name } }))
        }
        _ => None,
    }
}
