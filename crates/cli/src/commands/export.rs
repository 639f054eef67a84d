//! `segue export`: a session on standard output.

use crate::Exit;
use crate::args::{Common, ExportFormat};
use crate::{json, setup};
use anyhow::bail;
use segue_core::session::Key;
use segue_engine::history::{Listed, Told};
use serde_json::{Value, json};
use std::io::Write;

pub async fn run(common: &Common, key: &Key, format: ExportFormat) -> anyhow::Result<Exit> {
    let engine = setup::engine(common).await?;
    let state = engine.state(&key.scope).await?;
    if state.live(key.number).is_none() {
        bail!("there is no session {key}; `segue sessions list {}` lists them", key.scope);
    }
    let listed = engine.describe(&state, key.number).await?;
    let messages = engine.messages(&state, key.number, usize::MAX).await?;
    match format {
        ExportFormat::Segue => {
            own(&listed, state.live(key.number).and_then(|s| s.title.as_ref()), &messages)?
        }
        ExportFormat::Openai => {
            let kept = messages.iter().filter(|told| told.message.is_some());
            json::print(&json!({ "messages": kept.map(json::chat).collect::<Vec<Value>>() }))?;
        }
        ExportFormat::Markdown => markdown(&listed, &messages)?,
    }
    Ok(Exit::Done)
}

fn own(listed: &Listed, title: Option<&segue_core::session::Title>, messages: &[Told]) -> anyhow::Result<()> {
    json::print(&json!({
        "segue": 1,
        "scope": listed.key.scope.as_str(),
        "session": listed.key.to_string(),
        "session_id": listed.session_id.to_string(),
        "title": title.map(segue_core::session::Title::as_str),
        "created_at": listed.created_at.to_string(),
    }))?;
    for told in messages {
        let Some(message) = &told.message else { continue };
        let mut line = serde_json::to_value(message)?;
        if let Value::Object(fields) = &mut line {
            fields.remove("given_at");
            fields.insert("seq".into(), told.seq.0.into());
            fields.insert("at".into(), told.at.to_string().into());
            fields.insert("role".into(), told.role.name().into());
        }
        json::print(&line)?;
    }
    Ok(())
}

fn markdown(listed: &Listed, messages: &[Told]) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "# {}\n", listed.title.as_deref().unwrap_or("(empty)"))?;
    writeln!(out, "{} · {}", listed.key, listed.created_at)?;
    for told in messages {
        let text = if told.message.is_some() { told.text.as_str() } else { "*(erased)*" };
        writeln!(out, "\n**{}** · {}\n\n{text}", told.role, told.at)?;
    }
    Ok(())
}
