//! What it costs that a session is pinned: openings and ordinary turns, with a home that has skills and a persona,
//! beside one that has nothing, in one run on one disk.
//!
//! ```text
//! cargo bench -p segue-engine --bench pins
//! ```

#![allow(clippy::disallowed_methods, clippy::print_stdout, reason = "a benchmark measures and prints")]

use segue_core::Timestamp;
use segue_core::scope::Key;
use segue_engine::config::Config;
use segue_engine::pins::Folders;
use segue_engine::skills::{Roots, Surroundings};
use segue_engine::{Engine, Inbound};
use segue_store::sqlite::Sqlite;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

const ROUNDS: usize = 15;
const STEPS: usize = 40;
const SKILLS: usize = 20;

fn furnish(home: &Path) -> Outcome<()> {
    for n in 0..SKILLS {
        let folder = home.join("skills").join(format!("skill{n}"));
        std::fs::create_dir_all(&folder)?;
        let body = "Open the table and find the harbour. ".repeat(100);
        let text = format!("---\nname: skill{n}\ndescription: Reads table {n}\n---\n{body}\n");
        std::fs::write(folder.join("SKILL.md"), text)?;
    }
    for name in ["SOUL.md", "IDENTITY.md", "USER.md", "AGENTS.md"] {
        std::fs::write(home.join(name), "Be kind and ask before you send anything. ".repeat(50))?;
    }
    Ok(())
}

async fn engine(home: &Path) -> Outcome<Engine> {
    let settings =
        vec![segue_engine::config::Layer::options([("lifecycle.auto_route".to_owned(), "never".to_owned())])];
    let config = Config::load(settings, &jiff::tz::TimeZone::UTC)?;
    let roots = Roots { workspace: Some(home.join("skills")), ..Roots::default() };
    let host = Folders { persona: home.to_owned(), roots, around: Arc::new(Surroundings::default) };
    let store = Arc::new(Sqlite::open(&home.join("segue.db"))?);
    Ok(Engine::open(store, config).await?.with_host(Arc::new(host)))
}

/// Says something again and again, and tells how long one took.
async fn say(engine: &Engine, scope: &Key, text: &str, from: usize) -> Outcome<Duration> {
    let begun = Instant::now();
    for step in from..from + STEPS {
        let at = Timestamp::from_second(1_770_000_000 + step as i64)?;
        engine.receive(Inbound::user(scope.clone(), at, text)).await?;
    }
    Ok(begun.elapsed() / u32::try_from(STEPS)?)
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

async fn measure() -> Outcome<()> {
    let (bare, full) = (tempfile::tempdir()?, tempfile::tempdir()?);
    furnish(full.path())?;
    let engines = [engine(bare.path()).await?, engine(full.path()).await?];
    let scope: Key = "agent:main:bench:direct:me".parse()?;
    for (what, text) in
        [("an ordinary turn", "What time is high tide in the harbour?"), ("an opening", "/new")]
    {
        let mut times = [Vec::new(), Vec::new()];
        for round in 0..ROUNDS {
            // Who goes first changes, so that a slow moment of the machine favours nobody.
            for turn in 0..2 {
                let who = (round + turn) % 2;
                times[who].push(say(&engines[who], &scope, text, round * STEPS).await?);
            }
        }
        let [bare, full] = times.map(median);
        let ratio = full.as_secs_f64() / bare.as_secs_f64();
        println!(
            "{what}: {bare:?} with nothing to pin, {full:?} with {SKILLS} skills and a persona, {ratio:.2} x"
        );
    }
    let mut times = [Vec::new(), Vec::new()];
    for round in 0..ROUNDS * STEPS {
        for turn in 0..2 {
            let who = (round + turn) % 2;
            let begun = Instant::now();
            engines[who].context(&scope).await?;
            times[who].push(begun.elapsed());
        }
    }
    let [bare, full] = times.map(median);
    println!("a context: {bare:?} with nothing pinned, {full:?} with pins");
    Ok(())
}

fn main() -> Outcome<()> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?.block_on(measure())
}
