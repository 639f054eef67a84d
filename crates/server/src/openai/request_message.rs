//! What a request says: messages of a chat and items of a response, as the messages that Segue keeps.

use crate::problem::Problem;
use segue_core::message::{Message, Reasoning, ReasoningForm, Role, ToolCall};
use serde_json::{Value, json};

/// A message of a request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct RequestMessage {
    /// Its place in the request: that of the first item which it is made of.
    pub(crate) place: usize,
    /// Who speaks.
    pub(crate) role: Role,
    /// What is said.
    pub(crate) message: Message,
    /// The content as the client sent it, where it is more than text.
    pub(crate) content: Option<Value>,
}

impl RequestMessage {
    fn new(place: usize, role: Role, message: Message) -> Self {
        Self { place, role, message, content: None }
    }
}

/// Reads the messages of a chat.
pub(crate) fn of_chat(messages: &[Value]) -> Result<Vec<RequestMessage>, Problem> {
    messages.iter().enumerate().map(|(at, message)| chat_message(at, message)).collect()
}

fn chat_message(at: usize, value: &Value) -> Result<RequestMessage, Problem> {
    let wrong = |why: &str| Problem::wrong(format!("messages[{at}] {why}"));
    let role = role(value).ok_or_else(|| wrong("has no role that is known"))?;
    let (text, content) = content(value.get("content").unwrap_or(&Value::Null))
        .ok_or_else(|| wrong("has content that is neither text nor a list of parts"))?;
    let calls = match value.get("tool_calls") {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(calls)) => calls
            .iter()
            .map(|call| tool_call(call).ok_or_else(|| wrong("has a tool call without id or function")))
            .collect::<Result<_, _>>()?,
        Some(_) => return Err(wrong("has tool_calls that are no list")),
    };
    let tool_call_id = value.get("tool_call_id").and_then(Value::as_str).map(str::to_owned);
    if role == Role::Tool && tool_call_id.is_none() {
        return Err(wrong("is a tool's and has no tool_call_id"));
    }
    let sender = value.get("name").and_then(Value::as_str).filter(|_| role == Role::User);
    let message = Message {
        text,
        tool_calls: calls,
        tool_call_id,
        sender: sender.map(str::to_owned),
        ..Message::default()
    };
    Ok(RequestMessage { place: at, role, message, content })
}

fn role(value: &Value) -> Option<Role> {
    Some(match value.get("role")?.as_str()? {
        "system" | "developer" => Role::System,
        "user" => Role::User,
        "assistant" => Role::Assistant,
        "tool" | "function" => Role::Tool,
        _ => return None,
    })
}

fn tool_call(call: &Value) -> Option<ToolCall> {
    let id = call.get("id")?.as_str()?.to_owned();
    // A custom tool's input is a text of its own.
    let (function, arguments) = match call.get("custom") {
        Some(custom) => (custom, "input"),
        None => (call.get("function")?, "arguments"),
    };
    let name = function.get("name")?.as_str()?.to_owned();
    let arguments = function.get(arguments).and_then(Value::as_str).unwrap_or_default().to_owned();
    Some(ToolCall { id, name, arguments })
}

/// Reads content: its text, and the content itself where it is more than text.
fn content(value: &Value) -> Option<(String, Option<Value>)> {
    match value {
        Value::Null => Some((String::new(), None)),
        Value::String(text) => Some((text.clone(), None)),
        Value::Array(parts) => {
            let (mut texts, mut more) = (Vec::new(), None);
            for part in parts {
                match part_text(part) {
                    Some(text) => texts.push(text.to_owned()),
                    None => {
                        texts.push(stand_in(part));
                        more = Some(value.clone());
                    }
                }
            }
            Some((texts.join("\n"), more))
        }
        _ => None,
    }
}

fn part_text(part: &Value) -> Option<&str> {
    let kind = part.get("type").and_then(Value::as_str).unwrap_or("text");
    match kind {
        "text" | "input_text" | "output_text" | "summary_text" => part.get("text")?.as_str(),
        "refusal" => part.get("refusal")?.as_str(),
        _ => None,
    }
}

