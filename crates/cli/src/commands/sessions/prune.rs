//! `segue sessions prune`: what is past its time goes, and is shown before if asked.

use super::{ask, delete};
use crate::args::Common;
use crate::sessions_args::Prune;
use crate::setup::{self, Absent, Consent};
use crate::{Exit, json, out};
use segue_core::retention::RetireCheck;
use segue_core::session::Number;
use segue_engine::Request;
use segue_engine::retention::Retention;
use serde_json::{Value, json};

pub async fn run(common: &Common, bounds: Prune) -> anyhow::Result<Exit> {
    let engine = setup::engine(common, Absent::Empty).await?;
    let Prune { scope, limit, older_than, larger_than, dry_run, yes } = bounds;
    let count_max = limit.map(|limit| limit as usize);
    let keep = Retention { count_max, age_max: older_than, bytes_max: larger_than };
    let named = scope;
    let consent = if dry_run { Consent::Given } else { Consent::of(yes) };
    let scope = setup::scope_to_delete_in(&engine, named.as_ref(), consent).await?;
    // What is written to after this look stays.
    let seen = engine.state(&scope).await?.head;
    let going = engine.past_retention(&scope, &keep, engine.now()).await?;
    if !dry_run {
        let sessions: Vec<Number> = going.iter().map(|going| going.session).collect();
        if !common.json {
            if named.is_none() {
                out::line(&scope)?;
            }
            delete::tell(&engine, &*engine.state(&scope).await?, &sessions).await?;
        }
        return ask(common, &engine, &scope, &Request::Retire(sessions, RetireCheck::AsOf(seen))).await;
    }
    let state = engine.state(&scope).await?;
    if common.json {
        let shape = |going: &segue_engine::retention::DeletionCandidate| {
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
