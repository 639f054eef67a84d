//! `segue sessions prune`: what is past its time goes, and is shown before if asked.

use super::ask;
use crate::args::Common;
use crate::sessions_args::Prune;
use crate::setup::{self, Absent};
use crate::{Exit, json, layout, out};
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
    let going = engine.past_retention(&scope, &keep, engine.now()).await?;
    if !dry_run {
        let sessions: Vec<Number> = going.iter().map(|going| going.session).collect();
        return ask(common, &engine, &scope, &Request::Retire(sessions, Forewarned::No)).await;
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
    let zone = engine.config().time_zone_for(&scope, None);
    for going in &going {
        let at = layout::time(going.updated_at, &zone);
        out::line(format!(
            "{} would go (past its {}; last used {at})",
            state.key(going.session),
            going.past.name()
        ))?;
    }
    Ok(Exit::Done)
}
