//! Coming back to a task (C-11 to C-13).

use crate::world::{World, on_each};
use jiff::SignedDuration;
use segue_core::decision::Action;
use segue_core::message::{Message, Role, ToolCall};
use segue_core::session::Number;
use segue_core::task::canonical::CommitKind;
use segue_core::task::state::StateName;
use segue_engine::{Inbound, Target};

const HOUR: i64 = 60;

async fn task(world: &World) -> segue_engine::tasks::TaskSession {
    world.say("Add retry logic to the connect function").await;
    let session = world.tasks().start_session("Add retry logic to the connect function").await.unwrap();
    session.observe_note("read src/net.rs").await.unwrap();
    session
}

fn minutes(minutes: i64) -> SignedDuration {
    SignedDuration::from_mins(minutes)
}

/// Both sides of each limit, after a restart: idle time is in the log and not in the process (C-13).
#[test]
fn c11_c13_a_day_asks_and_a_week_expires() {
    for (gap, expected) in [
        (23 * HOUR, Action::Resume),
        (24 * HOUR - 1, Action::Resume),
        (24 * HOUR + 1, Action::Ask),
        (7 * 24 * HOUR - 1, Action::Ask),
        (7 * 24 * HOUR + 1, Action::Command),
    ] {
        on_each(async |mut world| {
            task(&world).await;
            world.pass(minutes(gap));
            world.restart().await;
            let outcome = world.tasks().resume().await.unwrap();
            assert_eq!(outcome.action, expected, "{gap} minutes");
            let notice = outcome.notice.unwrap();
            match expected {
                Action::Ask => {
                    assert!(notice.starts_with(
                        "You have an unfinished task from 2026-03-01 10:00: \
                         'Add retry logic to the connect function'\nWould you like to continue or start fresh?"
                    ), "{notice}");
                    assert_eq!(outcome.state, StateName::Running);
                }
                Action::Command => {
                    assert!(notice.starts_with("Session expired"), "{notice}");
                    assert_eq!(outcome.state, StateName::Aborted);
                    let kept = world.engine.kept(&world.scope).await.unwrap();
                    assert_eq!(
                        (kept[0].commit.kind, &*kept[0].commit.summary),
                        (CommitKind::Stale, "Session expired")
                    );
                }
                _ => assert!(notice.starts_with("The task was interrupted. Progress so far:"), "{notice}"),
            }
            world.verify().await;
        });
    }
}

#[test]
fn c11_a_message_after_a_day_is_held_and_the_answer_settles_it() {
    on_each(async |world| {
        task(&world).await;
        world.pass(minutes(30 * HOUR));
        let asked = world.say("use five tries and not three").await;
        assert_eq!((asked.action, asked.state), (Action::Ask, StateName::Running));
        assert!(asked.notice.unwrap().contains("'Add retry logic to the connect function'"));
        let on = world.say("continue").await;
        assert_eq!(on.state, StateName::Interrupted, "what was held is the agent's to take in");
        assert!(world.engine.kept(&world.scope).await.unwrap().is_empty());
        world.verify().await;
    });
    on_each(async |world| {
        task(&world).await;
        world.pass(minutes(30 * HOUR));
        world.say("what is the weather like in Lisbon in April?").await;
        let fresh = world.say("start fresh").await;
        assert_eq!((fresh.action, fresh.state), (Action::New, StateName::None));
        let kept = world.engine.kept(&world.scope).await.unwrap();
        assert_eq!(kept[0].commit.kind, CommitKind::UserChoseFresh);
        assert_eq!(kept[0].commit.summary, "User chose not to continue");
        world.verify().await;
    });
}

#[test]
fn c11_a_message_after_a_week_begins_a_session_and_keeps_the_task() {
    on_each(async |world| {
        let session = task(&world).await;
        session.ask("Fixed or exponential?").await.unwrap();
        world.pass(minutes(8 * 24 * HOUR));
        let outcome = world.say("hello again").await;
        assert_eq!((outcome.action, outcome.state), (Action::New, StateName::None));
        assert!(outcome.notice.unwrap().contains("Session expired"));
        let kept = world.engine.kept(&world.scope).await.unwrap();
        assert_eq!(kept[0].commit.open_questions[0].text, "Fixed or exponential?");
        world.verify().await;
    });
}

