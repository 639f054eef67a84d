//! State does not grow with what is said.

use super::world::{Folds, World};
use segue_core::decide::Command;
use segue_core::decision::Cause;
use segue_core::entry::{Bytes, Named, Record};
use segue_core::memory::{Extracted, Remembered};
use segue_core::message::Message;
use segue_core::observed::Observed;
use segue_core::session::{Number, Title};
use std::sync::Arc;

/// A message after a rotation leaves the extras as they are: they are cloned and written whole when they change.
#[test]
fn a_thousand_messages_after_a_rotation_change_no_extras() {
    let mut world = World::new();
    world.folds = Folds::Never;
    world.say("one topic");
    let observed = Box::new(Observed { start_over: Some("start over".to_owned()), ..Observed::default() });
    let message = Message::text("start over");
    world.run(Command::UserMessage { message, observed, summary: None }).unwrap();
    assert_eq!(world.state.extras.rotation.as_ref().map(|rotation| rotation.cause), Some(Cause::Intent));
    for n in 0..10 {
        world.say(&format!("message {n}"));
    }
    let extras = Arc::clone(&world.state.extras);
    let bytes = serde_json::to_string(&*extras).unwrap().len();
    for n in 0..1_000 {
        world.say(&format!("message {n}"));
        assert!(Arc::ptr_eq(&extras, &world.state.extras), "message {n} changed the extras");
    }
    assert_eq!(serde_json::to_string(&*world.state.extras).unwrap().len(), bytes);
    assert_eq!(world.folded(), world.state);
}

/// Issue 16, row 18: a boundary touches a few sessions and segments, however many there are; the rest is shared with the
/// state before, and is neither copied nor written.
#[test]
fn a_boundary_in_a_large_scope_copies_little() {
    const TOUCHED_MAX: usize = 128;
    let mut world = World::new();
    world.folds = Folds::Never;
    for n in 0..5_000 {
        world.say(&format!("message {n}"));
        world.new_session();
        // What was said is not needed, and a long log is slow to go through.
        world.log.clear();
    }
    let boundaries = [
        Command::New { first: None },
        Command::Fork { session: Number(1), at: None },
        Command::Undo,
        Command::Redo,
    ];
    for command in boundaries {
        let before = world.state.clone();
        world.run(command).unwrap();
        let after = &world.state;
        let sessions = after.sessions.unshared(&before.sessions).count();
        let segments = after.segments.unshared(&before.segments).count();
        assert!(
            sessions <= TOUCHED_MAX && segments <= TOUCHED_MAX,
            "{sessions} sessions, {segments} segments"
        );
        assert!(after.listed() <= 21 && after.list().count() == after.listed());
        assert_eq!(after.archived(), after.all().count() - after.listed());
    }
}

/// Issue 16, row 18: a fork of a fork of a fork refers to the spans of its parent, in its entry and in the state.
#[test]
fn a_chain_of_forks_stays_small() {
    const BODY_BYTES_MAX: usize = 400;
    let mut world = World::new();
    world.folds = Folds::Never;
    world.say("how it began");
    for n in 0..3_000 {
        let parent = world.state.latest().unwrap();
        let before = world.log.len();
        world.run(Command::Fork { session: parent, at: None }).unwrap();
        let bytes = |record: &Record| match &record.bytes {
            Bytes::Kept(text) => text.len(),
            Bytes::Erased(_) => 0,
        };
        let largest = world.log[before..].iter().map(bytes).max().unwrap();
        assert!(largest <= BODY_BYTES_MAX, "fork {n} wrote {largest} bytes");
        let pages = |number| world.state.sessions.get(&number).unwrap().spans.pages().cloned();
        let (old, new) = (pages(parent), pages(world.state.latest().unwrap()));
        // The fork may have filled a page; all others are its parent's.
        let shares = match (&old, &new) {
            (Some(old), Some(new)) => {
                Arc::ptr_eq(old, new) || new.before().is_some_and(|page| Arc::ptr_eq(page, old))
            }
            (None, _) => true,
            (Some(_), None) => false,
        };
        assert!(shares, "fork {n} copies the spans of its parent");
        world.say(&format!("message {n}"));
    }
    let latest = world.state.latest().unwrap();
    assert_eq!(world.state.messages_of(latest), 3_001);
    assert_eq!(world.folded(), world.state);
}

/// Issue 16, row 18: what upkeep makes of sessions stands with them, so the extras of a scope, which are written whole with
/// every boundary, stay as small as they were.
#[test]
fn upkeep_of_many_sessions_leaves_the_extras_small() {
    const EXTRAS_BYTES_MAX: usize = 500;
    let mut world = World::new();
    world.folds = Folds::Never;
    for n in 0..500u32 {
        let source = world.say(&format!("message {n}"));
        let session = world.state.latest().unwrap();
        world.new_session();
        let upto = segue_core::memory::end(&world.state, session).unwrap();
        let (kind, text) = (segue_core::memory::Kind::Fact, format!("fact {n}"));
        let found = vec![Remembered { session, kind, text, source }];
        let before = world.state.clone();
        world.run(Command::Remember(Extracted { session, upto, found })).unwrap();
        let title = Title::new("a title").unwrap();
        world.run(Command::Name(Named { session, title, model: "small".into(), messages: 1 })).unwrap();
        assert!(Arc::ptr_eq(&before.extras, &world.state.extras), "session {n} changed the extras");
    }
    world.undo().unwrap();
    let bytes = serde_json::to_string(&*world.state.extras).unwrap().len();
    assert!(bytes <= EXTRAS_BYTES_MAX, "the extras have {bytes} bytes");
    assert_eq!(segue_core::memory::kept(&world.state).count(), 500);
    assert_eq!(segue_core::memory::queue(&world.state).count(), 0);
    // What is remembered outlives its session, unless that is deleted on request.
    world.run(Command::Prune { keep: segue_core::policy::Backlog::new(400).unwrap() }).unwrap();
    assert_eq!(segue_core::memory::kept(&world.state).count(), 500);
    world.run(Command::Delete { session: Number(400) }).unwrap();
    assert_eq!(segue_core::memory::kept(&world.state).count(), 499);
    assert_eq!(world.folded(), world.state);
}
