//! Nothing blocks a thread of the runtime: another program that holds the write lock stalls the appends, and nothing else.

#![allow(clippy::unwrap_used, reason = "helpers of tests may do as tests do")]

use rusqlite::Connection;
use segue_store::conformance::{World, folder, said};
use segue_store::sqlite::Sqlite;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

#[test]
#[allow(clippy::disallowed_methods, reason = "plays another program")]
fn another_program_that_holds_the_write_lock_stalls_no_other_task() {
    let folder = folder();
    let path = folder.path().join("segue.db");
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    runtime.block_on(async {
        let store = Arc::new(Sqlite::open(&path).unwrap());
        let mut world = World::new(store.clone());
        world.say("hello").await;
        let other = Connection::open(&path).unwrap();
        other.execute_batch("BEGIN IMMEDIATE").unwrap();
        // More appends than the runtime has threads, each of another scope.
        let mut waiting = tokio::task::JoinSet::new();
        for n in 0..8 {
            let mut world = World::at(store.clone(), &format!("agent:main:cli:direct:p{n}"));
            waiting.spawn(async move {
                let (append, _) = world.append_of(world.state().await, &said("waits")).unwrap();
                world.store.append(append).await.unwrap();
            });
        }
        // Other tasks go on as often as they like, and so does reading, while all appends wait.
        let steps = Arc::new(AtomicUsize::new(0));
        let mut others = tokio::task::JoinSet::new();
        for _ in 0..4 {
            let steps = Arc::clone(&steps);
            others.spawn(async move {
                for _ in 0..1_000 {
                    tokio::task::yield_now().await;
                    steps.fetch_add(1, SeqCst);
                }
            });
        }
        others.join_all().await;
        assert_eq!(world.texts(segue_core::session::Number(1)).await, ["hello"]);
        assert_eq!(steps.load(SeqCst), 4_000);
        assert!(waiting.try_join_next().is_none(), "nothing was written while the lock was held");
        other.execute_batch("ROLLBACK").unwrap();
        waiting.join_all().await;
        world.verify().await;
    });
}

/// A commit of another process is seen within a second or so; here it must be seen at all.
#[tokio::test]
async fn commits_of_another_process_are_watched() {
    let folder = folder();
    let path = folder.path().join("segue.db");
    // Two stores of one file know of each other as little as two processes do.
    let (mine, theirs) = (Sqlite::open(&path).unwrap(), Sqlite::open(&path).unwrap());
    let mut world = World::new(Arc::new(theirs));
    let mine: Arc<dyn segue_store::Store> = Arc::new(mine);
    let mut commits = mine.watch(mine.position().await.unwrap());
    for n in 0..3 {
        world.say(&format!("message {n}")).await;
        let commit = commits.next().await.unwrap();
        assert_eq!((commit.scope, commit.head), (world.scope.clone(), world.state().await.head));
    }
}

#[tokio::test]
async fn a_backup_is_a_store() {
    let folder = folder();
    let mut world = World::new(Arc::new(Sqlite::open(&folder.path().join("segue.db")).unwrap()));
    world.say("hello").await;
    let copy = folder.path().join("copy.db");
    world.store.backup(&copy).await.unwrap();
    assert!(world.store.backup(&copy).await.is_err(), "it overwrites nothing");
    world.say("later").await;
    let copied = World::new(Arc::new(Sqlite::open(&copy).unwrap()));
    assert_eq!(copied.texts(segue_core::session::Number(1)).await, ["hello"]);
    copied.verify().await;
}
