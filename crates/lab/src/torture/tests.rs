//! The checker catches a store that cheats, and leaves an honest one alone.

use super::check::check;
use super::clients::{Target, talk};
use super::history::{Action, Answer, ClientOutcome, History, Operation};
use jiff::tz::TimeZone;
use segue_core::entry::Seq;
use segue_core::message::{MessageId, Role};
use segue_core::{decision, scope, session};
use segue_engine::config::{Config, Layer};
use segue_engine::tasks::op::Op;
use segue_engine::{Engine, Error, Inbound, Request};
use segue_store::Store;
use segue_store::conformance::{Cheat, Hook, Hooked};
use segue_store::memory::Memory;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Cheats every so often.
struct Cheats {
    how: Option<Cheat>,
    calls: AtomicU64,
}

impl Hook for Cheats {
    fn cheat(&self) -> Option<Cheat> {
        let every = match self.how? {
            Cheat::AcknowledgesEarly => 50,
            // Only what meets a conflict is forced.
            Cheat::DropsTheGuard => 1,
        };
        (self.calls.fetch_add(1, Ordering::Relaxed) % every == every - 1).then_some(self.how?)
    }
}

/// Engines that share a store.
struct Engines {
    engines: Vec<Engine>,
    clock: AtomicU64,
}

impl Target for Engines {
    async fn send(&self, node: usize, operation: &Operation) -> Answer {
        let engine = &self.engines[node];
        let (scope, at): (scope::Key, _) = (operation.scope.parse().unwrap(), engine.now());
        let outcome = match &operation.action {
            Action::Message | Action::Reply { .. } => {
                let mut inbound = Inbound::user(scope, at, operation.text.as_str());
                inbound.message.message_id = Some(MessageId(operation.id.clone()));
                if let Action::Reply { session } = &operation.action {
                    inbound.role = Role::Assistant;
                    inbound.session = Some(session.parse::<session::Key>().unwrap().number);
                }
                Box::pin(engine.receive(inbound)).await
            }
            Action::Task { op } => {
                let fields =
                    json!({ "task": operation.text, "summary": operation.text, "text": operation.text });
                Box::pin(Op::parse(op, &fields).unwrap().run(engine, &scope, at)).await
            }
            Action::Erase { seq, .. } => {
                Box::pin(engine.request(&scope, at, &Request::Erase(vec![Seq(*seq)]))).await
            }
        };
        match outcome {
            Ok(outcome) if outcome.action == decision::Action::Refused => ClientOutcome::Failed.into(),
            Ok(outcome) => Answer {
                told: ClientOutcome::Acknowledged,
                seq: outcome.seq.map(|seq| seq.0),
                session: Some(outcome.session_key().to_string()),
            },
            Err(Error::Store(_)) => ClientOutcome::Unknown.into(),
            Err(_) => ClientOutcome::Failed.into(),
        }
    }

    fn nodes(&self) -> usize {
        self.engines.len()
    }

    fn now_us(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }
}