/// Stands in the log for a picture or a file: its kind, and a digest by which it is known again.
fn stand_in(part: &Value) -> String {
    let kind = part.get("type").and_then(Value::as_str).unwrap_or("part");
    let kind = kind.trim_start_matches("input_").trim_end_matches("_url");
    let name = part.pointer("/file/filename").or_else(|| part.get("filename")).and_then(Value::as_str);
    let digest = blake3::hash(part.to_string().as_bytes()).to_hex();
    let digest = digest.get(..12).unwrap_or_default();
    match name {
        Some(name) => format!("[{kind} {name} {digest}]"),
        None => format!("[{kind} {digest}]"),
    }
}

/// Reads the input of a response: a text, or a list of items. Calls of tools become part of the message before them.
pub(crate) fn of_input(input: &Value) -> Result<Vec<RequestMessage>, Problem> {
    match input {
        Value::String(text) => Ok(vec![RequestMessage::new(0, Role::User, Message::text(text.clone()))]),
        Value::Null => Ok(Vec::new()),
        Value::Array(items) => of_items(items),
        _ => Err(Problem::wrong("\"input\" is neither text nor a list of items")),
    }
}

/// Reads a list of items.
pub(crate) fn of_items(items: &[Value]) -> Result<Vec<RequestMessage>, Problem> {
    items_at(0, items)
}

/// Reads an item of what a model thought as a message of its own.
pub(crate) fn thought_alone(item: &Value) -> Option<RequestMessage> {
    let is_thought = item.get("type").and_then(Value::as_str) == Some("reasoning");
    let message = || Message { reasoning: vec![reasoning(item)], ..Message::default() };
    is_thought.then(|| RequestMessage::new(0, Role::Assistant, message()))
}

/// Reads a part of a list of items, from one on.
pub(crate) fn items_at(first: usize, items: &[Value]) -> Result<Vec<RequestMessage>, Problem> {
    let mut said: Vec<RequestMessage> = Vec::new();
    let mut thought: Vec<Reasoning> = Vec::new();
    let mut begun: Option<usize> = None;
    for (at, item) in items.iter().enumerate() {
        let wrong = |why: &str| Problem::wrong(format!("item {} {why}", first + at));
        let text = |field: &str| item.get(field).and_then(Value::as_str).map(str::to_owned);
        let kind = item.get("type").and_then(Value::as_str).unwrap_or("message");
        // What a model thought belongs to what it says next.
        let place = begun.take().unwrap_or(first + at);
        match kind {
            "message" => {
                let role = role(item).ok_or_else(|| wrong("has no role that is known"))?;
                let (text, content) = content(item.get("content").unwrap_or(&Value::Null))
                    .ok_or_else(|| wrong("has content that is neither text nor a list of parts"))?;
                let reasoning =
                    if role == Role::Assistant { std::mem::take(&mut thought) } else { Vec::new() };
                let message = Message { text, reasoning, ..Message::default() };
                said.push(RequestMessage { place, role, message, content });
            }
            "reasoning" => {
                thought.push(reasoning(item));
                begun = Some(place);
            }
            // What refers to an item that was stored says nothing new.
            "item_reference" => begun = Some(place),
            _ if kind.ends_with("_output") => {
                let id = text("call_id").or_else(|| text("id")).ok_or_else(|| wrong("has no call_id"))?;
                let output = item.get("output").unwrap_or(&Value::Null);
                let output = content(output).map_or_else(|| output.to_string(), |(text, _)| text);
                let message = Message { text: output, tool_call_id: Some(id), ..Message::default() };
                said.push(RequestMessage::new(place, Role::Tool, message));
            }
            _ if kind.ends_with("_call") => {
                // What a provider's own tools did need not have an id.
                let id = text("call_id").or_else(|| text("id")).unwrap_or_else(|| stand_in(item));
                let name = text("name").unwrap_or_else(|| kind.trim_end_matches("_call").to_owned());
                let action = || item.get("action").map(Value::to_string);
                // Endpoints that know only functions take a text as an argument.
                let input = || text("input").map(|input| json!({ "input": input }).to_string());
                let arguments = text("arguments").or_else(input).or_else(action);
                let call = ToolCall { id, name, arguments: arguments.unwrap_or_default() };
                match said.last_mut().filter(|last| last.role == Role::Assistant) {
                    Some(last) => last.message.tool_calls.push(call),
                    None => {
                        let reasoning = std::mem::take(&mut thought);
                        let message = Message { tool_calls: vec![call], reasoning, ..Message::default() };
                        said.push(RequestMessage::new(place, Role::Assistant, message));
                    }
                }
            }
            _ => return Err(wrong(&format!("is of the type {kind:?}, which is not known"))),
        }
    }
    Ok(said)
}

