//! Watching, leases, values, and appends that are sent again.

use super::suite::reopen;
use super::world::{World, said};
use super::{Bench, LeaseClock};
use crate::commits::{Commit, Position};
use crate::error::Error;
use crate::leases::Leased;
use crate::store::Store;
use crate::types::{Embedding, Subject};
use crate::values::{KEY_BYTES_MAX, Value};
use segue_core::Timestamp;
use segue_core::decide::Command;
use segue_core::entry::Seq;
use segue_core::message::{Message, MessageId, Role};
use segue_core::session::Number;
use std::time::Duration;

fn second(n: i64) -> Timestamp {
    Timestamp::from_second(1_772_359_200 + n).unwrap()
}

/// N-2: sent again, with and without a message id, also when others were faster meanwhile and after a restart.
pub async fn n2_an_append_that_is_sent_again_is_written_once(bench: &dyn Bench) {
    let mut world = World::new(bench.open());
    world.say("hello").await;
    for (n, id) in [None, Some("id1")].into_iter().enumerate() {
        let message = Message {
            message_id: id.map(|id| MessageId(id.into())),
            ..Message::text(format!("sent again {n}"))
        };
        let command = Command::Say { role: Role::User, message };
        let (append, _) = world.append_of(world.state().await, &command).unwrap();
        let (after, head) = (append.prior.head, append.next.head);
        assert_eq!(world.store.appended(&world.scope, after, append.id).await.unwrap(), None);
        world.store.append(append.clone()).await.unwrap();
        assert_eq!(world.store.appended(&world.scope, after, append.id).await.unwrap(), Some(head));
        world.store.append(append.clone()).await.unwrap();
        assert_eq!(world.store.append_many(vec![append.clone()]).await.0, 1);
        world.say("somebody else").await;
        world.store.append(append.clone()).await.unwrap();
        reopen(bench, &mut world);
        if bench.is_durable() {
            world.store.append(append.clone()).await.unwrap();
            assert_eq!(world.store.appended(&world.scope, after, append.id).await.unwrap(), Some(head));
        }
        // Another append on the same head is another one.
        let mut other = append.clone();
        other.id = world.append_id();
        let refused = world.store.append(other.clone()).await;
        assert!(matches!(refused, Err(Error::Conflict { .. } | Error::Duplicate { .. })), "{refused:?}");
        assert_eq!(world.store.appended(&world.scope, after, other.id).await.unwrap(), None);
    }
    let expected = ["hello", "sent again 0", "somebody else", "sent again 1", "somebody else"];
    assert_eq!(world.texts(Number(1)).await, expected);
    world.verify().await;
}

/// Nothing is kept that was made of a dropped session, though its words can be read until they are swept.
pub async fn p8_nothing_is_made_of_what_is_being_deleted(bench: &dyn Bench) {
    let mut world = World::new(bench.open());
    let store = world.store.clone();
    let Some(embeddings) = store.embeddings() else { return };
    let gone = world.say("a secret").await.about.unwrap();
    world.run(&Command::New { first: None }).await.unwrap();
    let kept = world.say("kept").await.about.unwrap();
    let of = |seq| Embedding { subject: Subject::Entry(seq), first: seq, last: seq, bytes: vec![7; 8] };
    let both = vec![of(gone), of(kept)];
    let head = world.state().await.head;
    embeddings.put(&world.scope, head, both.clone()).await.unwrap();
    assert_eq!(embeddings.tail(&world.scope, Seq::ZERO, 9).await.unwrap(), both);
    world.run(&Command::Delete { session: Number(1) }).await.unwrap();
    for _ in ["before the sweep", "after it"] {
        let head = world.state().await.head;
        embeddings.put(&world.scope, head, both.clone()).await.unwrap();
        assert_eq!(embeddings.tail(&world.scope, Seq::ZERO, 9).await.unwrap(), [of(kept)]);
        world.store.sweep().await.unwrap();
    }
    world.verify().await;
}

