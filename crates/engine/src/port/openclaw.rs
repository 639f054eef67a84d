//! Transcripts of OpenClaw: a header, then entries with an `id` and a `parentId`. `sessions.json` beside them says
//! which conversation they are of. Its databases hold the same entries, one a row.

use super::GIVEN_UP;
use super::account::Verdict;
use super::blocks::{Content, join, text, time};
use super::branches::{Node, Weight, given_up};
use super::reading::{Place, Reader};
use super::transcript::{FileContext, Format, Home, Transcript, Unreadable};
use segue_core::Timestamp;
use segue_core::message::{Message, MessageId, Role};
use segue_core::session::Title;
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) struct Openclaw {
    context: FileContext,
    talks: Vec<Transcript>,
    nodes: Vec<Node>,
    given_up: BTreeSet<usize>,
}

impl Openclaw {
    pub(super) fn new(context: &FileContext) -> Self {
        let talks = vec![Transcript::new(Format::Openclaw)];
        Self { context: context.clone(), talks, nodes: Vec::new(), given_up: BTreeSet::new() }
    }
}

impl Reader for Openclaw {
    fn survey(&mut self, place: Place, value: &Value) {
        self.nodes.extend(node(place.record, value));
        let Some(read) = self.talks.last_mut() else { return };
        match text(value, "type").unwrap_or_default() {
            "session" => {
                read.id = text(value, "id").map(str::to_owned);
                read.parent = text(value, "parentSession").map(str::to_owned);
                read.began = time(value.get("timestamp"));
            }
            "session_info" => read.title = text(value, "name").and_then(Title::new).or(read.title.take()),
            _ => {}
        }
    }

    fn surveyed(&mut self) -> Result<(), Unreadable> {
        self.given_up = given_up(&std::mem::take(&mut self.nodes));
        let Some(read) = self.talks.last_mut() else { return Ok(()) };
        let id = read.id.clone().unwrap_or_else(|| self.context.name.clone());
        let (key, entry) = known(&id, &self.context);
        let agent = self.context.agent.as_deref().unwrap_or("main");
        // One that was reset is in no index any more; it was the agent's main conversation, as far as anyone knows.
        let key = key.map_or_else(|| format!("agent:{agent}:main"), str::to_owned);
        read.home = match key.parse() {
            Ok(scope) => Home::Scope(scope),
            Err(_) => Home::chat(Some(agent), "openclaw", &key),
        };
        let named = ["label", "displayName", "subject"].iter().find_map(|name| text(entry?, name));
        read.title = read.title.take().or(named.and_then(Title::new));
        read.id = Some(id);
        Ok(())
    }

    fn take(&mut self, place: Place, value: &Value) -> Verdict {
        if self.given_up.contains(&place.record) {
            return Verdict::left_out(GIVEN_UP);
        }
        let Some(read) = self.talks.last_mut() else { return Verdict::bad("there is no conversation") };
        match text(value, "type").unwrap_or_default() {
            "session" => Verdict::left_out("header"),
            "session_info" => Verdict::left_out("title"),
            "message" => match value.get("message") {
                Some(message) => take(read, place.line, value, message),
                None => Verdict::bad("it has no message"),
            },
            // What an extension puts in, and what stands for messages that were cut off.
            "custom_message" => system(read, place.line, value, "content"),
            "compaction" | "branch_summary" => system(read, place.line, value, "summary"),
            "" => Verdict::bad("it has no type"),
            other => Verdict::LeftOut(other.to_owned()),
        }
    }

    fn talks(&mut self) -> &mut Vec<Transcript> {
        &mut self.talks
    }
}

/// Returns an entry as a link of the chain: each is linked to the one that was the last one then.
fn node(record: usize, value: &Value) -> Option<Node> {
    let id = text(value, "id").filter(|_| text(value, "type") != Some("session"))?;
    // What an extension keeps for itself hangs at the side.
    let competes =
        matches!(text(value, "type")?, "message" | "custom_message" | "compaction" | "branch_summary");
    let rival = competes.then(|| ("entry", id.to_owned()));
    let weight = if competes { Weight::Talk } else { Weight::Aside };
    Some(Node {
        record,
        weight,
        id: id.to_owned(),
        parent: text(value, "parentId").map(str::to_owned),
        rival,
    })
}

/// Finds a transcript in `sessions.json`: its key, and what is known about it.
fn known<'a>(id: &str, context: &'a FileContext) -> (Option<&'a str>, Option<&'a Value>) {
    let entries = context.index.as_deref().and_then(Value::as_object);
    let name = format!("{id}.jsonl");
    let of = |entry: &Value| {
        text(entry, "sessionId") == Some(id)
            || text(entry, "sessionFile").is_some_and(|file| file.ends_with(&name))
    };
    let found = entries.and_then(|entries| entries.iter().find(|(_, entry)| of(entry)));
    found.map_or((None, None), |(key, entry)| (Some(key), Some(entry)))
}

fn id_of(read: &Transcript, entry: &Value) -> Option<MessageId> {
    let session = read.id.as_deref().unwrap_or_default();
    text(entry, "id").map(|id| MessageId(format!("import:openclaw:{session}:{id}")))
}

fn when(entry: &Value, message: Option<&Value>) -> Option<Timestamp> {
    time(entry.get("timestamp")).or(time(message.and_then(|message| message.get("timestamp"))))
}

fn system(read: &mut Transcript, line: usize, entry: &Value, field: &str) -> Verdict {
    let id = id_of(read, entry);
    match Content::of(entry.get(field)).message() {
        Some(message) => {
            let message = Message { message_id: id, tool_calls: Vec::new(), ..message };
            read.say(line, when(entry, None), Role::System, message);
            Verdict::Taken
        }
        None => Verdict::left_out("empty message"),
    }
}

fn take(read: &mut Transcript, line: usize, entry: &Value, message: &Value) -> Verdict {
    let (at, id) = (when(entry, Some(message)), id_of(read, entry));
    let content = Content::of(message.get("content"));
    let role = text(message, "role").unwrap_or_default();
    match role {
        "toolResult" | "tool" => {
            let of = text(message, "toolCallId").or(text(message, "tool_call_id")).map(str::to_owned);
            let said = Message { message_id: id, tool_call_id: of, ..Message::text(content.text()) };
            read.say(line, at, Role::Tool, said);
        }
        "user" | "assistant" | "system" => {
            let results = content.results.clone();
            for ((of, said), part) in results.into_iter().zip(1..) {
                let id = id.as_ref().map(|id| MessageId(format!("{}/{part}", id.0)));
                let said = Message { message_id: id, tool_call_id: Some(of), ..Message::text(said) };
                read.say(line, at, Role::Tool, said);
            }
            let is_result = !content.results.is_empty();
            match (content.message(), Role::named(role)) {
                (Some(said), Some(role)) => {
                    read.say(line, at, role, Message { message_id: id, ..said });
                }
                _ if is_result => {}
                _ => return Verdict::left_out("empty message"),
            }
        }
        "bashExecution" => {
            let said = format!(
                "$ {}\n{}",
                text(message, "command").unwrap_or_default(),
                text(message, "output").unwrap_or_default()
            );
            let mut said = Message::text(said);
            join(&mut said, Message { message_id: id, ..Message::default() });
            read.say(line, at, Role::User, said);
        }
        "" => return Verdict::bad("it has no role"),
        other => return Verdict::Bad(format!("there is no role '{other}'")),
    }
    Verdict::Taken
}
