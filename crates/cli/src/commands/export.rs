//! `segue export`: a session on standard output.

use super::sessions::list::title;
use super::sessions::show::missing;
use crate::args::Common;
use crate::port_args::ExportFormat;
use crate::sessions_args::SessionArg;
use crate::setup::{self, Absent};
use crate::{Exit, json, layout, out};
use anyhow::Context as _;
use jiff::tz::TimeZone;
use segue_core::session::Title;
use segue_engine::history::{Listed, Told};
use segue_engine::pins::Carried;
use segue_engine::port::writing::{self, LostPart, Outgoing, Written};
use serde_json::{Value, json};

pub async fn run(common: &Common, key: Option<&SessionArg>, format: ExportFormat) -> anyhow::Result<Exit> {
    let engine = setup::engine(common, Absent::Empty).await?;
    let key = &setup::session_or_latest(&engine, key).await?;
    let state = engine.state(&key.scope).await?;
    let Some(session) = state.live(key.number) else { return Err(missing(key).into()) };
    let listed = engine.describe(&state, key.number).await?;
    let messages = engine.all_messages(&state, key.number).await?;
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
            for told in messages.iter().filter(|told| told.message.is_none()) {
                out::warning(format!("message {}: {}", told.seq, LostPart::Erased));
            }
            let said =
                messages.into_iter().filter_map(|told| Some((told.role, told.message?))).collect::<Vec<_>>();
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
fn elsewhere(write: fn(&Outgoing<'_>) -> Written, listed: &Listed, messages: &[Told]) -> anyhow::Result<()> {
    let folder = std::env::current_dir().context("the current folder cannot be found")?;
    let messages = messages.iter().map(|told| (told.seq, told.at, told.role, told.message.as_ref()));
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
    messages: &[Told],
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
    for told in messages {
        let Some(message) = &told.message else { continue };
        let mut line = json!({ "seq": told.seq, "at": told.at.to_string(), "role": told.role.name() });
        if let (Value::Object(fields), Value::Object(said)) = (&mut line, serde_json::to_value(message)?) {
            fields.extend(said.into_iter().filter(|(name, _)| name != "given_at"));
        }
        json::print(&line)?;
    }
    Ok(())
}

fn markdown(listed: &Listed, messages: &[Told], zone: &TimeZone) -> anyhow::Result<()> {
    let time = |at| layout::time(at, zone);
    out::line(format!("# {}\n", title(listed)))?;
    out::line(format!("`{}` · {}", listed.key, time(listed.created_at)))?;
    for told in messages {
        out::line(format!("\n**{}** · {}\n", told.role, time(told.at)))?;
        match &told.message {
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