/// A night is no boundary: the answer to a question is one, also the next day.
#[test]
fn c11_an_answer_is_an_answer_over_night() {
    on_each(async |world| {
        let session = task(&world).await;
        session.ask("Fixed delay, or exponential backoff?").await.unwrap();
        world.pass(minutes(20 * HOUR));
        let outcome = world.say("Exponential backoff").await;
        assert_eq!((outcome.action, outcome.state), (Action::Continue, StateName::Running));
    });
}

#[test]
fn c12_each_state_is_shown_again() {
    on_each(async |mut world| {
        let session = task(&world).await;
        session.ask("Fixed or exponential?").await.unwrap();
        drop(session);
        world.restart().await;
        let notice = world.tasks().resume().await.unwrap().notice.unwrap();
        assert_eq!(notice, "Continuing from where we left off. I had asked:\n\nFixed or exponential?");
        world.say("exponential").await;
        let session = world.tasks().active_session().await.unwrap().unwrap();
        world.engine.interrupt(&world.scope, world.engine.now(), "five tries").await.unwrap();
        let notice = world.tasks().resume().await.unwrap().notice.unwrap();
        assert!(notice.contains("While I was working you said:\n\n- five tries"), "{notice}");
        session.look_for_interrupts().await.unwrap();
        session.finish("All green.").await.unwrap();
        let notice = world.tasks().resume().await.unwrap().notice.unwrap();
        assert_eq!(notice, "I had finished the task:\n\nAll green.\n\nDoes this look good?");
        world.verify().await;
    });
}

/// C-14, 001 turn 5: what follows a task that is complete begins a session with the old one as its parent, unless it is a
/// courtesy or refers back.
#[test]
fn c14_what_follows_a_task_that_is_complete() {
    for (text, expected) in [
        ("thanks!", Number(1)),
        ("why did you put the retry logic into connect?", Number(1)),
        ("it still fails with a timeout", Number(1)),
        ("Now let's add connection pooling", Number(2)),
        ("给日志加上时间戳", Number(2)),
    ] {
        on_each(async |world| {
            let session = task(&world).await;
            session.finish("All green.").await.unwrap();
            let done = world.say("looks good").await;
            assert_eq!(done.state, StateName::Complete);
            let next = world.say(text).await;
            assert_eq!(next.session, expected, "{text}: {next:?}");
            if next.session != done.session {
                let state = world.engine.state(&world.scope).await.unwrap();
                let begun = state.sessions.get(&next.session).unwrap();
                assert_eq!(begun.parent, Some(done.session));
            }
            world.verify().await;
        });
    }
}

/// A turn that a crash cut off: calls that never got a result are closed, and marked.
#[test]
fn c12_a_cut_off_turn_is_closed_with_marked_results() {
    on_each(async |mut world| {
        task(&world).await;
        let call = |id: &str| ToolCall { id: id.into(), name: "edit".into(), arguments: "{}".into() };
        let message = Message { tool_calls: vec![call("c1"), call("c2")], ..Message::text("") };
        let to = || Target::Scope(world.scope.clone());
        let at = world.engine.now();
        let inbound = Inbound { at, to: to(), role: Role::Assistant, message, session: None };
        world.engine.receive(inbound).await.unwrap();
        let message = Message { tool_call_id: Some("c1".into()), ..Message::text("ok") };
        let inbound = Inbound { at, to: to(), role: Role::Tool, message, session: None };
        world.engine.receive(inbound).await.unwrap();
        world.restart().await;
        world.tasks().resume().await.unwrap();
        let state = world.engine.state(&world.scope).await.unwrap();
        assert!(world.engine.open_calls(&state).await.unwrap().is_empty());
        let told = world.engine.messages(&state, state.latest().unwrap(), 1).await.unwrap();
        assert_eq!(told[0].message.as_ref().unwrap().tool_call_id.as_deref(), Some("c2"));
        assert!(told[0].text.contains("cut off"));
        world.tasks().resume().await.unwrap();
        let again = world.engine.state(&world.scope).await.unwrap();
        assert_eq!(again.messages, state.messages, "a second return closes nothing twice");
    });
}
