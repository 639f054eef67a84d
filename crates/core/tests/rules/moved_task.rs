//! C-7: a task that moved to a new session because the window was full keeps what it was made of.

use super::world::World;
use segue_core::decide::{Command, TaskVerb};
use segue_core::policy::Excess;
use segue_core::refusal::Refusal;
use segue_core::retention::RetireCheck;
use segue_core::session::Number;
use segue_core::task::identity::Description;
use segue_core::task::observation::{Note, NoteKind, Observation};

fn moved() -> World {
    let mut world = World::with_backlog(2, Excess::Delete);
    world.say("do it");
    let description = Some(Description::new("do it").unwrap());
    world.task(TaskVerb::Start { description, message: None, cut: None }).unwrap();
    let note = Observation::Note(Note::text(NoteKind::Note, "found the cause"));
    world.task(TaskVerb::Observe { observations: vec![note] }).unwrap();
    let decided = world.overflow("go on");
    assert_eq!(decided.session, Number(2));
    world
}

#[test]
fn c7_the_session_that_a_task_came_from_is_not_pruned_while_it_is_open() {
    let mut world = moved();
    // The message that came with the overflow flushed what was staged, so stage some more and move on.
    let note = Observation::Note(Note::text(NoteKind::Note, "and how to mend it"));
    world.task(TaskVerb::Incorporate { messages: None }).unwrap();
    world.task(TaskVerb::Observe { observations: vec![note] }).unwrap();
    world.overflow("and on");
    let staged = world.state.extras.tasks.get(&Number(3)).unwrap().staged();
    assert_eq!(world.listed(), [3, 2, 1]);
    let notice = RetireCheck::AsOf(world.state.head);
    world.run(Command::Retire { sessions: vec![Number(1), Number(2)], notice }).unwrap();
    assert_eq!(world.listed(), [3, 2, 1]);
    assert_eq!(world.state.extras.tasks.get(&Number(3)).unwrap().staged(), staged);
    let refused = world.run(Command::Delete { session: Number(1) }).unwrap_err();
    assert_eq!(refused, Refusal::HoldsWork { session: Number(1), at_work: Number(3) });
    // Once the task is over, they go like all others.
    world.task(TaskVerb::Abort { reason: "enough".to_owned() }).unwrap();
    world.new_session();
    assert_eq!(world.listed(), [4, 3]);
}
