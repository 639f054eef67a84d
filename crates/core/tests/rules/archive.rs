//! P-8: what exceeds the backlog is archived, and nothing is lost.

use super::world::World;
use segue_core::decide::{Command, prunable};
use segue_core::effect::Effect;
use segue_core::message::{Message, Role};
use segue_core::notice::Notice;
use segue_core::policy::Excess;
use segue_core::retention::{KeepChoice, RetireCheck};
use segue_core::session::{Number, Status};

fn with_sessions(limit: u32, excess: Excess, count: u32) -> World {
    let mut world = World::with_backlog(limit, excess);
    for n in 1..=count {
        if n > 1 {
            world.new_session();
        }
        world.say(&format!("said in {n}"));
    }
    world
}

#[test]
fn p8_the_oldest_are_archived_and_keep_what_they_say() {
    let mut world = with_sessions(3, Excess::Archive, 5);
    assert_eq!(world.listed(), [5, 4, 3]);
    assert_eq!(world.state.all().count(), 5);
    assert_eq!(world.texts(1), ["said in 1"]);
    // A resume lists it again, and so does a restore.
    world.run(Command::Resume { session: Number(1) }).unwrap();
    assert_eq!(world.listed(), [5, 4, 3, 1]);
    world.run(Command::Restore { session: Number(2) }).unwrap();
    assert_eq!(world.listed(), [5, 4, 3, 2, 1]);
    // The next boundary keeps the list short again; the active one and the one that was just left are listed.
    world.new_session();
    assert_eq!(world.listed(), [6, 5, 1]);
}

#[test]
fn p8_keep_always_wins() {
    for excess in [Excess::Archive, Excess::Delete] {
        let mut world = with_sessions(3, excess, 2);
        world.run(Command::KeepChoice { session: Number(1), wish: KeepChoice::Keep }).unwrap();
        for _ in 0..5 {
            world.new_session();
        }
        assert!(world.listed().contains(&1), "{excess:?}");
        assert_eq!(world.listed().len(), 3, "{excess:?}");
        assert!(!prunable(&world.state, 1).contains(&Number(1)));
    }
}

#[test]
fn p8_delete_is_004_to_the_letter() {
    let world = with_sessions(3, Excess::Delete, 5);
    assert_eq!(world.listed(), [5, 4, 3]);
    assert_eq!(world.state.sessions.len(), 3);
    assert!(world.texts(1).is_empty());
}

#[test]
fn p8_an_import_pushes_nothing_out() {
    for excess in [Excess::Archive, Excess::Delete] {
        let mut world = with_sessions(3, excess, 2);
        for n in 0..10 {
            world.run(Command::OpenImported).unwrap();
            world.say(&format!("imported {n}"));
        }
        world.new_session();
        assert!([1, 2].iter().all(|own| world.listed().contains(own)), "{excess:?} {:?}", world.listed());
        assert_eq!(world.state.all().count(), 13);
        if excess == Excess::Archive {
            assert_eq!(world.listed(), [13, 2, 1]);
        }
    }
}

#[test]
fn p8_undo_of_a_boundary_lists_again_what_it_archived() {
    let mut world = with_sessions(3, Excess::Archive, 3);
    world.new_session();
    assert_eq!(world.listed(), [4, 3, 2]);
    world.undo().unwrap();
    assert_eq!(world.listed(), [3, 2, 1]);
    world.redo().unwrap();
    assert_eq!(world.listed(), [4, 3, 2]);
    assert_eq!(world.state.sessions.get(&Number(1)).unwrap().status, Status::Archived);
}

#[test]
fn p8_a_clean_up_on_request_reaches_archived_sessions() {
    let mut world = with_sessions(3, Excess::Archive, 6);
    let sessions = prunable(&world.state, 2);
    assert_eq!(sessions, [1, 2, 3, 4].map(Number));
    let notice = RetireCheck::AsOf(world.state.head);
    world.run(Command::Retire { sessions, notice }).unwrap();
    assert_eq!(world.state.all().map(|(number, _)| number.0).collect::<Vec<_>>(), [6, 5]);
}

/// Issue 16: who takes back a boundary that deleted sessions is told that those do not come back.
#[test]
fn p8_undo_says_how_many_deleted_sessions_are_gone() {
    for (excess, lost) in [(Excess::Delete, 1), (Excess::Archive, 0)] {
        let mut world = with_sessions(3, excess, 4);
        let undone = world.run(Command::Undo).unwrap();
        let notice = Some(&Notice::Undone { session: Number(3), from: Some(Number(4)), lost });
        assert_eq!(undone.notice(), notice, "{excess:?}");
    }
}

/// Issue 16: what is written to between the look and the clean-up stays, and what goes leaves nothing behind.
#[test]
fn p8_a_clean_up_drops_what_was_seen_and_not_what_was_used_since() {
    let mut world = with_sessions(9, Excess::Archive, 4);
    let seen = world.state.head;
    let reply = Message::text("a late reply");
    world.run(Command::Reply { role: Role::Assistant, message: reply, session: Number(2) }).unwrap();
    let (sessions, notice) = ([1, 2, 3].map(Number).to_vec(), RetireCheck::AsOf(seen));
    let decided = world.run(Command::Retire { sessions, notice }).unwrap();
    assert_eq!(world.state.all().map(|(number, _)| number.0).collect::<Vec<_>>(), [4, 2]);
    assert!(decided.effects.contains(&Effect::Purge));
}
