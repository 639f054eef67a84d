//! `segue sessions prune`: what is past its time goes, and is shown before if asked.

use super::{ask, delete};
use crate::args::Common;
use crate::sessions_args::Prune;
use crate::setup::{self, Absent};
use crate::{Exit, json, out};
use segue_core::retention::Forewarned;
use segue_core::session::Number;
use segue_engine::Request;
use segue_engine::retention::Retention;
use serde_json::{Value, json};

pub async fn run(common: &Common, bounds: Prune) -> anyhow::Result<Exit> {
    let engine = setup::engine(common, Absent::Empty).await?;
    let Prune { scope, limit, older_than, larger_than, dry_run } = bounds;
    let count_max = limit.map(|limit| limit as usize);
    let keep = Retention { count_max, age_max: older_than, bytes_max: larger_than };
    let scope = setup::scope_or_last(&engine, scope.as_ref()).await?;
    let going = engine.past_retention(&scope, &keep, engine.now()).await?;
    if !dry_run {
        let sessions: Vec<Number> = going.iter().map(|going| going.session).collect();
        if !common.json {
            delete::tell(&engine, &*engine.state(&scope).await?, &sessions).await?;
        }
        let exit = ask(common, &engine, &scope, &Request::Retire(sessions, Forewarned::No)).await?;
        return Ok(if engine.purge().await { exit } else { Exit::No });
    }
    let state = engine.state(&scope).await?;
    if common.json {
        let shape = |going: &segue_engine::retention::Going| {
            json!({
                "session": state.key(going.session).to_string(),
                "updated_at": going.updated_at.to_string(),
                "past": going.past.name(),
            })
        };
        json::print(&going.iter().map(shape).collect::<Vec<Value>>())?;
        return Ok(Exit::Done);
    }
    if going.is_empty() {
        out::line("Nothing would go.")?;
    }
    for going in &going {
        let session = delete::summary(&engine, &engine.describe(&state, going.session).await?);
        out::line(format!("{session}: would go (past its {})", going.past.name()))?;
    }
    Ok(Exit::Done)
}
