//! Turns in a store of 1,000 scopes and in one of 100,000.

use crate::Outcome;
use crate::figure::{Figure, Goal, median, micros, shuffle};
use crate::ours::{self, Scope};
use segue_store::{Page, Store};
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

const SIZES: [usize; 2] = [1_000, 100_000];
const ROUNDS: usize = 30;
const TURNS: usize = 30;
/// How many turns wait at a time while the store is filled.
const WAITING: usize = 500;

async fn fill(store: &Arc<dyn Store>, scopes: usize) -> Outcome<()> {
    for first in (0..scopes).step_by(WAITING) {
        let mut tasks = tokio::task::JoinSet::new();
        for number in first..(first + WAITING).min(scopes) {
            let mut scope = Scope::new(store.clone(), number)?;
            tasks.spawn(async move { scope.turn(number).await.map_err(|error| error.to_string()) });
        }
        while let Some(done) = tasks.join_next().await {
            done??;
        }
    }
    Ok(())
}

fn make(folder: &Path, runtime: &tokio::runtime::Runtime, scopes: usize) -> Outcome<Arc<dyn Store>> {
    let folder = folder.join(scopes.to_string());
    std::fs::create_dir(&folder)?;
    let store = ours::open(&folder)?;
    runtime.block_on(fill(&store, scopes))?;
    drop(store);
    ours::open(&folder)
}

pub fn figures() -> Outcome<Vec<Figure>> {
    let folder = tempfile::tempdir()?;
    let runtime = ours::runtime()?;
    let mut stores = Vec::new();
    for scopes in SIZES {
        stores.push((make(folder.path(), &runtime, scopes)?, Vec::new(), Vec::new()));
    }
    let (mut seed, mut clock) = (4, 200_000);
    for _ in 0..ROUNDS {
        let mut order = [0, 1];
        shuffle(&mut order, &mut seed);
        for at in order {
            let (store, turns, lists) = &mut stores[at];
            let mut times = Vec::new();
            for _ in 0..TURNS {
                clock += 1;
                // Far apart, so that hardly any scope comes twice.
                let number = (clock * 7_919) % SIZES[at];
                let begun = Instant::now();
                runtime.block_on(async { Scope::cold(store.clone(), number).await?.turn(clock).await })?;
                times.push(micros(begun.elapsed()));
            }
            turns.push(median(times));
            let begun = Instant::now();
            runtime.block_on(store.scopes(&Page::first(50)))?;
            lists.push(micros(begun.elapsed()));
        }
    }
    let figure = |name: &str, [few, many]: [&Vec<f64>; 2], goal: f64| {
        Figure::paired(name, "us", ("1,000 scopes", few), ("100,000", many), Goal::AtMost(goal))
    };
    let [few, many] = [&stores[0], &stores[1]];
    Ok(vec![
        figure("a turn, the state read first", [&few.1, &many.1], 1.3),
        figure("the newest 50 scopes", [&few.2, &many.2], 1.5),
    ])
}
