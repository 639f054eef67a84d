//! `segue-lab flat`: what boundaries, lists and messages cost in a large scope, beside a small one.

use super::config;
use crate::args::{Common, Flat};
use crate::out;
use segue_core::Timestamp;
use segue_core::message::Message;
use segue_core::scope::Key;
use segue_core::session::Number;
use segue_engine::{Engine, Inbound, Pick, Request};
use segue_store::Location;
use serde::Serialize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// How many sessions a small scope has, and how many of them are forks.
const SMALL: (u32, u32) = (10, 2);

/// How often each thing is done; the median counts.
const TIMES: usize = 41;

/// How many decisions are explained.
const WHY: usize = 10;

/// What one thing costs.
#[derive(Debug, Serialize)]
struct Cost {
    what: &'static str,
    small_us: u128,
    large_us: u128,
    ratio: f64,
}

pub async fn run(common: &Common, options: &Flat) -> anyhow::Result<()> {
    let folder = std::env::temp_dir().join(format!("segue-flat-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let measured = measure(common, options, folder.join("segue.db")).await;
    std::fs::remove_dir_all(&folder)?;
    measured?.iter().try_for_each(out::json)
}

async fn measure(common: &Common, options: &Flat, place: PathBuf) -> anyhow::Result<Vec<Cost>> {
    let store = Location::Sqlite(place).open()?;
    let engine = Engine::open(store, config(common, &[("lifecycle.auto_route", "never")])?).await?;
    let small = fill(&engine, "agent:main:cli:direct:small", SMALL.0, SMALL.1).await?;
    let large = fill(&engine, "agent:main:cli:direct:large", options.sessions, options.forks).await?;
    let (small, large) = (costs(&engine, &small).await?, costs(&engine, &large).await?);
    let cost = |((what, small), (_, large)): ((&'static str, Duration), (&'static str, Duration))| Cost {
        what,
        small_us: small.as_micros(),
        large_us: large.as_micros(),
        ratio: large.as_secs_f64() / small.as_secs_f64(),
    };
    Ok(small.into_iter().zip(large).map(cost).collect())
}

/// Makes a scope with so many sessions, of which some are forks: half of the first session, half of the fork before, in a chain.
async fn fill(engine: &Engine, scope: &str, sessions: u32, forks: u32) -> anyhow::Result<Key> {
    let scope: Key = scope.parse()?;
    for n in 0..sessions.saturating_sub(forks) {
        let message = Message::text(format!("this is what session {n} is about"));
        engine.request(&scope, engine.now(), &Request::New(Some(message))).await?;
    }
    for n in 0..forks {
        let of = if n < forks / 2 { Pick::Numbered(Number::FIRST) } else { Pick::Latest };
        engine.request(&scope, engine.now(), &Request::Fork(of, None)).await?;
    }
    Ok(scope)
}

async fn costs(engine: &Engine, scope: &Key) -> anyhow::Result<Vec<(&'static str, Duration)>> {
    let now: Timestamp = engine.now();
    let mut costs = Vec::new();
    let requests: [(&str, &[Request]); 3] = [
        ("new", &[Request::New(None)]),
        ("fork", &[Request::Fork(Pick::Numbered(Number::FIRST), None)]),
        ("undo", &[Request::New(None), Request::Undo]),
    ];
    for (what, requests) in requests {
        let mut took = Vec::new();
        for _ in 0..TIMES {
            for (nth, request) in requests.iter().enumerate() {
                let begun = Instant::now();
                engine.request(scope, now, request).await?;
                if nth + 1 == requests.len() {
                    took.push(begun.elapsed());
                }
            }
        }
        costs.push((what, median(took)));
    }
    let mut took = [Vec::new(), Vec::new(), Vec::new()];
    for n in 0..TIMES {
        let begun = Instant::now();
        engine.receive(Inbound::user(scope.clone(), now, format!("and one more thing, number {n}"))).await?;
        took[0].push(begun.elapsed());
        let begun = Instant::now();
        let state = engine.state(scope).await?;
        engine.list(&state).await?;
        took[1].push(begun.elapsed());
        let begun = Instant::now();
        let state = engine.state(scope).await?;
        engine.why(&state, WHY).await?;
        took[2].push(begun.elapsed());
    }
    costs.extend(["message", "list", "why"].into_iter().zip(took.map(median)));
    Ok(costs)
}

fn median(mut took: Vec<Duration>) -> Duration {
    took.sort_unstable();
    took.get(took.len() / 2).copied().unwrap_or_default()
}