async fn all(world: &World, after: Position) -> Vec<Commit> {
    world.store.commits(after, 1_000).await.unwrap()
}

/// S-5: every commit of every scope is there once, in order, without gaps; also from a position before a restart.
pub async fn s5_commits_are_watched_without_gaps(bench: &dyn Bench) {
    let mut world = World::new(bench.open());
    let mut other = World::at(world.store.clone(), "agent:main:cli:direct:other");
    assert_eq!(world.store.position().await.unwrap(), Position::START);
    let mut stream = world.store.watch(Position::START);
    for n in 0..5 {
        world.say(&format!("a{n}")).await;
        other.say(&format!("b{n}")).await;
    }
    let mut seen = Vec::new();
    for _ in 0..10 {
        seen.push(stream.next().await.unwrap());
    }
    assert_eq!(seen, all(&world, Position::START).await);
    assert!(seen.is_sorted_by(|a, b| a.position < b.position));
    for scope in [&world, &other] {
        let mut head = Seq::ZERO;
        for commit in seen.iter().filter(|commit| commit.scope == scope.scope) {
            assert_eq!(commit.after, head, "{seen:?}");
            head = commit.head;
        }
        assert_eq!(head, scope.state().await.head);
    }
    assert_eq!(seen.last().unwrap().position, world.store.position().await.unwrap());
    assert_eq!(world.store.commits(Position::START, 3).await.unwrap(), seen[..3]);
    // What is refused is no commit.
    let (late, _) = world.append_of(world.state().await, &said("late")).unwrap();
    world.say("first").await;
    assert!(world.store.append(late).await.is_err());
    let first = stream.next().await.unwrap();
    assert_eq!(first.head, world.state().await.head);
    let last = world.store.position().await.unwrap();
    assert_eq!(last, first.position);
    drop((stream, other));
    reopen(bench, &mut world);
    if bench.is_durable() {
        world.state().await;
        assert_eq!(world.store.position().await.unwrap(), last);
        assert_eq!(all(&world, seen[6].position).await[..3], seen[7..]);
        let mut stream = world.store.watch(last);
        world.say("after the restart").await;
        let next = stream.next().await.unwrap();
        assert!(next.position > last && next.head == world.state().await.head);
    }
    world.verify().await;
}

/// N-4: one holder at a time, until it gives the lease back or its time is over.
pub async fn n4_a_lease_has_one_holder(bench: &dyn Bench) {
    let store = bench.open();
    let (hour, now) = (Duration::from_secs(3_600), second(0));
    assert!(store.lease("titles", "a", hour, now).await.unwrap().is_held());
    let taken = store.lease("titles", "b", hour, now).await.unwrap();
    assert!(matches!(taken, Leased::Taken { by, .. } if by == "a"));
    assert!(store.lease("other", "b", hour, now).await.unwrap().is_held());
    // Renewed, it holds on; over, another one gets it.
    assert!(store.lease("titles", "a", hour, now).await.unwrap().is_held());
    assert!(!store.lease("titles", "b", hour, now).await.unwrap().is_held());
    assert!(store.lease("titles", "a", Duration::ZERO, now).await.unwrap().is_held());
    assert!(store.lease("titles", "b", hour, now).await.unwrap().is_held());
    assert!(!store.lease("titles", "a", hour, now).await.unwrap().is_held());
    store.release("titles", "a").await.unwrap();
    assert!(!store.lease("titles", "a", hour, now).await.unwrap().is_held());
    store.release("titles", "b").await.unwrap();
    assert!(store.lease("titles", "a", hour, now).await.unwrap().is_held());
    match bench.lease_clock() {
        LeaseClock::Caller => ends_when_it_is_said(store.as_ref()).await,
        LeaseClock::Store => {
            // Whoever is a day ahead has nobody else's lease.
            let taken = store.lease("titles", "b", hour, second(86_400)).await.unwrap();
            assert!(!taken.is_held(), "{taken:?}");
        }
    }
}

