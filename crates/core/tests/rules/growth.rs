//! State does not grow with what is said.

use super::world::{Folds, World};
use segue_core::decide::Command;
use segue_core::decision::Cause;
use segue_core::message::Message;
use segue_core::observed::Observed;
use segue_core::session::Number;
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
    const TOUCHED_MAX: usize = 1_024;
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
