//! How the time of a compaction grows with what was observed: tasks of 1,000 and of 10,000 observations, in the same
//! run, on SQLite and on files. Ten times as much should take about ten times as long.
//!
//!     cargo bench -p segue-engine --bench compaction

#![allow(clippy::disallowed_methods, reason = "a benchmark measures time")]

use segue_core::task::blob::Blob;
use segue_core::task::observation::{Note, NoteKind, Observation};
use segue_core::task::path::WorkPath;
use segue_engine::Engine;
use segue_engine::config::Config;
use segue_engine::tasks::Tasks;
use segue_store::Location;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

type Outcome<T> = Result<T, Box<dyn Error>>;

const ROUNDS: usize = 9;
const FEW: usize = 1_000;
const MANY: usize = 10_000;

/// Linear is ten; what is more than this has grown faster.
const GOAL: f64 = 13.0;

fn observation(n: usize) -> Outcome<Observation> {
    Ok(match n % 4 {
        0 => Observation::Note(Note::text(NoteKind::Note, format!("step {n}: still at it"))),
        1 => {
            let path = WorkPath::new(&format!("src/part{}.rs", n % 20))?;
            Observation::FileRead { path, content: Blob::of(format!("fn part() {{ {n} }}\n").as_bytes()) }
        }
        2 => {
            let (command, output) = (format!("cargo test part{}", n % 12), Blob::of(b"ok\n"));
            Observation::Command { command, exit_code: Some(0), output }
        }
        _ => Observation::Plan { text: format!("then part {}", n % 20) },
    })
}

/// Works on a task, and measures nothing but its compaction.
async fn compaction(engine: &Arc<Engine>, scope: &str, observations: usize) -> Outcome<Duration> {
    let tasks = Tasks::new(engine.clone(), scope.parse()?);
    tasks.start_session("Count").await?;
    for part in 0..observations / 100 {
        let part: Outcome<Vec<_>> = (part * 100..part * 100 + 100).map(observation).collect();
        engine.observe_task(tasks.scope(), engine.now(), None, part?).await?;
    }
    let begun = Instant::now();
    let commit = tasks.compact_session("counted").await?;
    let took = begun.elapsed();
    match commit.totals.observations == observations as u64 {
        true => Ok(took),
        false => Err("not everything was kept".into()),
    }
}

async fn measure(location: &Location, name: &str) -> Outcome<()> {
    let config = Config::load(vec![], &jiff::tz::TimeZone::UTC)?;
    let engine = Arc::new(Engine::open(location.open()?, config).await?);
    let mut ratios = Vec::new();
    for round in 0..ROUNDS {
        let few = compaction(&engine, &format!("agent:main:bench:direct:few{round}"), FEW).await?;
        let many = compaction(&engine, &format!("agent:main:bench:direct:many{round}"), MANY).await?;
        let ratio = many.as_secs_f64() / few.as_secs_f64();
        println!("{name} round {round}: {FEW} in {few:8.2?}, {MANY} in {many:8.2?}, {ratio:.1} x");
        ratios.push(ratio);
    }
    ratios.sort_by(f64::total_cmp);
    let median = ratios[ratios.len() / 2];
    let verdict = if median <= GOAL { "ok" } else { "MISSED" };
    println!("{name}: ten times the observations take {median:.1} x the time (at most {GOAL}): {verdict}");
    Ok(())
}

fn main() -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let stores = [
        (Location::Sqlite(folder.path().join("segue.db")), "sqlite"),
        (Location::Files(folder.path().join("log")), "files"),
    ];
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    stores.iter().try_for_each(|(location, name)| runtime.block_on(measure(location, name)))
}
