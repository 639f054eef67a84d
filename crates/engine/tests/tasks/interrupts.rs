//! Interruptions: nothing is dropped, each message is given once (C-4).

use crate::world::on_each;
use segue_core::task::intent::MessageIntent;
use segue_core::task::state::StateName;
use segue_engine::Inbound;

#[test]
fn c4_messages_queue_in_order_and_each_is_given_once() {
    on_each(async |mut world| {
        let session = world.tasks().start_session("Add retry logic").await.unwrap();
        assert!(session.check_interrupts().await.unwrap().is_empty());
        assert!(session.is_quiet());
        for text in ["make it 5 retries", "and log them", "in debug mode"] {
            let inbound = Inbound::user(world.scope.clone(), world.engine.now(), text);
            world.engine.receive_stated(inbound, MessageIntent::Modification).await.unwrap();
        }
        assert!(!session.is_quiet());
        assert_eq!(world.state().await, StateName::Interrupted);
        drop(session);
        world.restart().await;
        let session = world.tasks().active_session().await.unwrap().unwrap();
        let said = session.check_interrupts().await.unwrap();
        let texts: Vec<_> = said.into_iter().filter_map(|said| said.text).collect();
        assert_eq!(texts, ["make it 5 retries", "and log them", "in debug mode"]);
        assert!(session.check_interrupts().await.unwrap().is_empty());
        assert_eq!(session.state().await.unwrap(), StateName::Running);
        world.verify().await;
    });
}

#[test]
fn c4_a_message_wakes_a_waiting_agent() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    runtime.block_on(async {
        let world = crate::world::worlds().await.remove(1);
        let session = world.tasks().start_session("Add retry logic").await.unwrap();
        let waiting = tokio::spawn(async move { session.wait_for_interrupts().await.unwrap() });
        tokio::task::yield_now().await;
        world.engine.interrupt(&world.scope, world.engine.now(), "wait, use jitter").await.unwrap();
        let said = tokio::time::timeout(std::time::Duration::from_secs(20), waiting).await.unwrap().unwrap();
        assert_eq!(said[0].text.as_deref(), Some("wait, use jitter"));
    });
}

/// Two agents check one queue: each message goes to one of them.
#[test]
fn c4_two_checks_at_once_share_nothing() {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    runtime.block_on(async {
        let world = crate::world::worlds().await.remove(0);
        let tasks = world.tasks();
        tasks.start_session("Add retry logic").await.unwrap();
        for round in 0..50 {
            let (a, b) = (tasks.active_session(), tasks.active_session());
            let (a, b) = (a.await.unwrap().unwrap(), b.await.unwrap().unwrap());
            let text = format!("round {round}");
            world.engine.interrupt(&world.scope, world.engine.now(), &text).await.unwrap();
            let (a, b) = tokio::join!(
                tokio::spawn(async move { a.check_interrupts().await.unwrap().len() }),
                tokio::spawn(async move { b.check_interrupts().await.unwrap().len() })
            );
            assert_eq!(a.unwrap() + b.unwrap(), 1);
        }
    });
}

/// a second delivery tells the state of then, whatever became of the task since.
#[test]
fn x7_a_second_delivery_tells_the_state_of_then() {
    on_each(async |world| {
        let session = world.tasks().start_session("Add retry logic").await.unwrap();
        let send = async || {
            let mut inbound = Inbound::user(world.scope.clone(), world.engine.now(), "make it 5 retries");
            inbound.message.message_id = Some(segue_core::message::MessageId("m1".to_owned()));
            world.engine.receive_stated(inbound, MessageIntent::Modification).await.unwrap()
        };
        let first = send().await;
        assert_eq!(first.state, StateName::Interrupted);
        session.check_interrupts().await.unwrap();
        assert_eq!(world.state().await, StateName::Running);
        let again = send().await;
        assert_eq!((again.state, again.notice), (first.state, first.notice));
    });
}

/// Two processes on one file: what one writes wakes the agent that waits in the other. Two engines with a connection each
/// stand for them.
#[test]
fn c4_a_message_of_another_process_wakes_a_waiting_agent() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let world = crate::world::worlds().await.remove(1);
        let session = world.tasks().start_session("Add retry logic").await.unwrap();
        assert!(session.check_interrupts().await.unwrap().is_empty());
        let other = world.another().await;
        let waiting = tokio::spawn(async move { session.wait_for_interrupts().await.unwrap() });
        tokio::task::yield_now().await;
        other.interrupt(&world.scope, other.now(), "wait, use jitter").await.unwrap();
        let said = tokio::time::timeout(std::time::Duration::from_secs(20), waiting).await.unwrap().unwrap();
        assert_eq!(said[0].text.as_deref(), Some("wait, use jitter"));
    });
}
