//! P-8: what exceeds the backlog is archived, and nothing is lost.

use super::world::World;
use proptest::collection::vec;
use proptest::prelude::*;
use segue_core::decide::{Command, TaskVerb, prunable};
use segue_core::effect::Effect;
use segue_core::message::{Message, Role};
use segue_core::notice::{LeftSession, Notice};
use segue_core::policy::Excess;
use segue_core::retention::{KeepChoice, RetireCheck};
use segue_core::session::{Number, Status};
use segue_core::task::identity::Description;
use segue_core::task::observation::{Note, NoteKind, Observation};

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

/// The sessions of a scope as 004 describes them.
#[derive(Default)]
struct Of004 {
    /// Newest first; a resume does not reorder.
    ordered: Vec<u32>,
    active: u32,
    given: u32,
}

impl Of004 {
    fn start_new(&mut self, limit: usize) {
        self.given += 1;
        self.active = self.given;
        self.ordered.insert(0, self.given);
        while self.ordered.len() > limit {
            let oldest = self.ordered.iter().rposition(|session| *session != self.active).unwrap();
            self.ordered.remove(oldest);
        }
    }
}

/// What a person of 004 can do.
#[derive(Debug, Clone)]
enum Typed {
    New,
    Resume(u8),
    Delete(u8),
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    /// P-8: with `delete`, the oldest go, and nothing but the active session is spared: also not the one just left.
    #[test]
    fn p8_delete_is_004_to_the_letter(
        limit in 1u32..5,
        typed in vec(
            prop_oneof![
                3 => Just(Typed::New),
                2 => any::<u8>().prop_map(Typed::Resume),
                1 => any::<u8>().prop_map(Typed::Delete),
            ],
            1..40,
        ),
    ) {
        let (mut world, mut model) = (World::with_backlog(limit, Excess::Delete), Of004::default());
        world.say("said in 1");
        model.start_new(limit as usize);
        for typed in typed {
            let any = |by: u8| model.ordered[by as usize % model.ordered.len()];
            match typed {
                Typed::New => {
                    let number = world.new_session();
                    world.say(&format!("said in {number}"));
                    model.start_new(limit as usize);
                }
                Typed::Resume(by) => {
                    let session = any(by);
                    let done = world.run(Command::Resume { session: Number(session) });
                    prop_assert_eq!(done.is_ok(), session != model.active);
                    model.active = session;
                }
                Typed::Delete(by) => {
                    let session = any(by);
                    let done = world.run(Command::Delete { session: Number(session) });
                    prop_assert_eq!(done.is_ok(), session != model.active);
                    model.ordered.retain(|other| *other != session || session == model.active);
                }
            }
            prop_assert_eq!(world.listed(), model.ordered.clone());
            prop_assert_eq!(world.state.latest(), Some(Number(model.active)));
            for session in 1..=model.given {
                let said = format!("said in {}", Number(session));
                prop_assert_eq!(world.texts(session).contains(&said), model.ordered.contains(&session));
            }
        }
    }
}

/// C-7: 004 knows no tasks. What was observed for an open one is not lost: its session goes once the task is over.
#[test]
fn c7_delete_spares_the_work_of_an_open_task() {
    let mut world = with_sessions(2, Excess::Delete, 1);
    let task = Some(Description::new("do it").unwrap());
    world.task(TaskVerb::Start { description: task, message: None, cut: None }).unwrap();
    let read = Note::text(NoteKind::Note, "found the cause");
    world.task(TaskVerb::Observe { observations: vec![Observation::Note(read)] }).unwrap();
    for _ in 0..3 {
        world.new_session();
    }
    assert_eq!(world.listed(), [4, 1]);
    world.run(Command::Resume { session: Number(1) }).unwrap();
    world.task(TaskVerb::Abort { reason: "enough".to_owned() }).unwrap();
    world.new_session();
    assert_eq!(world.listed(), [5, 4]);
    // A task for which nothing was done yet holds nothing that could be lost.
    let task = Some(Description::new("do that").unwrap());
    world.task(TaskVerb::Start { description: task, message: None, cut: None }).unwrap();
    world.new_session();
    world.new_session();
    assert_eq!(world.listed(), [7, 6]);
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
        let notice = Some(&Notice::Undone {
            session: Number(3),
            from: Some(Number(4)),
            left: LeftSession::HeldMessages,
            lost,
        });
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
