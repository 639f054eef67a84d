//! `segue backup` and `segue restore`: every log, from one store to another, while both may be in use; and the copy is
//! verified.

use crate::args::Common;
use crate::setup;
use crate::{Exit, json, out};
use anyhow::{Context as _, bail};
use segue_core::entry::{Body, Record, Seq};
use segue_core::evolve::evolve;
use segue_core::message::MessageId;
use segue_core::scope;
use segue_core::state::State;
use segue_engine::clock::{Ids as _, RandomIds};
use segue_store::{Append, Location, Page, Store};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

/// How many entries are read, and written in one commit, at a time.
const ENTRIES_MAX: usize = 256;

/// How many scopes are listed at a time.
const SCOPES_MAX: usize = 500;

/// Copies the store that is configured to another place.
pub async fn backup(common: &Common, to: &str) -> anyhow::Result<Exit> {
    let config = setup::config(common, &[])?;
    let from = setup::locate(&config.store_url)?;
    if !setup::is_there(&from) {
        bail!("there is no store at {from}: --store URL names another one");
    }
    let place = place(to)?;
    if setup::is_there(&place) {
        bail!("there is something at {place} already: a backup is never written over another one");
    }
    run(common, &from, &place).await
}

/// Copies a backup into the store that is configured.
pub async fn restore(common: &Common, from: &str) -> anyhow::Result<Exit> {
    let config = setup::config(common, &[])?;
    let (from, to) = (place(from)?, setup::locate(&config.store_url)?);
    if !setup::is_there(&from) {
        bail!("there is no backup at {from}");
    }
    run(common, &from, &to).await
}

/// A store as it is typed here: a plain path is an SQLite file.
fn place(text: &str) -> anyhow::Result<Location> {
    if text.contains(':') {
        setup::locate(text)
    } else {
        Ok(Location::Sqlite(setup::expand(Path::new(text))))
    }
}

async fn run(common: &Common, from: &Location, to: &Location) -> anyhow::Result<Exit> {
    if from == to {
        bail!("{from} cannot be copied to itself");
    }
    let (source, target) = (from.open()?, to.open()?);
    let (mut entries, mut copied) = (0, 0);
    let mut page = Page::first(SCOPES_MAX);
    loop {
        let scopes = source.scopes(&page).await?;
        for row in &scopes.rows {
            let scope = &row.scope;
            let done = copy(source.as_ref(), target.as_ref(), scope).await;
            entries += done.with_context(|| format!("{scope} was not copied"))?;
            let report = segue_store::verify::verify(target.as_ref(), scope).await?;
            if let Some(problem) = report.problems.first() {
                bail!("the copy of {scope} is not sound: {problem}");
            }
            copied += 1;
        }
        page.after = scopes.next;
        if page.after.is_none() {
            break;
        }
    }
    match common.json {
        true => json::print(&json!({
            "from": from.to_string(), "to": to.to_string(), "scopes": copied, "entries": entries, "verified": true,
        }))?,
        false => out::line(format!(
            "Copied {copied} scopes, {entries} entries, from {from} to {to}; all of it was verified."
        ))?,
    }
    Ok(Exit::Done)
}

/// Copies the log of a scope as it is now, entry by entry as it was written. What comes in meanwhile is left for the next
/// time. A copy that was broken off goes on.
async fn copy(source: &dyn Store, target: &dyn Store, scope: &scope::Key) -> anyhow::Result<u64> {
    let end = source.head(scope).await?.unwrap_or(Seq::ZERO);
    let mut state = target.load(scope).await?.unwrap_or_else(|| Arc::new(State::empty(scope.clone())));
    if state.head > end {
        bail!("the store has more of it than the backup: restore into an empty one");
    }
    let mut copied = 0;
    loop {
        let records = source.tail(scope, state.head, ENTRIES_MAX).await?;
        let records: Vec<Record> = records.into_iter().take_while(|record| record.seq <= end).collect();
        if records.is_empty() {
            target.sweep().await?;
            return Ok(copied);
        }
        let mut appends = Vec::with_capacity(records.len());
        for record in records {
            let mut next = State::clone(&state);
            evolve(&mut next, &record)?;
            let next = Arc::new(next);
            let message_id = id_of(&record).map(|id| (id, record.seq));
            // A segment that leaves the state was dropped.
            let garbage = state.segments.keys().filter(|number| !next.segments.contains_key(number)).copied();
            let garbage = garbage.collect();
            let (prior, records) = (state, vec![record]);
            let id = RandomIds.fresh(next.clock).into();
            appends.push(Append {
                id,
                prior,
                next: next.clone(),
                records,
                message_id,
                garbage,
                erase: Vec::new(),
            });
            state = next;
        }
        let (written, done) = target.append_many(appends).await;
        done?;
        copied += written as u64;
    }
}

/// The id by which a message would be known again.
fn id_of(record: &Record) -> Option<MessageId> {
    match record.body().ok()? {
        Body::Message(_, message) => message.message_id,
        Body::Command(spoken) => spoken.message_id,
        _ => None,
    }
}
