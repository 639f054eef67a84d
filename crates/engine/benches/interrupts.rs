//! What `check_interrupts` costs when nobody spoke, beside one atomic load, in the same run. An agent calls it between
//! any two tool calls, so it must cost nothing.
//!
//!     cargo bench -p segue-engine --bench interrupts

#![allow(clippy::disallowed_methods, reason = "a benchmark measures time")]

use segue_engine::Engine;
use segue_engine::config::Config;
use segue_engine::tasks::{TaskSession, Tasks};
use segue_store::sqlite::Sqlite;
use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

type Outcome<T> = Result<T, Box<dyn Error>>;

const ROUNDS: usize = 15;
const CALLS: u32 = 1_000_000;

/// The goal of issue 5, in nanoseconds.
const GOAL_NS: f64 = 1000.0;

async fn checks(session: &TaskSession) -> Outcome<f64> {
    let begun = Instant::now();
    for _ in 0..CALLS {
        let said = black_box(session).check_interrupts().await?;
        if !black_box(said).is_empty() {
            return Err("somebody spoke".into());
        }
    }
    Ok(begun.elapsed().as_nanos() as f64 / f64::from(CALLS))
}

fn loads(counter: &AtomicU64) -> f64 {
    let begun = Instant::now();
    for _ in 0..CALLS {
        black_box(black_box(counter).load(Ordering::Acquire));
    }
    begun.elapsed().as_nanos() as f64 / f64::from(CALLS)
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

async fn measure() -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let config = Config::load(vec![], &jiff::tz::TimeZone::UTC)?;
    let store = Arc::new(Sqlite::open(&folder.path().join("segue.db"))?);
    let engine = Arc::new(Engine::open(store, config).await?);
    let tasks = Tasks::new(engine.clone(), "agent:main:bench:direct:me".parse()?);
    let session = tasks.start_session("Add retry logic").await?;
    // The first check asks the store, because somebody may have spoken before a restart.
    session.check_interrupts().await?;
    let counter = AtomicU64::new(0);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        // Who goes first changes, so that a slow moment of the machine favours nobody.
        let (check, load) = if round % 2 == 0 {
            let check = checks(&session).await?;
            (check, loads(&counter))
        } else {
            let load = loads(&counter);
            (checks(&session).await?, load)
        };
        println!("round {round:2}: check_interrupts {check:6.2} ns, an atomic load {load:6.2} ns");
        ours.push(check);
        theirs.push(load);
    }
    let worst = ours.iter().copied().fold(0.0, f64::max);
    let (check, load) = (median(ours), median(theirs));
    let verdict = if worst < GOAL_NS { "ok" } else { "MISSED" };
    println!(
        "check_interrupts when nobody spoke: {check:.2} ns (worst round {worst:.2}), an atomic load {load:.2} ns \
         (goal {GOAL_NS} ns): {verdict}"
    );
    // It could have heard: what is said now is heard by the very next check.
    engine.interrupt(tasks.scope(), engine.now(), "wait, use jitter").await?;
    match session.check_interrupts().await?.as_slice() {
        [said] if said.text.as_deref() == Some("wait, use jitter") => Ok(()),
        other => Err(format!("the check heard {other:?}").into()),
    }
}

fn main() -> Outcome<()> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?.block_on(measure())
}
