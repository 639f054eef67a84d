//! `MEMORY.md` goes with what it was made of, whoever lets that go, and whatever is in the way.

use crate::found;
use jiff::tz::TimeZone;
use segue_core::Timestamp;
use segue_core::notice::Notice;
use segue_core::scope::Key;
use segue_core::session::Number;
use segue_engine::clock::{Clock, RandomIds};
use segue_engine::config::{Config, Layer, Origin};
use segue_engine::{Engine, Inbound, Pick, Request};
use segue_store::Location;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const ME: &str = "agent:main:cli:direct:me";

fn scope() -> Key {
    ME.parse().unwrap()
}

/// Two months after what was said: archives and memories are written then.
struct InMay;

impl Clock for InMay {
    fn now(&self) -> Timestamp {
        "2026-05-01T09:00:00Z".parse().unwrap()
    }
}

async fn open(folder: &Path, more: &str) -> Engine {
    let settings = format!(
        "lifecycle.auto_route = 'never'\n[memory]\ndir = '{}'\n{more}",
        folder.join("memory").display()
    );
    let layer = Layer::toml(Origin::Workspace("t.toml".into()), settings);
    let config = Config::load(vec![layer], &TimeZone::UTC).unwrap();
    let location = Location::Sqlite(folder.join("segue.db"));
    let engine = Engine::open(location.open().unwrap(), config).await.unwrap();
    engine.with(Arc::new(InMay), Arc::new(RandomIds))
}

async fn say(engine: &Engine, at: &str, text: &str) -> segue_engine::Outcome {
    engine.receive(Inbound::user(scope(), at.parse().unwrap(), text)).await.unwrap()
}

/// Two sessions, each with something that is worth remembering.
async fn filled(folder: &Path, more: &str) -> Engine {
    let engine = open(folder, more).await;
    say(&engine, "2026-03-01T10:00:00Z", "My name is Ann and I live in SECRETGRAZ.").await;
    say(&engine, "2026-03-01T10:01:00Z", "/new").await;
    say(&engine, "2026-03-01T10:02:00Z", "I'm allergic to nuts. Find me a cake for Sunday.").await;
    say(&engine, "2026-03-01T10:03:00Z", "/new").await;
    say(&engine, "2026-03-01T10:04:00Z", "How do I whiten grout?").await;
    engine.archive(&scope()).await.unwrap();
    engine.write_memory_file(&scope()).await.unwrap();
    let text = fs::read_to_string(folder.join("memory/MEMORY.md")).unwrap();
    assert!(text.contains("SECRETGRAZ") && text.contains("nuts"), "{text}");
    engine
}

fn leftover(folder: &Path) -> PathBuf {
    folder.join("memory/MEMORY.tmp")
}

fn is_gone(folder: &Path) {
    assert_eq!(found(folder, "SECRETGRAZ"), Vec::<String>::new());
    assert!(fs::read_to_string(folder.join("memory/MEMORY.md")).unwrap().contains("nuts"));
}

/// A message is erased, a session is deleted by a host and in a chat: no caller has to know of the file. What a crash left of
/// a change to it goes as well.
#[tokio::test]
async fn x17_lines_of_memory_go_with_their_message_and_their_session() {
    for road in ["erase", "delete", "typed"] {
        let folder = tempfile::tempdir().unwrap();
        let engine = filled(folder.path(), "").await;
        fs::write(leftover(folder.path()), "My name is Ann and I live in SECRETGRAZ.").unwrap();
        let at = "2026-03-01T11:00:00Z";
        let outcome = match road {
            "erase" => {
                let state = engine.state(&scope()).await.unwrap();
                let said = engine.said_in(&state, Number(1)).await.unwrap();
                engine.request(&scope(), at.parse().unwrap(), &Request::Erase(said)).await.unwrap()
            }
            "delete" => {
                let request = Request::Delete(Pick::Numbered(Number(1)));
                engine.request(&scope(), at.parse().unwrap(), &request).await.unwrap()
            }
            _ => say(&engine, at, "/session delete 1").await,
        };
        assert_eq!(outcome.also, None, "{road}: it is finished");
        is_gone(folder.path());
        drop(engine);
        is_gone(folder.path());
    }
}

/// What retention drops is remembered, as it was announced; what people wrote into the file stays as it is, whatever bytes it
/// has.
#[tokio::test]
async fn p11_retention_leaves_what_is_remembered_and_what_people_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let engine = filled(folder.path(), "[retention]\nage = '30d'\ngrace = '6h'").await;
    let path = folder.path().join("memory/MEMORY.md");
    let mut bytes = fs::read(&path).unwrap();
    bytes.extend_from_slice(b"\r\n- caf\xe9, in an old encoding\r\n");
    fs::write(&path, &bytes).unwrap();
    engine.retain(&scope(), "2026-05-01T10:00:00Z".parse().unwrap()).await.unwrap();
    // It is told before it is done.
    say(&engine, "2026-05-01T11:00:00Z", "And how do I clean tiles?").await;
    engine.retain(&scope(), "2026-05-01T20:00:00Z".parse().unwrap()).await.unwrap();
    assert!(engine.state(&scope()).await.unwrap().live(Number(1)).is_none(), "it was dropped");
    assert_eq!(fs::read(&path).unwrap(), bytes);
    // Its words go with what is remembered.
    let memory = engine.memories(&scope()).await.unwrap().remove(0);
    assert!(memory.text.contains("SECRETGRAZ"));
    engine.forget(&scope(), memory.entry).await.unwrap();
    let left = fs::read(&path).unwrap();
    assert!(left.ends_with(b"\r\n- caf\xe9, in an old encoding\r\n"));
    is_gone_lossy(&left);
}

