//! `segue export`: a session on standard output.

use super::sessions::list::title;
use super::sessions::show::missing;
use crate::args::Common;
use crate::port_args::ExportFormat;
use crate::sessions_args::SessionArg;
use crate::setup;
use crate::{Exit, json, layout, out};
use anyhow::Context as _;
use jiff::tz::TimeZone;
use segue_core::message::ReplyEnd;
use segue_core::session::Title;
use segue_engine::history::{Listed, StoredMessage};
use segue_engine::pins::Carried;
use segue_engine::port::writing::{self, LostPart, Outgoing, Written};
use serde_json::{Value, json};

pub async fn run(common: &Common, key: Option<&SessionArg>, format: ExportFormat) -> anyhow::Result<Exit> {
    let engine = setup::reader(common)?;
    let key = &setup::session_or_latest(&engine, key).await?;
    let state = engine.state(&key.scope).await?;
    let Some(session) = state.live(key.number) else { return Err(missing(key).into()) };
    let listed = engine.describe(&state, key.number).await?;
    let mut messages = engine.all_messages(&state, key.number).await?;
    // Only our own form can say that a message is a summary, and that a model gave no answer.
    if format != ExportFormat::Segue {
        messages.retain(|said| said.message.as_ref().is_none_or(|said| said.end != ReplyEnd::Failed));
        messages = messages.into_iter().map(StoredMessage::as_data).collect();
    }
    match format {
        ExportFormat::Segue => {
            let pins = engine.pins_with_texts(&state, key.number).await?;
            own(&listed, session.title.as_ref(), pins.as_ref(), &messages)?;
        }
        ExportFormat::ClaudeCode => {
            elsewhere(writing::claude_code, &listed, &messages)?;
        }
        ExportFormat::Codex => {
            elsewhere(writing::codex, &listed, &messages)?;
        }
        ExportFormat::Openai => {
            for stored in messages.iter().filter(|stored| stored.message.is_none()) {
                out::warning(format!("message {}: {}", stored.seq, LostPart::Erased));
            }
            let said = messages
                .into_iter()
                .filter_map(|stored| Some((stored.role, stored.message?)))
                .collect::<Vec<_>>();
            let (chat, left_out) = json::paired(&said);
            json::print(&json!({ "messages": chat }))?;
            for left in left_out {
                out::warning(format!("message {} is left out: {}", left.at + 1, left.why));
            }
        }
        ExportFormat::Markdown => {
            markdown(&listed, &messages, &engine.config().time_zone_for(&key.scope, None))?;
        }
    }
    Ok(Exit::Done)
}

/// Writes a session as another program keeps its own; what has no place there is said.
fn elsewhere(
    write: fn(&Outgoing<'_>) -> Written,
    listed: &Listed,
    messages: &[StoredMessage],
) -> anyhow::Result<()> {
    let folder = std::env::current_dir().context("the current folder cannot be found")?;
    let messages =
        messages.iter().map(|stored| (stored.seq, stored.at, stored.role, stored.message.as_ref()));
    let outgoing =
        Outgoing { id: listed.session_id, folder: &folder.to_string_lossy(), messages: messages.collect() };
    let written = write(&outgoing);
    for line in &written.lines {
        json::print(line)?;
    }
    for lost in &written.lost {
        out::warning(format!("message {}: {}", lost.seq, lost.what));
    }
    Ok(())
}

fn own(
    listed: &Listed,
    title: Option<&Title>,
    pins: Option<&Carried>,
    messages: &[StoredMessage],
) -> anyhow::Result<()> {
    let mut header = json!({
        "segue": 1,
        "scope": listed.key.scope.as_str(),
        "session": listed.key.to_string(),
        "session_id": listed.session_id.to_string(),
        "title": title.map(Title::as_str),
        "created_at": listed.created_at.to_string(),
    });
    if let (Value::Object(fields), Some(pins)) = (&mut header, pins) {
        fields.insert("pins".into(), serde_json::to_value(pins)?);
    }
    json::print(&header)?;
    for stored in messages {
        let Some(message) = &stored.message else { continue };
        let mut line = json!({ "seq": stored.seq, "at": stored.at.to_string(), "role": stored.role.name() });
        if let (Value::Object(fields), Value::Object(said)) = (&mut line, serde_json::to_value(message)?) {
            fields.extend(said.into_iter().filter(|(name, _)| name != "given_at"));
        }
        json::print(&line)?;
    }
    Ok(())
}

fn markdown(listed: &Listed, messages: &[StoredMessage], zone: &TimeZone) -> anyhow::Result<()> {
    let time = |at| layout::time(at, zone);
    out::line(format!("# {}\n", title(listed)))?;
    out::line(format!("#{} · `{}` · {}", listed.number, listed.key.scope, time(listed.created_at)))?;
    for stored in messages {
        out::line(format!("\n**{}** · {}\n", stored.role, time(stored.at)))?;
        match &stored.message {
            None => out::line("*(erased)*")?,
            Some(message) => {
                if !message.text.is_empty() {
                    out::line(&message.text)?;
                }
                for call in &message.tool_calls {
                    out::line(format!("`{}({})`", call.name, call.arguments))?;
                }
            }
        }
    }
    Ok(())
}
