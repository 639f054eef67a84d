//! Crash tests: a child works on a store as hard as it can and is killed at a random moment, hundreds of
//! times. What it had acknowledged is there, exactly once; the store opens by itself; `verify` is clean.
//!
//! `SEGUE_CRASHES` sets how many crashes per store (150), `SEGUE_SEED` what chance begins with (1).

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may do as tests do")]

mod book;
mod chance;
mod child;
mod committed;
mod line;
mod round;

use book::Book;
use chance::Chance;
use line::Line;
use round::{Plan, Round};
use segue_store::Location;

/// After so many crashes the next store begins, or checking the log would take longer than writing it.
const CRASHES_PER_STORE: u64 = 25;

/// How many acknowledgements a child may give before it is killed, at most.
const ACKNOWLEDGED_MAX: u64 = 120;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

fn locations(folder: &tempfile::TempDir) -> [Location; 2] {
    [Location::Sqlite(folder.path().join("segue.db")), Location::Files(folder.path().join("files"))]
}

/// The child's side: does nothing in an ordinary test run.
#[test]
fn works_until_it_is_killed() {
    child::main();
}

fn crash_again_and_again(kind: usize) {
    let (crashes, seed) = (number("SEGUE_CRASHES", 150), number("SEGUE_SEED", 1));
    println!("SEGUE_SEED={seed} SEGUE_CRASHES={crashes}");
    let mut chance = Chance::new(seed.wrapping_mul(2).wrapping_add(kind as u64));
    let (mut acknowledged, mut unanswered, mut dropped, mut at_once) = (0, 0, 0, 0);
    let mut left = crashes;
    while left > 0 {
        let folder = tempfile::tempdir().unwrap();
        let store = &locations(&folder)[kind];
        let mut book = Book::default();
        for round in 0..CRASHES_PER_STORE.min(left) {
            let plan = match chance.below(10) {
                0 => Plan::AtOnce,
                1 => Plan::WhileOpening,
                _ => Plan::After(1 + chance.below(ACKNOWLEDGED_MAX)),
            };
            at_once += u64::from(!matches!(plan, Plan::After(_)));
            Round::start(folder.path(), store, round, chance.next(), &book.redeliveries())
                .kill(plan, &mut book);
            book.check(store);
        }
        left = left.saturating_sub(CRASHES_PER_STORE);
        acknowledged += book.acknowledged();
        unanswered += book.unanswered;
        dropped += book.dropped();
    }
    println!(
        "{crashes} crashes, {at_once} of them before the first message; {acknowledged} messages \
         acknowledged, {unanswered} cut off and delivered again, {dropped} sessions dropped"
    );
    assert!(acknowledged > crashes && dropped > 0, "the child did not work");
}

#[test]
fn what_was_acknowledged_survives_crashes_in_sqlite() {
    crash_again_and_again(0);
}

#[test]
fn what_was_acknowledged_survives_crashes_in_files() {
    crash_again_and_again(1);
}

/// `/new` survives, also when it was the last thing before the crash.
#[test]
fn x3_new_survives_a_crash_right_behind_it() {
    let folder = tempfile::tempdir().unwrap();
    for store in locations(&folder) {
        let mut book = Book::default();
        for round in 0..number("SEGUE_CRASHES", 150).div_ceil(10) {
            book.forget_unanswered();
            let mut renewed = |line: &Line| matches!(line, Line::Acknowledged { text, .. } if text == "/new");
            Round::start(folder.path(), &store, round, child::ONLY_NEW, &[])
                .kill(Plan::Until(&mut renewed), &mut book);
            book.check(&store);
            let latest = book::latest(&store, &child::scope(0)).unwrap();
            let newest = book.newest("/new").unwrap();
            // The child goes on until the signal arrives: one more may have been kept and not answered.
            let may_be_next = book.was_cut_off("/new");
            assert!(
                latest == newest || (may_be_next && latest == newest.next()),
                "{store}: {newest} was acknowledged, {latest} is latest"
            );
        }
    }
}
