//! Bytes on disk per message, ours and bare.

use crate::Outcome;
use crate::bare::Bare;
use crate::figure::{Figure, Goal};
use crate::ours::{self, Scope};
use std::path::Path;

const SCOPES: usize = 100;
const TURNS: usize = 200;
/// How many turns of a scope come before the next scope has its turns.
const AT_A_TIME: usize = 10;

fn bytes(path: &Path) -> Outcome<f64> {
    Ok(std::fs::metadata(path)?.len() as f64 / (2 * SCOPES * TURNS) as f64)
}

pub fn figures() -> Outcome<Vec<Figure>> {
    let folder = tempfile::tempdir()?;
    let runtime = ours::runtime()?;
    let bare = Bare::open(&folder.path().join("bare.db"))?;
    let store = ours::open(folder.path())?;
    let mut scopes = (0..SCOPES).map(|n| Scope::new(store.clone(), n)).collect::<Outcome<Vec<Scope>>>()?;
    for turns in (0..TURNS).step_by(AT_A_TIME).map(|first| first..first + AT_A_TIME) {
        for (number, scope) in scopes.iter_mut().enumerate() {
            runtime.block_on(scope.turns(turns.clone()))?;
            let write = |bare: &Bare| turns.clone().try_for_each(|t| bare.write(&ours::scope(number), t));
            bare.many(write)?;
        }
    }
    // The last one to leave takes in the write-ahead log.
    drop((scopes, store));
    bare.checkpoint()?;
    let (bare, ours) = (bytes(&folder.path().join("bare.db"))?, bytes(&folder.path().join("segue.db"))?);
    Ok(vec![Figure::paired(
        "disk",
        "bytes/message",
        ("bare", &[bare]),
        ("segue", &[ours]),
        Goal::AtMost(1.3),
    )])
}
