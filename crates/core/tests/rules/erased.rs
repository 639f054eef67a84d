//! What is erased folds to the same state, and takes along what was made of it.

use super::world::World;
use segue_core::decide::{Command, TaskVerb};
use segue_core::entry::{Body, Kind, Seq};
use segue_core::erasure::Place;
use segue_core::session::Number;
use segue_core::task::blob::Blob;
use segue_core::task::observation::{Note, NoteKind, Observation};
use segue_core::task::path::WorkPath;

fn erase(world: &mut World, entries: impl IntoIterator<Item = Seq>) {
    let command = Command::Erase { entries: entries.into_iter().collect(), along: Vec::new() };
    world.run(command).unwrap();
}

fn observe(world: &mut World, observations: Vec<Observation>) {
    world.task(TaskVerb::Observe { observations }).unwrap();
}

fn start(world: &mut World) {
    world.task(TaskVerb::Start { description: None, message: Some(Seq(2)), cut: None }).unwrap();
}

fn words(world: &World) -> Vec<Kind> {
    world.log.iter().filter(|record| Place::is_kept_in(record)).map(|record| record.kind).collect()
}

fn content(text: &str) -> Observation {
    let path = WorkPath::new("src/a.rs").unwrap();
    Observation::FileRead { path, content: Blob::of(text.as_bytes()) }
}

/// The fold is compared behind each step.
#[test]
fn observations_that_are_staged_can_be_erased() {
    let mut world = World::new();
    let message = world.say("please fix the parser");
    start(&mut world);
    observe(&mut world, vec![Observation::Note(Note::text(NoteKind::Note, "a note")), content("a file")]);
    let staged: Vec<Seq> =
        world.log.iter().filter(|r| r.kind == Kind::Observation).map(|record| record.seq).collect();
    assert_eq!(staged.len(), 2);
    erase(&mut world, staged.clone());
    // One more, a flush, and what is left of both.
    observe(&mut world, vec![content("another file")]);
    world.task(TaskVerb::Flush).unwrap();
    erase(&mut world, [message]);
    world.task(TaskVerb::Finish { summary: "done".into() }).unwrap();
    world.task(TaskVerb::Confirm).unwrap();
    assert_eq!(world.folded(), world.state);
}

/// A note with the words of a message, the step that it was flushed with, and what is kept of the task.
#[test]
fn what_a_task_made_of_a_message_goes_with_it() {
    let mut world = World::new();
    world.say("please fix the parser");
    start(&mut world);
    world.task(TaskVerb::Ask { question: "which one?".into() }).unwrap();
    let message = world.say("the SECRET one");
    let note = Note { text: "wants the SECRET one".into(), ..Note::of_message(NoteKind::Request, message) };
    observe(&mut world, vec![Observation::Note(note)]);
    world.task(TaskVerb::Finish { summary: "done".into() }).unwrap();
    world.task(TaskVerb::Confirm).unwrap();
    erase(&mut world, [message]);
    for record in &world.log {
        let text = format!("{:?}", record.body());
        assert!(!text.contains("SECRET"), "{text}");
    }
    assert!(words(&world).contains(&Kind::User), "what others said is still there");
}

/// The summary that went along with a session's end is in the next session, and stays there whatever becomes of the first.
#[test]
fn a_summary_goes_when_the_session_is_deleted_that_it_tells_of() {
    for undone in [false, true] {
        let mut world = World::new();
        world.say("the SECRET");
        world.overflow("go on");
        let carried = |world: &World| {
            world.log.iter().any(|record| {
                matches!(record.body(), Ok(Body::Message(_, message)) if message.carried_from.is_some())
            })
        };
        assert!(carried(&world));
        if undone {
            // The fork sees it; the boundary is taken back, and the first session erased.
            world.run(Command::Fork { session: Number(2), at: None }).unwrap();
            let first = world.log.iter().find(|record| record.kind == Kind::User).map(|record| record.seq);
            erase(&mut world, first);
        } else {
            world.run(Command::Delete { session: Number(1) }).unwrap();
        }
        assert!(!carried(&world));
    }
}

/// All that was made of a task goes with the message that described it: the agent's notes, files, output and summary.
#[test]
fn what_was_done_for_a_message_goes_with_it() {
    let mut world = World::new();
    let message = world.say("please look after SECRET");
    start(&mut world);
    let command = Observation::Command {
        command: "cat SECRET".into(),
        exit_code: Some(0),
        output: Blob::of(b"the SECRET output"),
    };
    let note = Observation::Note(Note::text(NoteKind::Note, "a SECRET note"));
    observe(&mut world, vec![note, content("a SECRET file"), command]);
    world.task(TaskVerb::Flush).unwrap();
    world.task(TaskVerb::Finish { summary: "SECRET is done".into() }).unwrap();
    world.task(TaskVerb::Confirm).unwrap();
    world.say("what else?");
    erase(&mut world, [message]);
    for record in &world.log {
        let text = format!("{:?}", record.body());
        assert!(!text.contains("SECRET"), "{text}");
    }
    assert!(words(&world).contains(&Kind::User), "what was said besides is still there");
}

/// A summary that the agent gave after an answer may tell that answer.
#[test]
fn a_summary_goes_with_an_answer_that_came_before_it() {
    let mut world = World::new();
    world.say("please fix the parser");
    start(&mut world);
    world.task(TaskVerb::Ask { question: "which one?".into() }).unwrap();
    let answer = world.say("the SECRET one");
    world.task(TaskVerb::Finish { summary: "fixed the SECRET one".into() }).unwrap();
    erase(&mut world, [answer]);
    assert!(world.log.iter().all(|record| !format!("{:?}", record.body()).contains("SECRET")));
}
