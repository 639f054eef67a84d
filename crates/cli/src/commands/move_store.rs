//! `segue move`: a store goes to another place, while it is in use.

use super::backup::place;
use super::transfer::{self, Check};
use crate::args::{Common, MoveStore};
use crate::{Exit, json, out, setup};
use anyhow::bail;
use segue_core::Timestamp;
use segue_engine::config::Config;
use segue_store::copy::{self, Extra};
use segue_store::{Location, Page, Store, Value};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;

/// Where the target notes which store it is a copy of.
const NAMESPACE: &str = "segue.move";
const KEY: &str = "source";

/// What the target notes.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Note {
    /// The source, without its password.
    from: String,
}

/// Copies a store to another one, catches up, compares.
pub async fn run(common: &Common, options: &MoveStore) -> anyhow::Result<Exit> {
    let (from, to) = (place(&options.from)?, place(&options.to)?);
    for location in [&from, &to] {
        if *location == Location::Memory {
            bail!("memory: is forgotten when the program ends: name a store that stays");
        }
    }
    if from == to {
        bail!("{from} cannot be moved to itself");
    }
    if !setup::is_there(&from) {
        bail!("there is no store at {from}");
    }
    let config = setup::config(common, &[])?;
    let source = setup::open_as_it_is(&from, &config)?;
    if options.dry_run {
        return dry_run(common, &config, (&from, &source), &to).await;
    }
    let keys = setup::master_keys(&config)?;
    let target = setup::open_at(to.clone(), keys.as_ref().filter(|_| !options.plain))?;
    // A source that cannot be read leaves no note in the target.
    source.position().await?;
    admit(&source, &target, &from, &to).await?;
    note(target.as_ref(), &Note { from: from.to_string() }).await?;
    let check = if options.quick { Check::Copied } else { Check::All };
    let done = transfer::run(&source, &target, Extra::DeleteBrought, check).await?;
    transfer::warn(&done.left);
    let is_complete = done.behind == 0;
    if common.json {
        json::print(&json!({
            "from": from.to_string(), "to": to.to_string(), "scopes": done.scopes, "entries": done.copied.entries,
            "ids": done.copied.ids, "embeddings": done.copied.embeddings, "values": done.values,
            "behind": done.behind, "complete": is_complete, "verified": true, "left": done.left,
        }))?;
    } else {
        out::line(format!(
            "Copied {} entries of {} scopes, {} embeddings and {} values from {from} to {to}; all of it was compared.",
            done.copied.entries, done.scopes, done.copied.embeddings, done.values
        ))?;
        out::line(match is_complete {
            true => format!(
                "The copy is complete. If {from} is still written: stop that, run this again, and use {to}."
            ),
            false => format!(
                "{} scopes were written meanwhile: stop what writes to {from}, run this again, and use {to}.",
                done.behind
            ),
        })?;
    }
    Ok(if is_complete { Exit::Done } else { Exit::No })
}

/// Takes an empty target, and one that is a copy of the same source and was not used since: each scope has at most what the
/// source has. (Two logs of the same length that differ are found out when they are copied.)
async fn admit(
    source: &Arc<dyn Store>,
    target: &Arc<dyn Store>,
    from: &Location,
    to: &Location,
) -> anyhow::Result<()> {
    let noted = target.value(NAMESPACE, KEY, Timestamp::MIN).await?;
    let noted: Option<Note> = noted.map(|value| serde_json::from_slice(&value.bytes)).transpose()?;
    match noted {
        Some(note) if note.from != from.to_string() => {
            bail!("{to} is a copy of {}: move into an empty store", note.from)
        }
        Some(_) => match transfer::ahead(source, target).await? {
            Some(scope) => bail!(
                "{to} was written to after it had been copied ({scope}), so it is in use: nothing was changed"
            ),
            None => Ok(()),
        },
        None if target.scopes(&Page::first(1)).await?.rows.is_empty() => Ok(()),
        None => bail!("{to} has conversations of its own: move into an empty store"),
    }
}

async fn note(target: &dyn Store, note: &Note) -> anyhow::Result<()> {
    Ok(target.put_value(NAMESPACE, Value::new(KEY, serde_json::to_vec(note)?)).await?)
}

/// Says what would be done. A target that is not there is not made.
async fn dry_run(
    common: &Common,
    config: &Config,
    (from, source): (&Location, &Arc<dyn Store>),
    to: &Location,
) -> anyhow::Result<Exit> {
    let target = if setup::is_there(to) { Some(setup::open_as_it_is(to, config)?) } else { None };
    if let Some(target) = &target {
        admit(source, target, from, to).await?;
    }
    let source = source.as_ref();
    let (mut scopes, mut entries) = (0, 0);
    for scope in copy::scopes(source).await? {
        let ours = source.head(&scope).await?.map_or(0, |head| head.0);
        let theirs = match &target {
            Some(target) => target.head(&scope).await?.map_or(0, |head| head.0),
            None => 0,
        };
        scopes += usize::from(ours != theirs);
        entries += ours.saturating_sub(theirs);
    }
    let left = transfer::left(source).await?;
    transfer::warn(&left);
    match common.json {
        true => json::print(&json!({
            "from": from.to_string(), "to": to.to_string(), "scopes": scopes, "entries": entries, "left": left,
            "dry_run": true,
        }))?,
        false => out::line(format!(
            "Up to {entries} entries of {scopes} scopes would be copied from {from} to {to}. Nothing was changed."
        ))?,
    }
    Ok(Exit::Done)
}
