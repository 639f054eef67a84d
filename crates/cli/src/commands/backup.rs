//! `segue backup` and `segue restore`: every log, from one store to another, while both may be in use; and the copy is
//! verified.

use super::transfer::{self, Check};
use crate::args::Common;
use crate::setup;
use crate::{Exit, json, out};
use anyhow::{anyhow, bail};
use segue_store::copy::Extra;
use segue_store::{Location, Page, Store};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

/// What a backup is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Encrypted, if a key is configured.
    Same,
    /// Not encrypted.
    Plain,
}

/// Copies the store that is configured to another place.
pub async fn backup(common: &Common, to: &str, form: Form) -> anyhow::Result<Exit> {
    let config = setup::config(common, &[])?;
    let from = setup::locate(&config.store_url)?;
    if !setup::is_there(&from) {
        bail!("there is no store at {from}: --store URL names another one");
    }
    let place = place(to)?;
    let there =
        || anyhow!("there is something at {place} already: a backup is never written over another one");
    match &place {
        Location::Memory => bail!("{place} is forgotten when the program ends: name a place that stays"),
        Location::Sqlite(_) | Location::Files(_) if setup::is_there(&place) => return Err(there()),
        Location::Sqlite(_) | Location::Files(_) | Location::Postgres(_) => {}
    }
    let keys = setup::master_keys(&config)?;
    let source = setup::open(&config)?;
    let target = setup::open_at(place.clone(), keys.as_ref().filter(|_| form == Form::Same))?;
    // A database is made by others, and is there before its first scope.
    if !target.scopes(&Page::first(1)).await?.rows.is_empty() {
        return Err(there());
    }
    run(common, (&from, source), (&place, target)).await
}

/// Copies a backup into the store that is configured.
pub async fn restore(common: &Common, from: &str) -> anyhow::Result<Exit> {
    let config = setup::config(common, &[])?;
    let (from, to) = (place(from)?, setup::locate(&config.store_url)?);
    if !setup::is_there(&from) {
        bail!("there is no backup at {from}");
    }
    if from == to {
        bail!("{from} cannot be copied to itself");
    }
    let source = setup::open_as_it_is(&from, &config)?;
    let target = setup::open(&config)?;
    run(common, (&from, source), (&to, target)).await
}

/// A store as it is typed here: a plain path is an SQLite file.
pub fn place(text: &str) -> anyhow::Result<Location> {
    if text.contains(':') {
        setup::locate(text)
    } else {
        Ok(Location::Sqlite(setup::expand(Path::new(text))))
    }
}

async fn run(
    common: &Common,
    (from, source): (&Location, Arc<dyn Store>),
    (to, target): (&Location, Arc<dyn Store>),
) -> anyhow::Result<Exit> {
    let done = transfer::run(&source, &target, Extra::Keep, Check::All).await?;
    transfer::warn(&done.left);
    let (scopes, entries) = (done.scopes as u64, done.copied.entries);
    let many = |n: u64, one: &str, more: &str| format!("{n} {}", if n == 1 { one } else { more });
    match common.json {
        true => json::print(&json!({
            "from": from.to_string(), "to": to.to_string(), "scopes": scopes, "entries": entries, "verified": true,
        }))?,
        false => out::line(format!(
            "Copied {}, {}, from {from} to {to}; all of it was verified.",
            many(scopes, "scope", "scopes"),
            many(entries, "entry", "entries"),
        ))?,
    }
    Ok(Exit::Done)
}
