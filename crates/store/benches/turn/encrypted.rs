//! A turn in an encrypted store, beside the same turn in a plain one.

use crate::Outcome;
use crate::figure::{Figure, Goal, median, micros, shuffle};
use crate::ours::{self, Scope};
use segue_store::encryption::{MasterKey, MasterKeys};
use segue_store::{Location, Store};
use std::sync::Arc;
use std::time::Instant;

const ROUNDS: usize = 40;
const TURNS: usize = 20;
const SCOPES: usize = 10;

pub fn figures() -> Outcome<Vec<Figure>> {
    let keys = MasterKeys::new(MasterKey::random()?, []);
    let mut figures = Vec::new();
    for (name, at) in [("sqlite", Location::Sqlite as fn(_) -> _), ("files", Location::Files)] {
        let folder = tempfile::tempdir()?;
        let runtime = ours::runtime()?;
        let plain = at(folder.path().join("plain")).open()?;
        let encrypted = at(folder.path().join("encrypted")).open_with(Some(&keys))?;
        let scopes = |store: &Arc<dyn Store>| {
            (0..SCOPES).map(|n| Scope::new(store.clone(), n)).collect::<Outcome<Vec<Scope>>>()
        };
        let mut sides = [(scopes(&plain)?, Vec::new()), (scopes(&encrypted)?, Vec::new())];
        let mut seed = 1;
        for round in 0..ROUNDS {
            let mut order = [0, 1];
            shuffle(&mut order, &mut seed);
            for side in order {
                let (scopes, medians) = &mut sides[side];
                let mut times = Vec::with_capacity(TURNS);
                for turn in round * TURNS..(round + 1) * TURNS {
                    let begun = Instant::now();
                    runtime.block_on(scopes[turn % SCOPES].turn(turn))?;
                    times.push(micros(begun.elapsed()));
                }
                medians.push(median(times));
            }
        }
        let [(_, plain), (_, encrypted)] = sides;
        let (base, measured) = (("plain", &plain[..]), ("encrypted", &encrypted[..]));
        let what = format!("an encrypted turn, {name}");
        figures.push(Figure::paired(what, "us", base, measured, Goal::AtMost(1.2)));
    }
    Ok(figures)
}
