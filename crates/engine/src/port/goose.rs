//! Sessions of goose, as its database has them: a row about the session, then a row a message, whose content is a list of
//! blocks in JSON.

use super::account::Verdict;
use super::blocks::{Content, text, time};
use super::reading::{Place, Reader};
use super::transcript::{FileContext, Format, Home, Transcript, Unreadable};
use segue_core::Timestamp;
use segue_core::message::{Message, MessageId, Role, ToolCall};
use segue_core::session::Title;
use serde_json::Value;

pub(super) struct Goose {
    talks: Vec<Transcript>,
}

impl Goose {
    /// The row about the session is what stands beside its messages.
    pub(super) fn new(context: &FileContext) -> Self {
        let about = context.meta.clone().unwrap_or_default();
        let own = |name| text(&about, name).filter(|text| !text.trim().is_empty());
        let talk = Transcript {
            id: own("id").map(str::to_owned),
            parent: own("parent_session_id").map(str::to_owned),
            home: Home::workspace("goose", own("working_dir")),
            title: own("name").or(own("description")).and_then(Title::new),
            began: own("created_at").and_then(sql_time),
            ..Transcript::new(Format::Goose)
        };
        Self { talks: vec![talk] }
    }
}

/// SQLite writes times in UTC without saying so.
pub(super) fn sql_time(text: &str) -> Option<Timestamp> {
    text.parse().ok().or_else(|| format!("{}Z", text.trim().replacen(' ', "T", 1)).parse().ok())
}

impl Reader for Goose {
    fn surveyed(&mut self) -> Result<(), Unreadable> {
        Ok(())
    }

    fn take(&mut self, place: Place, value: &Value) -> Verdict {
        let Some(talk) = self.talks.last_mut() else { return Verdict::bad("there is no conversation") };
        let role = match text(value, "role") {
            Some("user") => Role::User,
            Some("assistant") => Role::Assistant,
            Some("system") => Role::System,
            other => return Verdict::Bad(format!("there is no role '{}'", other.unwrap_or_default())),
        };
        let content = text(value, "content_json").and_then(|json| serde_json::from_str::<Value>(json).ok());
        let Some(Value::Array(blocks)) = content else { return Verdict::bad("its content is no list") };
        let seconds = value.get("created_timestamp").and_then(Value::as_i64);
        let at = seconds.and_then(seconds_or_milliseconds).or(time(value.get("timestamp")));
        let row = value.get("id").map(ToString::to_string).unwrap_or_default();
        let session = talk.id.clone().unwrap_or_default();
        let id = |part: &str| Some(MessageId(format!("import:goose:{session}:{row}{part}")));
        let (mut plain, mut results, mut calls) = (Vec::new(), Vec::new(), Vec::new());
        for block in &blocks {
            match text(block, "type").unwrap_or_default() {
                "toolRequest" | "frontendToolRequest" => calls.extend(call(block)),
                "toolResponse" => results.push((text(block, "id").unwrap_or_default(), result(block))),
                // Marks of the program: nobody said them.
                "toolConfirmationRequest" | "contextLengthExceeded" | "summarizationRequested" => {}
                "systemNotification" | "conversationCompacted" => {}
                _ => plain.push(block.clone()),
            }
        }
        let has_results = !results.is_empty();
        for ((of, said), part) in results.into_iter().zip(1..) {
            let message_id = id(&format!("/{part}"));
            let said = Message { message_id, tool_call_id: Some(of.to_owned()), ..Message::text(said) };
            talk.say(place.line, at, Role::Tool, said);
        }
        let content = Content::of(Some(&Value::Array(plain)));
        let message = Message { text: content.text(), tool_calls: calls, ..Message::default() };
        if message.text.trim().is_empty() && message.tool_calls.is_empty() {
            return if has_results { Verdict::Taken } else { Verdict::left_out("empty message") };
        }
        talk.say(place.line, at, role, Message { message_id: id(""), ..message });
        Verdict::Taken
    }

    fn talks(&mut self) -> &mut Vec<Transcript> {
        &mut self.talks
    }
}

/// goose counts seconds; newer rows may count milliseconds.
fn seconds_or_milliseconds(count: i64) -> Option<Timestamp> {
    if count.abs() < 100_000_000_000 {
        Timestamp::from_second(count).ok()
    } else {
        Timestamp::from_millisecond(count).ok()
    }
}

/// A call, or what went wrong with it: a call that could not be read has a name all the same.
fn call(block: &Value) -> Option<ToolCall> {
    let id = text(block, "id")?.to_owned();
    let call = block.get("toolCall")?;
    let value = call.get("value").unwrap_or(call);
    let name = text(value, "name").unwrap_or("unknown").to_owned();
    let arguments = value.get("arguments").map(ToString::to_string).unwrap_or_default();
    Some(ToolCall { id, name, arguments })
}

/// What came of a call: blocks, an object around them, or an error.
fn result(block: &Value) -> String {
    let Some(result) = block.get("toolResult") else { return String::new() };
    if let Some(error) = text(result, "error") {
        return error.to_owned();
    }
    let value = result.get("value").unwrap_or(result);
    let content = value.get("content").unwrap_or(value);
    match content {
        Value::Array(_) | Value::String(_) => Content::of(Some(content)).text(),
        other => other.to_string(),
    }
}