fn is_gone_lossy(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    assert!(!text.contains("SECRETGRAZ") && text.contains("nuts"), "{text}");
}

/// Something is in the way of the file: the store is purged all the same, it is told, and the next opening finishes.
#[tokio::test]
async fn x17_what_is_in_the_way_of_the_file_ends_no_erasure() {
    let folder = tempfile::tempdir().unwrap();
    let engine = filled(folder.path(), "").await;
    // A folder has the name that the new file is to have for a moment.
    fs::create_dir_all(leftover(folder.path()).join("x")).unwrap();
    let request = Request::Delete(Pick::Numbered(Number(1)));
    let at = "2026-03-01T11:00:00Z".parse().unwrap();
    let outcome = engine.request(&scope(), at, &request).await.unwrap();
    assert_eq!(outcome.also, Some(Notice::Unfinished));
    let left = found(folder.path(), "SECRETGRAZ");
    assert!(left.len() == 1 && left[0].ends_with("MEMORY.md"), "the store has nothing left: {left:?}");
    assert!(!engine.purge().await, "it is still in the way");
    drop(engine);
    fs::remove_dir_all(leftover(folder.path())).unwrap();
    let engine = open(folder.path(), "").await;
    is_gone(folder.path());
    assert!(engine.purge().await);
}

/// A crash between the append and the file is as if the file had been in the way; another store's lines are left alone.
#[tokio::test]
async fn x17_a_crash_before_the_file_is_written_is_made_good_at_the_next_opening() {
    let folder = tempfile::tempdir().unwrap();
    let engine = filled(folder.path(), "").await;
    let path = folder.path().join("memory/MEMORY.md");
    let before = fs::read(&path).unwrap();
    let away = folder.path().join("elsewhere");
    fs::rename(&path, &away).unwrap();
    fs::create_dir_all(path.join("x")).unwrap();
    let request = Request::Delete(Pick::Numbered(Number(1)));
    engine.request(&scope(), "2026-03-01T11:00:00Z".parse().unwrap(), &request).await.unwrap();
    drop(engine);
    fs::remove_dir_all(&path).unwrap();
    fs::rename(&away, &path).unwrap();
    // Who only opens another store changes nothing.
    let other = tempfile::tempdir().unwrap();
    let settings = format!("[memory]\ndir = '{}'", folder.path().join("memory").display());
    let config =
        Config::load(vec![Layer::toml(Origin::Workspace("t.toml".into()), settings)], &TimeZone::UTC)
            .unwrap();
    let location = Location::Sqlite(other.path().join("other.db"));
    let stranger = Engine::open(location.open().unwrap(), config).await.unwrap();
    say(&stranger, "2026-03-01T10:00:00Z", "hello").await;
    assert!(stranger.purge().await);
    assert_eq!(fs::read(&path).unwrap(), before);
    drop(open(folder.path(), "").await);
    is_gone(folder.path());
}

/// Who writes the file may have read what is being erased and not have written it yet. Who erases waits for that, and looks
/// into the file then.
#[tokio::test(flavor = "multi_thread")]
async fn x17_who_erases_looks_behind_whoever_is_writing() {
    let folder = tempfile::tempdir().unwrap();
    let engine = std::sync::Arc::new(filled(folder.path(), "").await);
    let path = folder.path().join("memory/MEMORY.md");
    let whole = fs::read_to_string(&path).unwrap();
    let others: Vec<&str> = whole.lines().filter(|line| !line.contains("SECRETGRAZ")).collect();
    fs::write(&path, others.join("\n") + "\n").unwrap();
    let lock = fs::File::options().write(true).open(folder.path().join("memory/.segue-lock")).unwrap();
    lock.lock().unwrap();
    let head = engine.store().head(&scope()).await.unwrap();
    let erasing = tokio::spawn({
        let engine = std::sync::Arc::clone(&engine);
        async move {
            let request = Request::Delete(Pick::Numbered(Number(1)));
            engine.request(&scope(), "2026-03-01T11:00:00Z".parse().unwrap(), &request).await.unwrap()
        }
    });
    while engine.store().head(&scope()).await.unwrap() == head {
        tokio::task::yield_now().await;
    }
    assert!(!erasing.is_finished());
    fs::write(&path, &whole).unwrap();
    drop(lock);
    assert_eq!(erasing.await.unwrap().also, None);
    is_gone(folder.path());
}
