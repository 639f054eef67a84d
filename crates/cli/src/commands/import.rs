//! `segue import`: a conversation from elsewhere, in a session of its own.

use crate::args::{Common, ImportFormat};
use crate::setup::{self, Absent};
use crate::{Exit, input, json, out};
use anyhow::{Context as _, bail};
use segue_core::Timestamp;
use segue_core::entry::Seq;
use segue_core::message::{Message, MessageId, Role, ToolCall};
use segue_core::pins::Capture;
use segue_core::scope;
use segue_core::session::{Id, Title};
use segue_engine::Engine;
use segue_engine::pins::Carried;
use segue_engine::port::Conversation;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;

/// The longest line that is read: a whole conversation may be on one.
const LINE_BYTES_MAX: u64 = 1 << 30;

/// What a file holds.
#[derive(Default)]
struct Read {
    /// Where it was exported from.
    scope: Option<scope::Key>,
    session_id: Option<Id>,
    title: Option<Title>,
    pins: Option<Box<Capture>>,
    messages: Vec<Taken>,
    /// The lines that cannot be taken over, and why.
    bad: Vec<(usize, String)>,
}

/// A message of a file.
struct Taken {
    line: usize,
    /// Its number where it comes from.
    seq: Option<Seq>,
    at: Timestamp,
    role: Role,
    message: Message,
}

pub async fn run(
    common: &Common,
    path: &Path,
    format: ImportFormat,
    scope: Option<scope::Key>,
) -> anyhow::Result<Exit> {
    let lines = lines(path)?;
    let engine = setup::engine(common, Absent::Make).await?;
    let mut read = match format {
        ImportFormat::Segue => own(lines)?,
        ImportFormat::Openai => openai(lines, engine.now())?,
    };
    let Some(scope) = scope.or(read.scope.clone()) else {
        bail!("the file names no scope: say where it goes with --scope KEY");
    };
    leave_out_unfit(&engine, &mut read);
    for (line, why) in &read.bad {
        out::warning(format!("line {line}: {why}; it is left out"));
    }
    let at_home = leave_out_known(&engine, &scope, &mut read).await?;
    if read.scope.as_ref().is_some_and(|home| *home != scope) {
        rename_ids(&engine, &mut read);
    }
    let bad: Vec<Value> = read.bad.iter().map(|(line, why)| json!({ "line": line, "error": why })).collect();
    let messages = read.messages.into_iter().map(|taken| (taken.at, taken.role, taken.message)).collect();
    let imported =
        engine.import(&scope, Conversation { title: read.title, pins: read.pins, messages }).await?;
    let session = imported.session.as_ref().map(ToString::to_string);
    let (taken, known) = (imported.taken, imported.known + at_home);
    let many = |n: usize| format!("{n} message{}", if n == 1 { "" } else { "s" });
    if common.json {
        json::print(&json!({ "session": session, "taken": taken, "known": known, "bad": bad }))?;
    } else if let Some(session) = session {
        let known = if known > 0 { format!("; {} had been there", many(known)) } else { String::new() };
        out::line(format!("Took {} over into {session}{known}.", many(taken)))?;
    } else if known > 0 {
        let were = if known == 1 { "was" } else { "were" };
        out::line(format!("{} {were} there already; nothing was changed.", many(known)))?;
    } else {
        out::line("There is no message in it; nothing was changed.")?;
    }
    Ok(Exit::Done)
}

/// Leaves out what a message could not be either.
fn leave_out_unfit(engine: &Engine, read: &mut Read) {
    let max = engine.config().limits.message_bytes_max;
    let ids_max = engine.config().limits.message_id_bytes_max;
    for taken in std::mem::take(&mut read.messages) {
        let message = &taken.message;
        let (bytes, id_bytes) = (message.text.len(), message.message_id.as_ref().map_or(0, |id| id.0.len()));
        let may_be_empty = taken.role == Role::Tool || !message.tool_calls.is_empty();
        let why = if bytes > max {
            format!("the message has {bytes} bytes, at most {max} are taken")
        } else if id_bytes > ids_max {
            format!("the message id has {id_bytes} bytes, at most {ids_max} are taken")
        } else if message.text.trim().is_empty() && !may_be_empty {
            "the message is empty".to_owned()
        } else {
            read.messages.push(taken);
            continue;
        };
        read.bad.push((taken.line, why));
    }
    read.bad.sort();
}

/// Leaves out what the session that was exported still holds, and counts it.
async fn leave_out_known(engine: &Engine, scope: &scope::Key, read: &mut Read) -> anyhow::Result<usize> {
    let Some(state) = engine.store().load(scope).await? else { return Ok(0) };
    let is_it = |id: Id| read.session_id == Some(id);
    let Some(number) = state.sessions.iter().find(|(_, s)| is_it(s.id)).map(|(number, _)| *number) else {
        return Ok(0);
    };
    let held = engine.messages(&state, number, usize::MAX).await?;
    let held: BTreeMap<Seq, String> = held.into_iter().map(|told| (told.seq, told.text)).collect();
    let before = read.messages.len();
    read.messages.retain(|taken| {
        let same = |seq| held.get(&seq) == Some(&taken.message.text);
        !taken.seq.is_some_and(same)
    });
    Ok(before - read.messages.len())
}

/// Gives messages that go to another scope other ids: a channel numbers the messages of each chat from 1,
/// and a message must not pass for one of the other chat.
fn rename_ids(engine: &Engine, read: &mut Read) {
    let max = engine.config().limits.message_id_bytes_max;
    let home = read.scope.as_ref().map(scope::Key::as_str).unwrap_or_default();
    for taken in &mut read.messages {
        let id = taken.message.message_id.take();
        let id = id.map(|id| MessageId(format!("import:{home}:{}", id.0)));
        // Without an id the engine gives it one.
        taken.message.message_id = id.filter(|id| id.0.len() <= max);
    }
}

