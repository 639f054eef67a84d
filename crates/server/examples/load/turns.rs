//! Durable turns a second over HTTP, and the engine's own in the same run.

use crate::Result;
use crate::client::Client;
use crate::daemon::Place;
use jiff::tz::TimeZone;
use segue_engine::config::Config;
use segue_engine::{Engine, Inbound};
use segue_store::Location;
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How many connections speak at the same time.
const CONNECTIONS: usize = 64;

/// What is said, in turn.
const TEXTS: [&str; 4] = [
    "Which of the two hotels near the harbour is quieter?",
    "Is breakfast part of the price there?",
    "How far is it from the station on foot?",
    "Please keep the second one in mind for the trip.",
];

/// How many turns a second are wanted over HTTP for one of the engine's own.
const RATIO_MIN: f64 = 0.5;

/// Measures for some seconds each.
pub async fn run(seconds: u64) -> Result<()> {
    let time = Duration::from_secs(seconds);
    let engine = of_engine(time).await?;
    let http = over_http(time).await?;
    let ratio = http.rate / engine.rate;
    println!("engine  {engine}");
    println!("http    {http}");
    // A figure, and no verdict: how busy the machine is must not decide whether the tests pass.
    let verdict = if ratio < RATIO_MIN { "MISSED" } else { "reached" };
    println!(
        "ratio   {ratio:.2}, {RATIO_MIN} is wanted: {verdict} ({CONNECTIONS} connections, {seconds} s each)"
    );
    Ok(())
}

/// What was measured.
struct Measured {
    rate: f64,
    p50: Duration,
    p99: Duration,
}

impl std::fmt::Display for Measured {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        write!(f, "{:8.0} turns/s  p50 {:7.2} ms  p99 {:7.2} ms", self.rate, ms(self.p50), ms(self.p99))
    }
}

fn measured(mut took: Vec<Duration>, time: Duration) -> Result<Measured> {
    took.sort_unstable();
    let at = |share: f64| took.get((took.len() as f64 * share) as usize).copied().ok_or("no turn was made");
    Ok(Measured { rate: took.len() as f64 / time.as_secs_f64(), p50: at(0.5)?, p99: at(0.99)? })
}

async fn of_engine(time: Duration) -> Result<Measured> {
    let place = Place::new("")?;
    let store = Location::Sqlite(place.path().join("engine.db")).open()?;
    let config = Config::load(Vec::new(), &TimeZone::UTC)?;
    let engine = Arc::new(Engine::open(store, config).await?);
    let mut tasks = Vec::new();
    for number in 0..CONNECTIONS {
        let engine = Arc::clone(&engine);
        tasks.push(tokio::spawn(async move {
            let scope: segue_core::scope::Key = format!("agent:main:load:direct:{number}").parse()?;
            let (begun, mut took) = (Instant::now(), Vec::new());
            for text in TEXTS.iter().cycle() {
                if begun.elapsed() > time {
                    break;
                }
                let turn = Instant::now();
                engine.receive(Inbound::user(scope.clone(), engine.now(), *text)).await?;
                took.push(turn.elapsed());
            }
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(took)
        }));
    }
    measured(gathered(tasks).await?, time)
}

async fn over_http(time: Duration) -> Result<Measured> {
    let place = Place::new("")?;
    let daemon = place.start()?;
    let mut tasks = Vec::new();
    for number in 0..CONNECTIONS {
        let address = daemon.address.clone();
        tasks.push(tokio::spawn(async move {
            let mut client = Client::connect(&address).await?;
            let (begun, mut took) = (Instant::now(), Vec::new());
            for text in TEXTS.iter().cycle() {
                if begun.elapsed() > time {
                    break;
                }
                let body = json!({ "scope": format!("agent:main:load:direct:{number}"), "text": text });
                let turn = Instant::now();
                client.json("POST", "/api/v1/messages", &body.to_string()).await?;
                took.push(turn.elapsed());
            }
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(took)
        }));
    }
    measured(gathered(tasks).await?, time)
}

async fn gathered(tasks: Vec<tokio::task::JoinHandle<Result<Vec<Duration>>>>) -> Result<Vec<Duration>> {
    let mut all = Vec::new();
    for task in tasks {
        all.extend(task.await??);
    }
    Ok(all)
}
