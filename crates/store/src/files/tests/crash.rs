//! The process dies, or the disk fails, at every single step.

use super::fault::{Extent, Faulty, Then};
use super::{Expected, Fixture, SCRIPT, folder, say};
use crate::error::Error;
use crate::files::disk::Machine;
use std::sync::Arc;

/// Runs the script, with a sweep after every third command, until something fails.
fn run_until_it_fails(fixture: &mut Fixture, disk: &Faulty, from: usize) -> Option<(usize, Error, Expected)> {
    for (at, step) in SCRIPT.iter().enumerate().skip(from) {
        // A process can also die while it mends what failed before.
        if disk.is_dead() || (fixture.load().is_err() && disk.is_dead()) {
            return None;
        }
        let command = step(fixture);
        if let Err((error, attempted)) = fixture.try_run(&command) {
            return Some((at, error, attempted));
        }
        if at % 3 == 2 {
            // What it cannot do now it does later.
            let _ = crate::files::sweep::sweep(fixture.inner());
        }
    }
    None
}

fn count_steps() -> usize {
    let (dir, disk) = (folder(), Arc::new(Faulty::never()));
    let mut fixture = Fixture::closed(dir.path());
    fixture.open(disk.clone()).unwrap();
    assert!(run_until_it_fails(&mut fixture, &disk, 0).is_none());
    fixture.check();
    disk.steps()
}

/// What the store has is what was acknowledged, or that and all of the append that was under way.
pub(super) fn settle(fixture: &mut Fixture, attempted: Option<Expected>) {
    let found = fixture.load().unwrap();
    if found != fixture.expected.state
        && let Some(attempted) = attempted
    {
        assert_eq!(found, attempted.state, "an append is there as a whole or not at all");
        fixture.expected = attempted;
    }
    fixture.check();
}

#[test]
fn p9_a_crash_at_any_step_loses_nothing_and_leaves_no_half() {
    let steps = count_steps();
    assert!(steps > 60, "{steps}");
    for at in 0..=steps {
        for extent in [Extent::Half, Extent::Whole] {
            let dir = folder();
            let mut fixture = Fixture::closed(dir.path());
            let disk = Arc::new(Faulty::new(at, extent, Then::Stop));
            let opened = fixture.open(disk.clone());
            let failed = opened.ok().and_then(|()| run_until_it_fails(&mut fixture, &disk, 0));
            fixture.reopen();
            settle(&mut fixture, failed.map(|(_, _, attempted)| attempted));
            let listed = fixture.expected.state.as_ref().map(|s| s.list().count()).unwrap_or(0);
            assert_eq!(fixture.indexed().len(), listed, "the index is healed at the opening");
            fixture.say("and on it goes");
            fixture.check();
        }
    }
}

#[test]
fn p9_a_second_crash_while_the_first_one_is_mended_is_mended_too() {
    let steps = count_steps();
    for at in (0..=steps).step_by(3) {
        for again in 0..8 {
            let dir = folder();
            let mut fixture = Fixture::closed(dir.path());
            let disk = Arc::new(Faulty::new(at, Extent::Half, Then::Stop));
            let opened = fixture.open(disk.clone());
            let failed = opened.ok().and_then(|()| run_until_it_fails(&mut fixture, &disk, 0));
            if fixture.open(Arc::new(Faulty::new(again, Extent::Half, Then::Stop))).is_ok() {
                let _ = fixture.load();
            }
            fixture.reopen();
            settle(&mut fixture, failed.map(|(_, _, attempted)| attempted));
        }
    }
}

#[test]
fn p9_a_crash_while_a_failed_append_is_taken_back_is_mended_too() {
    for at in 0..=count_steps() {
        for (more, extent) in [0, 1, 2, 3].into_iter().flat_map(|n| [(n, Extent::Half), (n, Extent::Whole)]) {
            let dir = folder();
            let mut fixture = Fixture::closed(dir.path());
            let disk = Arc::new(Faulty::new(at, extent, Then::StopAfter(more)));
            let opened = fixture.open(disk.clone());
            let failed = opened.ok().and_then(|()| run_until_it_fails(&mut fixture, &disk, 0));
            fixture.reopen();
            settle(&mut fixture, failed.map(|(_, _, attempted)| attempted));
        }
    }
}

#[test]
fn a_full_disk_loses_nothing_and_the_next_try_succeeds() {
    let steps = count_steps();
    for at in 0..=steps {
        for extent in [Extent::Half, Extent::Whole] {
            let dir = folder();
            let mut fixture = Fixture::closed(dir.path());
            let disk = Arc::new(Faulty::new(at, extent, Then::GoOn));
            if fixture.open(disk.clone()).is_err() {
                fixture.open(disk.clone()).unwrap();
            }
            if let Some((step, error, _)) = run_until_it_fails(&mut fixture, &disk, 0) {
                assert!(matches!(error, Error::Unavailable { .. }), "{error}");
                assert!(error.to_string().contains("free some space"), "{error}");
                assert_eq!(fixture.load().unwrap(), fixture.expected.state, "nothing was changed");
                assert!(run_until_it_fails(&mut fixture, &disk, step).is_none());
            }
            fixture.check();
            crate::files::sweep::sweep(fixture.inner()).unwrap();
            let live = fixture.state().segments.len() + 1;
            let there = crate::files::scan::list_segments(&fixture.scope_path("")).unwrap();
            assert_eq!(there.len(), live, "what was dropped is deleted in the end");
        }
    }
}

#[test]
fn an_ordinary_message_is_one_write_and_one_sync_and_never_the_index() {
    let (dir, disk) = (folder(), Arc::new(Faulty::never()));
    let mut fixture = Fixture::closed(dir.path());
    fixture.open(disk.clone()).unwrap();
    fixture.say("one");
    for _ in 0..3 {
        let before = disk.steps();
        fixture.say("more");
        assert_eq!(disk.steps() - before, 2);
    }
}

#[test]
fn a_disk_that_stays_full_says_what_to_do() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    fixture.say("one");
    fixture.open(Arc::new(Faulty::new(0, Extent::Half, Then::Stop))).unwrap();
    for _ in 0..2 {
        let (error, _) = fixture.try_run(&say("two")).unwrap_err();
        assert!(error.to_string().contains("free some space and try again"), "{error}");
    }
    fixture.open(Arc::new(Machine)).unwrap();
    fixture.say("two");
    fixture.check();
    assert_eq!(fixture.texts(1), ["one", "two"]);
}
