//! `segue memory`: what outlives the sessions it was said in.

use super::sessions;
use crate::args::Common;
use crate::memory_args::Memory as Verb;
use crate::setup::{self, Absent, Consent};
use crate::{Exit, json, layout, out, paint};
use anyhow::{Context as _, bail};
use indicatif::ProgressBar;
use segue_core::entry::{Body, Seq};
use segue_core::scope;
use segue_engine::Engine;
use segue_engine::memory::{Archival, Memory};
use serde_json::{Value, json};

pub async fn run(common: &Common, verb: Verb) -> anyhow::Result<Exit> {
    let writer = || setup::engine(common, Absent::Empty);
    match verb {
        Verb::List { scope } => list(common, &setup::reader(common)?, scope).await,
        Verb::Show { scope, number } => {
            let engine = setup::reader(common)?;
            let scope = setup::scope_or_last(&engine, scope.as_ref()).await?;
            show(common, &engine, &scope, Seq(number)).await
        }
        Verb::Forget { scope, number, yes } => {
            let engine = writer().await?;
            let scope = setup::scope_to_delete_in(&engine, scope.as_ref(), Consent::of(yes)).await?;
            forget(common, &engine, &scope, Seq(number)).await
        }
        Verb::Work { scope } => work(common, &writer().await?, scope).await,
    }
}

async fn list(common: &Common, engine: &Engine, scope: Option<scope::Key>) -> anyhow::Result<Exit> {
    let mut all = Vec::new();
    for scope in scopes(engine, scope).await? {
        all.extend(engine.memories(&scope).await?);
    }
    if common.json {
        json::print(&all.iter().map(shape).collect::<Vec<Value>>())?;
        return Ok(Exit::Done);
    }
    if all.is_empty() {
        out::line(
            "Nothing is remembered yet. `segue memory work` looks through the sessions that were left.",
        )?;
    }
    let mut scope = None;
    for memory in &all {
        if scope.replace(&memory.session.scope) != Some(&memory.session.scope) {
            out::line(paint::strong(&memory.session.scope))?;
        }
        let number = format!("{:>6}", memory.entry.0);
        out::line(format!("{number}  {:<10}  {}", memory.kind.name(), layout::printable(&memory.text)))?;
    }
    Ok(Exit::Done)
}

async fn show(common: &Common, engine: &Engine, scope: &scope::Key, number: Seq) -> anyhow::Result<Exit> {
    let memory = find(engine, scope, number).await?;
    let source = engine.store().get(scope, memory.source).await?.and_then(|record| match record.body() {
        Ok(Body::Message(role, message)) => Some((role, message.text)),
        _ => None,
    });
    if common.json {
        let mut shown = shape(&memory);
        shown["message"] =
            source.map_or(Value::Null, |(role, text)| json!({ "role": role.name(), "text": text }));
        json::print(&shown)?;
        return Ok(Exit::Done);
    }
    let zone = engine.config().time_zone_for(scope, None);
    out::line(format!("{}: {}", memory.kind.name(), paint::strong(layout::printable(&memory.text))))?;
    out::line(paint::dim(format!(
        "from #{}, message {}; kept {}",
        memory.session.number,
        memory.source,
        layout::time(memory.at, &zone)
    )))?;
    match source {
        Some((role, text)) => out::line(format!("{role}: {}", layout::printable(&text)))?,
        None => out::line(paint::dim("The message itself is gone."))?,
    }
    Ok(Exit::Done)
}

async fn forget(common: &Common, engine: &Engine, scope: &scope::Key, number: Seq) -> anyhow::Result<Exit> {
    let memory = find(engine, scope, number).await?;
    let outcome = engine.forget(scope, number).await?;
    if let Some(refusal) = &outcome.reply {
        bail!("{refusal}");
    }
    match common.json {
        true => json::print(&json!({ "forgotten": number, "scope": scope.as_str() }))?,
        false => out::line(format!("Forgotten: {}", layout::printable(&memory.text)))?,
    }
    Ok(sessions::finished(&outcome))
}

async fn work(common: &Common, engine: &Engine, scope: Option<scope::Key>) -> anyhow::Result<Exit> {
    let scopes = scopes(engine, scope).await?;
    let bar = match common.json {
        true => ProgressBar::hidden(),
        // Draws on a terminal only.
        false => ProgressBar::new(scopes.len() as u64).with_message("scopes"),
    };
    let mut done = Archival::default();
    for scope in &scopes {
        let archival = tend(engine, scope).await?;
        done.sessions += archival.sessions;
        done.kept += archival.kept;
        bar.inc(1);
    }
    bar.finish_and_clear();
    if common.json {
        json::print(&json!({ "sessions": done.sessions, "kept": done.kept }))?;
        return Ok(Exit::Done);
    }
    let counted = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let (sessions, things) = (counted(done.sessions, "session"), counted(done.kept, "thing"));
    out::line(format!("Looked through {sessions} and kept {things}."))?;
    Ok(Exit::Done)
}

/// Looks through a scope's sessions that were left, and writes what is new to the file.
pub async fn tend(engine: &Engine, scope: &scope::Key) -> anyhow::Result<Archival> {
    let done = engine.archive(scope).await?;
    engine.write_memory_file(scope).await?;
    Ok(done)
}

async fn find(engine: &Engine, scope: &scope::Key, number: Seq) -> anyhow::Result<Memory> {
    let mut memories = engine.memories(scope).await?.into_iter();
    memories.find(|memory| memory.entry == number).with_context(|| {
        format!("nothing is remembered as {number}; `segue memory list {scope}` shows what is")
    })
}

/// Lists the scopes that are meant: one, or all.
pub async fn scopes(engine: &Engine, scope: Option<scope::Key>) -> anyhow::Result<Vec<scope::Key>> {
    if let Some(scope) = scope {
        engine.state(&scope).await?;
        return Ok(vec![scope]);
    }
    let mut all = engine.every_scope().await?;
    all.sort_unstable();
    Ok(all)
}

fn shape(memory: &Memory) -> Value {
    json!({
        "number": memory.entry,
        "scope": memory.session.scope.as_str(),
        "kind": memory.kind.name(),
        "text": memory.text,
        "said_by": memory.said_by,
        "session": memory.session.to_string(),
        "source": memory.source,
        "at": memory.at.to_string(),
    })
}
