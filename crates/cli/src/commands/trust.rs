//! `segue trust`: lets the configuration of a folder decide where words and keys go.

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
            "{}: its segue.toml may now name models, keys, stores and paths outside of it.",
            folder.display()
        ))?,
    }
    Ok(Exit::Done)
}
