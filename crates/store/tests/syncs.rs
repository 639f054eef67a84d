//! Syncs are counted, not assumed: this program has its own `fsync` and `fdatasync`, which the SQLite inside
//! it and the standard library call.

#![allow(unsafe_code, reason = "stands in for two functions of the C library, to count their calls")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may do as tests do")]

#[allow(dead_code, reason = "other tests use the rest")]
use rusqlite::Connection;
use segue_core::decide::Command;
use segue_store::Store;
use segue_store::conformance::World;
use segue_store::files::Files;
use segue_store::sqlite::Sqlite;
use std::ffi::c_int;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::runtime::Runtime;

static SYNCS: AtomicU64 = AtomicU64::new(0);

/// Held by a test: what another one does would be counted, too.
static COUNTING: Mutex<()> = Mutex::new(());

fn sync(call: libc::c_long, file: c_int) -> c_int {
    SYNCS.fetch_add(1, SeqCst);
    // SAFETY: both system calls take one file descriptor, whatever it is worth, and no memory.
    unsafe { libc::syscall(call, file) as c_int }
}

// SAFETY: the names and types are those of the C library, and so is what they do.
#[unsafe(no_mangle)]
extern "C" fn fsync(file: c_int) -> c_int {
    sync(libc::SYS_fsync, file)
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn fdatasync(file: c_int) -> c_int {
    sync(libc::SYS_fdatasync, file)
}

fn alone() -> MutexGuard<'static, ()> {
    COUNTING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn syncs_of(work: impl Future<Output = ()>) -> u64 {
    syncs_on(&tokio::runtime::Builder::new_current_thread().build().unwrap(), work)
}

fn syncs_on(runtime: &Runtime, work: impl Future<Output = ()>) -> u64 {
    let before = SYNCS.load(SeqCst);
    runtime.block_on(work);
    SYNCS.load(SeqCst) - before
}

/// Opens a database and fills what is made with the first message.
fn sqlite(folder: &Path, scopes: usize) -> Vec<World> {
    let store = Arc::new(Sqlite::open(&folder.join("segue.db")).unwrap());
    worlds(&(store as Arc<dyn Store>), scopes)
}

fn worlds(store: &Arc<dyn Store>, scopes: usize) -> Vec<World> {
    let world = |n| World::at(store.clone(), &format!("agent:main:cli:direct:p{n}"));
    let mut worlds: Vec<World> = (0..scopes).map(world).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    for world in &mut worlds {
        runtime.block_on(world.say("hello"));
    }
    worlds
}

#[test]
fn the_counter_counts() {
    let _alone = alone();
    let file = tempfile::tempfile().unwrap();
    let syncs = syncs_of(async {
        file.sync_all().unwrap();
        file.sync_data().unwrap();
    });
    assert_eq!(syncs, 2);
}

#[test]
fn a_turn_is_one_sync() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let mut world = sqlite(folder.path(), 1).remove(0);
    let turns = 100;
    let syncs = syncs_of(async {
        for turn in 0..turns {
            world.say_as(&format!("message {turn}"), &format!("id-{turn}")).await.unwrap();
        }
    });
    assert_eq!(syncs, turns);
    let syncs = syncs_of(async {
        world.run(&Command::New { first: None }).await.unwrap();
        world.run(&Command::Undo).await.unwrap();
        world.run(&Command::Fork { session: segue_core::session::Number(1), at: None }).await.unwrap();
    });
    assert_eq!(syncs, 3, "a boundary is one sync, too");
}

/// A turn that nobody waits beside is written where it is.
#[test]
fn a_turn_is_one_sync_on_threads_too() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let mut world = sqlite(folder.path(), 1).remove(0);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap();
    let turns = 100;
    let syncs = syncs_on(&runtime, async {
        for turn in 0..turns {
            world.say(&format!("message {turn}")).await;
        }
    });
    assert_eq!(syncs, turns);
}

/// who brings many waits for one sync.
#[test]
fn x12_many_appends_are_one_sync() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let mut world = sqlite(folder.path(), 1).remove(0);
    let syncs = syncs_of(async {
        let (mut state, mut appends) = (world.state().await, Vec::new());
        for turn in 0..100 {
            let (append, _) =
                world.append_of(state, &segue_store::conformance::said(&format!("message {turn}"))).unwrap();
            state = append.next.clone();
            appends.push(append);
        }
        assert!(matches!(world.store.append_many(appends).await, (100, Ok(()))));
    });
    assert_eq!(syncs, 1);
}

#[test]
fn reading_syncs_nothing() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let world = sqlite(folder.path(), 1).remove(0);
    let syncs = syncs_of(async {
        assert_eq!(world.texts(segue_core::session::Number(1)).await, ["hello"]);
        world.verify().await;
    });
    assert_eq!(syncs, 0);
}

/// Eight turns wait while another program holds the database. The writer may have taken some of them
/// already; the rest share the next commit.
#[test]
#[allow(clippy::disallowed_methods, reason = "plays the other program")]
fn waiting_turns_share_a_sync() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let worlds = sqlite(folder.path(), 8);
    let other = Connection::open(folder.path().join("segue.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let syncs = syncs_of(async {
        let mut turns = tokio::task::JoinSet::new();
        for mut world in worlds {
            let state = world.state().await;
            let (append, _) = world.append_of(state, &segue_store::conformance::said("me too")).unwrap();
            turns.spawn(async move { world.store.append(append).await.unwrap() });
        }
        // One thread: each of them has asked by the time it is this task's turn again.
        tokio::task::yield_now().await;
        other.execute_batch("ROLLBACK").unwrap();
        while let Some(turn) = turns.join_next().await {
            turn.unwrap();
        }
    });
    assert!((1..=2).contains(&syncs), "8 turns took {syncs} syncs");
}

/// A message is one line of one file: one sync. Folders and the index are synced at boundaries only.
#[test]
fn a_turn_in_files_is_one_sync() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> = Arc::new(Files::open(folder.path()).unwrap());
    let mut world = worlds(&store, 1).remove(0);
    let syncs = syncs_of(async {
        for turn in 0..20 {
            world.say(&format!("message {turn}")).await;
        }
    });
    assert_eq!(syncs, 20);
}
