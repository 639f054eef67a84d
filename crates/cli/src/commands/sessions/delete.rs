//! `segue sessions delete`: says what a session holds, then drops it.

use super::list::title;
use super::{ask, for_shell};
use crate::args::Common;
use crate::sessions_args::SessionArg;
use crate::setup::{self, Absent, Consent};
use crate::{Exit, json, layout, out};
use segue_core::session::{Key, Number};
use segue_core::state::State;
use segue_engine::history::Listed;
use segue_engine::{Engine, Pick, Request};

/// Whether it is deleted, or only said what would be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeleteMode {
    Real,
    DryRun,
}

pub async fn run(
    common: &Common,
    key: &SessionArg,
    mode: DeleteMode,
    consent: Consent,
) -> anyhow::Result<Exit> {
    let dry_run = mode == DeleteMode::DryRun;
    let engine = setup::engine(common, Absent::Empty).await?;
    let consent = if dry_run { Consent::Given } else { consent };
    let Key { scope, number } = setup::session_to_delete(&engine, key, consent).await?;
    let state = engine.state(&scope).await?;
    let request = Request::Delete(Pick::Numbered(number));
    // What is refused is told by the refusal.
    let refused = engine.would_refuse(&scope, engine.now(), &request).await?;
    if refused.is_none() {
        let listed = engine.describe(&state, number).await?;
        match (dry_run, common.json) {
            (true, true) => json::print(&json::listed(&listed))?,
            (_, false) => {
                // Who named no scope reads which one is meant.
                if let SessionArg::Numbered(_) = key {
                    out::line(&scope)?;
                }
                out::line(summary(&engine, &listed))?;
            }
            (false, true) => {}
        }
    }
    match (dry_run, refused) {
        (true, None) => Ok(Exit::Done),
        (true, Some(refused)) => {
            out::refused(for_shell(&scope, &refused));
            Ok(Exit::No)
        }
        (false, _) => ask(common, &engine, &scope, &request).await,
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
