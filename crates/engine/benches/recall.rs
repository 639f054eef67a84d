//! What a recall costs in a scope with 100,000 archived messages: by words and by meaning.
//!
//!     cargo bench -p segue-engine --bench recall

#![allow(clippy::disallowed_methods, reason = "a benchmark measures time")]
#![allow(missing_docs, reason = "a program")]

#[path = "../../store/benches/search/history.rs"]
mod history;

use history::{Chance, SESSIONS, fill};
use segue_engine::Engine;
use segue_engine::config::Config;
use segue_engine::recall::Recall;
use segue_store::sqlite::Sqlite;
use std::sync::Arc;
use std::time::{Duration, Instant};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

const RECALLS: usize = 200;
const GOAL: Duration = Duration::from_millis(10);

/// Questions whose words the history has not, but for the most frequent ones.
const STRANGE: &[&str] = &["which lizard lives in the greenhouse", "my granddaughter and the accordion"];

async fn measure() -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let store = Arc::new(Sqlite::open(&folder.path().join("segue.db"))?);
    let mut texts = Vec::new();
    let state = fill(store.as_ref(), &mut texts).await?;
    let engine = Engine::open(store, Config::load(vec![], &jiff::tz::TimeZone::UTC)?).await?;
    engine.recall(&state.scope, &Recall::new("bak", "to make the index")).await?;
    println!("{} messages in {SESSIONS} sessions", texts.len());
    let begun = Instant::now();
    engine.prepare_recall(&state.scope).await?;
    println!("all were embedded: {:.1} s", begun.elapsed().as_secs_f64());
    let mut chance = Chance(77);
    let remembered: Vec<String> = (0..RECALLS).map(|_| chance.question(&texts)).collect();
    let strange: Vec<String> =
        STRANGE.iter().cycle().take(RECALLS / 4).map(|&text| text.to_owned()).collect();
    for (name, questions) in [("with words of a message", remembered), ("in other words", strange)] {
        let mut times = Vec::new();
        for question in &questions {
            let begun = Instant::now();
            engine.recall(&state.scope, &Recall::new(question, "a benchmark")).await?;
            times.push(begun.elapsed());
        }
        times.sort_unstable();
        let at = |share: f64| times[(share * (times.len() - 1) as f64) as usize];
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let met = if at(0.5) < GOAL { "met" } else { "missed" };
        println!(
            "{} recalls {name}: p50 {:.2} ms (goal 10 ms: {met}), p95 {:.2} ms, longest {:.2} ms",
            times.len(),
            ms(at(0.5)),
            ms(at(0.95)),
            ms(at(1.0))
        );
    }
    Ok(())
}

fn main() -> Outcome<()> {
    if !std::env::args().any(|argument| argument == "--bench") {
        println!("this is a benchmark: cargo bench -p segue-engine --bench recall");
        return Ok(());
    }
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(measure())
}
