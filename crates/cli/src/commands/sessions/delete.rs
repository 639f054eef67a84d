//! `segue sessions delete`: says what a session holds, then drops it.

use super::ask;
use super::list::title;
use crate::args::Common;
use crate::sessions_args::SessionArg;
use crate::setup::{self, Absent};
use crate::{Exit, json, layout, out};
use segue_core::session::{Key, Number};
use segue_core::state::State;
use segue_engine::history::Listed;
use segue_engine::{Engine, Pick, Request};

pub async fn run(common: &Common, key: &SessionArg, dry_run: bool) -> anyhow::Result<Exit> {
    let engine = setup::engine(common, Absent::Empty).await?;
    let Key { scope, number } = setup::session_or_latest(&engine, Some(key)).await?;
    let state = engine.state(&scope).await?;
    // What is not there is told by the refusal.
    if state.live(number).is_some() {
        let listed = engine.describe(&state, number).await?;
        match (dry_run, common.json) {
            (true, true) => json::print(&json::listed(&listed))?,
            (_, false) => out::line(summary(&engine, &listed))?,
            (false, true) => {}
        }
    }
    match dry_run && state.live(number).is_some() {
        true => Ok(Exit::Done),
        false => ask(common, &engine, &scope, &Request::Delete(Pick::Numbered(number))).await,
    }
}

/// Tells what sessions hold that are to go, a line each.
pub async fn tell(engine: &Engine, state: &State, sessions: &[Number]) -> anyhow::Result<()> {
    for number in sessions {
        if state.live(*number).is_some() {
            out::line(summary(engine, &engine.describe(state, *number).await?))?;
        }
    }
    Ok(())
}

/// A session in one line: number, title, how much, from when to when.
pub fn summary(engine: &Engine, session: &Listed) -> String {
    let zone = engine.config().time_zone_for(&session.key.scope, None);
    let (from, to) = (layout::time(session.created_at, &zone), layout::time(session.updated_at, &zone));
    let noun = if session.messages == 1 { "message" } else { "messages" };
    let (number, title, count) = (session.number, title(session), session.messages);
    let when = if from == to { from } else { format!("{from} to {to}") };
    format!("#{number} \"{title}\", {count} {noun}, {when}")
}
