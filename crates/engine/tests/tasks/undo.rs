//! Undo and tasks: afterwards the scope reads as if the boundary had never happened.

use crate::world::on_each;
use jiff::SignedDuration;
use segue_core::session::Number;
use segue_core::task::canonical::CommitKind;
use segue_core::task::state::{StateName, TaskState};
use segue_engine::Request;

/// A boundary that ended a task is taken back: the task stands where it stood, with its question, its queue and what
/// was staged, and what was done in the one that began since is kept.
#[test]
fn c8_undo_opens_the_task_that_the_boundary_ended() {
    on_each(async |mut world| {
        let session = world.tasks().start_session("Add retry logic").await.unwrap();
        session.observe_decision("jitter it is").await.unwrap();
        session.ask("How many tries?").await.unwrap();
        let before =
            world.engine.state(&world.scope).await.unwrap().extras.tasks.get(&Number(1)).unwrap().clone();
        let second = world.tasks().start_session("Add a pool").await.unwrap();
        second.observe_note("a pool of ten").await.unwrap();
        assert_eq!((second.number(), world.state().await), (Number(2), StateName::Running));
        drop((session, second));
        world.restart().await;
        let undone = world.say("/undo").await;
        assert_eq!((undone.session, undone.state), (Number(1), StateName::AwaitingUser));
        let after =
            world.engine.state(&world.scope).await.unwrap().extras.tasks.get(&Number(1)).unwrap().clone();
        assert_eq!((after.id, &after.stage, after.head), (before.id, &before.stage, before.head));
        assert_eq!((after.staged, after.canonical), (before.staged, None));
        let session = world.tasks().active_session().await.unwrap().unwrap();
        let TaskState::AwaitingUser { question, .. } = session.full_state().await.unwrap() else { panic!() };
        assert_eq!(question, "How many tries?");
        // It goes on and ends as any other; what was kept of it first stays in the log.
        session.set_state(TaskState::Running).await.unwrap();
        session.finish("three tries").await.unwrap();
        session.set_state(TaskState::Complete).await.unwrap();
        let kept = world.engine.kept(&world.scope).await.unwrap();
        let kinds: Vec<_> = kept.iter().map(|kept| kept.commit.kind).collect();
        assert_eq!(kinds, [CommitKind::InterruptedByNewTask, CommitKind::Abandoned, CommitKind::Normal]);
        let last = world.engine.kept_of(&world.scope, session.task()).await.unwrap().unwrap();
        assert_eq!((last.commit.summary.as_str(), last.commit.decisions.len()), ("three tries", 2));
        world.verify().await;
    });
}

/// A task that ended by itself stays ended, whatever boundary comes right behind it.
#[test]
fn c8_undo_opens_no_task_that_ended_by_itself() {
    on_each(async |world| {
        let session = world.tasks().start_session("Add retry logic").await.unwrap();
        session.observe_note("begun").await.unwrap();
        session.abort("no time").await.unwrap();
        world.engine.request(&world.scope, world.engine.now(), &Request::New(None)).await.unwrap();
        world.engine.request(&world.scope, world.engine.now(), &Request::Undo).await.unwrap();
        assert_eq!(world.state().await, StateName::Aborted);
        world.verify().await;
    });
}

/// A week's silence ended the task, and "undo" brings it back.
#[test]
fn c11_undo_brings_back_what_expired() {
    on_each(async |world| {
        let session = world.tasks().start_session("Add retry logic").await.unwrap();
        session.observe_note("begun").await.unwrap();
        session.finish("done, I think").await.unwrap();
        world.pass(SignedDuration::from_hours(24 * 8));
        let said = world.say("What is a good recipe for lentil soup?").await;
        assert_eq!((said.session, said.state), (Number(2), StateName::None));
        assert_eq!(world.say("/undo").await.state, StateName::PendingComplete);
        assert_eq!(world.say("looks good, thanks!").await.state, StateName::Complete);
        world.verify().await;
    });
}

/// A boundary that is taken back takes no task with it.
#[test]
fn c8_undo_brings_the_task_along() {
    on_each(async |world| {
        world.say("hello").await;
        world.say("/new").await;
        let session = world.tasks().start_session("Add retry logic").await.unwrap();
        session.observe_note("begun").await.unwrap();
        world.say("/undo").await;
        let again = world.tasks().active_session().await.unwrap().unwrap();
        assert_eq!((again.task(), again.number()), (session.task(), Number(1)));
        // Two open tasks cannot become one.
        world.say("/new").await;
        world.tasks().start_session("Another one").await.unwrap();
        let refused = world.say("/undo").await;
        assert!(refused.reply.unwrap().contains("both have an open task"));
        world.verify().await;
    });
}
