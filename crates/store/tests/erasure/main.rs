//! Issue 16, row 4: after an erasure is acknowledged, no byte of what was erased is in the store's files, nor in a backup.
//!
//! Random stores: several scopes that are written to in turns, so that pages are split in the middle, messages of all sizes,
//! titles, forks, tasks, summaries that are carried over, deleted sessions, values, an index, stores that are opened again, also
//! after a crash that has cut off an append, and files that are damaged. Every text is a mark, over and over, so that any part of
//! it is found. `SEGUE_ERASURE_STORES` says how many stores of each kind are made.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod made;
mod marks;
mod places;

use made::{Chance, In, Made};
use marks::marks_below;
use segue_core::decide::Command;
use segue_core::entry::{Bytes, Kind};
use std::collections::BTreeSet;

const STORES_DEFAULT: u64 = 100;

fn stores() -> u64 {
    std::env::var("SEGUE_ERASURE_STORES").ok().and_then(|n| n.parse().ok()).unwrap_or(STORES_DEFAULT)
}

fn nothing_is_left(kind: In) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let stores = stores();
    for number in 1..=stores {
        runtime.block_on(async {
            let mut chance = Chance(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let mut made = Made::new(kind);
            for _ in 0..30 + chance.below(40) {
                made.step(&mut chance).await;
            }
            made.check_backup().await;
        });
    }
    println!("{stores} stores");
}

#[test]
fn x17_nothing_that_was_erased_is_left_in_sqlite() {
    nothing_is_left(In::Sqlite);
}

#[test]
fn x17_nothing_that_was_erased_is_left_in_files() {
    nothing_is_left(In::Files);
}

/// The test finds what it looks for: without a purge, SQLite's pages and its write-ahead log hold what was erased.
#[test]
fn the_search_finds_what_is_there() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let mut made = Made::new(In::Sqlite);
        let text = made.text(10_000);
        let seq = made.worlds[0].say(&text).await.about.unwrap();
        made.worlds[0].run(&Command::Erase { entries: vec![seq], along: Vec::new() }).await.unwrap();
        let mut found = BTreeSet::new();
        marks_below(made.place.path(), &mut found);
        assert!(found.contains(&1));
        let log = made.worlds[0].whole_log().await;
        assert!(
            log.iter().any(|record| record.kind == Kind::User && matches!(record.bytes, Bytes::Erased(_)))
        );
        made.check().await;
    });
}
