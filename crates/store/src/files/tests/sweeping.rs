//! Dropped segments are deleted, if not now then later.

use super::fault::{Extent, Faulty, Then};
use super::{Desk, folder, say_as};
use crate::error::Error;
use crate::files::scan::list_segments;
use crate::files::sweep::sweep;
use segue_core::decide::Command;
use segue_core::session::Number;
use std::sync::Arc;

fn with_a_dropped_session(desk: &mut Desk) {
    desk.run(&say_as("one", "77"));
    desk.new_session();
    desk.say("two");
    desk.run(&Command::Delete { session: Number(1) });
}

#[test]
fn p8_a_failed_delete_is_retried_at_the_next_start() {
    let dir = folder();
    let mut desk = Desk::new(dir.path());
    with_a_dropped_session(&mut desk);
    // A start that reads no scope: the note of what is to be deleted is enough.
    let disk = Arc::new(Faulty::new(1, Extent::Half, Then::Stop));
    desk.open(disk).unwrap();
    let _ = sweep(desk.inner());
    assert!(desk.scope_path("000001.jsonl").exists());
    desk.check();
    assert_eq!(sweep(desk.inner()).unwrap(), 1);
    assert!(!desk.scope_path("000001.jsonl").exists());
    assert!(!desk.path("garbage.jsonl").exists());
    assert_eq!(sweep(desk.inner()).unwrap(), 0);
    desk.check();
}

#[test]
fn p8_what_is_dropped_is_known_without_the_note() {
    let dir = folder();
    let mut desk = Desk::new(dir.path());
    with_a_dropped_session(&mut desk);
    desk.close();
    std::fs::remove_file(desk.path("garbage.jsonl")).unwrap();
    desk.reopen();
    desk.load().unwrap();
    assert_eq!(sweep(desk.inner()).unwrap(), 1);
    assert_eq!(list_segments(&desk.scope_path("")).unwrap().len(), 1);
    desk.check();
}

/// A session was written to through a segment that it gave away later; the segment's file is gone.
#[test]
fn a_sweep_changes_nothing_that_is_folded() {
    let dir = folder();
    let mut desk = Desk::new(dir.path());
    desk.say("one");
    desk.new_session();
    desk.run(&Command::Resume { session: Number(1) });
    desk.say("two");
    desk.run(&Command::Resume { session: Number(2) });
    desk.run(&Command::Undo);
    desk.run(&Command::Undo);
    desk.new_session();
    desk.run(&Command::Delete { session: Number(2) });
    assert!(sweep(desk.inner()).unwrap() > 0);
    desk.check();
}

#[test]
fn x7_ids_of_deleted_messages_are_known_after_a_restart() {
    let dir = folder();
    let mut desk = Desk::new(dir.path());
    with_a_dropped_session(&mut desk);
    sweep(desk.inner()).unwrap();
    desk.reopen();
    let again = desk.try_run(&say_as("one", "77")).map_err(|(error, _)| error);
    assert!(matches!(again, Err(Error::Duplicate { .. })));
}

#[test]
fn a_dropped_segment_is_not_written_again() {
    let dir = folder();
    let mut desk = Desk::new(dir.path());
    with_a_dropped_session(&mut desk);
    let mut append = desk.append_of(&super::say("forged"));
    for record in &mut append.records {
        record.segment = segue_core::segment::Number(1);
    }
    assert!(matches!(desk.inner().append(append), Err(Error::Sealed { .. })));
    desk.check();
}
