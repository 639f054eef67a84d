//! Stores of older formats open, are sound, are searched and go on: `tests/fixtures/stores/sqlite-N.db` and `files-N` have
//! format N.

#![allow(clippy::unwrap_used, reason = "helpers of tests may do as tests do")]

use segue_core::decide::{Command, TaskCommand, TaskVerb};
use segue_core::memory;
use segue_core::session::Number;
use segue_core::task::observation::{Note, NoteKind, Observation};
use segue_store::conformance::{World, text};
use segue_store::search::{Query, Reach, Visibility, find};
use segue_store::{Location, Page, Position, Store};
use std::path::Path;
use std::sync::Arc;

#[tokio::test]
async fn a_database_of_format_9_opens_and_is_searched() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("segue.db");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/stores/sqlite-9.db");
    std::fs::copy(fixture, &path).unwrap();
    let store = Location::Sqlite(path).open().unwrap();
    assert_eq!(store.audit(None).await.unwrap(), Vec::<String>::new());
    let scopes = store.scopes(&Page::first(10)).await.unwrap().rows;
    assert_eq!(scopes.len(), 2);
    for (scope, words, expected) in [
        ("agent:main:telegram:direct:ann", "hotel in Lisbon", "Lisbon"),
        ("agent:main:wechat:direct:小林", "厨房", "厨房"),
    ] {
        let mut world = World::at(store.clone(), scope);
        world.verify().await;
        let visibility = Arc::new(Visibility::of(&*world.state().await, Reach::Everything));
        let query = Query { text: words.into(), visibility, limit: 5 };
        let hits = find(store.as_ref(), &world.scope, &query).await.unwrap();
        assert!(hits.iter().any(|hit| text(&hit.record).contains(expected)), "{scope}: {hits:?}");
        // It goes on as any other.
        world.now = world.state().await.clock;
        world.say("and it goes on").await;
        world.verify().await;
    }
    // Each scope is there for those who watch: what it had, and what was said now.
    let commits = store.commits(Position::START, 10).await.unwrap();
    assert_eq!(commits.len(), 4);
    assert_eq!(store.audit(None).await.unwrap(), Vec::<String>::new());
}

/// Forks of an older version list the spans that they begin with, in their entries and in the rows of their sessions. They
/// are read as they are, and what is forked off them shares them.
async fn goes_on_from_listed_forks(store: Arc<dyn Store>) {
    assert_eq!(store.audit(None).await.unwrap(), Vec::<String>::new());
    let mut world = World::at(store.clone(), "agent:main:telegram:direct:ann");
    world.verify().await;
    world.now = world.state().await.clock;
    let deep = Number(21);
    let before = world.texts(deep).await;
    assert_eq!((before.len(), before.last().unwrap().as_str()), (22, "branch 19 goes on"));
    world.run(&Command::Fork { session: deep, at: None }).await.unwrap();
    let fork = world.state().await.latest().unwrap();
    world.say("and on").await;
    assert_eq!(world.texts(fork).await.len(), 23);
    world.verify().await;
    world.run(&Command::Undo).await.unwrap();
    world.run(&Command::Delete { session: Number(3) }).await.unwrap();
    world.verify().await;
    assert_eq!(world.texts(deep).await, before);
    assert_eq!(store.audit(None).await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn a_database_of_format_13_with_a_chain_of_forks_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("segue.db");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/stores/sqlite-13.db");
    std::fs::copy(fixture, &path).unwrap();
    goes_on_from_listed_forks(Location::Sqlite(path).open().unwrap()).await;
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        match entry.path().is_dir() {
            true => copy(&entry.path(), &target),
            false => _ = std::fs::copy(entry.path(), target).unwrap(),
        }
    }
}

#[tokio::test]
async fn a_folder_of_format_2_with_a_chain_of_forks_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/stores/files-2"), folder.path());
    goes_on_from_listed_forks(Location::Files(folder.path().to_owned()).open().unwrap()).await;
}

/// What upkeep has made of sessions stood with their scope. It is moved to them, and the log says the same.
#[tokio::test]
async fn a_database_of_format_16_keeps_what_is_remembered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("segue.db");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/stores/sqlite-16.db");
    std::fs::copy(fixture, &path).unwrap();
    // The second time there is nothing left to move.
    for _ in 0..2 {
        let store = Location::Sqlite(path.clone()).open().unwrap();
        assert_eq!(store.audit(None).await.unwrap(), Vec::<String>::new());
        let world = World::at(store, "agent:main:telegram:direct:ann");
        world.verify().await;
        let state = world.state().await;
        let kept: Vec<u32> = memory::kept(&state).map(|memory| memory.session.0).collect();
        assert_eq!(kept, [2, 1], "the first session is gone, and what is remembered of it is not");
        assert_eq!(memory::all(&state).count(), 3);
        assert_eq!(memory::queue(&state).count(), 0);
    }
}

/// Three tasks, of which two are kept for good, and something that is remembered of a session that is gone.
async fn goes_on_with_its_tasks(open: impl Fn() -> Arc<dyn Store>) {
    for round in 0..2_u32 {
        let store = open();
        assert_eq!(store.audit(None).await.unwrap(), Vec::<String>::new());
        let mut world = World::at(store.clone(), "agent:main:telegram:direct:ann");
        world.verify().await;
        let state = world.state().await;
        let tasks = state.extras.tasks.iter().map(|(session, task)| (session.0, task.state().name()));
        assert_eq!(tasks.collect::<Vec<_>>(), [(2, "complete"), (3, "aborted"), (4, "running")]);
        let kept: usize = state.extras.kept.values().map(Vec::len).sum();
        assert_eq!((kept, state.extras.copies.len(), state.extras.compactions), (3, 1, 2));
        assert_eq!(memory::kept(&state).map(|memory| memory.session.0).collect::<Vec<_>>(), [1]);
        let staged = state.extras.tasks.get(&Number(4)).unwrap().staged();
        assert_eq!(staged, 1 + round);
        // The first thing that is observed moves the rest to rows of its own.
        world.now = state.clock;
        let note = Observation::Note(Note::text(NoteKind::Note, "and it goes on"));
        let verb = TaskVerb::Observe { observations: vec![note] };
        world.run(&Command::Task(TaskCommand { session: None, verb })).await.unwrap();
        world.verify().await;
        assert_eq!(store.audit(None).await.unwrap(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_database_of_format_17_keeps_its_tasks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("segue.db");
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/stores/sqlite-17.db");
    std::fs::copy(fixture, &path).unwrap();
    goes_on_with_its_tasks(|| Location::Sqlite(path.clone()).open().unwrap()).await;
}

#[tokio::test]
async fn a_folder_of_format_4_keeps_its_tasks() {
    let folder = tempfile::tempdir().unwrap();
    copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/stores/files-4"), folder.path());
    goes_on_with_its_tasks(|| Location::Files(folder.path().to_owned()).open().unwrap()).await;
}