fn lines(path: &Path) -> anyhow::Result<Vec<input::Line>> {
    let mut lines = input::lines(path, LINE_BYTES_MAX)?;
    let mut all = Vec::new();
    while let Some(line) = lines.next_line().with_context(|| format!("{} cannot be read", path.display()))? {
        if !line.text.as_ref().is_ok_and(|text| text.trim().is_empty()) {
            all.push(line);
        }
    }
    Ok(all)
}

/// Reads Segue's own form: a header, then a message a line.
fn own(lines: Vec<input::Line>) -> anyhow::Result<Read> {
    let mut lines = lines.into_iter();
    let header = lines.next().and_then(|line| line.text.ok()).unwrap_or_default();
    let header: Value = serde_json::from_str(&header).unwrap_or_default();
    match header.get("segue") {
        Some(version) if *version == json!(1) => {}
        Some(version) => bail!("the file has form {version}, this Segue reads form 1: use a newer Segue"),
        None => {
            bail!("the first line is not a header of `segue export`; for OpenAI messages add --format openai")
        }
    }
    let text = |name: &str| header.get(name).and_then(Value::as_str);
    let mut read = Read {
        scope: text("scope").map(str::parse).transpose()?,
        session_id: text("session_id").and_then(|id| id.parse().ok()),
        title: text("title").and_then(Title::new),
        pins: header.get("pins").map(pins).transpose()?,
        ..Read::default()
    };
    for line in lines {
        match line.text.and_then(|text| own_line(line.number, &text).map_err(|error| error.to_string())) {
            Ok(taken) => read.messages.push(taken),
            Err(why) => read.bad.push((line.number, why)),
        }
    }
    Ok(read)
}

/// Reads what the session was pinned to. A field that is not known may matter, so it is not passed over.
fn pins(value: &Value) -> anyhow::Result<Box<Capture>> {
    let carried = Carried::deserialize(value).context("what the session was pinned to cannot be read")?;
    let capture = carried.capture().map_err(|why| anyhow::anyhow!("the file was changed: {why}"))?;
    Ok(Box::new(capture))
}

fn own_line(line: usize, text: &str) -> anyhow::Result<Taken> {
    let value: Value = serde_json::from_str(text).context("it is not JSON")?;
    let role = role(&value)?;
    let at = value.get("at").and_then(Value::as_str).context("it has no time (\"at\")")?;
    let at = at.parse().context("its time cannot be read")?;
    let seq = value.get("seq").and_then(Value::as_u64).map(Seq);
    Ok(Taken { line, seq, at, role, message: serde_json::from_value(value).context("it is not a message")? })
}

fn role(value: &Value) -> anyhow::Result<Role> {
    let name = value.get("role").and_then(Value::as_str).context("it has no role")?;
    // What OpenAI calls a developer speaks for the host.
    let name = if name == "developer" { "system" } else { name };
    Role::named(name).with_context(|| format!("there is no role '{name}'"))
}

/// Reads OpenAI chat messages: an object with `messages`, a list, or a message a line.
fn openai(lines: Vec<input::Line>, now: Timestamp) -> anyhow::Result<Read> {
    let mut read = Read::default();
    let mut take = |line: usize, value: &Value| match openai_message(value) {
        Ok((role, message)) => read.messages.push(Taken { line, seq: None, at: now, role, message }),
        Err(error) => read.bad.push((line, error.to_string())),
    };
    let whole: Result<Vec<&str>, _> = lines.iter().map(|line| line.text.as_deref()).collect();
    match whole.map(|whole| serde_json::from_str::<Value>(&whole.concat())) {
        Ok(Ok(whole)) => {
            let list = whole.get("messages").unwrap_or(&whole);
            match list.as_array() {
                Some(list) => list.iter().enumerate().for_each(|(at, value)| take(at + 1, value)),
                None => take(1, list),
            }
        }
        _ => {
            for line in &lines {
                let value = line.text.as_deref().map(serde_json::from_str::<Value>);
                match value {
                    Ok(Ok(value)) => take(line.number, &value),
                    Ok(Err(_)) => take(line.number, &json!({ "bad": "it is not JSON" })),
                    Err(why) => take(line.number, &json!({ "bad": why })),
                }
            }
        }
    }
    if read.messages.is_empty() {
        let why = read.bad.first().map(|(line, why)| format!(" (line {line}: {why})")).unwrap_or_default();
        bail!("there is no OpenAI message in it{why}: see `segue import --help`");
    }
    Ok(read)
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
    let tool_calls = tool_calls(value)?;
    Ok((role, Message { text, tool_call_id, tool_calls, ..Message::default() }))
}

/// Reads calls of tools, in OpenAI's shape or flat.
pub fn tool_calls(value: &Value) -> anyhow::Result<Vec<ToolCall>> {
    let call = |call: &Value| {
        let function = call.get("function").unwrap_or(call);
        let arguments = match function.get("arguments") {
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
            None => String::new(),
        };
        let text = |value: &Value, name| Some(value.get(name)?.as_str()?.to_owned());
        Some(ToolCall { id: text(call, "id")?, name: text(function, "name")?, arguments })
    };
    let calls = match value.get("tool_calls") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(calls)) => calls.iter().map(call).collect(),
        Some(_) => None,
    };
    calls.context("its \"tool_calls\" are not a list of calls with \"id\" and \"name\"")
}
