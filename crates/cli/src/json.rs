//! The shapes of `--json`. They are stable: fields may be added, never renamed.

use crate::commands::chat::ModelReply;
use crate::commands::replay::Other;
use crate::out;
use segue_core::decision::{Action, Cause, Confidence};
use segue_core::entry::Seq;
use segue_core::message::{Message, Role};
use segue_core::observed::Observed;
use segue_core::scope;
use segue_core::segment;
use segue_core::session::Key;
use segue_engine::Outcome;
use segue_engine::context::Context;
use segue_engine::history::{Explained, Listed, StoredMessage};
use segue_engine::shapes::pair::{LeftOut, Paired, pair};
use segue_engine::shapes::{Shape, of_paired};
use segue_engine::words::{self, Language};
use serde::Serialize;
use serde_json::{Map, Value, json};

/// Prints a value, one line.
pub fn print(value: &impl Serialize) -> anyhow::Result<()> {
    // Not straight to standard output: JSON's own error hides that a reader has gone away.
    let mut line = serde_json::to_vec(value)?;
    line.push(b'\n');
    Ok(out::bytes(&line)?)
}

/// Names a segment so that no other scope has one of that name.
pub fn segment(scope: &scope::Key, number: segment::Number) -> String {
    format!("{scope}/{number}")
}

/// What came of a line of a replay, and what another policy did with it.
pub fn outcome(line: usize, outcome: &Outcome, other: Option<&Other>) -> Value {
    let mut value = json!({
        "line": line,
        "scope": outcome.scope.as_str(),
        "session": outcome.session_key().to_string(),
        "session_id": outcome.session_id.map(|id| id.to_string()),
        "segment": outcome.segment.map(|number| segment(&outcome.scope, number)),
        "seq": outcome.seq,
        "action": outcome.action,
        "cause": outcome.cause,
        "confidence": outcome.confidence,
        "state": outcome.state,
        "notice": outcome.notice,
        "reply": outcome.reply,
        "reasons": outcome.reasons(),
        "signals": outcome.observed.as_deref().map_or_else(|| Value::Object(Map::new()), signals),
        "control_model": outcome.control_model(),
        "options": outcome.options(),
    });
    if let (Value::Object(fields), Some(suggestion)) = (&mut value, outcome.suggestion()) {
        let answers: Vec<_> = suggestion.options.iter().map(|choice| choice.answer).collect();
        fields.insert("suggestion".to_owned(), json!(answers));
    }
    if let (Value::Object(fields), Some(other)) = (&mut value, other) {
        let against = json!({
            "policy": other.policy,
            "action": other.action,
            "cause": other.cause,
            "session": other.session.to_string(),
            "differs": other.differs(outcome),
        });
        fields.insert("against".into(), against);
    }
    value
}

/// What a model said in a chat. `seq` is nothing where there was nothing to keep.
pub fn spoken(line: usize, session: &Key, model: &str, said: &ModelReply, seq: Option<Seq>) -> Value {
    json!({
        "line": line,
        "scope": session.scope.as_str(),
        "session": session.to_string(),
        "seq": seq,
        "role": Role::Assistant.name(),
        "model": model,
        "text": said.text,
        "interrupted": said.is_cut_off(),
        "error": said.trouble().map(ToString::to_string),
    })
}

/// What was observed about a message. How long that took is left out: the same file gives the same bytes.
pub fn signals(observed: &Observed) -> Value {
    let mut value = serde_json::to_value(observed).unwrap_or_default();
    if let Value::Object(fields) = &mut value {
        fields.remove("took_us");
    }
    value
}

/// A line of a replay that could not be taken, with every field that the others have.
pub fn left_out(line: usize, scope: Option<&scope::Key>, why: &str) -> Value {
    json!({
        "line": line,
        "scope": scope.map(scope::Key::as_str),
        "session": null,
        "session_id": null,
        "segment": null,
        "seq": null,
        "action": Action::Refused,
        "cause": Cause::None,
        "confidence": Confidence::CERTAIN,
        "state": "none",
        "notice": null,
        "reply": null,
        "reasons": [why],
        "signals": Map::new(),
        "control_model": "builtin",
        "options": [],
        "error": why,
    })
}

