//! Power cuts on SQLite: whatever part of what was not synced has landed, in whatever order, what was acknowledged is there.
//!
//! SQLite's own layer over the file system cannot be replaced without unsafe code, so the states are made from copies of the
//! files. A turn only adds to the write-ahead log, which was durable up to where it began; a checkpoint only writes the
//! database, while the log is whole.

#![allow(clippy::unwrap_used, reason = "helpers of tests may do as tests do")]

use segue_core::decide::Command;
use segue_core::entry::Record;
use segue_store::conformance::World;
use segue_store::sqlite::Sqlite;
use segue_store::verify::verify;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const TURNS: usize = 24;
const STATES: u64 = 84;

struct Rng(u64);

impl Rng {
    fn below(&mut self, end: usize) -> usize {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % end.max(1) as u64) as usize
    }
}

/// The database and its write-ahead log.
#[derive(Clone, PartialEq)]
struct Files {
    db: Vec<u8>,
    wal: Vec<u8>,
}

fn wal_of(db: &Path) -> PathBuf {
    PathBuf::from(format!("{}-wal", db.display()))
}

fn copy_of(path: &Path) -> Files {
    // The log first: a checkpoint that comes in between only does what the log says.
    let wal = std::fs::read(wal_of(path)).unwrap_or_default();
    Files { db: std::fs::read(path).unwrap(), wal }
}

/// Lets some parts of a file land over what was there before: by pages or sectors, in any order, up to some length.
fn land(before: &[u8], after: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut content = before.to_vec();
    let len = if rng.below(3) == 0 {
        before.len() + rng.below(after.len() + 1 - before.len())
    } else {
        after.len()
    };
    content.resize(len.max(before.len()), 0);
    let (unit, odds) = ([512, 4096][rng.below(2)], rng.below(5));
    for begin in (0..content.len()).step_by(unit) {
        let end = (begin + unit).min(content.len()).min(after.len());
        if begin < end && rng.below(4) < odds {
            content[begin..end].copy_from_slice(&after[begin..end]);
        }
    }
    content
}

/// Opens what a power cut left, and returns the log.
async fn look(files: &Files) -> Vec<Record> {
    let shm = Path::new("/dev/shm");
    let folder = if shm.is_dir() { tempfile::tempdir_in(shm) } else { tempfile::tempdir() }.unwrap();
    let path = folder.path().join("cut.db");
    std::fs::write(&path, &files.db).unwrap();
    std::fs::write(wal_of(&path), &files.wal).unwrap();
    let world = World::new(Arc::new(Sqlite::open(&path).unwrap()));
    let report = verify(world.store.as_ref(), &world.scope).await.unwrap();
    assert_eq!(report.problems, Vec::<String>::new());
    world.whole_log().await
}

/// 2,016 states after a power cut.
#[tokio::test]
async fn a_power_cut_loses_nothing_that_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("segue.db");
    let mut world = World::new(Arc::new(Sqlite::open(&path).unwrap()));
    let mut before = (copy_of(&path), world.whole_log().await);
    let mut states = 0;
    for turn in 0..TURNS {
        match turn % 6 {
            5 => _ = world.run(&Command::New { first: None }).await.unwrap(),
            n => {
                let text = format!("{turn} ").repeat([10, 2_000, 300, 9_000, 30][n]);
                world.say_as(&text, &format!("id {turn}")).await.unwrap();
            }
        }
        let after = (copy_of(&path), world.whole_log().await);
        assert!(after.0 != before.0, "turn {turn} wrote nothing");
        for state in 0..STATES {
            let mut rng = Rng(turn as u64 * 1_000 + state);
            // A log that was begun anew has what is left of the old one behind its end, until that is written over.
            let cut = match after.0.db == before.0.db {
                true => Files { db: before.0.db.clone(), wal: land(&before.0.wal, &after.0.wal, &mut rng) },
                // A checkpoint came: the pages of the database land in any order beside a whole write-ahead log.
                false => Files { db: land(&before.0.db, &after.0.db, &mut rng), wal: before.0.wal.clone() },
            };
            let found = look(&cut).await;
            assert!(
                found == before.1 || found == after.1,
                "turn {turn}, state {state}: {} entries",
                found.len()
            );
            states += 1;
        }
        before = after;
    }
    assert!(states >= 2_000, "{states}");
}
