//! Encryption at rest, on the stores that have files: nothing that people said is in a file, keys that are missing or wrong are
//! said and harm nothing, and a rotation loses nothing, wherever it is cut off.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use segue_core::decide::{Command, TaskCommand, TaskVerb};
use segue_core::entry::Seq;
use segue_core::session::{Number, Title};
use segue_core::task::identity::Description;
use segue_store::conformance::{World, folder};
use segue_store::encryption::{MasterKey, MasterKeys, Status};
use segue_store::files::Files;
use segue_store::sqlite::Sqlite;
use segue_store::{Embedding, Error, Store, Subject, Value};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MARK: &str = "MARKEDWORD";

#[derive(Debug, Clone, Copy, PartialEq)]
enum In {
    Sqlite,
    Files,
}

const BOTH: [In; 2] = [In::Sqlite, In::Files];

impl In {
    fn open(self, place: &Path, keys: Option<&MasterKeys>) -> Result<Arc<dyn Store>, Error> {
        Ok(match self {
            Self::Sqlite => Arc::new(Sqlite::open_with(&place.join("segue.db"), keys)?),
            Self::Files => Arc::new(Files::open_with(place, keys)?),
        })
    }
}

fn keys(numbers: &[u8]) -> MasterKeys {
    let mut all = numbers.iter().map(|n| MasterKey::new([*n; 32]));
    let first = all.next().unwrap();
    MasterKeys::new(first, all)
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files_below(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

/// The files in which some words stand.
fn holding(folder: &Path, words: &str) -> Vec<PathBuf> {
    let holds = |path: &PathBuf| {
        let bytes = std::fs::read(path).unwrap();
        bytes.windows(words.len()).any(|part| part == words.as_bytes())
    };
    files_below(folder).into_iter().filter(holds).collect()
}

/// Writes the mark to every place that a store has.
async fn write_all(store: &Arc<dyn Store>) {
    let mut world = World::new(Arc::clone(store));
    world.say(&format!("{MARK} said")).await;
    world.say_as(&format!("{MARK} with an id"), "77").await.unwrap();
    let title = Title::new(&format!("{MARK} title")).unwrap();
    world.run(&Command::Rename { session: Number(1), title }).await.unwrap();
    world.run(&Command::New { first: None }).await.unwrap();
    world.say(&format!("{MARK} again")).await;
    store.put_value("words", Value::new("v", format!("{MARK} value"))).await.unwrap();
    if let Some(search) = store.search() {
        let terms: Vec<_> = segue_store::search::terms(MARK).collect();
        let found = search.postings(&world.scope, &terms).await.unwrap();
        assert!(found.messages > 0);
    }
    if let Some(embeddings) = store.embeddings() {
        let bytes = format!("{MARK} embedding").into_bytes();
        let embedding =
            Embedding { subject: Subject::Session(Number(1)), first: Seq(2), last: Seq(2), bytes };
        let head = world.state().await.head;
        embeddings.put(&world.scope, head, vec![embedding.clone()]).await.unwrap();
        let kept = embeddings.get(&world.scope, &[embedding.subject]).await.unwrap();
        assert_eq!(kept, [embedding]);
    }
    world.verify().await;
}

/// Reads all of it back.
async fn read_all(store: &Arc<dyn Store>) {
    let world = World::new(Arc::clone(store));
    assert_eq!(world.texts(Number(1)).await, [format!("{MARK} said"), format!("{MARK} with an id")]);
    let state = world.state().await;
    let title = state.sessions.get(&Number(1)).and_then(|session| session.title.clone());
    assert_eq!(title.as_ref().map(Title::as_str), Some(format!("{MARK} title").as_str()));
    let value = store.value("words", "v", world.now).await.unwrap().unwrap();
    assert_eq!(value.bytes, format!("{MARK} value").into_bytes());
    world.verify().await;
    assert_eq!(store.audit(None).await.unwrap(), Vec::<String>::new());
}

#[tokio::test]
async fn no_word_is_in_any_file_and_all_of_it_comes_back() {
    for kind in BOTH {
        let place = folder();
        let store = kind.open(place.path(), Some(&keys(&[1]))).unwrap();
        write_all(&store).await;
        assert_eq!(holding(place.path(), MARK), Vec::<PathBuf>::new(), "{kind:?}, while it is open");
        drop(store);
        assert_eq!(holding(place.path(), MARK), Vec::<PathBuf>::new(), "{kind:?}");
        let store = kind.open(place.path(), Some(&keys(&[1]))).unwrap();
        read_all(&store).await;
        let status = store.encryption().unwrap().status().await.unwrap();
        assert_eq!(status, Status::On { master: keys(&[1]).first().id(), data_keys: 1 });
    }
}

/// What a scope keeps besides its sessions is in a projection, row by row, and in an encrypted database none of them is plain.
#[tokio::test]
async fn no_row_of_the_tasks_is_plain() {
    for given in [None, Some(keys(&[1]))] {
        let place = folder();
        let store = In::Sqlite.open(place.path(), given.as_ref()).unwrap();
        let mut world = World::new(Arc::clone(&store));
        world.say("hello").await;
        let description = Some(Description::new("build it").unwrap());
        let verb = TaskVerb::Start { description, message: None, cut: None };
        world.run(&Command::Task(TaskCommand { session: None, verb })).await.unwrap();
        let state = world.state().await;
        let task = serde_json::to_string(state.extras.tasks.get(&Number(1)).unwrap()).unwrap();
        // Without a key it is found, so the test finds what it looks for.
        assert_eq!(holding(place.path(), &task).is_empty(), given.is_some(), "{task}");
        drop((world, store));
        let store = In::Sqlite.open(place.path(), given.as_ref()).unwrap();
        let world = World::new(Arc::clone(&store));
        assert_eq!(world.state().await, state);
        assert_eq!(store.audit(None).await.unwrap(), Vec::<String>::new());
        world.verify().await;
        drop((world, store));
        #[allow(clippy::disallowed_methods, reason = "the test looks at what the store has made")]
        let db = rusqlite::Connection::open(place.path().join("segue.db")).unwrap();
        let sql = "SELECT DISTINCT typeof(value) FROM extras_rows";
        let kind: String = db.query_row(sql, [], |row| row.get(0)).unwrap();
        assert_eq!(kind, if given.is_some() { "blob" } else { "text" });
    }
}

/// Every file as it is, to tell whether anything was changed.
fn contents(place: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let kept = files_below(place).into_iter().filter(|path| !path.to_string_lossy().ends_with("-shm"));
    kept.map(|path| (path.clone(), std::fs::read(&path).unwrap())).collect()
}

#[tokio::test]
async fn a_missing_or_wrong_key_is_named_and_changes_nothing() {
    for kind in BOTH {
        let place = folder();
        let store = kind.open(place.path(), Some(&keys(&[1]))).unwrap();
        write_all(&store).await;
        drop(store);
        let before = contents(place.path());
        for given in [None, Some(keys(&[2]))] {
            let error = kind.open(place.path(), given.as_ref()).err().unwrap();
            assert!(matches!(error, Error::Locked { .. }), "{kind:?}: {error:?}");
            assert!(error.to_string().contains(&keys(&[1]).first().id()), "{error}");
        }
        assert!(contents(place.path()) == before, "{kind:?}: nothing was changed, and nothing was set aside");
        read_all(&kind.open(place.path(), Some(&keys(&[1]))).unwrap()).await;
    }
}

#[tokio::test]
async fn an_existing_store_is_encrypted_from_then_on_and_its_past_can_be_read() {
    for kind in BOTH {
        let place = folder();
        let store = kind.open(place.path(), None).unwrap();
        write_all(&store).await;
        assert_eq!(store.encryption().unwrap().status().await.unwrap(), Status::Off);
        drop(store);
        let store = kind.open(place.path(), Some(&keys(&[1]))).unwrap();
        read_all(&store).await;
        let mut world = World::new(Arc::clone(&store));
        world.say("LATERWORD").await;
        let terms: Vec<_> = segue_store::search::terms("LATERWORD").collect();
        if let Some(search) = store.search() {
            let found = search.postings(&world.scope, &terms).await.unwrap();
            assert_eq!(found.terms[0].messages, 1);
        }
        world.verify().await;
        drop((world, store));
        assert_eq!(holding(place.path(), "LATERWORD"), Vec::<PathBuf>::new());
        assert!(kind.open(place.path(), None).is_err(), "it is not plain any more");
    }
}

#[tokio::test]
async fn a_program_that_opened_a_plain_database_cannot_write_to_it_once_it_is_encrypted() {
    let place = folder();
    let plain = In::Sqlite.open(place.path(), None).unwrap();
    let mut old = World::new(Arc::clone(&plain));
    old.say("before").await;
    let store = In::Sqlite.open(place.path(), Some(&keys(&[1]))).unwrap();
    let error = old.say_as("in plain", "1").await.unwrap_err();
    assert!(matches!(error, Error::Locked { .. }), "{error:?}");
    let mut world = World::new(store);
    world.now = "2026-03-01T10:05:00Z".parse().unwrap();
    world.say("encrypted").await;
    let error = plain.tail(&world.scope, Seq::ZERO, 100).await.unwrap_err();
    assert!(matches!(error, Error::Locked { .. }), "{error:?}");
    assert_eq!(holding(place.path(), "in plain"), Vec::<PathBuf>::new());
}

#[tokio::test]
async fn a_rotation_gives_new_keys_and_rewrites_nothing_else() {
    for kind in BOTH {
        let place = folder();
        let store = kind.open(place.path(), Some(&keys(&[1]))).unwrap();
        write_all(&store).await;
        drop(store);
        // Restart with the new key before the old one.
        let store = kind.open(place.path(), Some(&keys(&[2, 1]))).unwrap();
        let logs = |place: &Path| -> Vec<(PathBuf, Vec<u8>)> {
            let is_log = |path: &PathBuf| {
                path.to_string_lossy().ends_with("0.jsonl") || path.ends_with("000001.jsonl")
            };
            contents(place).into_iter().filter(|(path, _)| is_log(path)).collect()
        };
        let before = logs(place.path());
        let status = store.encryption().unwrap().rotate().await.unwrap();
        assert_eq!(status, Status::On { master: keys(&[2]).first().id(), data_keys: 2 });
        assert!(logs(place.path()) == before);
        let old = keys(&[1]).first().id();
        assert_eq!(holding(place.path(), &old), Vec::<PathBuf>::new(), "what the old key wrapped is gone");
        let mut world = World::new(Arc::clone(&store));
        world.say("after the rotation").await;
        world.verify().await;
        drop((world, store));
        // The old key is refused, the new one is enough.
        assert!(matches!(kind.open(place.path(), Some(&keys(&[1]))).err(), Some(Error::Locked { .. })));
        let store = kind.open(place.path(), Some(&keys(&[2]))).unwrap();
        read_all(&store).await;
        assert_eq!(holding(place.path(), "after the rotation"), Vec::<PathBuf>::new());
    }
}

/// A process that is running when another one rotates reads what that one writes, as long as it has the new master key.
#[tokio::test]
async fn a_rotation_by_another_process_is_seen() {
    let place = folder();
    let here = In::Sqlite.open(place.path(), Some(&keys(&[1, 2]))).unwrap();
    World::new(Arc::clone(&here)).say("one").await;
    let old = In::Sqlite.open(place.path(), Some(&keys(&[1]))).unwrap();
    let there = In::Sqlite.open(place.path(), Some(&keys(&[2, 1]))).unwrap();
    there.encryption().unwrap().rotate().await.unwrap();
    let mut world = World::new(there);
    world.say("two").await;
    let read = World::new(here);
    assert_eq!(read.texts(Number(1)).await, ["one", "two"]);
    read.verify().await;
    // One that has only the old master key says so, and what to do.
    let error = old.tail(&world.scope, Seq::ZERO, 100).await.unwrap_err();
    assert!(
        matches!(&error, Error::Locked { why, .. } if why.contains(&keys(&[2]).first().id())),
        "{error:?}"
    );
}

/// Rows that were swapped, and bytes that were cut off, are damage, and are told as such.
#[tokio::test]
async fn swapped_and_cut_rows_are_found() {
    let place = folder();
    let store = In::Sqlite.open(place.path(), Some(&keys(&[1]))).unwrap();
    let mut world = World::new(Arc::clone(&store));
    world.say("one").await;
    world.say("two").await;
    let seqs: Vec<i64> =
        world.whole_log().await.iter().filter(|r| r.kind.role().is_some()).map(|r| r.seq.0 as i64).collect();
    drop((world, store));
    let path = place.path().join("segue.db");
    let whole = std::fs::read(&path).unwrap();
    let swap = "DROP TRIGGER entries_update; UPDATE entries SET body =
        (SELECT body FROM entries AS other WHERE other.id & 0xffffffff = CASE entries.id & 0xffffffff WHEN ?1 THEN ?2 ELSE ?1 END)
        WHERE id & 0xffffffff IN (?1, ?2)";
    let cut = "DROP TRIGGER entries_update; UPDATE entries SET body = substr(body, 1, length(body) - 1) WHERE id & 0xffffffff = ?1";
    for sql in [swap, cut] {
        std::fs::write(&path, &whole).unwrap();
        let (drop_guard, update) = sql.split_once("; ").unwrap();
        #[allow(clippy::disallowed_methods, reason = "somebody else changes the file")]
        let db = rusqlite::Connection::open(&path).unwrap();
        db.execute_batch(drop_guard).unwrap();
        let changed =
            if sql == swap { db.execute(update, [seqs[0], seqs[1]]) } else { db.execute(update, [seqs[0]]) };
        assert!(changed.unwrap() > 0);
        drop(db);
        let store = In::Sqlite.open(place.path(), Some(&keys(&[1]))).unwrap();
        let world = World::new(Arc::clone(&store));
        let error = store.get(&world.scope, Seq(seqs[0] as u64)).await.unwrap_err();
        assert!(matches!(error, Error::Damaged { .. }), "{error:?}");
        let report = segue_store::verify::verify(store.as_ref(), &world.scope).await.unwrap();
        assert!(!report.problems.is_empty());
    }
}

/// Without the file of the data keys nothing can be read, and that is said: no scope is set aside, and the file can be put back.
#[tokio::test]
async fn data_keys_that_are_lost_are_missed_and_set_nothing_aside() {
    let place = folder();
    let store = In::Files.open(place.path(), Some(&keys(&[1]))).unwrap();
    let mut world = World::new(Arc::clone(&store));
    world.say("one").await;
    let scope = world.scope.clone();
    drop((world, store));
    let path = place.path().join("sessions").join("keys.json");
    let document = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let store = In::Files.open(place.path(), Some(&keys(&[1]))).unwrap();
    let error = store.load(&scope).await.unwrap_err();
    assert!(matches!(error, Error::Locked { .. }), "{error:?}");
    assert!(World::new(Arc::clone(&store)).store.load(&scope).await.is_err());
    drop(store);
    // A file that was cut off is damage of that file, and of nothing else.
    std::fs::write(&path, &document[..document.len() - 9]).unwrap();
    assert!(matches!(In::Files.open(place.path(), Some(&keys(&[1]))).err(), Some(Error::Damaged { .. })));
    let aside = files_below(place.path())
        .into_iter()
        .filter(|path| path.to_string_lossy().contains("damaged"))
        .count();
    assert_eq!(aside, 0);
    std::fs::write(&path, &document).unwrap();
    let store = In::Files.open(place.path(), Some(&keys(&[1]))).unwrap();
    let world = World::new(store);
    assert_eq!(world.texts(Number(1)).await, ["one"]);
    world.verify().await;
}

/// Erasing takes the encrypted bytes away too, and the proof still holds.
#[tokio::test]
async fn x6_an_erased_body_is_gone_also_as_encrypted_bytes() {
    for kind in BOTH {
        let place = folder();
        let store = kind.open(place.path(), Some(&keys(&[1]))).unwrap();
        let mut world = World::new(Arc::clone(&store));
        world.say("to be erased").await;
        world.say("to be kept").await;
        let going = world.whole_log().await.into_iter().find(|r| r.kind.role().is_some()).unwrap().seq;
        world.run(&Command::Erase { entries: vec![going], along: Vec::new() }).await.unwrap();
        assert_eq!(store.purge().await.unwrap(), segue_store::Purged::Complete);
        assert_eq!(world.texts(Number(1)).await, ["(erased)", "to be kept"]);
        world.verify().await;
        drop((world, store));
        let store = kind.open(place.path(), Some(&keys(&[1]))).unwrap();
        World::new(store).verify().await;
    }
}
