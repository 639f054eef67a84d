//! OpenAI chat messages: an object with `messages`, a list, or a message a line.

use super::blocks::Content;
use super::transcript::{Bad, Format, Line, Transcript, Unreadable};
use segue_core::Timestamp;
use segue_core::message::{Message, Role, ToolCall};
use serde_json::Value;

pub(super) fn read(lines: &[Line], now: Timestamp) -> Result<Transcript, Unreadable> {
    let mut read = Transcript::new(Format::Openai);
    let values = match whole(lines) {
        Some(whole) => {
            let list = whole.get("messages").unwrap_or(&whole);
            match list.as_array() {
                Some(list) => list.iter().cloned().enumerate().map(|(at, value)| (at + 1, value)).collect(),
                None => vec![(1, list.clone())],
            }
        }
        None => read.values(lines),
    };
    for (line, value) in values {
        match message(&value) {
            Ok((role, message)) => read.say(line, Some(now), role, message),
            Err(why) => read.bad.push(Bad { line, why }),
        }
    }
    read.bad.sort();
    if read.messages.is_empty() {
        let why =
            read.bad.first().map(|bad| format!(" (line {}: {})", bad.line, bad.why)).unwrap_or_default();
        return Err(Unreadable(format!("there is no OpenAI message in it{why}: see `segue import --help`")));
    }
    Ok(read)
}

/// Reads all lines as one value.
pub(super) fn whole(lines: &[Line]) -> Option<Value> {
    let texts: Result<Vec<&str>, _> = lines.iter().map(|line| line.text.as_deref()).collect();
    serde_json::from_str(&texts.ok()?.concat()).ok()
}

pub(super) fn role(value: &Value) -> Result<Role, String> {
    let name = value.get("role").and_then(Value::as_str).ok_or("it has no role")?;
    // What OpenAI calls a developer speaks for the host.
    let name = if name == "developer" { "system" } else { name };
    Role::named(name).ok_or_else(|| format!("there is no role '{name}'"))
}

pub(super) fn message(value: &Value) -> Result<(Role, Message), String> {
    let role = role(value)?;
    let text = match value.get("content") {
        None | Some(Value::Null) => String::new(),
        content @ Some(Value::String(_) | Value::Array(_)) => Content::of(content).text(),
        Some(_) => return Err("its content is neither text nor parts".to_owned()),
    };
    let tool_call_id = value.get("tool_call_id").and_then(Value::as_str).map(str::to_owned);
    let tool_calls = tool_calls(value)?;
    Ok((role, Message { text, tool_call_id, tool_calls, ..Message::default() }))
}

/// Reads calls of tools, in OpenAI's shape or flat.
pub fn tool_calls(value: &Value) -> Result<Vec<ToolCall>, String> {
    let call = |call: &Value| {
        let function = call.get("function").unwrap_or(call);
        let arguments = match function.get("arguments") {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        };
        let text = |value: &Value, name| Some(value.get(name)?.as_str()?.to_owned());
        Some(ToolCall { id: text(call, "id")?, name: text(function, "name")?, arguments })
    };
    let calls = match value.get("tool_calls") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(calls)) => calls.iter().map(call).collect(),
        Some(_) => None,
    };
    calls.ok_or_else(|| "its \"tool_calls\" are not a list of calls with \"id\" and \"name\"".to_owned())
}
