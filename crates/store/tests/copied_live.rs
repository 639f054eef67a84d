//! A database that was copied while it was written, without its write-ahead log, is noticed; every other copy is sound.

#![allow(clippy::unwrap_used, reason = "helpers of tests may do as tests do")]

use segue_store::Location;
use segue_store::conformance::World;
use std::path::{Path, PathBuf};

fn wal_of(path: &Path) -> PathBuf {
    PathBuf::from(format!("{}-wal", path.display()))
}

fn world(path: &Path) -> World {
    World::new(Location::Sqlite(path.to_owned()).open().unwrap())
}

/// What `segue verify` says of the file as a whole.
async fn problems(path: &Path) -> Vec<String> {
    Location::Sqlite(path.to_owned()).open().unwrap().audit(None).await.unwrap()
}

#[track_caller]
fn is_noticed(problems: &[String]) {
    assert!(problems.len() == 1 && problems[0].contains("without its write-ahead log"), "{problems:?}");
}

#[tokio::test]
async fn a_copy_without_its_log_is_noticed_and_stays_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("segue.db");
    let mut live = world(&path);
    live.say("said while it is open").await;
    // Odd names are no way around it.
    let copy = folder.path().join("a copy? 100%#1.db");
    std::fs::copy(&path, &copy).unwrap();
    for _ in 0..3 {
        is_noticed(&problems(&copy).await);
    }
    // What is written to it later does not hide it, nor does a copy of the copy.
    world(&copy).say("the copy goes on").await;
    is_noticed(&problems(&copy).await);
    let again = folder.path().join("again.db");
    std::fs::copy(&copy, &again).unwrap();
    is_noticed(&problems(&again).await);
    // The database itself is fine, open and closed.
    live.verify().await;
    drop(live);
    assert_eq!(problems(&path).await, Vec::<String>::new());
}

#[tokio::test]
async fn a_copy_with_its_log_has_everything() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("segue.db"), folder.path().join("copy.db"));
    let mut live = world(&path);
    live.say("one").await;
    live.say("two").await;
    std::fs::copy(&path, &copy).unwrap();
    std::fs::copy(wal_of(&path), wal_of(&copy)).unwrap();
    assert_eq!(problems(&copy).await, Vec::<String>::new());
    assert_eq!(world(&copy).whole_log().await, live.whole_log().await);
}

#[tokio::test]
async fn a_copy_of_a_closed_database_needs_no_log() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("segue.db"), folder.path().join("copy.db"));
    for round in 0..3 {
        let mut world = world(&path);
        world.now = world.state().await.clock;
        world.say(&format!("round {round}")).await;
        drop(world);
        assert!(!wal_of(&path).exists());
        std::fs::copy(&path, &copy).unwrap();
        assert_eq!(problems(&copy).await, Vec::<String>::new());
        std::fs::remove_file(&copy).unwrap();
    }
}

/// A program that was killed leaves its log, and the next one takes it in.
#[tokio::test]
async fn a_crash_is_no_copy() {
    let folder = tempfile::tempdir().unwrap();
    let (path, left) = (folder.path().join("segue.db"), folder.path().join("left.db"));
    let mut live = world(&path);
    live.say("said before the crash").await;
    // Both files as they are: that is what a process that is killed leaves.
    std::fs::copy(&path, &left).unwrap();
    std::fs::copy(wal_of(&path), wal_of(&left)).unwrap();
    // Who only reads is the last to close it here, and deletes the log.
    for _ in 0..2 {
        assert_eq!(problems(&left).await, Vec::<String>::new());
        assert!(!wal_of(&left).exists());
    }
}

/// Of several that have it open, one leaves and the others go on, with checkpoints meanwhile.
#[tokio::test]
async fn who_leaves_first_does_not_speak_for_those_who_stay() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("segue.db"), folder.path().join("copy.db"));
    let mut stays = world(&path);
    stays.say("one").await;
    drop(problems(&path).await);
    for n in 0..40 {
        // Long enough for checkpoints.
        stays.say(&format!("{n} ").repeat(60_000)).await;
    }
    std::fs::copy(&path, &copy).unwrap();
    is_noticed(&problems(&copy).await);
    drop(stays);
    assert_eq!(problems(&path).await, Vec::<String>::new());
}

/// Processes that open and close the same database all the time never see a copy in it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn opening_and_closing_at_once_raises_no_alarm() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("segue.db");
    let one = |who: usize| {
        let path = path.clone();
        async move {
            for round in 0..25 {
                let store = Location::Sqlite(path.clone()).open().unwrap();
                let mut world = World::at(store.clone(), &format!("agent:main:cli:direct:p{who}"));
                world.now = world.state().await.clock;
                world.say(&format!("round {round}")).await;
                assert_eq!(store.audit(None).await.unwrap(), Vec::<String>::new());
            }
        }
    };
    let all: Vec<_> = (0..4).map(|who| tokio::spawn(one(who))).collect();
    for done in all {
        done.await.unwrap();
    }
    assert_eq!(problems(&path).await, Vec::<String>::new());
}