async fn violations(how: Option<Cheat>) -> Vec<String> {
    let honest: Arc<dyn Store> = Arc::new(Memory::default());
    let store: Arc<dyn Store> =
        Arc::new(Hooked::new(Arc::clone(&honest), Cheats { how, calls: AtomicU64::new(0) }));
    let mut engines = Vec::new();
    for _ in 0..3 {
        let never = Layer::options([("lifecycle.auto_route".to_owned(), "never".to_owned())]);
        let config = Config::load(vec![never], &TimeZone::UTC).unwrap();
        engines.push(Engine::open(Arc::clone(&store), config).await.unwrap());
    }
    let (target, history) =
        (Arc::new(Engines { engines, clock: AtomicU64::new(1) }), Arc::new(History::default()));
    let mut clients = tokio::task::JoinSet::new();
    for client in 0..6 {
        let stopped = Arc::new(AtomicBool::new(false));
        clients.spawn(talk(Arc::clone(&target), Arc::clone(&history), client, 4, 150, stopped));
    }
    clients.join_all().await;
    assert_eq!(history.all().len(), 6 * 150);
    for name in ["messages", "commands", "replies", "tasks", "erasures"] {
        let is_there = |one: &Operation| one.action.name(&one.text) == name;
        assert!(history.all().iter().any(is_there), "no {name}");
    }
    check(honest.as_ref(), &history.all()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_honest_store_is_left_alone() {
    assert_eq!(violations(None).await, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_store_that_acknowledges_early_is_caught() {
    let wrong = violations(Some(Cheat::AcknowledgesEarly)).await;
    assert!(wrong.iter().any(|one| one.contains("Acknowledged, and is there 0 times")), "{wrong:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_store_that_drops_its_guard_is_caught() {
    assert!(!violations(Some(Cheat::DropsTheGuard)).await.is_empty());
}

/// Every rule of the checker by itself: a history that the log does not bear out.
#[tokio::test]
async fn each_rule_finds_what_it_is_for() {
    let store: Arc<dyn Store> = Arc::new(Memory::default());
    let config = Config::load(Vec::new(), &TimeZone::UTC).unwrap();
    let engines = vec![Engine::open(Arc::clone(&store), config).await.unwrap()];
    let target = Engines { engines, clock: AtomicU64::new(1) };
    let mut honest = Vec::new();
    for n in 0..4_u64 {
        let mut operation = Operation {
            client: 0,
            action: Action::Message,
            scope: "agent:main:torture:direct:s0".to_owned(),
            id: format!("m{n}"),
            text: format!("text {n}"),
            invoked_us: n * 10,
            ended_us: n * 10 + 5,
            tries: 1,
            told: ClientOutcome::Unknown,
        };
        operation.told = target.send(0, &operation).await.told;
        honest.push(operation);
    }
    // A task with a note, and a message that is erased.
    let seq =
        store.seen(&honest[0].scope.parse().unwrap(), &MessageId("m3".to_owned())).await.unwrap().unwrap().0;
    let actions = [
        Action::Task { op: "start" },
        Action::Task { op: "note" },
        Action::Erase { id: "m3".to_owned(), seq },
    ];
    for (n, action) in (10..).zip(actions) {
        let (id, text) = (format!("m{n}"), format!("text {n}"));
        let (invoked_us, ended_us) = (n * 10, n * 10 + 5);
        let mut operation = Operation { action, id, text, invoked_us, ended_us, ..honest[0].clone() };
        operation.told = target.send(0, &operation).await.told;
        assert_eq!(operation.told, ClientOutcome::Acknowledged, "{operation:?}");
        honest.push(operation);
    }
    assert_eq!(check(store.as_ref(), &honest).await.unwrap(), Vec::<String>::new());
    let caught = async |change: fn(&mut Vec<Operation>), part: &str| {
        let mut lied = honest.clone();
        change(&mut lied);
        let wrong = check(store.as_ref(), &lied).await.unwrap();
        assert!(wrong.iter().any(|one| one.contains(part)), "{part}: {wrong:?}");
    };
    caught(|all| all[1].told = ClientOutcome::Failed, "told Failed, and is there 1 times").await;
    caught(|all| all[1].text.push('!'), "another text").await;
    caught(|all| drop(all.remove(1)), "sent by nobody").await;
    caught(|all| all[1].id = "m9".to_owned(), "and is there 0 times").await;
    caught(|all| all[2].scope = "agent:main:torture:direct:s1".to_owned(), "or to another scope").await;
    caught(|all| all[5].told = ClientOutcome::Failed, "m11 was told Failed, and is there 1 times").await;
    caught(|all| all[5].text.push('!'), "m11 was told Acknowledged, and is there 0 times").await;
    caught(|all| all[6].told = ClientOutcome::Failed, "its erasure Failed").await;
    caught(|all| all[6].action = Action::Erase { id: "m1".to_owned(), seq: 1 }, "nobody asked for that")
        .await;
    caught(
        |all| all[6].action = Action::Erase { id: "m1".to_owned(), seq: 1 },
        "its erasure Acknowledged, and is there 1",
    )
    .await;
    caught(|all| (all[0].invoked_us, all[0].ended_us) = (90, 95), "stands before it").await;
}
