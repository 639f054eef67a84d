//! Segue's own form: a header, then a message a line.

use super::openai::role;
use super::transcript::{Bad, Format, Home, Line, Taken, Transcript, Unreadable};
use crate::pins::Carried;
use segue_core::entry::Seq;
use segue_core::pins::Capture;
use segue_core::session::Title;
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) fn read(lines: &[Line]) -> Result<Transcript, Unreadable> {
    let is_empty = |line: &&Line| line.text.as_ref().is_ok_and(|text| text.trim().is_empty());
    let mut lines = lines.iter().filter(|line| !is_empty(line));
    let header = lines.next().and_then(|line| line.text.as_deref().ok()).unwrap_or_default();
    let header: Value = serde_json::from_str(header).unwrap_or_default();
    match header.get("segue") {
        Some(version) if *version == json!(1) => {}
        Some(version) => {
            let why = format!("the file has form {version}, this Segue reads form 1: use a newer Segue");
            return Err(Unreadable(why));
        }
        None => return Err(Unreadable::new("the first line is not a header of `segue export`")),
    }
    let text = |name: &str| header.get(name).and_then(Value::as_str);
    let home = match text("scope").map(str::parse) {
        Some(Ok(scope)) => Home::Scope(scope),
        Some(Err(why)) => return Err(Unreadable(format!("{why}"))),
        None => Home::Unknown,
    };
    let mut read = Transcript {
        id: text("session").map(str::to_owned),
        home,
        session_id: text("session_id").and_then(|id| id.parse().ok()),
        title: text("title").and_then(Title::new),
        pins: header.get("pins").map(pins).transpose()?,
        ..Transcript::new(Format::Segue)
    };
    for line in lines {
        match line.text.clone().and_then(|text| message(line.number, &text)) {
            Ok(taken) => read.messages.push(taken),
            Err(why) => read.bad.push(Bad { line: line.number, why }),
        }
    }
    Ok(read)
}

/// Reads what the session was pinned to. A field that is not known may matter, so it is not passed over.
fn pins(value: &Value) -> Result<Box<Capture>, Unreadable> {
    let unreadable = |why| Unreadable(format!("what the session was pinned to cannot be read: {why}"));
    let carried = Carried::deserialize(value).map_err(unreadable)?;
    let capture = carried.capture().map_err(|why| Unreadable(format!("the file was changed: {why}")))?;
    Ok(Box::new(capture))
}

fn message(line: usize, text: &str) -> Result<Taken, String> {
    let value: Value = serde_json::from_str(text).map_err(|_| "it is not JSON".to_owned())?;
    let role = role(&value)?;
    let at = value.get("at").and_then(Value::as_str).ok_or("it has no time (\"at\")")?;
    let at = at.parse().map_err(|_| "its time cannot be read".to_owned())?;
    let seq = value.get("seq").and_then(Value::as_u64).map(Seq);
    let message = serde_json::from_value(value).map_err(|_| "it is not a message".to_owned())?;
    Ok(Taken { line, seq, at, role, message })
}
