//! Segue's own form: a header, then a message a line.

use super::account::Verdict;
use super::openai::role;
use super::reading::{Place, Reader};
use super::transcript::{Format, Home, Taken, Transcript, Unreadable};
use crate::pins::Carried;
use segue_core::entry::Seq;
use segue_core::pins::Capture;
use segue_core::session::Title;
use serde::Deserialize;
use serde_json::{Value, json};

pub(super) struct Own {
    talks: Vec<Transcript>,
    header: Option<Value>,
}

impl Own {
    pub(super) fn new() -> Self {
        Self { talks: Vec::new(), header: None }
    }
}

impl Reader for Own {
    fn survey(&mut self, place: Place, value: &Value) {
        if place.record == 0 {
            self.header = Some(value.clone());
        }
    }

    fn surveyed(&mut self) -> Result<(), Unreadable> {
        let header = self.header.take().unwrap_or_default();
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
        self.talks.push(Transcript {
            id: text("session").map(str::to_owned),
            home,
            session_id: text("session_id").and_then(|id| id.parse().ok()),
            title: text("title").and_then(Title::new),
            pins: header.get("pins").map(pins).transpose()?,
            ..Transcript::new(Format::Segue)
        });
        Ok(())
    }

    fn take(&mut self, place: Place, value: &Value) -> Verdict {
        if place.record == 0 {
            return Verdict::left_out("header");
        }
        let Some(talk) = self.talks.last_mut() else { return Verdict::bad("there is no conversation") };
        match message(place.line, value) {
            Ok(taken) => {
                talk.messages.push(taken);
                Verdict::Taken
            }
            Err(why) => Verdict::Bad(why),
        }
    }

    fn talks(&mut self) -> &mut Vec<Transcript> {
        &mut self.talks
    }
}

/// Reads what the session was pinned to. A field that is not known may matter, so it is not passed over.
fn pins(value: &Value) -> Result<Box<Capture>, Unreadable> {
    let unreadable = |why| Unreadable(format!("what the session was pinned to cannot be read: {why}"));
    let carried = Carried::deserialize(value).map_err(unreadable)?;
    let capture = carried.capture().map_err(|why| Unreadable(format!("the file was changed: {why}")))?;
    Ok(Box::new(capture))
}

fn message(line: usize, value: &Value) -> Result<Taken, String> {
    let role = role(value)?;
    let at = value.get("at").and_then(Value::as_str).ok_or("it has no time (\"at\")")?;
    let at = at.parse().map_err(|_| "its time cannot be read".to_owned())?;
    let seq = value.get("seq").and_then(Value::as_u64).map(Seq);
    let message = serde_json::from_value(value.clone()).map_err(|_| "it is not a message".to_owned())?;
    Ok(Taken { line, seq, at, role, message, former: None, beginnings: Vec::new() })
}