/// A store that goes by the time that it is told ends a lease at exactly its time.
async fn ends_when_it_is_said(store: &dyn Store) {
    let minute = Duration::from_secs(60);
    let held = Leased::Held { until: second(60) };
    assert_eq!(store.lease("names", "a", minute, second(0)).await.unwrap(), held);
    let taken = Leased::Taken { by: "a".into(), until: second(60) };
    assert_eq!(store.lease("names", "b", minute, second(59)).await.unwrap(), taken);
    assert!(store.lease("names", "a", minute, second(59)).await.unwrap().is_held());
    assert!(!store.lease("names", "b", minute, second(118)).await.unwrap().is_held());
    assert!(store.lease("names", "b", minute, second(119)).await.unwrap().is_held());
}

pub async fn values_are_kept_beside_the_log(bench: &dyn Bench) {
    let mut world = World::new(bench.open());
    let now = second(0);
    assert_eq!(world.store.value("tokens", "a", now).await.unwrap(), None);
    let first = Value::new("a", "one");
    assert_eq!(world.store.insert_value("tokens", first.clone(), now).await.unwrap(), None);
    let again = world.store.insert_value("tokens", Value::new("a", "two"), now).await.unwrap();
    assert_eq!(again.as_ref(), Some(&first));
    let odd = Value::new("ünï\n\"\u{0}", vec![0, 255, 10, 13, 128]);
    world.store.put_value("tokens", odd.clone()).await.unwrap();
    world.store.put_value("other", Value::new("a", "another namespace")).await.unwrap();
    let short = Value { expires_at: Some(second(10)), ..Value::new("short", "") };
    world.store.put_value("tokens", short.clone()).await.unwrap();
    for n in 0..25 {
        world.store.put_value("many", Value::new(format!("p:{n:02}"), vec![n])).await.unwrap();
    }
    world.store.put_value("many", Value::new("q", "")).await.unwrap();
    world.store.put_value("many", Value::new("p:03", "changed")).await.unwrap();
    assert!(world.store.delete_value("many", "p:04").await.unwrap());
    assert!(!world.store.delete_value("many", "p:04").await.unwrap());
    let long = Value::new("k".repeat(KEY_BYTES_MAX + 1), "");
    assert!(matches!(world.store.put_value("many", long).await, Err(Error::TooLarge { .. })));
    for _ in 0..2 {
        let store = &world.store;
        assert_eq!(store.value("tokens", "a", now).await.unwrap().as_ref(), Some(&first));
        assert_eq!(store.value("tokens", &odd.key, now).await.unwrap().as_ref(), Some(&odd));
        assert_eq!(store.value("tokens", "short", second(9)).await.unwrap().as_ref(), Some(&short));
        assert_eq!(store.value("tokens", "short", second(10)).await.unwrap(), None);
        assert_eq!(store.values("tokens", "s", None, 9, second(10)).await.unwrap(), []);
        let (mut keys, mut after) = (Vec::new(), None);
        loop {
            let page = store.values("many", "p:", after.as_deref(), 7, now).await.unwrap();
            let Some(last) = page.last() else { break };
            after = Some(last.key.clone());
            keys.extend(page.into_iter().map(|value| value.key));
        }
        let expected: Vec<String> = (0..25).filter(|n| *n != 4).map(|n| format!("p:{n:02}")).collect();
        assert_eq!(keys, expected);
        assert_eq!(store.values("many", "p:03", None, 9, now).await.unwrap()[0].bytes, b"changed");
        if !bench.is_durable() {
            break;
        }
        reopen(bench, &mut world);
    }
    // One whose time is over leaves its place.
    assert_eq!(
        world.store.insert_value("tokens", Value::new("short", "new"), second(11)).await.unwrap(),
        None
    );
    world.verify().await;
}
