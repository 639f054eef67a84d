//! The child: many turns at a time, over a few scopes, until it is killed.

use crate::chance::Chance;
use crate::line::Line;
use jiff::tz::TimeZone;
use segue_core::message::MessageId;
use segue_core::policy::Backlog;
use segue_core::scope::Key;
use segue_engine::config::{Config, Layer};
use segue_engine::{Delivery, Engine, Inbound, Request};
use segue_store::Location;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

pub const STORE: &str = "CRASH_CHILD_STORE";
pub const ROUND: &str = "CRASH_CHILD_ROUND";
pub const SEED: &str = "CRASH_CHILD_SEED";
pub const REDELIVERIES: &str = "CRASH_CHILD_REDELIVERIES";

/// A seed by which the child says a few words and `/new`, one turn after the other.
pub const ONLY_NEW: u64 = u64::MAX;

const SCOPES: u64 = 5;
const TURNS_AT_A_TIME: u64 = 8;

pub fn scope(number: u64) -> Key {
    format!("agent:main:cli:direct:p{number}").parse().unwrap()
}

pub fn scopes() -> impl Iterator<Item = Key> {
    (0..SCOPES).map(scope)
}

/// Tells the parent; a parent that is gone ends the child.
fn tell(line: &Line) {
    let mut out = std::io::stdout().lock();
    if out.write_all(line.write().as_bytes()).and_then(|()| out.flush()).is_err() {
        std::process::exit(1);
    }
}

fn given<T: std::str::FromStr>(variable: &str) -> Option<T> {
    std::env::var(variable).ok()?.parse().ok()
}

pub fn main() {
    let Some(store) = given::<Location>(STORE) else { return };
    let (round, seed) = (given::<i64>(ROUND).unwrap(), given::<u64>(SEED).unwrap());
    let lines = std::fs::read_to_string(given::<PathBuf>(REDELIVERIES).unwrap()).unwrap();
    let redeliveries: Vec<Line> = lines.lines().filter_map(Line::read).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    tell(&Line::Opening);
    runtime.block_on(async {
        // Few sessions are kept, so that old ones are pruned all the time.
        let layer = Layer::options([("session.backlog_limit", "4"), ("session.backlog", "delete")]);
        let config = Config::load(vec![layer], &TimeZone::UTC).unwrap();
        let engine = Arc::new(Engine::open(store.open().unwrap(), config).await.unwrap());
        let mut tasks = tokio::task::JoinSet::new();
        if seed == ONLY_NEW {
            tasks.spawn(say_and_renew(engine, round));
        } else {
            tasks.spawn(deliver_again(engine.clone(), round, redeliveries));
            for task in 0..TURNS_AT_A_TIME {
                let chance = Chance::new(seed.wrapping_add(task));
                tasks.spawn(work(engine.clone(), round, task, chance));
            }
        }
        while let Some(done) = tasks.join_next().await {
            if let Err(error) = done {
                tell(&Line::Wrong(error.to_string()));
            }
        }
    });
}

/// Sends a message and tells what came of it.
async fn send(engine: &Engine, scope: Key, at: jiff::Timestamp, id: String, text: String) -> Option<u64> {
    tell(&Line::Sent { scope: scope.clone(), id: id.clone(), text: text.clone() });
    let mut inbound = Inbound::user(scope.clone(), at, text.clone());
    inbound.message.message_id = Some(MessageId(id.clone()));
    let outcome = match engine.receive(inbound).await {
        Ok(outcome) => outcome,
        Err(error) => {
            tell(&Line::Wrong(format!("{id} in {scope}: {error}")));
            return None;
        }
    };
    let (session, dropped) = (outcome.session, outcome.dropped);
    match outcome.seq {
        Some(seq) => tell(&Line::Acknowledged { scope, id, text, seq, session, dropped }),
        None => tell(&Line::Refused { scope, id }),
    }
    outcome.seq.map(|seq| seq.0)
}

/// Does what a channel does after a crash: delivers again what it got no answer to, and some more.
async fn deliver_again(engine: Arc<Engine>, round: i64, lines: Vec<Line>) {
    for line in lines {
        match line {
            Line::Sent { scope, id, text } => drop(send(&engine, scope, at(round, 0), id, text).await),
            Line::Acknowledged { scope, id, text, seq, .. } => {
                let mut inbound = Inbound::user(scope, at(round, 0), text);
                inbound.message.message_id = Some(MessageId(id.clone()));
                let outcome = engine.receive(inbound).await.unwrap();
                if outcome.seq != Some(seq) || outcome.delivery != Delivery::Again {
                    tell(&Line::Wrong(format!("{id} was entry {seq} and is taken again: {outcome:?}")));
                }
            }
            _ => {}
        }
    }
}

fn at(round: i64, turn: i64) -> jiff::Timestamp {
    let begin: jiff::Timestamp = "2026-03-01T10:00:00Z".parse().unwrap();
    begin + jiff::SignedDuration::from_hours(round * 5) + jiff::SignedDuration::from_secs(turn)
}

async fn work(engine: Arc<Engine>, round: i64, task: u64, mut chance: Chance) {
    let mut last = 1;
    for turn in 0.. {
        let scope = scope(chance.below(SCOPES));
        let id = format!("r{round}-t{task}-{turn}");
        let text = match chance.below(40) {
            0..=2 => "/new".to_owned(),
            3 => format!("/new and go on with {id}"),
            4..=5 => format!("/session resume {}", 1 + chance.below(12)),
            6..=7 => "/undo".to_owned(),
            14 => "/redo".to_owned(),
            8 => "/session fork".to_owned(),
            9 => format!("/session fork {last}"),
            10 => format!("/session split {last}"),
            11 => format!("/session delete {}", 1 + chance.below(12)),
            12 => format!("/session rename 1 {id}"),
            13 => {
                let keep = Request::Prune(Backlog::new(2).unwrap());
                let outcome = engine.request(&scope, at(round, turn), &keep).await.unwrap();
                tell(&Line::Dropped { scope, dropped: outcome.dropped });
                continue;
            }
            _ => format!("{id} says {}", "something ".repeat(1 + chance.below(40) as usize)),
        };
        last = send(&engine, scope, at(round, turn), id, text.trim().to_owned()).await.unwrap_or(last);
    }
}

async fn say_and_renew(engine: Arc<Engine>, round: i64) {
    for turn in 0.. {
        let text = if turn % 4 == 3 { "/new".to_owned() } else { format!("message {turn}") };
        send(&engine, scope(0), at(round, turn), format!("r{round}-{turn}"), text).await;
    }
}
