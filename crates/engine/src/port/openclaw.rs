//! Transcripts of OpenClaw: a header, then entries with an `id` and a `parentId`. `sessions.json` beside them says
//! which conversation they are of.

use super::blocks::{Content, join, text, time};
use super::branches::{Node, given_up};
use super::transcript::{Bad, Beside, Format, Home, Line, Transcript};
use segue_core::Timestamp;
use segue_core::message::{Message, MessageId, Role};
use segue_core::session::Title;
use serde_json::Value;

pub(super) fn read(lines: &[Line], beside: &Beside) -> Transcript {
    let mut read = Transcript::new(Format::Openclaw);
    let values = read.values(lines);
    let given_up =
        given_up(&values.iter().filter_map(|(line, value)| node(*line, value)).collect::<Vec<_>>());
    read.given_up = given_up.len();
    for (line, value) in values.into_iter().filter(|(line, _)| !given_up.contains(line)) {
        match text(&value, "type").unwrap_or_default() {
            "session" => {
                read.id = text(&value, "id").map(str::to_owned);
                read.parent = text(&value, "parentSession").map(str::to_owned);
                read.began = time(value.get("timestamp"));
            }
            "session_info" => read.title = text(&value, "name").and_then(Title::new).or(read.title),
            "message" => match value.get("message") {
                Some(message) => take(&mut read, line, &value, message),
                None => read.bad.push(Bad { line, why: "it has no message".to_owned() }),
            },
            // What an extension puts in, and what stands for messages that were cut off.
            "custom_message" => system(&mut read, line, &value, "content"),
            "compaction" | "branch_summary" => system(&mut read, line, &value, "summary"),
            _ => read.passed_over += 1,
        }
    }
    let id = read.id.clone().unwrap_or_else(|| beside.name.clone());
    let (key, entry) = known(&id, beside);
    let agent = beside.agent.as_deref().unwrap_or("main");
    // One that was reset is in no index any more; it was the agent's main conversation, as far as anyone knows.
    let key = key.map_or_else(|| format!("agent:{agent}:main"), str::to_owned);
    read.home = match key.parse() {
        Ok(scope) => Home::Scope(scope),
        Err(_) => Home::chat(Some(agent), "openclaw", &key),
    };
    let named = ["label", "displayName", "subject"].iter().find_map(|name| text(entry?, name));
    read.title = read.title.or(named.and_then(Title::new));
    read.id = Some(id);
    read.bad.sort();
    read.number_by_content();
    read
}

/// Returns an entry as a link of the chain: each is linked to the one that was the last one then.
fn node(line: usize, value: &Value) -> Option<Node> {
    let id = text(value, "id").filter(|_| text(value, "type") != Some("session"))?;
    // What an extension keeps for itself hangs at the side.
    let competes =
        matches!(text(value, "type")?, "message" | "custom_message" | "compaction" | "branch_summary");
    let rival = competes.then(|| ("entry", id.to_owned()));
    Some(Node { line, id: id.to_owned(), parent: text(value, "parentId").map(str::to_owned), rival })
}

/// Finds a transcript in `sessions.json`: its key, and what is known about it.
fn known<'a>(id: &str, beside: &'a Beside) -> (Option<&'a str>, Option<&'a Value>) {
    let entries = beside.index.as_ref().and_then(Value::as_object);
    let of = |entry: &Value| {
        text(entry, "sessionId") == Some(id)
            || text(entry, "sessionFile").is_some_and(|file| file.ends_with(&format!("{id}.jsonl")))
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

fn system(read: &mut Transcript, line: usize, entry: &Value, field: &str) {
    let id = id_of(read, entry);
    match Content::of(entry.get(field)).message() {
        Some(message) => {
            let message = Message { message_id: id, tool_calls: Vec::new(), ..message };
            read.say(line, when(entry, None), Role::System, message);
        }
        None => read.passed_over += 1,
    }
}

fn take(read: &mut Transcript, line: usize, entry: &Value, message: &Value) {
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
                _ => read.passed_over += 1,
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
        "" => read.bad.push(Bad { line, why: "it has no role".to_owned() }),
        other => read.bad.push(Bad { line, why: format!("there is no role '{other}'") }),
    }
}
