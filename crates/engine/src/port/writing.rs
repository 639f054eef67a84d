//! Writing a session as another program keeps its own, so that the conversation goes on there.
//!
//! Ids follow from the session's id and the entry's number: the same session written twice is the same file.

use segue_core::Timestamp;
use segue_core::entry::Seq;
use segue_core::message::{Message, Reasoning, ReasoningForm, Role, ToolCall};
use segue_core::session::Id;
use serde_json::{Map, Value, json};
use std::fmt;
use uuid::Uuid;

/// A session to be written.
#[derive(Debug, Clone)]
pub struct Outgoing<'a> {
    /// Its id, which the other program calls the conversation by.
    pub id: Id,
    /// The folder that was worked in.
    pub folder: &'a str,
    /// Its messages in order; erased ones have none.
    pub messages: Vec<(Seq, Timestamp, Role, Option<&'a Message>)>,
}

/// What was written, and what the form has no place for.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Written {
    /// The file, line by line.
    pub lines: Vec<Value>,
    /// What is not in it.
    pub lost: Vec<Lost>,
}

/// Something that a form has no place for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lost {
    /// The message that it belongs to.
    pub seq: Seq,
    /// What it is.
    pub what: LostPart,
}

/// What a form has no place for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LostPart {
    /// The whole message: it was erased.
    Erased,
    /// What the model thought: it is signed for another provider.
    Reasoning,
    /// Who spoke, where several people share a conversation.
    Sender,
    /// The arguments of a call that are no JSON object; they stand as text in the field `arguments`.
    Arguments,
}

impl fmt::Display for LostPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Erased => "it was erased",
            Self::Reasoning => "what the model thought is signed for another provider, and left out",
            Self::Sender => "this form has no place for who spoke",
            Self::Arguments => "its arguments are no JSON object: they are in the field `arguments` as text",
        })
    }
}

impl Outgoing<'_> {
    /// Returns an id for the nth line of an entry.
    fn line_id(&self, seq: Seq) -> Uuid {
        Uuid::from_u128(self.id.0.as_u128().wrapping_add(u128::from(seq.0)))
    }
}

/// Writes a transcript of Claude Code: `~/.claude/projects/FOLDER/ID.jsonl`.
pub fn claude_code(session: &Outgoing<'_>) -> Written {
    let mut written = Written::default();
    let mut parent = Value::Null;
    for (seq, at, role, message) in &session.messages {
        let Some(message) = written.take(*seq, *message, ReasoningForm::Thinking) else { continue };
        let uuid = session.line_id(*seq).to_string();
        let mut line = json!({
            "parentUuid": parent,
            "isSidechain": false,
            "userType": "external",
            "cwd": session.folder,
            "sessionId": session.id.to_string(),
            "uuid": uuid,
            "timestamp": at.to_string(),
        });
        let said = match role {
            Role::User => json!({"type": "user", "message": {"role": "user", "content": message.text}}),
            Role::System => {
                json!({"type": "user", "isMeta": true, "message": {"role": "user", "content": message.text}})
            }
            Role::Tool => {
                let of = message.tool_call_id.as_deref().unwrap_or_default();
                let result = json!({"type": "tool_result", "tool_use_id": of, "content": message.text});
                json!({"type": "user", "message": {"role": "user", "content": [result]}})
            }
            Role::Assistant => {
                let content = written.blocks(*seq, message);
                let ends = if message.tool_calls.is_empty() { "end_turn" } else { "tool_use" };
                let model = message.reasoning.first().map_or("", |one| one.model.as_str());
                let message = json!({
                    "id": format!("msg_{uuid}"), "type": "message", "role": "assistant", "model": model,
                    "content": content, "stop_reason": ends, "usage": {"input_tokens": 0, "output_tokens": 0},
                });
                json!({"type": "assistant", "message": message})
            }
        };
        if let (Value::Object(line), Value::Object(said)) = (&mut line, said) {
            line.extend(said);
        }
        written.lines.push(line);
        parent = uuid.into();
    }
    written
}

