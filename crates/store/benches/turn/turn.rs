//! One turn after the other, ours and bare.

use crate::Outcome;
use crate::bare::Bare;
use crate::figure::{Figure, Goal, median, micros, shuffle};
use crate::ours::{self, Scope};
use std::time::Instant;

const ROUNDS: usize = 40;
const TURNS: usize = 40;
const SCOPES: usize = 10;

pub fn figures() -> Outcome<Vec<Figure>> {
    let folder = tempfile::tempdir()?;
    let runtime = ours::runtime()?;
    let bare = Bare::open(&folder.path().join("bare.db"))?;
    let store = ours::open(folder.path())?;
    let mut scopes = (0..SCOPES).map(|n| Scope::new(store.clone(), n)).collect::<Outcome<Vec<Scope>>>()?;
    let (mut of_bare, mut of_ours) = (Vec::new(), Vec::new());
    let mut seed = 1;
    for round in 0..ROUNDS {
        let mut order = [true, false];
        shuffle(&mut order, &mut seed);
        for is_ours in order {
            let mut times = Vec::with_capacity(TURNS);
            for turn in round * TURNS..(round + 1) * TURNS {
                let begun = Instant::now();
                if is_ours {
                    runtime.block_on(scopes[turn % SCOPES].turn(turn))?;
                } else {
                    bare.turn(&ours::scope(turn % SCOPES), turn)?;
                }
                times.push(micros(begun.elapsed()));
            }
            if is_ours { &mut of_ours } else { &mut of_bare }.push(median(times));
        }
    }
    let (bare, ours) = (("bare", &of_bare[..]), ("segue", &of_ours[..]));
    Ok(vec![Figure::paired("two messages and the pointer", "us", bare, ours, Goal::AtMost(1.3))])
}
