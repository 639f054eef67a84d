//! undo takes the last boundary back, walks on to the sessions before, and redo comes back the same way.

use super::world::World;
use segue_core::decide::Command;
use segue_core::refusal::Refusal;
use segue_core::session::Number;
use segue_core::state::State;

/// Four topics in four sessions.
fn topics() -> World {
    let mut world = World::new();
    for n in 1..=4 {
        if n > 1 {
            world.new_session();
        }
        world.say(&format!("topic {n}"));
    }
    world
}

/// What every session shows, and which one is latest.
fn shown(world: &World) -> (Option<Number>, Vec<(u32, Vec<String>)>) {
    let all = world.state.all().map(|(number, _)| (number.0, world.texts(number.0)));
    (world.state.latest(), all.collect())
}

#[test]
fn x15_the_first_undo_joins_and_the_next_ones_only_go_back() {
    let mut world = topics();
    assert_eq!(world.undo(), Ok(Number(3)));
    assert_eq!(world.texts(3), ["topic 3", "topic 4"]);
    assert_eq!(world.undo(), Ok(Number(2)));
    assert_eq!(world.undo(), Ok(Number(1)));
    assert_eq!(world.undo(), Err(Refusal::NothingToUndo));
    assert_eq!(world.texts(1), ["topic 1"]);
    assert_eq!(world.texts(2), ["topic 2"]);
    assert_eq!(world.texts(3), ["topic 3", "topic 4"]);
}

#[test]
fn x15_redo_walks_forward_through_the_same_states() {
    let mut world = topics();
    let mut states = vec![shown(&world)];
    while world.undo().is_ok() {
        states.push(shown(&world));
    }
    assert_eq!(states.len(), 4);
    for before in states.iter().rev().skip(1) {
        world.redo().unwrap();
        assert_eq!(shown(&world), *before);
    }
    assert_eq!(world.redo(), Err(Refusal::NothingToRedo));
    // And back again.
    for after in &states[1..] {
        world.undo().unwrap();
        assert_eq!(shown(&world), *after);
    }
}

#[test]
fn x15_what_is_said_ends_the_walk() {
    let mut world = topics();
    world.undo().unwrap();
    world.undo().unwrap();
    world.say("more of topic 2");
    assert_eq!(world.redo(), Err(Refusal::NothingToRedo));
    assert_eq!(world.texts(2), ["topic 2", "more of topic 2"]);
    // The step was a resume: who takes it back takes along what was said since.
    assert_eq!(world.undo(), Ok(Number(3)));
    assert_eq!(world.texts(2), ["topic 2"]);
    assert_eq!(world.texts(3), ["topic 3", "topic 4", "more of topic 2"]);
}

#[test]
fn x15_redo_of_a_fork_a_split_and_a_resume() {
    type Step = fn(&mut World);
    let steps: [Step; 3] = [
        |world| _ = world.run(Command::Fork { session: Number(2), at: None }).unwrap(),
        |world| _ = world.run(Command::Resume { session: Number(1) }).unwrap(),
        |world| {
            let at = world.say("split off here");
            let segment = world.state.open.as_ref().unwrap().number;
            let cut = segue_core::span::Cut { message: at, segment, before: vec![(segment, 1)] };
            world.run(Command::Split { at: cut }).unwrap();
        },
    ];
    for step in steps {
        let mut world = topics();
        step(&mut world);
        world.say("since then");
        let before = shown(&world);
        world.undo().unwrap();
        assert!(world.unseen().is_empty());
        world.redo().unwrap();
        assert_eq!(shown(&world), before);
        world.say("and on");
    }
}

#[test]
fn x15_nothing_is_lost_by_walking() {
    let mut world = topics();
    let count = |state: &State| state.messages;
    for _ in 0..3 {
        for _ in 0..5 {
            _ = world.undo();
        }
        for _ in 0..5 {
            _ = world.redo();
        }
        assert_eq!((count(&world.state), world.unseen().len()), (4, 0));
    }
}

#[test]
fn the_last_exchange_moves_to_another_session() {
    let mut world = topics();
    let at = world.say("this is about topic 2");
    let segment = world.state.open.as_ref().unwrap().number;
    let cut = segue_core::span::Cut { message: at, segment, before: vec![(segment, 1)] };
    world.run(Command::Move { session: Number(2), at: cut }).unwrap();
    assert_eq!(world.state.latest(), Some(Number(2)));
    assert_eq!(world.texts(2), ["topic 2", "this is about topic 2"]);
    assert_eq!(world.texts(4), ["topic 4"]);
    world.undo().unwrap();
    assert_eq!(world.texts(4), ["topic 4", "this is about topic 2"]);
}