/// Writes a rollout of Codex: `~/.codex/sessions/YYYY/MM/DD/rollout-TIME-ID.jsonl`.
pub fn codex(session: &Outgoing<'_>) -> Written {
    let mut written = Written::default();
    let began = session.messages.first().map(|(_, at, ..)| *at).unwrap_or_default().to_string();
    written.lines.push(json!({"timestamp": began, "type": "session_meta", "payload": {
        "id": session.id.to_string(), "timestamp": began, "cwd": session.folder, "originator": "segue",
        "cli_version": env!("CARGO_PKG_VERSION"), "source": "cli",
    }}));
    for (seq, at, role, message) in &session.messages {
        let Some(message) = written.take(*seq, *message, ReasoningForm::Item) else { continue };
        let at = at.to_string();
        let mut push = |kind: &str, payload: Value| {
            written.lines.push(json!({"timestamp": at, "type": kind, "payload": payload}));
        };
        let spoken = |role: &str, kind: &str| json!({"type": "message", "role": role, "content": [{"type": kind, "text": message.text}]});
        match role {
            Role::User => {
                push("response_item", spoken("user", "input_text"));
                push("event_msg", json!({"type": "user_message", "message": message.text}));
            }
            Role::System => push("response_item", spoken("developer", "input_text")),
            Role::Tool => {
                let of = message.tool_call_id.as_deref().unwrap_or_default();
                let output = json!({"type": "function_call_output", "call_id": of, "output": message.text});
                push("response_item", output);
            }
            Role::Assistant => {
                message.reasoning.iter().filter_map(item).for_each(|one| push("response_item", one));
                if !message.text.is_empty() {
                    push("response_item", spoken("assistant", "output_text"));
                    push("event_msg", json!({"type": "agent_message", "message": message.text}));
                }
                for ToolCall { id, name, arguments } in &message.tool_calls {
                    let call =
                        json!({"type": "function_call", "name": name, "arguments": arguments, "call_id": id});
                    push("response_item", call);
                }
            }
        }
    }
    written
}

/// What a model thought, as an item of OpenAI's responses.
fn item(one: &Reasoning) -> Option<Value> {
    let summary: Vec<Value> = match one.text.as_str() {
        "" => Vec::new(),
        text => vec![json!({"type": "summary_text", "text": text})],
    };
    (one.form == ReasoningForm::Item).then(
        || json!({"type": "reasoning", "id": one.id, "summary": summary, "encrypted_content": one.signature}),
    )
}

impl Written {
    /// Returns the message, if it is there, and notes what the form cannot carry of it.
    fn take<'a>(
        &mut self,
        seq: Seq,
        message: Option<&'a Message>,
        reasoning: ReasoningForm,
    ) -> Option<&'a Message> {
        let Some(message) = message else {
            self.lost.push(Lost { seq, what: LostPart::Erased });
            return None;
        };
        let fits = |form: ReasoningForm| match reasoning {
            ReasoningForm::Item => form == ReasoningForm::Item,
            ReasoningForm::Thinking | ReasoningForm::Redacted => form != ReasoningForm::Item,
        };
        if message.reasoning.iter().any(|one| !fits(one.form)) {
            self.lost.push(Lost { seq, what: LostPart::Reasoning });
        }
        if message.sender.is_some() {
            self.lost.push(Lost { seq, what: LostPart::Sender });
        }
        Some(message)
    }

    /// Returns an agent's message as blocks of Anthropic's.
    fn blocks(&mut self, seq: Seq, message: &Message) -> Vec<Value> {
        let thought = |one: &Reasoning| match one.form {
            ReasoningForm::Thinking => {
                Some(json!({"type": "thinking", "thinking": one.text, "signature": one.signature}))
            }
            ReasoningForm::Redacted => Some(json!({"type": "redacted_thinking", "data": one.signature})),
            ReasoningForm::Item => None,
        };
        let mut blocks: Vec<Value> = message.reasoning.iter().filter_map(thought).collect();
        if !message.text.is_empty() {
            blocks.push(json!({"type": "text", "text": message.text}));
        }
        for ToolCall { id, name, arguments } in &message.tool_calls {
            let input = match arguments.trim() {
                "" => Map::new(),
                text => serde_json::from_str(text).unwrap_or_else(|_| {
                    self.lost.push(Lost { seq, what: LostPart::Arguments });
                    Map::from_iter([("arguments".to_owned(), Value::from(arguments.as_str()))])
                }),
            };
            blocks.push(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
        }
        blocks
    }
}
