//! Eight turns that wait for the disk together, against one at a time.

use crate::Outcome;
use crate::figure::{Figure, Goal, shuffle};
use crate::ours::{self, Scope};
use std::time::Instant;

const ROUNDS: usize = 15;
const TURNS: usize = 200;
const TOGETHER: usize = 8;

/// Turns a second with so many at a time.
async fn throughput(scopes: Vec<Scope>, first: usize) -> Outcome<(f64, Vec<Scope>)> {
    let each = TURNS / scopes.len();
    let mut tasks = tokio::task::JoinSet::new();
    let begun = Instant::now();
    for mut scope in scopes {
        tasks.spawn(async move {
            for turn in first..first + each {
                scope.turn(turn).await.map_err(|error| error.to_string())?;
            }
            Ok::<Scope, String>(scope)
        });
    }
    let mut scopes = Vec::new();
    while let Some(scope) = tasks.join_next().await {
        scopes.push(scope??);
    }
    Ok((TURNS as f64 / begun.elapsed().as_secs_f64(), scopes))
}

pub fn figures() -> Outcome<Vec<Figure>> {
    let folder = tempfile::tempdir()?;
    let runtime = ours::runtime()?;
    let store = ours::open(folder.path())?;
    let scope = |n| Scope::new(store.clone(), n);
    let mut one = vec![scope(0)?];
    let mut eight = (1..=TOGETHER).map(scope).collect::<Outcome<Vec<Scope>>>()?;
    let (mut alone, mut together) = (Vec::new(), Vec::new());
    let mut seed = 2;
    for round in 0..ROUNDS {
        let mut order = [1, TOGETHER];
        shuffle(&mut order, &mut seed);
        for at_a_time in order {
            let (scopes, found) =
                if at_a_time == 1 { (&mut one, &mut alone) } else { (&mut eight, &mut together) };
            let (speed, back) = runtime.block_on(throughput(std::mem::take(scopes), round * TURNS))?;
            *scopes = back;
            found.push(speed);
        }
    }
    let (one, eight) = (("one", &alone[..]), ("together", &together[..]));
    Ok(vec![Figure::paired(format!("{TOGETHER} waiting turns"), "turns/s", one, eight, Goal::AtLeast(4.0))])
}
