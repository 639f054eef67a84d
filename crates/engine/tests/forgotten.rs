//! What was erased, deleted or pruned is nowhere on disk any more.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

use jiff::tz::TimeZone;
use segue_engine::config::Config;
use segue_engine::{Engine, Inbound, Pick, Request};
use segue_store::Location;
use std::path::Path;

/// Looks for a text in every file below a folder, and tells in which it stands.
fn found(folder: &Path, text: &str) -> Vec<String> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(found(&path, text));
        } else if std::fs::read(&path).unwrap().windows(text.len()).any(|part| part == text.as_bytes()) {
            files.push(path.display().to_string());
        }
    }
    files
}

async fn forgets(location: Location, folder: &Path) {
    let config = Config::load(vec![], &TimeZone::UTC).unwrap();
    let engine = Engine::open(location.open().unwrap(), config).await.unwrap();
    let scope: segue_core::scope::Key = "agent:main:cli:direct:me".parse().unwrap();
    let at = "2026-03-01T10:00:00Z".parse().unwrap();
    let say = async |text: &str| engine.receive(Inbound::user(scope.clone(), at, text)).await.unwrap();
    let secret = say("my ERASEDSECRET, a long one so that it has a page of its own").await.seq.unwrap();
    say("my DELETEDSECRET").await;
    say("/session rename the TITLESECRET").await;
    let long = format!("a LONGSECRET {}", "x".repeat(20_000));
    say(&long).await;
    say("/new").await;
    say("kept").await;
    assert!(!found(folder, "DELETEDSECRET").is_empty(), "it is there before");
    engine.request(&scope, at, &Request::Erase(vec![secret])).await.unwrap();
    assert_eq!(found(folder, "ERASEDSECRET"), Vec::<String>::new());
    engine.request(&scope, at, &Request::Delete(Pick::Listed(2))).await.unwrap();
    // One more turn: whatever the store does behind its answers is done by then.
    say("still here").await;
    for text in ["ERASEDSECRET", "DELETEDSECRET", "TITLESECRET", "LONGSECRET"] {
        assert_eq!(found(folder, text), Vec::<String>::new(), "{text}");
    }
    assert!(!found(folder, "still here").is_empty());
}

#[tokio::test]
async fn p8_sqlite_forgets_what_it_is_told_to() {
    let folder = tempfile::tempdir().unwrap();
    forgets(Location::Sqlite(folder.path().join("segue.db")), folder.path()).await;
}

#[tokio::test]
async fn p8_files_forget_what_they_are_told_to() {
    let folder = tempfile::tempdir().unwrap();
    forgets(Location::Files(folder.path().to_owned()), folder.path()).await;
}
