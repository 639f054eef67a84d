//! Undo never leaves a message that no session sees.

use super::world::World;
use segue_core::decide::Command;
use segue_core::session::Number;

#[test]
fn fork_an_older_session_delete_the_original_and_undo() {
    let mut world = World::new();
    world.say("the original");
    world.new_session();
    world.say("another topic");
    world.run(Command::Fork { session: Number(1), at: None }).unwrap();
    world.say("in the fork");
    world.run(Command::Delete { session: Number(1) }).unwrap();
    world.undo().unwrap();
    assert_eq!(world.unseen(), []);
    // What was said since is where it would have been said; the original lives on as what the fork began with.
    assert_eq!(world.texts(2), ["another topic", "in the fork"]);
    assert_eq!(world.texts(3), ["the original"]);
    assert_eq!(world.listed(), [3, 2]);
}
