//! Sessions of Hermes, as its database has them: a row about the session, then a row a message in OpenAI's words.

use super::account::Verdict;
use super::blocks::{Content, text};
use super::openai;
use super::reading::{Place, Reader};
use super::transcript::{FileContext, Format, Home, Transcript};
use segue_core::Timestamp;
use segue_core::message::{Message, MessageId};
use segue_core::session::Title;
use serde_json::{Map, Value};

/// What stands in front of a content that is a list of blocks in JSON.
const JSON_MARK: &str = "\u{0}json:";

pub(super) struct Hermes {
    talks: Vec<Transcript>,
}

impl Hermes {
    /// The row about the session is what stands beside its messages.
    pub(super) fn new(context: &FileContext) -> Self {
        let about = context.meta.clone().unwrap_or_default();
        let own = |name| text(&about, name).filter(|text| !text.trim().is_empty());
        let source = own("source").unwrap_or("hermes");
        let home = match own("user_id") {
            Some(user) => Home::chat(None, source, user),
            // On the command line nobody is named.
            None => Home::chat(None, "hermes", source),
        };
        let talk = Transcript {
            id: own("id").map(str::to_owned),
            parent: own("parent_session_id").map(str::to_owned),
            home,
            title: own("title").and_then(Title::new),
            began: about.get("started_at").and_then(seconds),
            ..Transcript::new(Format::Hermes)
        };
        Self { talks: vec![talk] }
    }
}

/// Reads seconds since 1970, with a fraction.
fn seconds(value: &Value) -> Option<Timestamp> {
    let milliseconds = value.as_f64()? * 1000.0;
    #[expect(clippy::cast_possible_truncation, reason = "milliseconds of any year that a clock shows fit")]
    Timestamp::from_millisecond(milliseconds.round() as i64).ok()
}

impl Reader for Hermes {
    fn take(&mut self, place: Place, value: &Value) -> Verdict {
        let Some(talk) = self.talks.last_mut() else { return Verdict::bad("there is no conversation") };
        if text(value, "role") == Some("session_meta") {
            return Verdict::left_out("header");
        }
        let (role, message) = match openai::message(&chat(value)) {
            Ok(read) => read,
            Err(why) => return Verdict::Bad(why),
        };
        let is_tool = message.tool_call_id.is_some();
        if message.text.trim().is_empty() && message.tool_calls.is_empty() && !is_tool {
            return Verdict::left_out("empty message");
        }
        let row = value.get("id").map(ToString::to_string).unwrap_or_default();
        let session = talk.id.as_deref().unwrap_or_default();
        let message_id = Some(MessageId(format!("import:hermes:{session}:{row}")));
        let at = value.get("timestamp").and_then(seconds);
        talk.say(place.line, at, role, Message { message_id, ..message });
        Verdict::Taken
    }

    fn talks(&mut self) -> &mut Vec<Transcript> {
        &mut self.talks
    }
}

/// Makes an OpenAI message of a row.
fn chat(row: &Value) -> Value {
    let mut fields = Map::new();
    for name in ["role", "tool_call_id"] {
        if let Some(value) = row.get(name).filter(|value| !value.is_null()) {
            fields.insert(name.to_owned(), value.clone());
        }
    }
    let content = text(row, "content").unwrap_or_default();
    let blocks = content.strip_prefix(JSON_MARK).and_then(|json| serde_json::from_str::<Value>(json).ok());
    let content = match blocks {
        Some(blocks) => Content::of(Some(&blocks)).text(),
        None => content.to_owned(),
    };
    fields.insert("content".to_owned(), content.into());
    let calls = text(row, "tool_calls").and_then(|json| serde_json::from_str::<Value>(json).ok());
    if let Some(calls) = calls.filter(Value::is_array) {
        fields.insert("tool_calls".to_owned(), calls);
    }
    Value::Object(fields)
}
