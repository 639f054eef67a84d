//! What a search costs in a scope with 100,000 archived messages, a third of them Chinese.
//!
//! `cargo bench -p segue-store --bench search` prints how long the index takes to make, which the first search waits
//! for, and how long the searches after it take. The goal: half of them under 5 ms.

#![allow(missing_docs, reason = "a program")]

mod history;

use history::{Chance, SESSIONS, fill};
use segue_core::state::State;
use segue_store::Store;
use segue_store::search::{Query, Reach, Visibility};
use segue_store::sqlite::Sqlite;
use std::sync::Arc;
use std::time::{Duration, Instant};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

const SEARCHES: usize = 400;
const GOAL: Duration = Duration::from_millis(5);

async fn search(store: &dyn Store, state: &State, text: &str) -> Outcome<(usize, Duration)> {
    let begun = Instant::now();
    let query = Query {
        text: text.to_owned(),
        visibility: Arc::new(Visibility::of(state, Reach::Archived)),
        limit: 40,
    };
    let hits = segue_store::search::find(store, &state.scope, &query).await?;
    Ok((hits.len(), begun.elapsed()))
}

async fn measure() -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("segue.db");
    let store = Sqlite::open(&path)?;
    let mut texts = Vec::new();
    let state = fill(&store, &mut texts).await?;
    let before = std::fs::metadata(&path)?.len();
    let (_, first) = search(&store, &state, "bak").await?;
    println!("{} messages in {SESSIONS} sessions", texts.len());
    println!("the first search, which makes the index: {:.1} s", first.as_secs_f64());
    let mut chance = Chance(77);
    let mut times = Vec::new();
    let mut empty = 0;
    for _ in 0..SEARCHES {
        let (hits, took) = search(&store, &state, &chance.question(&texts)).await?;
        empty += usize::from(hits == 0);
        times.push(took);
    }
    times.sort_unstable();
    let at = |share: f64| times[(share * (times.len() - 1) as f64) as usize];
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    println!(
        "{SEARCHES} searches: p50 {:.2} ms, p95 {:.2} ms, longest {:.2} ms; {empty} found nothing",
        ms(at(0.5)),
        ms(at(0.95)),
        ms(at(1.0))
    );
    drop(store);
    let after = std::fs::metadata(&path)?.len();
    println!("the database: {} MB, with the index {} MB", before >> 20, after >> 20);
    println!("goal p50 < {} ms: {}", GOAL.as_millis(), if at(0.5) < GOAL { "met" } else { "missed" });
    Ok(())
}

fn main() -> Outcome<()> {
    if !std::env::args().any(|argument| argument == "--bench") {
        println!("this is a benchmark: cargo bench -p segue-store --bench search");
        return Ok(());
    }
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(measure())
}
