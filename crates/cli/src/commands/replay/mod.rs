//! `segue replay`: the black box. A recorded conversation runs through the engine at its own time stamps.

mod against;
mod draw;
mod line;

use crate::args::{Common, Replay};
use crate::{Exit, input, json, out, setup};
pub use against::Other;
use anyhow::Context as _;

use against::Against;
use draw::Drawing;
use indicatif::{ProgressBar, ProgressStyle};
use jiff::tz::TimeZone;
use line::Line;
use segue_core::entry::Body;
use segue_core::message::Role;
use segue_core::scope;
use segue_engine::route::{route, user};
use segue_engine::{Delivery, Engine, Outcome, Target};
use segue_store::Location;
use std::collections::BTreeMap;
use std::io::IsTerminal;

/// The longest line that is read. A message of the greatest length fits, however it is escaped.
const LINE_BYTES_MAX: u64 = 16 << 20;

/// How many entries behind a message that was there are looked through for what followed it.
const LOOKED_THROUGH: usize = 200;

/// From how many bytes on a progress bar is worth it.
const BAR_BYTES_MIN: u64 = 1 << 20;

pub async fn run(common: &Common, replay: &Replay) -> anyhow::Result<Exit> {
    let mut lines = input::lines(&replay.file, LINE_BYTES_MAX)?;
    let mut options = Vec::new();
    if let Some(policy) = &replay.policy {
        options.push(("lifecycle.policy", policy.as_str()));
    }
    let window = replay.window.map(|tokens| tokens.to_string());
    options.extend(window.as_deref().map(|tokens| ("context.window", tokens)));
    let config = setup::config(common, &options)?;
    setup::warn(&config);
    let against = Against::open(common, replay, &options).await?;
    // Without a store named for it, a replay leaves nothing behind.
    let location = match &common.store {
        Some(_) => setup::locate(&config.store_url)?,
        None => Location::Memory,
    };
    let is_kept = location != Location::Memory;
    let store = setup::open_at(location, setup::master_keys(&config)?.as_ref().filter(|_| is_kept))?;
    let host = setup::host(&config);
    let engine = Engine::open(store, config).await?.with_keys(&setup::key).with_host(host);
    let engine = if is_kept { engine.at_recorded_times() } else { engine.trusting_stamps() };
    let bar = bar(lines.bytes);
    let mut drawing = Drawing::new();
    let (mut taken, mut left_out) = (0, 0);
    let mut answered = BTreeMap::new();
    let mut not_kept = false;
    while let Some(read) =
        lines.next_line().with_context(|| format!("{} cannot be read", replay.file.display()))?
    {
        bar.inc(read.bytes);
        let number = read.number;
        if read.text.as_ref().is_ok_and(|text| text.trim().is_empty()) {
            continue;
        }
        let (scope, received) = receive(&engine, read.text, &mut answered).await;
        match received {
            Ok((line, outcome)) => {
                taken += 1;
                let other = match &against {
                    Some(against) => Some(against.receive(&line).await?),
                    None => None,
                };
                if common.json {
                    json::print(&json::outcome(number, &outcome, other.as_ref()))?;
                    continue;
                }
                let zone = zone(&engine, &line, &outcome.scope);
                bar.suspend(|| drawing.draw(&line, &outcome, zone))?;
                if let Some(other) = other {
                    bar.suspend(|| drawing.draw_other(&outcome, &other))?;
                }
            }
            Err(error) => {
                left_out += 1;
                // A bad line is the file's fault; a store that cannot keep a good one is not.
                let in_the_way = error.downcast_ref::<segue_engine::Error>();
                not_kept |= matches!(in_the_way, Some(segue_engine::Error::Store(_)));
                let why = crate::sentence(&error);
                bar.suspend(|| out::error(format!("line {number}: {why}")));
                if common.json {
                    json::print(&json::left_out(number, scope.as_ref(), &why))?;
                }
                if replay.strict {
                    return Ok(Exit::No);
                }
            }
        }
    }
    bar.finish_and_clear();
    if !common.json {
        drawing.finish(left_out)?;
    }
    let all_bad = taken == 0 && left_out > 0;
    Ok(if not_kept || all_bad { Exit::No } else { Exit::Done })
}

/// Takes a line; names the scope too, where the line does, because that is known before it is taken.
///
/// A file that is replayed a second time changes nothing: where the person's message was there, a reply without an id of its own
/// is looked for behind it.
async fn receive(
    engine: &Engine,
    text: Result<String, String>,
    answered: &mut BTreeMap<scope::Key, Outcome>,
) -> (Option<scope::Key>, anyhow::Result<(Line, Outcome)>) {
    let routing = &engine.config().routing;
    let parsed = text.map_err(anyhow::Error::msg).and_then(|text| Line::parse(&text, routing));
    let line = match parsed {
        Ok(line) => line,
        Err(error) => return (None, Err(error)),
    };
    let scope = match &line.inbound.to {
        Target::Scope(scope) => scope.clone(),
        Target::Address(address) => route(routing, address),
    };
    let is_persons = line.op.is_none() && line.inbound.role == Role::User;
    let has_no_id = line.op.is_none() && line.inbound.message.message_id.is_none();
    let before = answered.get(&scope).filter(|before| before.delivery == Delivery::Again);
    if let Some(before) = before.filter(|_| has_no_id && !is_persons) {
        match is_there(engine, &line, before).await {
            Ok(true) => return (Some(scope), Ok((line, before.clone()))),
            Ok(false) => {}
            Err(error) => return (Some(scope), Err(error.into())),
        }
    }
    let received = line.run(engine).await;
    if let (true, Ok(outcome)) = (is_persons, &received) {
        answered.insert(scope.clone(), outcome.clone());
    }
    (Some(scope), received.map(|outcome| (line, outcome)).map_err(anyhow::Error::from))
}

/// Tells whether the log holds a line behind the person's message before it.
async fn is_there(engine: &Engine, line: &Line, before: &Outcome) -> Result<bool, segue_engine::Error> {
    let Some(seq) = before.seq else { return Ok(false) };
    let (inbound, log) = (&line.inbound, engine.store().tail(&before.scope, seq, LOOKED_THROUGH).await?);
    Ok(log.iter().any(|record| match record.body() {
        Ok(Body::Message(role, message)) => {
            let at = message.given_at.unwrap_or(record.at);
            role == inbound.role && message.text == inbound.message.text && at == inbound.at
        }
        _ => false,
    }))
}

fn zone(engine: &Engine, line: &Line, scope: &scope::Key) -> TimeZone {
    let config = engine.config();
    let user = match &line.inbound.to {
        Target::Scope(_) => None,
        Target::Address(address) => user(&config.routing, address),
    };
    config.time_zone_for(scope, user.as_deref())
}

/// Shows how far it is, while the output goes elsewhere.
fn bar(bytes: Option<u64>) -> ProgressBar {
    let watched = !std::io::stdout().is_terminal() && std::io::stderr().is_terminal();
    match bytes {
        Some(bytes) if bytes >= BAR_BYTES_MIN && watched => {
            let style = ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes}, {eta} left");
            ProgressBar::new(bytes).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        }
        _ => ProgressBar::hidden(),
    }
}
