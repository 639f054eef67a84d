//! From entries of the log to events.

use crate::app::App;
use crate::own::question;
use crate::problem::Problem;
use segue_core::decision::{Action, Decision};
use segue_core::entry::{Body, Change, Record, Seq};
use segue_core::message::{Message, Role};
use segue_core::session::Number;
use segue_core::state::State;
use segue_core::task::state::StateName;
use segue_engine::Question;
use segue_engine::words::{self, Language};
use serde_json::{Map, Value, json};

/// How many entries of an erasure are looked at.
const ERASED_MAX: usize = 1_000;

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Event {
    /// What kind: message, boundary, question, task or deleted.
    pub(crate) name: &'static str,
    /// The entry.
    pub(crate) seq: u64,
    /// What happened.
    pub(crate) data: Value,
}

/// Tells what entries of a scope's log mean to who watches: as it was then, not as it is now.
pub(crate) async fn events_of(app: &App, state: &State, records: &[Record]) -> Result<Vec<Event>, Problem> {
    let mut events = Vec::new();
    for (at, record) in records.iter().enumerate() {
        let told = match record.body() {
            Ok(Body::Message(role, message)) => Some(("message", said(state, record, role, message))),
            Ok(Body::Decision(decision)) => decided(app, state, records, &decision),
            Ok(Body::Task(step)) => {
                let before = records.get(..at).unwrap_or_default();
                let standing = after(&step.change).or_else(|| stood(before, step.session));
                let standing = standing.unwrap_or_else(|| state.extras.task_state(step.session));
                let data = json!({
                    "session": state.key(step.session).to_string(), "state": standing, "change": name(&step.change),
                });
                Some(("task", data))
            }
            Ok(Body::Deleted(dropped) | Body::Pruned(dropped)) => {
                let keys: Vec<String> =
                    dropped.sessions.iter().map(|one| state.key(*one).to_string()).collect();
                Some(("deleted", json!({ "session": keys.first(), "sessions": keys, "messages": [] })))
            }
            Ok(Body::Erased(erased)) => Some(("deleted", gone(app, state, &erased.entries).await?)),
            // What was erased since, or cannot be read, is told without its words.
            Ok(Body::Gone(_)) | Err(_) => record.kind.role().map(|role| {
                let data = json!({ "session": holder(state, record), "role": role.name(), "erased": true });
                ("message", data)
            }),
            Ok(_) => None,
        };
        let Some((name, mut data)) = told else { continue };
        if let Value::Object(fields) = &mut data {
            fields.insert("kind".into(), record.kind.name().into());
            fields.insert("scope".into(), state.scope.as_str().into());
            fields.insert("seq".into(), record.seq.0.into());
            fields.insert("at".into(), record.at.to_string().into());
        }
        events.push(Event { name, seq: record.seq.0, data });
    }
    Ok(events)
}

/// Names the session that holds an entry: of forks, the newest one.
fn holder(state: &State, record: &Record) -> Option<String> {
    let holds = |number: &Number| state.view(*number).hold(record.segment, record.seq);
    state.list().map(|(number, _)| number).filter(holds).last().map(|number| state.key(number).to_string())
}

fn said(state: &State, record: &Record, role: Role, message: Message) -> Value {
    let mut fields = Map::new();
    fields.insert("session".into(), holder(state, record).into());
    fields.insert("role".into(), role.name().into());
    fields.insert("text".into(), message.text.into());
    if !message.tool_calls.is_empty() {
        let call = |call: &segue_core::message::ToolCall| json!({ "id": call.id, "name": call.name, "arguments": call.arguments });
        fields.insert("tool_calls".into(), message.tool_calls.iter().map(call).collect());
    }
    for (field, value) in [("tool_call_id", message.tool_call_id), ("sender", message.sender)] {
        if let Some(value) = value {
            fields.insert(field.into(), value.into());
        }
    }
    Value::Object(fields)
}

fn decided(
    app: &App,
    state: &State,
    records: &[Record],
    decision: &Decision,
) -> Option<(&'static str, Value)> {
    let name = match decision.action {
        Action::Ask => "question",
        action if action.is_boundary() => "boundary",
        _ => return None,
    };
    let language = language(app, state, records, decision.about);
    let notice = decision.notice.as_ref();
    let asked = notice.and_then(|notice| Question::of(language, &state.scope, notice));
    let notice = notice.map(|notice| words::notice(language, &state.scope, notice));
    let mut data = json!({
        "session": state.key(decision.session).to_string(),
        "action": decision.action,
        "cause": decision.cause,
        "about": decision.about,
        "notice": notice,
    });
    if let (Some(asked), Value::Object(fields)) = (asked.map(question), &mut data) {
        fields.insert("text".into(), asked.text.into());
        fields.insert("options".into(), serde_json::to_value(asked.options).unwrap_or_default());
    }
    Some((name, data))
}

/// Finds the language that the person was spoken to in, by the message if it is at hand.
fn language(app: &App, state: &State, records: &[Record], about: Seq) -> Language {
    let record = records.iter().find(|record| record.seq == about);
    let text = match record.map(Record::body) {
        Some(Ok(Body::Message(_, message))) => message.text,
        Some(Ok(Body::Command(spoken))) => spoken.text,
        _ => String::new(),
    };
    app.engine.config().language_for(&state.scope, None).for_text(&text)
}

/// Tells what an erasure has taken: messages, and the session that they were in.
async fn gone(app: &App, state: &State, entries: &[Seq]) -> Result<Value, Problem> {
    let (mut messages, mut session) = (Vec::new(), None);
    for seq in entries.iter().take(ERASED_MAX) {
        let record = app.engine.store().get(&state.scope, *seq).await?;
        if let Some(record) = record.filter(|record| record.kind.role().is_some()) {
            session = session.or_else(|| holder(state, &record));
            messages.push(seq.0);
        }
    }
    Ok(json!({ "session": session, "sessions": [], "messages": messages }))
}

/// Tells where a task stands after a change, if that tells it.
fn after(change: &Change) -> Option<StateName> {
    match change {
        Change::Started { .. } => Some(StateName::Running),
        Change::Went { to } | Change::Compacted { to, .. } | Change::Reopened { to } => Some(to.name()),
        Change::Flushed | Change::CameFrom { .. } => None,
    }
}

/// Finds where a session's task stood, by the entries before.
fn stood(before: &[Record], session: Number) -> Option<StateName> {
    before.iter().rev().find_map(|record| match record.body() {
        Ok(Body::Task(step)) if step.session == session => after(&step.change),
        _ => None,
    })
}

fn name(change: &Change) -> &'static str {
    match change {
        Change::Started { .. } => "started",
        Change::Went { .. } => "went",
        Change::Flushed => "flushed",
        Change::Compacted { .. } => "compacted",
        Change::Reopened { .. } => "reopened",
        Change::CameFrom { .. } => "came_from",
    }
}
