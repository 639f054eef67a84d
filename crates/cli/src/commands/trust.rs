//! `segue trust`: lets the configuration of a folder decide everything.

use crate::args::Common;
use crate::{Exit, json, out, trust};
use serde_json::json;
use std::path::Path;

pub fn run(common: &Common, folder: &Path, off: bool) -> anyhow::Result<Exit> {
    if off {
        trust::remove(folder)?;
        match common.json {
            true => json::print(&json!({ "folder": folder, "trusted": false }))?,
            false => out::line(format!("{} is trusted no longer.", folder.display()))?,
        }
        return Ok(Exit::Done);
    }
    let folder = trust::add(folder)?;
    match common.json {
        true => json::print(&json!({ "folder": folder, "trusted": true }))?,
        false => out::line(format!(
            "{}: its segue.toml may now set everything: models, keys, stores, what is deleted, what agents are told.",
            folder.display()
        ))?,
    }
    Ok(Exit::Done)
}