fn reasoning(item: &Value) -> Reasoning {
    let summary = item.get("summary").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let texts: Vec<&str> = summary.iter().filter_map(part_text).collect();
    let text = |field: &str| item.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    Reasoning {
        form: ReasoningForm::Item,
        text: texts.join("\n"),
        signature: text("encrypted_content"),
        id: item.get("id").and_then(Value::as_str).map(str::to_owned),
        model: text("model"),
    }
}

/// Writes a message as one of a chat.
pub(crate) fn to_chat(said: &RequestMessage) -> Value {
    let message = &said.message;
    let content = match &said.content {
        Some(Value::Array(parts)) => Value::Array(parts.iter().map(chat_part).collect()),
        Some(other) => other.clone(),
        None if message.text.is_empty() && !message.tool_calls.is_empty() => Value::Null,
        None => message.text.clone().into(),
    };
    let mut value = json!({ "role": said.role.name(), "content": content });
    if let Value::Object(fields) = &mut value {
        if !message.tool_calls.is_empty() {
            let call = |call: &ToolCall| {
                let function = json!({ "name": call.name, "arguments": call.arguments });
                json!({ "id": call.id, "type": "function", "function": function })
            };
            fields.insert("tool_calls".into(), message.tool_calls.iter().map(call).collect());
        }
        if let Some(id) = &message.tool_call_id {
            fields.insert("tool_call_id".into(), id.clone().into());
        }
        if let Some(sender) = &message.sender {
            fields.insert("name".into(), sender.clone().into());
        }
    }
    value
}

/// Writes a part of a response's content as one of a chat's.
fn chat_part(part: &Value) -> Value {
    let text = |field: &str| part.get(field).and_then(Value::as_str);
    match text("type") {
        Some("input_text" | "output_text") => json!({ "type": "text", "text": text("text") }),
        Some("input_image") => {
            let mut url = json!({ "url": text("image_url") });
            if let (Value::Object(fields), Some(detail)) = (&mut url, text("detail")) {
                fields.insert("detail".into(), detail.into());
            }
            json!({ "type": "image_url", "image_url": url })
        }
        _ => part.clone(),
    }
}

/// Writes a message as items of a response, each with an id that a name gives it: its place in the log.
pub(crate) fn to_items(role: Role, message: &Message, name: &str) -> Vec<Value> {
    let mut items = Vec::new();
    for (at, thought) in message.reasoning.iter().enumerate() {
        if thought.form == ReasoningForm::Item {
            let summary = match thought.text.is_empty() {
                true => Vec::new(),
                false => vec![json!({ "type": "summary_text", "text": thought.text })],
            };
            let id = thought.id.clone().unwrap_or_else(|| format!("rs_{name}_{at}"));
            let mut item = json!({ "type": "reasoning", "id": id, "summary": summary });
            if let Value::Object(fields) = &mut item
                && !thought.signature.is_empty()
            {
                fields.insert("encrypted_content".into(), thought.signature.clone().into());
            }
            items.push(item);
        }
    }
    match role {
        Role::Tool => items.push(json!({
            "type": "function_call_output", "id": format!("fco_{name}"), "status": "completed",
            "call_id": message.tool_call_id, "output": message.text,
        })),
        Role::Assistant => {
            let says_more = !message.tool_calls.is_empty() || !message.reasoning.is_empty();
            if !message.text.is_empty() || !says_more {
                let part =
                    json!({ "type": "output_text", "text": message.text, "annotations": [], "logprobs": [] });
                items.push(json!({
                    "type": "message", "id": format!("msg_{name}"), "status": "completed",
                    "role": "assistant", "content": [part],
                }));
            }
            for (at, call) in message.tool_calls.iter().enumerate() {
                items.push(json!({
                    "type": "function_call", "id": format!("fc_{name}_{at}"), "status": "completed",
                    "call_id": call.id, "name": call.name, "arguments": call.arguments,
                }));
            }
        }
        Role::User | Role::System => {
            let part = json!({ "type": "input_text", "text": message.text });
            items.push(json!({
                "type": "message", "id": format!("msg_{name}"), "status": "completed",
                "role": role.name(), "content": [part],
            }));
        }
    }
    items
}
