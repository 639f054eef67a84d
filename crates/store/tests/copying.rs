//! Copies from every kind of store to every other: broken off and gone on with, with a source that is written meanwhile.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test may fail")]

use segue_core::Timestamp;
use segue_core::decide::Command;
use segue_core::entry::{Bytes, Seq};
use segue_core::message::MessageId;
use segue_core::session::Number;
use segue_store::conformance::{Call, Hook, Hooked, World, folder};
use segue_store::copy::{self, Compared, Copied, Extra, Fault};
use segue_store::files::Files;
use segue_store::memory::Memory;
use segue_store::postgres::Postgres;
use segue_store::sqlite::Sqlite;
use segue_store::{Embedding, Error, Store, Subject, Value};
use segue_testing::postgres::{Database, database};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

const KINDS: [&str; 4] = ["memory", "sqlite", "files", "postgres"];

/// A store, and what has to live as long.
struct Place {
    store: Arc<dyn Store>,
    _folder: tempfile::TempDir,
    _database: Option<Database>,
}

/// Makes an empty store; nothing where there is no PostgreSQL.
fn place(kind: &str) -> Option<Place> {
    let folder = folder();
    let mut made = None;
    let store: Arc<dyn Store> = match kind {
        "memory" => Arc::new(Memory::default()),
        "sqlite" => Arc::new(Sqlite::open(&folder.path().join("segue.db")).unwrap()),
        "files" => Arc::new(Files::open(folder.path()).unwrap()),
        _ => {
            let database = database()?;
            let store = Postgres::open(database.url()).unwrap();
            made = Some(database);
            Arc::new(store)
        }
    };
    Some(Place { store, _folder: folder, _database: made })
}

/// A target that breaks off: the nth write makes only a part of what it was given, or loses the acknowledgement.
struct Breaks(AtomicUsize);

impl Hook for Breaks {
    fn made_of(&self, appends: usize) -> usize {
        if self.0.fetch_add(1, SeqCst).is_multiple_of(2) { appends / 3 } else { appends }
    }

    fn after(&self, call: Call, _: usize) -> Result<(), Error> {
        match call {
            Call::AppendMany if self.0.load(SeqCst) % 4 == 2 => {
                Err(Error::Unknown { what: "the write".into(), why: "it was killed".into() })
            }
            _ => Ok(()),
        }
    }
}

/// Sessions with everything that can happen to them.
async fn talk(world: &mut World) {
    for n in 0..30 {
        world.say_as(&format!("message {n}"), &format!("id{n}")).await.unwrap();
        if n % 6 == 5 {
            world.run(&Command::New { first: None }).await.unwrap();
        }
    }
    world.run(&Command::Delete { session: Number(2) }).await.unwrap();
    world.store.sweep().await.unwrap();
    let seq = world.store.seen(&world.scope, &MessageId("id0".into())).await.unwrap().unwrap();
    world.run(&Command::Erase { entries: vec![seq], along: Vec::new() }).await.unwrap();
    let state = world.state().await;
    if let Some(embeddings) = world.store.embeddings() {
        let of = |subject, seq| Embedding { subject, first: seq, last: seq, bytes: vec![1, 2, 3] };
        let last = world.store.seen(&world.scope, &MessageId("id29".into())).await.unwrap().unwrap();
        let both = vec![of(Subject::Entry(last), last), of(Subject::Session(Number(5)), last)];
        embeddings.put(&world.scope, state.head, both).await.unwrap();
    }
}

