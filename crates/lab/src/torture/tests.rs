//! The checker catches a store that cheats, and leaves an honest one alone.

use super::check::{check, judge};
use super::clients::{Target, talk};
use super::evidence::Evidence;
use super::history::{Action, Answer, ClientOutcome, History, Operation};
use jiff::tz::TimeZone;
use segue_core::entry::{Kind, Record, Seq};
use segue_core::message::{MessageId, Role};
use segue_core::{decision, scope, session};
use segue_engine::config::{Config, Layer};
use segue_engine::tasks::op::Op;
use segue_engine::{Engine, Error, Inbound, Request};
use segue_store::conformance::{Cheat, Hook, Hooked, World};
use segue_store::memory::Memory;
use segue_store::{Location, Store};
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

/// Two scopes with what the rules are about, and what clients were told of them.
async fn honest() -> (Arc<dyn Store>, Vec<Operation>) {
    let store: Arc<dyn Store> = Arc::new(Memory::default());
    let config = Config::load(Vec::new(), &TimeZone::UTC).unwrap();
    let engines = vec![Engine::open(Arc::clone(&store), config).await.unwrap()];
    let target = Engines { engines, clock: AtomicU64::new(1) };
    let mut honest: Vec<Operation> = Vec::new();
    let texts = ["text 0", "text 1", "/new", "text 3"];
    let mut send = async |action: Action, scope: &str, text: &str| {
        let n = honest.len() as u64;
        let mut operation = Operation {
            client: 0,
            action,
            scope: format!("agent:main:torture:direct:{scope}"),
            id: format!("m{n}"),
            text: text.to_owned(),
            invoked_us: n * 10,
            ended_us: n * 10 + 5,
            tries: 1,
            told: ClientOutcome::Unknown,
            seq: None,
        };
        let answer = target.send(0, &operation).await;
        assert_eq!(answer.told, ClientOutcome::Acknowledged, "{operation:?}");
        (operation.told, operation.seq) = (answer.told, answer.seq);
        honest.push(operation);
        answer.seq.unwrap_or(0)
    };
    let mut last = 0;
    for text in texts {
        last = send(Action::Message, "s0", text).await;
    }
    send(Action::Message, "s1", "text 4").await;
    send(Action::Task { op: "start" }, "s0", "task 5").await;
    send(Action::Task { op: "note" }, "s0", "note 6").await;
    send(Action::Task { op: "finish" }, "s0", "summary 7").await;
    send(Action::Erase { id: "m3".to_owned(), seq: last }, "s0", "").await;
    assert_eq!(check(store.as_ref(), &honest).await.unwrap(), Vec::<String>::new());
    (store, honest)
}

/// Every rule about what clients were told, by itself: a history that the log does not bear out.
#[tokio::test]
async fn each_rule_finds_what_it_is_for() {
    let (store, honest) = honest().await;
    let caught = async |change: fn(&mut Vec<Operation>), part: &str| {
        let mut lied = honest.clone();
        change(&mut lied);
        let wrong = check(store.as_ref(), &lied).await.unwrap();
        assert!(wrong.iter().any(|one| one.contains(part)), "{part}: {wrong:?}");
    };
    caught(|all| all[1].told = ClientOutcome::Failed, "m1 was told Failed, and is there 1 times").await;
    caught(|all| all[1].text.push('!'), "another text").await;
    caught(|all| drop(all.remove(1)), "sent by nobody").await;
    caught(|all| all[1].id = "m9".to_owned(), "m9 was told Acknowledged, and is there 0 times").await;
    caught(|all| all[2].id = "m9".to_owned(), "m9 was told Acknowledged, and is there 0 times").await;
    caught(|all| all[1].scope = "agent:main:torture:direct:s1".to_owned(), "or to another scope").await;
    caught(|all| all[1].seq = Some(99), "m1 was told to be entry 99, and is entry").await;
    caught(|all| (all[0].invoked_us, all[0].ended_us) = (190, 195), "stands before it").await;
    // Tasks.
    for (at, op) in [(5, "start"), (6, "note"), (7, "finish")] {
        for (told, count) in [(ClientOutcome::Failed, 1), (ClientOutcome::Acknowledged, 0)] {
            let mut lied = honest.clone();
            match told {
                ClientOutcome::Acknowledged => lied[at].text.push('!'),
                _ => lied[at].told = told,
            }
            let wrong = check(store.as_ref(), &lied).await.unwrap();
            let part = format!("{op} m{at} was told {told:?}, and is there {count} times");
            assert!(wrong.iter().any(|one| one.contains(&part)), "{part}: {wrong:?}");
        }
    }
    caught(|all| drop(all.remove(5)), "start \"task 5\" was asked for by nobody").await;
    caught(|all| drop(all.remove(7)), "finish \"summary 7\" was asked for by nobody").await;
    // Erasures.
    caught(|all| all[8].told = ClientOutcome::Failed, "its erasure Failed").await;
    let of_another = |all: &mut Vec<Operation>| all[8].action = Action::Erase { id: "m1".to_owned(), seq: 1 };
    caught(of_another, "nobody asked for that").await;
    caught(of_another, "its erasure Acknowledged, and is there 1").await;
}

