//! `segue import`: a conversation from elsewhere, in a session of its own.

use crate::Exit;
use crate::args::{Common, ImportFormat};
use crate::{json, paint, setup};
use anyhow::{Context as _, bail};
use segue_core::Timestamp;
use segue_core::message::{Message, Role, ToolCall};
use segue_core::scope;
use segue_core::session::Title;
use segue_engine::port::Conversation;
use serde_json::{Value, json};
use std::path::Path;

pub async fn run(
    common: &Common,
    path: &Path,
    format: ImportFormat,
    scope: Option<scope::Key>,
) -> anyhow::Result<Exit> {
    let text = super::replay::read(path)?;
    let engine = setup::engine(common).await?;
    let (named, conversation, bad) = match format {
        ImportFormat::Segue => own(&text)?,
        ImportFormat::Openai => openai(&text, engine.now())?,
    };
    for (line, why) in &bad {
        eprintln!("{} line {line}: {why}; it is left out", paint::warning("warning:"));
    }
    let Some(scope) = scope.or(named) else {
        bail!("the file names no scope: say where it goes with --scope KEY");
    };
    let imported = engine.import(&scope, conversation).await?;
    let session = imported.session.as_ref().map(ToString::to_string);
    if common.json {
        let bad: Vec<Value> = bad.iter().map(|(line, why)| json!({ "line": line, "error": why })).collect();
        let (taken, known) = (imported.taken, imported.known);
        json::print(&json!({ "session": session, "taken": taken, "known": known, "bad": bad }))?;
    } else {
        match session {
            Some(session) => println!("Took {} messages over into {session}.", imported.taken),
            None => println!("All {} messages were there already; nothing was changed.", imported.known),
        }
    }
    Ok(Exit::Done)
}

type Read = (Option<scope::Key>, Conversation, Vec<(usize, String)>);

/// Reads Segue's own form: a header, then a message a line.
fn own(text: &str) -> anyhow::Result<Read> {
    let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let header = lines.next().map(|(_, line)| line).unwrap_or_default();
    let header: Value =
        serde_json::from_str(header).context("the first line is not a header of `segue export`")?;
    if header.get("segue") != Some(&json!(1)) {
        bail!("the first line is not a header of `segue export`: it has no \"segue\":1");
    }
    let scope = header.get("scope").and_then(Value::as_str).map(str::parse).transpose()?;
    let title = header.get("title").and_then(Value::as_str).and_then(Title::new);
    let (mut messages, mut bad) = (Vec::new(), Vec::new());
    for (at, line) in lines {
        match own_line(line) {
            Ok(message) => messages.push(message),
            Err(error) => bad.push((at + 1, error.to_string())),
        }
    }
    Ok((scope, Conversation { title, messages }, bad))
}

fn own_line(line: &str) -> anyhow::Result<(Timestamp, Role, Message)> {
    let value: Value = serde_json::from_str(line)?;
    let role = role(&value)?;
    let at = value.get("at").and_then(Value::as_str).context("it has no time (\"at\")")?;
    let at = at.parse().context("its time cannot be read")?;
    Ok((at, role, serde_json::from_value(value)?))
}

fn role(value: &Value) -> anyhow::Result<Role> {
    let name = value.get("role").and_then(Value::as_str).context("it has no role")?;
    // What OpenAI calls a developer speaks for the host.
    let name = if name == "developer" { "system" } else { name };
    Role::named(name).with_context(|| format!("there is no role '{name}'"))
}

/// Reads OpenAI chat messages: an object with `messages`, a list, or a message a line.
fn openai(text: &str, now: Timestamp) -> anyhow::Result<Read> {
    let (mut messages, mut bad) = (Vec::new(), Vec::new());
    let mut take = |place: usize, value: &Value| match openai_message(value) {
        Ok((role, message)) => messages.push((now, role, message)),
        Err(error) => bad.push((place, error.to_string())),
    };
    match serde_json::from_str::<Value>(text) {
        Ok(whole) => {
            let list = whole.get("messages").unwrap_or(&whole);
            match list.as_array() {
                Some(list) => list.iter().enumerate().for_each(|(at, value)| take(at + 1, value)),
                None => take(1, list),
            }
        }
        Err(_) => {
            for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
                match serde_json::from_str::<Value>(line) {
                    Ok(value) => take(at + 1, &value),
                    Err(error) => take(at + 1, &json!({ "bad": error.to_string() })),
                }
            }
        }
    }
    if messages.is_empty() {
        bail!("there is no message in it");
    }
    Ok((None, Conversation { title: None, messages }, bad))
}

fn openai_message(value: &Value) -> anyhow::Result<(Role, Message)> {
    if let Some(why) = value.get("bad").and_then(Value::as_str) {
        bail!("{why}");
    }
    let role = role(value)?;
    let text = match value.get("content") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text")?.as_str()).collect::<Vec<_>>().join("\n")
        }
        Some(_) => bail!("its content is neither text nor parts"),
    };
    let tool_call_id = value.get("tool_call_id").and_then(Value::as_str).map(str::to_owned);
    let tool_calls = tool_calls(value);
    Ok((role, Message { text, tool_call_id, tool_calls, ..Message::default() }))
}

/// Reads calls of tools, in OpenAI's shape or flat.
pub fn tool_calls(value: &Value) -> Vec<ToolCall> {
    let call = |call: &Value| {
        let function = call.get("function").unwrap_or(call);
        let arguments = match function.get("arguments") {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        };
        Some(ToolCall {
            id: call.get("id")?.as_str()?.to_owned(),
            name: function.get("name")?.as_str()?.to_owned(),
            arguments,
        })
    };
    let calls = value.get("tool_calls").and_then(Value::as_array);
    calls.into_iter().flatten().filter_map(call).collect()
}
