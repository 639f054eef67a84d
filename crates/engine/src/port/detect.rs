//! Tells which program wrote a file, by what stands in it.

use super::blocks::{text, time};
use super::openai::whole;
use super::picoclaw;
use super::transcript::{FileContext, Format, Line};
use segue_core::Timestamp;
use serde_json::Value;

/// How many lines are looked at.
const LINES_MAX: usize = 50;

/// Finds the form of a file; nothing if it is no transcript.
pub fn detect(lines: &[Line], context: &FileContext) -> Option<Format> {
    let values: Vec<Value> = values(lines).collect();
    let by_lines = values.iter().find_map(of_line);
    let is_talk = |value: &Value| text(value, "role").is_some() && value.get("content").is_some();
    by_lines.or_else(|| {
        if values.len() > 1 && values.iter().any(is_talk) {
            return Some(if context.meta.is_some() { Format::Picoclaw } else { Format::Openai });
        }
        let all = values.into_iter().next().filter(|_| lines.len() == 1).or_else(|| whole(lines));
        let Some(all) = all else { return picoclaw::is_torn(lines).then_some(Format::Picoclaw) };
        if all.get("session").is_some() && all.get("items").is_some_and(Value::is_array) {
            return Some(Format::Codex);
        }
        let list = all.get("messages").unwrap_or(&all);
        match list {
            Value::Array(_) if text(&all, "key").is_some() => Some(Format::Picoclaw),
            Value::Array(list) if list.iter().any(is_talk) => Some(Format::Openai),
            one if is_talk(one) && context.meta.is_some() => Some(Format::Picoclaw),
            one if is_talk(one) => Some(Format::Openai),
            _ => None,
        }
    })
}

/// Finds the first time that a file names, so that conversations can be taken over in the order in which they were had.
pub fn began(lines: &[Line], context: &FileContext) -> Option<Timestamp> {
    let of = |value: &Value| {
        ["timestamp", "at", "created", "created_at"].iter().find_map(|name| time(value.get(name)))
    };
    let in_lines = values(lines).find_map(|value| of(&value));
    in_lines.or_else(|| of(context.meta.as_ref()?)).or_else(|| of(&whole(lines)?))
}

fn values(lines: &[Line]) -> impl Iterator<Item = Value> {
    let texts = lines.iter().filter_map(|line| line.text.as_deref().ok());
    texts.filter_map(|text| serde_json::from_str(text).ok()).filter(Value::is_object).take(LINES_MAX)
}

fn of_line(value: &Value) -> Option<Format> {
    let has = |name: &str| value.get(name).is_some();
    let kind = text(value, "type").unwrap_or_default();
    if has("segue") {
        return Some(Format::Segue);
    }
    let is_codex = matches!(kind, "session_meta" | "response_item" | "event_msg" | "turn_context");
    if (is_codex && has("payload"))
        || (kind.is_empty() && has("id") && has("instructions") && has("timestamp"))
    {
        return Some(Format::Codex);
    }
    if has("parentUuid")
        || has("leafUuid")
        || (has("sessionId") && has("uuid"))
        || kind == "file-history-snapshot"
    {
        return Some(Format::ClaudeCode);
    }
    let is_header = kind == "session" && has("id") && (has("cwd") || has("version") || has("timestamp"));
    let is_entry = kind == "message" && has("message") && !has("sessionId");
    (is_header || is_entry).then_some(Format::Openclaw)
}
