//! A test of the test: a fault of each kind is planted, and found.

use super::run;
use super::world::Fault;

/// How many sequences there are to find a fault in.
const CASES: u32 = 400;

fn check(fault: Fault) {
    let found = run(CASES, Some(fault));
    assert!(found.is_err(), "{fault:?} is not found by {CASES} sequences");
}

#[test]
fn an_archive_that_drops_is_found() {
    check(Fault::ArchiveDrops);
}

#[test]
fn a_wish_to_keep_that_is_ignored_is_found() {
    check(Fault::KeepIgnored);
}

#[test]
fn a_delete_that_leaves_the_session_is_found() {
    check(Fault::DeleteIgnored);
}

#[test]
fn an_erasure_that_leaves_the_words_is_found() {
    check(Fault::EraseIgnored);
}

#[test]
fn an_import_that_pushes_out_is_found() {
    check(Fault::ImportPushesOut);
}

#[test]
fn an_undo_that_loses_what_was_said_since_is_found() {
    check(Fault::UndoOrphans);
}

#[test]
fn a_redo_that_mixes_is_found() {
    check(Fault::RedoMixes);
}

#[test]
fn a_stale_cache_of_the_second_process_is_found() {
    check(Fault::SecondIsStale);
}

#[test]
fn a_message_id_without_its_channel_is_found() {
    check(Fault::IdsWithoutChannel);
}
