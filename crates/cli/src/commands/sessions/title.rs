//! `segue sessions title`: a model names the sessions that were left.

use crate::args::Common;
use crate::commands::memory::scopes;
use crate::setup::{self, Absent};
use crate::{Exit, json, out};
use segue_core::scope;
use segue_engine::titles::Titling;
use serde_json::json;

pub async fn run(common: &Common, scope: Option<scope::Key>) -> anyhow::Result<Exit> {
    let engine = setup::engine(common, Absent::Empty).await?;
    let mut done = Titling::default();
    for scope in scopes(&engine, scope).await? {
        let titling = engine.name_sessions(&scope).await?;
        done.asked += titling.asked;
        done.named += titling.named;
    }
    if common.json {
        json::print(&json!({ "asked": done.asked, "named": done.named }))?;
        return Ok(Exit::Done);
    }
    out::line(match done {
        Titling { asked: 0, .. } => "There is nothing to name, or no control model to ask.".to_owned(),
        Titling { asked, named } => {
            format!("Asked about {asked} session{}, named {named}.", if asked == 1 { "" } else { "s" })
        }
    })?;
    Ok(Exit::Done)
}
