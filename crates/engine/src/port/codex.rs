//! Rollouts of Codex: lines of `timestamp`, `type` and `payload`. Older ones have no envelope: a header, then the items
//! themselves. What Codex puts in front of a conversation (the environment, the instructions) comes as the user's.

use super::blocks::{Content, call, join, text, thought, time};
use super::transcript::{Bad, Beside, Format, Home, Line, Transcript};
use segue_core::Timestamp;
use segue_core::message::{Message, MessageId, Reasoning, Role};
use serde_json::Value;

/// How a message begins that Codex itself has put in.
const PUT_IN: [&str; 8] = [
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<skill>",
    "<turn_aborted>",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
];

/// What the model has thought, and nothing has come of yet.
#[derive(Default)]
struct Mind {
    model: String,
    thoughts: Vec<Reasoning>,
}

impl Mind {
    /// Returns the thoughts that belong to what is said now; those before somebody else spoke led to nothing.
    fn speak(&mut self, role: Role) -> Vec<Reasoning> {
        let thoughts = std::mem::take(&mut self.thoughts);
        if role == Role::Assistant { thoughts } else { Vec::new() }
    }
}

pub(super) fn read(lines: &[Line], beside: &Beside) -> Transcript {
    let mut read = Transcript::new(Format::Codex);
    let mut folder = None;
    let mut mind = Mind::default();
    let values = read.values(lines);
    for (line, value) in &values {
        let at = time(value.get("timestamp"));
        let kind = text(value, "type").unwrap_or_default();
        let payload = value.get("payload");
        match (kind, payload) {
            ("session_meta", Some(meta)) => {
                let id = text(meta, "id").or(text(meta, "session_id"));
                // A fork repeats the header of what it came from behind its own.
                read.id = read.id.take().or(id.map(str::to_owned));
                read.parent = read.parent.take().or(text(meta, "forked_from_id").map(str::to_owned));
                folder = folder.or(text(meta, "cwd"));
                read.began = read.began.or(at);
            }
            ("response_item", Some(item)) => take(&mut read, beside, &mut mind, *line, at, item),
            ("compacted", Some(item)) => {
                let summary = Message::text(text(item, "message").unwrap_or_default());
                say(&mut read, beside, *line, at, Role::System, summary);
            }
            ("turn_context", Some(turn)) => {
                mind.model = text(turn, "model").map_or(mind.model, str::to_owned);
                read.passed_over += 1;
            }
            ("event_msg" | "turn_context", _) => read.passed_over += 1,
            // An older rollout: no envelope.
            ("", None) if value.get("record_type").is_some() => read.passed_over += 1,
            ("", None) if value.get("role").is_none() => {
                read.id = read.id.take().or(text(value, "id").map(str::to_owned));
                read.began = read.began.or(at);
            }
            (_, None) => take(&mut read, beside, &mut mind, *line, at, value),
            _ => read.passed_over += 1,
        }
    }
    read.home = Home::workspace("codex", folder);
    read.id = read.id.or_else(|| Some(beside.name.clone()));
    read.bad.sort();
    read
}

/// Adds a message. A rollout only grows, so a line is named by its number.
fn say(
    read: &mut Transcript,
    beside: &Beside,
    line: usize,
    at: Option<Timestamp>,
    role: Role,
    message: Message,
) {
    if message.text.trim().is_empty() && message.tool_calls.is_empty() && role != Role::Tool {
        read.passed_over += 1;
        return;
    }
    let of = read.id.as_deref().unwrap_or(&beside.name);
    let message = Message { message_id: Some(MessageId(format!("import:codex:{of}:{line}"))), ..message };
    // A call belongs to what the agent said right before it, unless it thought again in between.
    let goes_on = role == Role::Assistant && !message.tool_calls.is_empty() && message.reasoning.is_empty();
    match read.assistant().filter(|_| goes_on) {
        Some(taken) => {
            taken.line = line;
            join(&mut taken.message, message);
        }
        None => read.say(line, at, role, message),
    }
}

fn take(
    read: &mut Transcript,
    beside: &Beside,
    mind: &mut Mind,
    line: usize,
    at: Option<Timestamp>,
    item: &Value,
) {
    match text(item, "type").unwrap_or_default() {
        "message" | "" => {
            let content = Content::of(item.get("content"));
            let said = Message::text(content.text());
            let role = match text(item, "role") {
                Some("assistant") => Role::Assistant,
                Some("developer" | "system") => Role::System,
                Some("user") if PUT_IN.iter().any(|mark| said.text.trim_start().starts_with(mark)) => {
                    Role::System
                }
                Some("user") => Role::User,
                other => {
                    let why = format!("there is no role '{}'", other.unwrap_or_default());
                    read.bad.push(Bad { line, why });
                    return;
                }
            };
            let said = Message { reasoning: mind.speak(role), ..said };
            say(read, beside, line, at, role, said);
        }
        "reasoning" => {
            let model = mind.model.clone();
            mind.thoughts.extend(thought(item).map(|one| Reasoning { model, ..one }));
            read.passed_over += 1;
        }
        "function_call" | "custom_tool_call" | "local_shell_call" => match call(item) {
            Some(call) => {
                let reasoning = mind.speak(Role::Assistant);
                let said = Message { tool_calls: vec![call], reasoning, ..Message::default() };
                say(read, beside, line, at, Role::Assistant, said);
            }
            None => read.bad.push(Bad { line, why: "the call has no id".to_owned() }),
        },
        "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
            let tool_call_id = text(item, "call_id").map(str::to_owned);
            let said = Message { tool_call_id, ..Message::text(output(item.get("output"))) };
            say(read, beside, line, at, Role::Tool, said);
        }
        _ => read.passed_over += 1,
    }
}

/// What a tool gave back: a text, a list of blocks, or an object that holds one of them.
fn output(value: Option<&Value>) -> String {
    match value {
        Some(Value::Object(fields)) => match fields.get("content") {
            Some(content) => Content::of(Some(content)).text(),
            None => Value::Object(fields.clone()).to_string(),
        },
        other => Content::of(other).text(),
    }
}
