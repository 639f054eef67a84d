//! The process dies, or the disk fails, at every single step.

use super::fault::{Extent, Faulty, Then};
use super::{Desk, Expected, SCRIPT, folder, say};
use crate::error::Error;
use crate::files::disk::Machine;
use std::sync::Arc;

/// Runs the script, with a sweep after every third command, until something fails.
fn run_until_it_fails(desk: &mut Desk, disk: &Faulty, from: usize) -> Option<(usize, Error, Expected)> {
    for (at, step) in SCRIPT.iter().enumerate().skip(from) {
        // A process can also die while it mends what failed before.
        if disk.is_dead() || (desk.load().is_err() && disk.is_dead()) {
            return None;
        }
        let command = step(desk);
        if let Err((error, attempted)) = desk.try_run(&command) {
            return Some((at, error, attempted));
        }
        if at % 3 == 2 {
            // What it cannot do now it does later.
            let _ = crate::files::sweep::sweep(desk.inner());
        }
    }
    None
}

fn count_steps() -> usize {
    let (dir, disk) = (folder(), Arc::new(Faulty::never()));
    let mut desk = Desk::closed(dir.path());
    desk.open(disk.clone()).unwrap();
    assert!(run_until_it_fails(&mut desk, &disk, 0).is_none());
    desk.check();
    disk.steps()
}

/// What the store has is what was acknowledged, or that and all of the append that was under way.
pub(super) fn settle(desk: &mut Desk, attempted: Option<Expected>) {
    let found = desk.load().unwrap();
    if found != desk.expected.state
        && let Some(attempted) = attempted
    {
        assert_eq!(found, attempted.state, "an append is there as a whole or not at all");
        desk.expected = attempted;
    }
    desk.check();
}

#[test]
fn p9_a_crash_at_any_step_loses_nothing_and_leaves_no_half() {
    let steps = count_steps();
    assert!(steps > 60, "{steps}");
    for at in 0..=steps {
        for extent in [Extent::Half, Extent::Whole] {
            let dir = folder();
            let mut desk = Desk::closed(dir.path());
            let disk = Arc::new(Faulty::new(at, extent, Then::Stop));
            let opened = desk.open(disk.clone());
            let failed = opened.ok().and_then(|()| run_until_it_fails(&mut desk, &disk, 0));
            desk.reopen();
            settle(&mut desk, failed.map(|(_, _, attempted)| attempted));
            let listed = desk.expected.state.as_ref().map(|s| s.list().count()).unwrap_or(0);
            assert_eq!(desk.indexed().len(), listed, "the index is healed at the opening");
            desk.say("and on it goes");
            desk.check();
        }
    }
}

#[test]
fn p9_a_second_crash_while_the_first_one_is_mended_is_mended_too() {
    let steps = count_steps();
    for at in (0..=steps).step_by(3) {
        for again in 0..8 {
            let dir = folder();
            let mut desk = Desk::closed(dir.path());
            let disk = Arc::new(Faulty::new(at, Extent::Half, Then::Stop));
            let opened = desk.open(disk.clone());
            let failed = opened.ok().and_then(|()| run_until_it_fails(&mut desk, &disk, 0));
            if desk.open(Arc::new(Faulty::new(again, Extent::Half, Then::Stop))).is_ok() {
                let _ = desk.load();
            }
            desk.reopen();
            settle(&mut desk, failed.map(|(_, _, attempted)| attempted));
        }
    }
}

#[test]
fn p9_a_crash_while_a_failed_append_is_taken_back_is_mended_too() {
    for at in 0..=count_steps() {
        for (more, extent) in [0, 1, 2, 3].into_iter().flat_map(|n| [(n, Extent::Half), (n, Extent::Whole)]) {
            let dir = folder();
            let mut desk = Desk::closed(dir.path());
            let disk = Arc::new(Faulty::new(at, extent, Then::StopAfter(more)));
            let opened = desk.open(disk.clone());
            let failed = opened.ok().and_then(|()| run_until_it_fails(&mut desk, &disk, 0));
            desk.reopen();
            settle(&mut desk, failed.map(|(_, _, attempted)| attempted));
        }
    }
}

#[test]
fn a_full_disk_loses_nothing_and_the_next_try_succeeds() {
    let steps = count_steps();
    for at in 0..=steps {
        for extent in [Extent::Half, Extent::Whole] {
            let dir = folder();
            let mut desk = Desk::closed(dir.path());
            let disk = Arc::new(Faulty::new(at, extent, Then::GoOn));
            if desk.open(disk.clone()).is_err() {
                desk.open(disk.clone()).unwrap();
            }
            if let Some((step, error, _)) = run_until_it_fails(&mut desk, &disk, 0) {
                assert!(matches!(error, Error::Unavailable { .. }), "{error}");
                assert!(error.to_string().contains("free some space"), "{error}");
                assert_eq!(desk.load().unwrap(), desk.expected.state, "nothing was changed");
                assert!(run_until_it_fails(&mut desk, &disk, step).is_none());
            }
            desk.check();
            crate::files::sweep::sweep(desk.inner()).unwrap();
            let live = desk.state().segments.len() + 1;
            let there = crate::files::scan::list_segments(&desk.scope_path("")).unwrap();
            assert_eq!(there.len(), live, "what was dropped is deleted in the end");
        }
    }
}

#[test]
fn an_ordinary_message_is_one_write_and_one_sync_and_never_the_index() {
    let (dir, disk) = (folder(), Arc::new(Faulty::never()));
    let mut desk = Desk::closed(dir.path());
    desk.open(disk.clone()).unwrap();
    desk.say("one");
    for _ in 0..3 {
        let before = disk.steps();
        desk.say("more");
        assert_eq!(disk.steps() - before, 2);
    }
}

#[test]
fn a_disk_that_stays_full_says_what_to_do() {
    let dir = folder();
    let mut desk = Desk::new(dir.path());
    desk.say("one");
    desk.open(Arc::new(Faulty::new(0, Extent::Half, Then::Stop))).unwrap();
    for _ in 0..2 {
        let (error, _) = desk.try_run(&say("two")).unwrap_err();
        assert!(error.to_string().contains("free some space and try again"), "{error}");
    }
    desk.open(Arc::new(Machine)).unwrap();
    desk.say("two");
    desk.check();
    assert_eq!(desk.texts(1), ["one", "two"]);
}
