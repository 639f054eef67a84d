//! `segue retention`: sessions that go by themselves, once that was announced.

use super::sessions::delete;
use super::{erase, memory, sessions};
use crate::args::Common;
use crate::retention_args::Retention as Verb;
use crate::setup::{self, Absent};
use crate::{Exit, json, layout, out, paint};
use segue_core::Timestamp;
use segue_core::scope;
use segue_core::session::{Key, Number};
use segue_engine::Engine;
use segue_engine::retention::{DeletionCandidate, Retained};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub async fn run(common: &Common, verb: Verb) -> anyhow::Result<Exit> {
    match verb {
        Verb::List { scope } => list(common, &setup::reader(common)?, scope).await,
        Verb::Work { scope, dry_run: true } => work(common, &setup::reader(common)?, scope, true).await,
        Verb::Work { scope, dry_run: false } => {
            work(common, &setup::engine(common, Absent::Empty).await?, scope, false).await
        }
    }
}

async fn list(common: &Common, engine: &Engine, scope: Option<scope::Key>) -> anyhow::Result<Exit> {
    let mut shapes = Vec::new();
    let mut lines = Vec::new();
    for scope in memory::scopes(engine, scope).await? {
        let state = engine.state(&scope).await?;
        let zone = engine.config().time_zone_for(&scope, None);
        for number in state.extras.retiring.keys() {
            let Some(deletion) = state.announced_deletion(*number) else { continue };
            let key = state.key(*number);
            let (due, past) = (deletion.due, deletion.past.name());
            shapes.push(json!({
                "session": key.to_string(),
                "past": past,
                "announced_at": deletion.at.to_string(),
                "goes_at": due.to_string(),
            }));
            let summary = delete::summary(engine, &engine.describe(&state, *number).await?);
            let due = layout::time(due, &zone);
            lines.push(format!("{scope}\n  {summary}: goes on {due} (past its {past})"));
        }
    }
    if common.json {
        json::print(&shapes)?;
        return Ok(Exit::Done);
    }
    if lines.is_empty() {
        out::line("Nothing was announced to go.")?;
    }
    for line in lines {
        out::line(line)?;
    }
    Ok(Exit::Done)
}

async fn work(
    common: &Common,
    engine: &Engine,
    scope: Option<scope::Key>,
    dry_run: bool,
) -> anyhow::Result<Exit> {
    let now = engine.now();
    let mut all = Vec::new();
    let mut summaries = Summaries::new();
    for scope in memory::scopes(engine, scope).await? {
        // What goes is described before it does.
        let plan = engine.retention_plan(&scope, now).await?;
        describe(engine, &scope, &plan, &mut summaries).await?;
        if !dry_run && !common.json {
            for going in &plan.goes {
                let summary = summary(&summaries, &scope, going.session);
                out::line(format!("{scope}\n  {summary}: goes (past its {})", going.past.name()))?;
            }
        }
        let done = if dry_run { plan } else { engine.retain(&scope, now).await? };
        all.push((scope, done));
    }
    let mut exit = Exit::Done;
    if !dry_run && all.iter().any(|(_, done)| !done.goes.is_empty()) {
        if !engine.purge().await {
            out::refused(sessions::UNFINISHED);
            exit = Exit::No;
        }
        exit = exit.worse(erase::forget_typed());
    }
    let touched = |done: &Retained| {
        !(done.goes.is_empty() && done.announced.is_empty() && done.waits.is_empty() && done.stays.is_empty())
    };
    all.retain(|(_, done)| touched(done));
    if common.json {
        json::print(&all.iter().map(shape).collect::<Vec<Value>>())?;
        return Ok(exit);
    }
    if all.is_empty() {
        out::line("Nothing is past what is kept.")?;
    }
    let would = if dry_run { "would be " } else { "" };
    for (scope, done) in &all {
        let zone = engine.config().time_zone_for(scope, None);
        let date = |at: Timestamp| layout::time(at, &zone);
        out::line(paint::strong(scope))?;
        let told = |number: Number| summary(&summaries, scope, number);
        for going in &done.goes {
            out::line(format!("  {}: {would}dropped (past its {})", told(going.session), going.past.name()))?;
        }
        for going in &done.announced {
            let (past, due) = (going.past.name(), date(done.due));
            let session = told(going.session);
            out::line(format!("  {session}: {would}announced to go on {due} (past its {past})"))?;
        }
        for (going, due) in &done.waits {
            out::line(format!("  {}: goes on {}", told(going.session), date(*due)))?;
        }
        for number in &done.stays {
            out::line(format!("  {}: stays after all", told(*number)))?;
        }
    }
    Ok(exit)
}

/// What sessions hold that are spoken of, each in a line.
type Summaries = BTreeMap<Key, String>;

async fn describe(
    engine: &Engine,
    scope: &scope::Key,
    plan: &Retained,
    summaries: &mut Summaries,
) -> anyhow::Result<()> {
    let state = engine.state(scope).await?;
    let waits = plan.waits.iter().map(|(going, _)| going);
    let going = plan.goes.iter().chain(&plan.announced).chain(waits).map(|going| going.session);
    for number in going.chain(plan.stays.iter().copied()).filter(|number| state.live(*number).is_some()) {
        let summary = delete::summary(engine, &engine.describe(&state, number).await?);
        summaries.insert(Key::new(scope.clone(), number), summary);
    }
    Ok(())
}

fn summary(summaries: &Summaries, scope: &scope::Key, number: Number) -> String {
    summaries.get(&Key::new(scope.clone(), number)).cloned().unwrap_or_else(|| format!("#{number}"))
}

fn shape((scope, done): &(scope::Key, Retained)) -> Value {
    let key = |number| Key::new(scope.clone(), number).to_string();
    let one = |going: &DeletionCandidate, due: Option<Timestamp>| {
        json!({
            "session": key(going.session),
            "past": going.past.name(),
            "updated_at": going.updated_at.to_string(),
            "goes_at": due.map(|due| due.to_string()),
        })
    };
    json!({
        "scope": scope.as_str(),
        "gone": done.goes.iter().map(|going| one(going, None)).collect::<Vec<_>>(),
        "announced": done.announced.iter().map(|going| one(going, Some(done.due))).collect::<Vec<_>>(),
        "waits": done.waits.iter().map(|(going, due)| one(going, Some(*due))).collect::<Vec<_>>(),
        "stays": done.stays.iter().map(|number| key(*number)).collect::<Vec<_>>(),
    })
}
