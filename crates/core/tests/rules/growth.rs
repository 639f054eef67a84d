//! State does not grow with what is said.

use super::world::{Folds, World};
use segue_core::decide::Command;
use segue_core::decision::Cause;
use segue_core::message::Message;
use segue_core::observed::Observed;
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
