//! OpenAI chat messages: an object with `messages`, a list, or a message a line.

use super::account::Verdict;
use super::blocks::Content;
use super::reading::{Place, Reader};
use super::transcript::{Format, Line, Transcript, Unreadable};
use segue_core::Timestamp;
use segue_core::message::{Message, MessageId, Role, ToolCall};
use serde_json::Value;

pub(super) struct Openai {
    talks: Vec<Transcript>,
    now: Timestamp,
    /// Tells the conversation from every other one: nothing in it has an id.
    fingerprint: blake3::Hasher,
    prefix: String,
    first_wrong: Option<(usize, String)>,
    good: usize,
}

impl Openai {
    pub(super) fn new(now: Timestamp) -> Self {
        Self {
            talks: vec![Transcript::new(Format::Openai)],
            now,
            fingerprint: blake3::Hasher::new(),
            prefix: String::new(),
            first_wrong: None,
            good: 0,
        }
    }
}

impl Reader for Openai {
    fn survey(&mut self, place: Place, value: &Value) {
        match message(value) {
            Ok((role, message)) => {
                self.good += 1;
                super::fingerprint(&mut self.fingerprint, role, &message);
            }
            Err(why) => {
                self.first_wrong.get_or_insert((place.line, why));
            }
        }
    }

    fn surveyed(&mut self) -> Result<(), Unreadable> {
        if self.good == 0 {
            let why = self.first_wrong.as_ref().map(|(line, why)| format!(" (line {line}: {why})"));
            let why = why.unwrap_or_default();
            return Err(Unreadable(format!(
                "there is no OpenAI message in it{why}: see `segue import --help`"
            )));
        }
        self.good = 0;
        self.prefix = super::prefix(&self.fingerprint);
        Ok(())
    }

    fn take(&mut self, place: Place, value: &Value) -> Verdict {
        let Some(talk) = self.talks.last_mut() else { return Verdict::bad("there is no conversation") };
        match message(value) {
            Ok((role, message)) => {
                let id = MessageId(format!("import:{}:{}", self.prefix, self.good));
                self.good += 1;
                talk.say(place.line, Some(self.now), role, Message { message_id: Some(id), ..message });
                Verdict::Taken
            }
            Err(why) => Verdict::Bad(why),
        }
    }

    fn talks(&mut self) -> &mut Vec<Transcript> {
        &mut self.talks
    }
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