/// Every rule about the log, by itself: what an honest client was told, and a log that was doctored.
#[tokio::test]
async fn each_rule_finds_a_log_that_was_doctored() {
    let (store, history) = honest().await;
    let mut evidence = Vec::new();
    for scope in ["s0", "s1"].map(|scope| format!("agent:main:torture:direct:{scope}")) {
        let of: Vec<&Operation> = history.iter().filter(|one| one.scope == scope).collect();
        evidence.push(Evidence::of(store.as_ref(), &scope, &of).await.unwrap());
    }
    assert_eq!(judge(&history, &evidence), Vec::<String>::new());
    let caught = |change: &dyn Fn(&mut [Evidence]), part: &str| {
        let mut doctored = evidence.clone();
        change(&mut doctored);
        let wrong = judge(&history, &doctored);
        assert!(wrong.iter().any(|one| one.contains(part)), "{part}: {wrong:?}");
    };
    let at = |records: &[Record], kind: Kind| records.iter().position(|record| record.kind == kind).unwrap();
    let last =
        |records: &[Record], kind: Kind| records.iter().rposition(|record| record.kind == kind).unwrap();
    let renumber = |records: &mut Vec<Record>| {
        for (record, seq) in records.iter_mut().zip(1..) {
            record.seq = Seq(seq);
        }
    };
    // An entry is lost, and a message is there twice.
    caught(&|all| drop(all[0].records.remove(2)), "entry 3 is missing before entry 4");
    caught(
        &|all| {
            let records = &mut all[0].records;
            records.push(records[at(records, Kind::User)].clone());
            renumber(records);
        },
        "m0 was told Acknowledged, and is there 2 times",
    );
    // A segment is never sealed, is sealed and none follows, is written to after that.
    caught(
        &|all| {
            let records = &mut all[0].records;
            records.remove(at(records, Kind::Sealed));
            renumber(records);
        },
        "two segments are open at entry",
    );
    caught(
        &|all| {
            let records = &mut all[1].records;
            let sealed = Record { kind: Kind::Sealed, ..records[records.len() - 1].clone() };
            records.push(Record { seq: sealed.seq.next(), ..sealed });
        },
        "0 sessions are the latest one",
    );
    caught(
        &|all| {
            let records = &mut all[0].records;
            let (first, end) = (records[0].segment, records.len() - 1);
            records[end].segment = first;
        },
        "stands in a segment that was sealed before it",
    );
    // A number is used twice, and an id in two scopes.
    caught(
        &|all| {
            let records = &mut all[0].records;
            let (first, second) = (at(records, Kind::Opened), last(records, Kind::Opened));
            assert_ne!(first, second);
            records[second].bytes = records[first].bytes.clone();
        },
        "session 1 begins after one with that number",
    );
    caught(
        &|all| {
            let opened = all[0].records[at(&all[0].records, Kind::Opened)].bytes.clone();
            let place = at(&all[1].records, Kind::Opened);
            all[1].records[place].bytes = opened;
        },
        "has the id of another one, in agent:main:torture:direct:s0",
    );
    // Half of an append is there.
    caught(
        &|all| {
            let records = &mut all[1].records;
            records.remove(last(records, Kind::Decision));
            renumber(records);
        },
        "is there without its decision",
    );
    // What `segue verify` finds.
    caught(&|all| all[0].problems.push("a digest is wrong".to_owned()), "s0: a digest is wrong");
    // A task that was begun twice.
    caught(
        &|all| {
            let records = &mut all[0].records;
            records.push(records[at(records, Kind::Worded)].clone());
            renumber(records);
        },
        "start m5 was told Acknowledged, and is there 2 times",
    );
}

/// The digests: a body that somebody changed in the database, and a guard that was switched off for it.
#[tokio::test]
async fn a_body_that_was_changed_behind_the_store_is_found() {
    let Some(database) = segue_testing::postgres::database() else { return };
    let store = database.url().parse::<Location>().unwrap().open().unwrap();
    let mut world = World::at(Arc::clone(&store), "agent:main:torture:direct:s0");
    world.say("a tangerine").await;
    assert_eq!(check(store.as_ref(), &[]).await.unwrap(), Vec::<String>::new());
    for (sql, part) in [
        ("ALTER TABLE segue_entries DISABLE TRIGGER segue_update", "trigger"),
        (
            "UPDATE segue_entries SET body = replace(body, 'tangerine', 'mandarin')",
            "is not what the log says",
        ),
    ] {
        database.psql(sql).unwrap();
        let wrong = check(store.as_ref(), &[]).await.unwrap();
        assert!(wrong.iter().any(|one| one.contains(part)), "{part}: {wrong:?}");
    }
}
