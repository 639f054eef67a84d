//! From entries of the log to events.

use segue_core::decision::Action;
use segue_core::entry::{Body, Kind, Record};
use segue_core::session::Number;
use segue_core::state::State;
use segue_engine::words::{self, Language};
use serde_json::{Value, json};

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

/// Tells what entries of a scope's log mean to who watches.
pub(crate) fn events_of(state: &State, records: &[Record]) -> Vec<Event> {
    records.iter().filter_map(|record| event(state, record)).collect()
}

fn event(state: &State, record: &Record) -> Option<Event> {
    let session = |number: Number| state.key(number).to_string();
    let holder = || {
        let holds = |number: &Number| state.view(*number).hold(record.segment, record.seq);
        state.list().map(|(number, _)| number).filter(holds).last().map(session)
    };
    let (name, mut data) = match record.body() {
        Ok(Body::Message(role, message)) => {
            let calls: Vec<Value> = message
                .tool_calls
                .iter()
                .map(|call| json!({ "id": call.id, "name": call.name, "arguments": call.arguments }))
                .collect();
            let mut data = json!({ "session": holder(), "role": role.name(), "text": message.text });
            if let Value::Object(fields) = &mut data {
                if !calls.is_empty() {
                    fields.insert("tool_calls".into(), calls.into());
                }
                if let Some(id) = message.tool_call_id {
                    fields.insert("tool_call_id".into(), id.into());
                }
                if let Some(sender) = message.sender {
                    fields.insert("sender".into(), sender.into());
                }
            }
            ("message", data)
        }
        Ok(Body::Decision(decision)) => {
            let name = match decision.action {
                Action::Ask => "question",
                Action::New
                | Action::NewCarryOver
                | Action::Fork
                | Action::Resume
                | Action::Merge
                | Action::Split
                | Action::Clear => "boundary",
                Action::Continue
                | Action::ContinueSummarize
                | Action::ContinueReinject
                | Action::Command
                | Action::Refused => return None,
            };
            let notice = decision.notice.as_ref();
            let notice = notice.map(|notice| words::notice(Language::En, &state.scope, notice));
            let data = json!({
                "session": session(decision.session),
                "action": decision.action,
                "cause": decision.cause,
                "about": decision.about,
                "notice": notice,
            });
            (name, data)
        }
        Ok(_) => match record.kind {
            Kind::Task | Kind::Compacted => {
                let number = state.latest()?;
                let standing = state.extras.task_state(number);
                ("task", json!({ "session": session(number), "state": standing, "kind": record.kind.name() }))
            }
            Kind::Deleted | Kind::Pruned | Kind::Erased => ("deleted", json!({ "kind": record.kind.name() })),
            _ => return None,
        },
        // What was erased since is told without its words.
        Err(_) => match record.kind.role() {
            Some(role) => ("message", json!({ "session": holder(), "role": role.name(), "erased": true })),
            None => return None,
        },
    };
    if let Value::Object(fields) = &mut data {
        fields.insert("scope".into(), state.scope.as_str().into());
        fields.insert("seq".into(), record.seq.0.into());
        fields.insert("at".into(), record.at.to_string().into());
    }
    Some(Event { name, seq: record.seq.0, data })
}
