//! The states, through the engine (C-1 to C-5).

use crate::world::{World, on_each};
use segue_core::decide::TaskVerb;
use segue_core::decision::Action;
use segue_core::entry::{Body, Seq};
use segue_core::task::state::StateName;
use segue_core::task::transition;

async fn to(world: &World, state: StateName) {
    if state == StateName::None {
        return;
    }
    let tasks = world.tasks();
    let session = tasks.start_session("Add retry logic").await.unwrap();
    session.observe_note("read the code").await.unwrap();
    match state {
        StateName::None | StateName::Running => {}
        StateName::AwaitingUser => session.ask("Which?").await.unwrap(),
        StateName::Interrupted => {
            drop(world.engine.interrupt(&world.scope, world.engine.now(), "5 tries").await.unwrap())
        }
        StateName::PendingComplete => session.finish("done").await.unwrap(),
        StateName::Complete => {
            session.finish("done").await.unwrap();
            world.act(TaskVerb::Confirm).await;
        }
        StateName::Aborted => session.abort("no").await.unwrap(),
    }
    assert_eq!(world.state().await, state);
}

fn verb(to: StateName, from: StateName) -> Option<TaskVerb> {
    let text = || "text".to_owned();
    Some(match to {
        StateName::None => return None,
        StateName::Running => match from {
            StateName::None => {
                let description = segue_core::task::identity::Description::new("text").ok();
                TaskVerb::Start { description, message: None, cut: None }
            }
            StateName::AwaitingUser => TaskVerb::Respond { message: None, text: text() },
            StateName::PendingComplete => TaskVerb::Request { text: text() },
            _ => TaskVerb::Incorporate { messages: None },
        },
        StateName::AwaitingUser => TaskVerb::Ask { question: text() },
        StateName::Interrupted => TaskVerb::Interrupt { message: Seq(1) },
        StateName::PendingComplete => TaskVerb::Finish { summary: text() },
        StateName::Complete => TaskVerb::Confirm,
        StateName::Aborted => TaskVerb::Abort { reason: text() },
    })
}

/// Every cell of the table, allowed and refused; a refusal names from, to and what is allowed, and writes nothing.
#[test]
fn c1_every_cell_through_the_engine() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for from in StateName::ALL {
        for goal in StateName::ALL {
            let Some(verb) = verb(*goal, *from) else { continue };
            runtime.block_on(async {
                for world in crate::world::worlds().await {
                    to(&world, *from).await;
                    let head = world.engine.state(&world.scope).await.map(|state| state.head).ok();
                    let outcome = world.act(verb.clone()).await;
                    // A second message queues behind the first: that is no transition.
                    let queues = *from == StateName::Interrupted && *goal == StateName::Interrupted;
                    if transition::find(*from, *goal).is_some() || queues {
                        assert_eq!(outcome.state, *goal, "{from} to {goal}");
                    } else {
                        assert_eq!(outcome.action, Action::Refused, "{from} to {goal}");
                        assert_eq!(world.state().await, *from);
                        let after = world.engine.state(&world.scope).await.map(|state| state.head).ok();
                        assert_eq!(after, head, "a refusal writes nothing");
                        if *from != StateName::None {
                            let why = outcome.reply.unwrap();
                            assert!(why.contains(from.name()) && why.contains(goal.name()), "{why}");
                            for allowed in transition::allowed(*from) {
                                assert!(why.contains(allowed.name()), "{why}");
                            }
                        }
                    }
                    if *from != StateName::None {
                        world.verify().await;
                    }
                }
            });
        }
    }
}

#[test]
fn c2_the_question_and_its_time_survive_a_restart() {
    on_each(async |mut world| {
        let session = world.tasks().start_session("Add retry logic").await.unwrap();
        session.observe_plan("read, then ask").await.unwrap();
        session.ask("Fixed or exponential?").await.unwrap();
        let before = session.full_state().await.unwrap();
        drop(session);
        world.restart().await;
        let again = world.tasks().active_session().await.unwrap().unwrap();
        assert_eq!(again.full_state().await.unwrap(), before);
        // The plan is in a work commit, the question in the staging area.
        assert_eq!(again.progress().await.unwrap().steps, 1);
        world.verify().await;
    });
}

#[test]
fn c3_an_answer_is_noted_with_a_relation_to_the_task() {
    on_each(async |world| {
        let session = world.tasks().start_session("Add retry logic to the connect function").await.unwrap();
        session.ask("Fixed delay, exponential backoff, or backoff with jitter?").await.unwrap();
        let outcome = world.say("Option C, and make max retries configurable").await;
        assert_eq!((outcome.action, outcome.state), (Action::Continue, StateName::Running));
        let log = world.engine.store().tail(&world.scope, Seq::ZERO, 1000).await.unwrap();
        let relations: Vec<String> = log
            .iter()
            .filter_map(|record| match record.body().unwrap() {
                Body::Observation(observing) => Some(observing.observation),
                _ => None,
            })
            .filter(|observation| observation.name() == "relations")
            .map(|observation| serde_json::to_string(&observation).unwrap())
            .collect();
        assert_eq!(relations.len(), 1);
        assert!(relations[0].contains(&format!("task:{}", session.task())), "{relations:?}");
        // What the person said stands in the message only.
        let copies = log.iter().filter(|record| format!("{record:?}").contains("configurable")).count();
        assert_eq!(copies, 1);
        world.verify().await;
    });
}

#[test]
fn c5_completion_and_more_work() {
    on_each(async |mut world| {
        let session = world.tasks().start_session("Add retry logic to the connect function").await.unwrap();
        session.observe_file_write("src/net.rs", b"fn connect() {}").await.unwrap();
        session.finish("Added retries with exponential backoff and jitter; tests pass").await.unwrap();
        let more = world.say("Looks good but also add logging for retry attempts").await;
        assert_eq!(more.state, StateName::Running);
        session.finish("Added logging too").await.unwrap();
        let done = world.say("Perfect, thanks!").await;
        assert_eq!((done.action, done.state), (Action::Continue, StateName::Complete));
        drop(session);
        world.restart().await;
        let kept = world.engine.kept(&world.scope).await.unwrap();
        assert_eq!(kept.len(), 1);
        assert_eq!(kept[0].commit.summary, "Added logging too");
        assert!(kept[0].commit.is_intact() && kept[0].commit.files.len() == 1);
        world.verify().await;
    });
}

#[test]
fn c10_a_new_task_keeps_what_was_done_and_only_that() {
    on_each(async |world| {
        let tasks = world.tasks();
        let first = tasks.start_session("Add retry logic").await.unwrap();
        let second = tasks.start_session("Add pooling").await.unwrap();
        assert_eq!(first.number(), second.number(), "nothing was done: it just starts");
        assert!(world.engine.kept(&world.scope).await.unwrap().is_empty());
        second.observe_note("looked at the pool").await.unwrap();
        let third = tasks.start_session("Write docs").await.unwrap();
        assert_ne!(second.number(), third.number());
        let kept = world.engine.kept(&world.scope).await.unwrap();
        assert_eq!(kept[0].commit.summary, "Interrupted by new task");
        assert_eq!(kept[0].description.as_deref(), Some("Add pooling"));
        world.verify().await;
    });
}

/// Sessions that never open a task are not bothered.
#[test]
fn c9_a_conversation_without_tasks_reads_no_intent() {
    on_each(async |world| {
        world.say("Never mind, stop that and do something else").await;
        let outcome = world.say("looks good, thanks").await;
        assert_eq!(outcome.state, StateName::None);
        assert_eq!(outcome.observed.unwrap().task, None);
    });
}
