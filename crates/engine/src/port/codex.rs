//! Rollouts of Codex: lines of `timestamp`, `type` and `payload`. Older ones have no envelope: a header, then the items
//! themselves; the oldest are one object with `session` and `items`. What Codex puts in front of a conversation (the
//! environment, the instructions) comes as the user's.

use super::account::Verdict;
use super::blocks::{Content, call, text, thought, time};
use super::reading::{Place, Reader};
use super::transcript::{FileContext, Format, Home, Transcript, Unreadable};
use segue_core::Timestamp;
use segue_core::message::{Message, MessageId, Reasoning, Role};
use serde_json::Value;

/// How a message begins that Codex itself has put in.
const PUT_IN: [&str; 12] = [
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<skill>",
    "<turn_aborted>",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
    "<user_shell_command>",
    "<user_action>",
    "<subagent_notification>",
    "<hook_prompt",
];

pub(super) struct Codex {
    /// What the file is called.
    name: String,
    talks: Vec<Transcript>,
    folder: Option<String>,
    model: String,
    /// What the model has thought, and nothing has come of yet.
    thoughts: Vec<Reasoning>,
}

/// What a record is.
enum Kind<'a> {
    /// What is said about the whole.
    Header(&'a Value),
    Item(&'a Value),
    Compacted(&'a Value),
    Turn(&'a Value),
    Other(String),
}

fn kind(value: &Value) -> Kind<'_> {
    let kind = text(value, "type").unwrap_or_default();
    match (kind, value.get("payload")) {
        ("session_meta", Some(meta)) => Kind::Header(meta),
        ("response_item", Some(item)) => Kind::Item(item),
        ("compacted", Some(item)) => Kind::Compacted(item),
        ("turn_context", Some(turn)) => Kind::Turn(turn),
        ("event_msg", Some(event)) => Kind::Other(format!("event: {}", text(event, "type").unwrap_or("?"))),
        // An older rollout: no envelope.
        ("", None) if value.get("record_type").is_some() => Kind::Other("state".to_owned()),
        ("", None) => match (value.get("session"), value.get("role")) {
            (Some(session), _) => Kind::Header(session),
            (None, None) => Kind::Header(value),
            (None, Some(_)) => Kind::Item(value),
        },
        (_, None) => Kind::Item(value),
        (other, Some(_)) => Kind::Other(other.to_owned()),
    }
}

impl Codex {
    pub(super) fn new(context: &FileContext) -> Self {
        let mut talk = Transcript::new(Format::Codex);
        talk.home = Home::workspace("codex", None);
        Self {
            name: context.name.clone(),
            talks: vec![talk],
            folder: None,
            model: String::new(),
            thoughts: Vec::new(),
        }
    }

    /// Returns the thoughts that belong to what is said now; those before somebody else spoke led to nothing.
    fn thoughts(&mut self, role: Role) -> Vec<Reasoning> {
        let thoughts = std::mem::take(&mut self.thoughts);
        if role == Role::Assistant { thoughts } else { Vec::new() }
    }

    /// Adds a message. A rollout only grows, so a line is named by its number.
    fn say(&mut self, line: usize, at: Option<Timestamp>, role: Role, message: Message) -> Verdict {
        if message.text.trim().is_empty() && message.tool_calls.is_empty() && role != Role::Tool {
            return Verdict::left_out("empty message");
        }
        let Some(talk) = self.talks.last_mut() else { return Verdict::bad("there is no conversation") };
        let of = talk.id.as_deref().unwrap_or(&self.name);
        let message = Message { message_id: Some(MessageId(format!("import:codex:{of}:{line}"))), ..message };
        // A call belongs to what the agent said right before it, unless it thought again in between.
        let goes_on =
            role == Role::Assistant && !message.tool_calls.is_empty() && message.reasoning.is_empty();
        match talk.assistant().filter(|_| goes_on) {
            Some(taken) => {
                taken.line = line;
                taken.join(message);
            }
            None => talk.say(line, at, role, message),
        }
        Verdict::Taken
    }

    fn item(&mut self, line: usize, at: Option<Timestamp>, item: &Value) -> Verdict {
        match text(item, "type").unwrap_or_default() {
            "message" | "" => {
                let content = Content::of(item.get("content"));
                let said = Message::text(content.text());
                let is_put_in = |text: &str| PUT_IN.iter().any(|mark| text.trim_start().starts_with(mark));
                let role = match text(item, "role") {
                    Some("assistant") => Role::Assistant,
                    Some("developer" | "system") => Role::System,
                    Some("user") if is_put_in(&said.text) => Role::System,
                    Some("user") => Role::User,
                    other => {
                        return Verdict::Bad(format!("there is no role '{}'", other.unwrap_or_default()));
                    }
                };
                let said = Message { reasoning: self.thoughts(role), ..said };
                self.say(line, at, role, said)
            }
            "reasoning" => match thought(item) {
                Some(one) => {
                    let model = self.model.clone();
                    self.thoughts.push(Reasoning { model, ..one });
                    Verdict::Taken
                }
                None => Verdict::left_out("thinking without a signature"),
            },
            "function_call" | "custom_tool_call" | "local_shell_call" => match call(item) {
                Some(call) => {
                    let reasoning = self.thoughts(Role::Assistant);
                    let said = Message { tool_calls: vec![call], reasoning, ..Message::default() };
                    self.say(line, at, Role::Assistant, said)
                }
                None => Verdict::bad("the call has no id"),
            },
            "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
                let tool_call_id = text(item, "call_id").map(str::to_owned);
                let said = Message { tool_call_id, ..Message::text(output(item.get("output"))) };
                self.say(line, at, Role::Tool, said)
            }
            other => Verdict::LeftOut(other.to_owned()),
        }
    }
}

impl Reader for Codex {
    fn survey(&mut self, place: Place, value: &Value) {
        let Kind::Header(meta) = kind(value) else { return };
        let Some(talk) = self.talks.last_mut() else { return };
        // A fork repeats the header of what it came from behind its own.
        if place.record > 0 && talk.id.is_some() {
            return;
        }
        let own = |name| text(meta, name).map(str::to_owned);
        talk.id = talk.id.take().or_else(|| own("id")).or_else(|| own("session_id"));
        let spawned = ["/source/subagent/thread_spawn/parent_thread_id", "/source/subagent/parent_thread_id"];
        let spawned = spawned.iter().find_map(|path| meta.pointer(path)?.as_str()).map(str::to_owned);
        talk.parent = talk.parent.take().or_else(|| own("forked_from_id")).or(spawned);
        talk.began = talk.began.or(time(value.get("timestamp"))).or(time(meta.get("timestamp")));
        self.folder = self.folder.take().or_else(|| own("cwd"));
        talk.home = Home::workspace("codex", self.folder.as_deref());
    }

    fn surveyed(&mut self) -> Result<(), Unreadable> {
        if let Some(talk) = self.talks.last_mut() {
            talk.id = talk.id.take().or_else(|| Some(self.name.clone()));
        }
        Ok(())
    }

    fn take(&mut self, place: Place, value: &Value) -> Verdict {
        let at = time(value.get("timestamp"));
        match kind(value) {
            Kind::Header(_) => Verdict::left_out("header"),
            Kind::Item(item) => self.item(place.line, at, item),
            Kind::Compacted(item) => {
                let summary = Message::text(text(item, "message").unwrap_or_default());
                self.say(place.line, at, Role::System, summary)
            }
            Kind::Turn(turn) => {
                if let Some(model) = text(turn, "model") {
                    self.model = model.to_owned();
                }
                Verdict::left_out("turn_context")
            }
            Kind::Other(reason) => Verdict::LeftOut(reason),
        }
    }

    fn talks(&mut self) -> &mut Vec<Transcript> {
        &mut self.talks
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
