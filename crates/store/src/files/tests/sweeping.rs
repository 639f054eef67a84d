//! Dropped segments are deleted, if not now then later.

use super::fault::{Extent, Faulty, Then};
use super::{Fixture, folder, say_as};
use crate::error::Error;
use crate::files::scan::list_segments;
use crate::files::sweep::sweep;
use segue_core::decide::Command;
use segue_core::session::Number;
use std::sync::Arc;

fn with_a_dropped_session(fixture: &mut Fixture) {
    fixture.run(&say_as("one", "77"));
    fixture.new_session();
    fixture.say("two");
    fixture.run(&Command::Delete { session: Number(1) });
}

#[test]
fn p8_a_failed_delete_is_retried_at_the_next_start() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    with_a_dropped_session(&mut fixture);
    // A start that reads no scope: the note of what is to be deleted is enough.
    let disk = Arc::new(Faulty::new(1, Extent::Half, Then::Stop));
    fixture.open(disk).unwrap();
    let _ = sweep(fixture.inner());
    assert!(fixture.scope_path("000001.jsonl").exists());
    fixture.check();
    assert_eq!(sweep(fixture.inner()).unwrap(), 1);
    assert!(!fixture.scope_path("000001.jsonl").exists());
    assert!(!fixture.path("garbage.jsonl").exists());
    assert_eq!(sweep(fixture.inner()).unwrap(), 0);
    fixture.check();
}

#[test]
fn p8_what_is_dropped_is_known_without_the_note() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    with_a_dropped_session(&mut fixture);
    fixture.close();
    std::fs::remove_file(fixture.path("garbage.jsonl")).unwrap();
    fixture.reopen();
    fixture.load().unwrap();
    assert_eq!(sweep(fixture.inner()).unwrap(), 1);
    assert_eq!(list_segments(&fixture.scope_path("")).unwrap().len(), 1);
    fixture.check();
}

/// A session was written to through a segment that it gave away later; the segment's file is gone.
#[test]
fn a_sweep_changes_nothing_that_is_folded() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    fixture.say("one");
    fixture.new_session();
    fixture.run(&Command::Resume { session: Number(1) });
    fixture.say("two");
    fixture.run(&Command::Resume { session: Number(2) });
    fixture.run(&Command::Undo);
    fixture.run(&Command::Undo);
    fixture.new_session();
    fixture.run(&Command::Delete { session: Number(2) });
    assert!(sweep(fixture.inner()).unwrap() > 0);
    fixture.check();
}

#[test]
fn x7_ids_of_deleted_messages_are_known_after_a_restart() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    with_a_dropped_session(&mut fixture);
    sweep(fixture.inner()).unwrap();
    fixture.reopen();
    let again = fixture.try_run(&say_as("one", "77")).map_err(|(error, _)| error);
    assert!(matches!(again, Err(Error::Duplicate { .. })));
}

#[test]
fn a_dropped_segment_is_not_written_again() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    with_a_dropped_session(&mut fixture);
    let mut append = fixture.append_of(&super::say("forged"));
    for record in &mut append.records {
        record.segment = segue_core::segment::Number(1);
    }
    assert!(matches!(fixture.inner().append(append), Err(Error::Sealed { .. })));
    fixture.check();
}