/// What came of moving a session.
pub fn moved(outcome: &Outcome) -> Value {
    let key = |number| Key::new(outcome.scope.clone(), number);
    json!({
        "action": outcome.action,
        "session": outcome.session_key().to_string(),
        "session_id": outcome.session_id.map(|id| id.to_string()),
        "notice": outcome.notice.as_ref().or(outcome.reply.as_ref()),
        "dropped": outcome.dropped.iter().map(|n| key(*n).to_string()).collect::<Vec<_>>(),
    })
}

/// A session of a list.
pub fn listed(session: &Listed) -> Value {
    json!({
        "index": session.number.0,
        "archived": session.archived,
        "key": session.key.to_string(),
        "session_id": session.session_id.to_string(),
        "title": session.title,
        "titled_by": session.titled_by,
        "messages": session.messages,
        "active": session.active,
        "state": session.state,
        "parent": session.parent.as_ref().map(ToString::to_string),
        "created_at": session.created_at.to_string(),
        "updated_at": session.updated_at.to_string(),
        "goes_at": session.goes_at.map(|at| at.to_string()),
        "kept": session.kept,
    })
}

/// A message in the shape of OpenAI's chat messages.
pub fn chat(stored: &StoredMessage) -> Value {
    let mut message = Map::new();
    message.insert("role".into(), stored.role.name().into());
    message.insert("content".into(), stored.text.clone().into());
    if let Some(said) = &stored.message {
        if !said.tool_calls.is_empty() {
            let call = |call: &segue_core::message::ToolCall| {
                let function = json!({ "name": call.name, "arguments": call.arguments });
                json!({ "id": call.id, "type": "function", "function": function })
            };
            message.insert("tool_calls".into(), said.tool_calls.iter().map(call).collect());
        }
        if let Some(sender) = &said.sender {
            message.insert("name".into(), sender.clone().into());
        }
        if let Some(id) = &said.tool_call_id {
            message.insert("tool_call_id".into(), id.clone().into());
        }
    }
    Value::Object(message)
}

/// What the model is given, in the shape of OpenAI's chat messages: each call with its result.
pub fn context(context: &Context) -> Vec<Value> {
    paired(&context.said()).0
}

/// Messages in the shape of OpenAI's chat messages: each call with its result right behind it; and what is left out.
pub fn paired(said: &[(Role, Message)]) -> (Vec<Value>, Vec<LeftOut>) {
    let paired = pair(said);
    let mut shown = Vec::new();
    for turn in paired.turns {
        let sender = said.get(turn.at).and_then(|(_, message)| message.sender.clone());
        let one = Paired { turns: vec![turn], left_out: Vec::new() };
        let Value::Object(mut fields) = of_paired(Shape::OpenAiChat, &one) else { continue };
        let Some(Value::Array(mut messages)) = fields.remove("messages") else { continue };
        if let (Some(Value::Object(first)), Some(sender)) = (messages.first_mut(), sender) {
            first.insert("name".into(), sender.into());
        }
        shown.append(&mut messages);
    }
    (shown, paired.left_out)
}

/// A message of `sessions show`.
pub fn stored_message(stored: &StoredMessage) -> Value {
    let mut message = chat(stored);
    if let Value::Object(fields) = &mut message {
        fields.insert("seq".into(), stored.seq.0.into());
        fields.insert("at".into(), stored.at.to_string().into());
        if let Some(said) = stored.message.as_ref().filter(|said| !said.reasoning.is_empty()) {
            fields.insert("reasoning".into(), json!(said.reasoning));
        }
        if let Some(said) = stored.message.as_ref().filter(|said| !said.end.is_whole()) {
            fields.insert("end".into(), json!(said.end));
        }
        if stored.message.is_none() {
            fields.insert("erased".into(), true.into());
        }
    }
    message
}

/// A decision record.
pub fn explained(explained: &Explained) -> Value {
    let decision = &explained.decision;
    let reasons: Vec<String> = decision.reasons.iter().map(|why| words::reason(Language::En, why)).collect();
    let scope = &explained.session.scope;
    json!({
        "at": explained.at.to_string(),
        "about": decision.about,
        "preview": explained.preview,
        "session": explained.session.to_string(),
        "title": explained.title,
        "action": decision.action,
        "cause": decision.cause,
        "confidence": decision.confidence,
        "policy": decision.policy,
        "version": decision.version,
        "rule": decision.rule,
        "signals": decision.signals.as_deref(),
        "thresholds": decision.thresholds,
        "alternatives": decision.alternatives,
        "reasons": reasons,
        "because": decision.reasons,
        "notice": decision.notice.as_ref().map(|notice| words::notice(Language::En, scope, notice)),
    })
}
