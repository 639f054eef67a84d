//! `segue retention`: sessions that go by themselves, once that was announced.

use super::{erase, memory, sessions};
use crate::args::Common;
use crate::retention_args::Retention as Verb;
use crate::setup::{self, Absent};
use crate::{Exit, json, layout, out, paint};
use segue_core::Timestamp;
use segue_core::scope;
use segue_core::session::Key;
use segue_engine::Engine;
use segue_engine::retention::{DeletionCandidate, Retained};
use serde_json::{Value, json};

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
            let Some(farewell) = state.farewell(*number) else { continue };
            let key = state.key(*number);
            let (due, past) = (farewell.due, farewell.past.name());
            shapes.push(json!({
                "session": key.to_string(),
                "past": past,
                "announced_at": farewell.at.to_string(),
                "goes_at": due.to_string(),
            }));
            lines.push(format!("{key} goes on {} (past its {past})", layout::time(due, &zone)));
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
    for scope in memory::scopes(engine, scope).await? {
        let done = match dry_run {
            true => engine.retention_plan(&scope, now).await?,
            false => engine.retain(&scope, now).await?,
        };
        all.push((scope, done));
    }
    for (scope, _) in all.iter().filter(|(_, done)| !dry_run && !done.goes.is_empty()) {
        erase::forget_beside(engine, scope).await?;
    }
    let is_finished = all.iter().all(|(_, done)| dry_run || done.goes.is_empty()) || engine.purge().await;
    if !is_finished {
        out::refused(sessions::UNFINISHED);
    }
    let exit = if is_finished { Exit::Done } else { Exit::No };
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
        let key = |going: &DeletionCandidate| Key::new(scope.clone(), going.session);
        for going in &done.goes {
            out::line(format!("  {} {would}dropped (past its {})", key(going), going.past.name()))?;
        }
        for going in &done.announced {
            let (past, due) = (going.past.name(), date(done.due));
            out::line(format!("  {} {would}announced to go on {due} (past its {past})", key(going)))?;
        }
        for (going, due) in &done.waits {
            out::line(format!("  {} goes on {}", key(going), date(*due)))?;
        }
        for number in &done.stays {
            out::line(format!("  {} stays after all", Key::new(scope.clone(), *number)))?;
        }
    }
    Ok(exit)
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