/// Copies until it is done, however often it is broken off, and how often that was.
async fn insist(source: &dyn Store, target: &dyn Store, world: &World) -> (Copied, usize) {
    let mut broken = 0;
    loop {
        match copy::scope(source, target, &world.scope).await {
            Ok(copied) => return (copied, broken),
            Err(Fault::Store(_)) if broken < 100 => broken += 1,
            Err(other) => panic!("{other}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_store_is_copied_to_every_other() {
    for from in KINDS {
        for to in KINDS {
            let (Some(source), Some(place)) = (place(from), place(to)) else { continue };
            let mut world = World::new(Arc::clone(&source.store));
            let target = Hooked::new(Arc::clone(&place.store), Breaks(AtomicUsize::new(0)));
            talk(&mut world).await;
            let (_, broken) = insist(source.store.as_ref(), &target, &world).await;
            assert!(broken > 0, "{from} to {to}");
            // The source goes on: what was copied is erased, and more is said.
            let seq = source.store.seen(&world.scope, &MessageId("id28".into())).await.unwrap().unwrap();
            world.run(&Command::Erase { entries: vec![seq], along: Vec::new() }).await.unwrap();
            world.run(&Command::Delete { session: Number(3) }).await.unwrap();
            world.say_as("and more", "id30").await.unwrap();
            insist(source.store.as_ref(), &target, &world).await;
            let target = place.store.as_ref();
            // What comes while the copy is compared is copied, and counted: what was erased is to be purged in the target.
            let late = source.store.seen(&world.scope, &MessageId("id27".into())).await.unwrap().unwrap();
            world.run(&Command::Erase { entries: vec![late], along: Vec::new() }).await.unwrap();
            let (compared, copied) =
                copy::compare(source.store.as_ref(), target, &world.scope).await.unwrap();
            assert_eq!((compared, copied.erased), (Compared::Equal, 1), "{from} to {to}");
            let erased = target.get(&world.scope, seq).await.unwrap().unwrap();
            assert!(matches!(erased.bytes, Bytes::Erased(_)), "{from} to {to}");
            // Also the ids of what was erased or deleted are known.
            for n in 0..=30 {
                let id = MessageId(format!("id{n}"));
                let seen = source.store.seen(&world.scope, &id).await.unwrap();
                assert!(seen.is_some());
                assert_eq!(target.seen(&world.scope, &id).await.unwrap(), seen, "{from} to {to}: {n}");
            }
            if let (Some(ours), Some(theirs)) = (source.store.embeddings(), target.embeddings()) {
                let ours = ours.tail(&world.scope, Seq::ZERO, 100).await.unwrap();
                assert_eq!(theirs.tail(&world.scope, Seq::ZERO, 100).await.unwrap(), ours, "{from} to {to}");
                assert_eq!(ours.len(), 1);
            }
            // Nothing is left to do, and the copy goes on by itself.
            assert_eq!(insist(source.store.as_ref(), target, &world).await.0, Copied::default());
            let mut copied = World::new(Arc::clone(&place.store));
            copied.say("in the copy").await;
            copied.verify().await;
            // Now it is no copy any more.
            let refused = copy::scope(source.store.as_ref(), place.store.as_ref(), &world.scope).await;
            assert!(matches!(refused, Err(Fault::Diverged { .. })), "{from} to {to}: {refused:?}");
        }
    }
}

/// What was changed in the copy behind its back is found out.
#[tokio::test]
async fn a_copy_of_something_else_is_refused() {
    let (source, target): (Arc<dyn Store>, Arc<dyn Store>) =
        (Arc::new(Memory::default()), Arc::new(Memory::default()));
    let mut other = World::new(Arc::clone(&target));
    other.say("something else").await;
    let mut world = World::new(Arc::clone(&source));
    for n in 0..5 {
        world.say(&format!("message {n}")).await;
    }
    let refused = copy::scope(source.as_ref(), target.as_ref(), &world.scope).await;
    assert!(matches!(refused, Err(Fault::Diverged { .. })), "{refused:?}");
}

#[tokio::test]
async fn values_are_mirrored() {
    for to in KINDS {
        let (Some(source), Some(target)) = (place("sqlite"), place(to)) else { continue };
        let (source, target) = (source.store.as_ref(), target.store.as_ref());
        let copied =
            async |extra| copy::values(source, target, &["tokens"], extra, Timestamp::MIN).await.unwrap();
        // Somebody has made a token in the target before: it is neither taken away nor overlooked.
        target.put_value("tokens", Value::new("own", "secret")).await.unwrap();
        for key in ["a", "b"] {
            source.put_value("tokens", Value::new(key, "secret")).await.unwrap();
        }
        let values = |changed| copy::Values { changed, foreign: 1 };
        assert_eq!(copied(Extra::DeleteBrought).await, values(2), "{to}");
        source.delete_value("tokens", "a").await.unwrap();
        assert_eq!(copied(Extra::Keep).await.changed, 0, "{to}");
        assert_eq!(copied(Extra::DeleteBrought).await, values(1), "{to}");
        assert_eq!(target.value("tokens", "a", Timestamp::MIN).await.unwrap(), None);
        assert_eq!(copied(Extra::DeleteBrought).await, values(0), "{to}");
        // The last one goes, too.
        source.delete_value("tokens", "b").await.unwrap();
        assert_eq!(copied(Extra::DeleteBrought).await, values(1), "{to}");
        assert!(target.value("tokens", "own", Timestamp::MIN).await.unwrap().is_some());
    }
}
