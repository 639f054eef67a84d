//! What was erased, deleted or pruned is nowhere on disk any more.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod derived;
mod memory_file;
mod people;

use jiff::tz::TimeZone;
use segue_core::session::Number;
use segue_engine::config::{Config, Layer, Origin};
use segue_engine::recall::Recall;
use segue_engine::{Engine, Inbound, Pick, Request};
use segue_store::Location;
use segue_store::search::Reach;
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
    // What belongs together is not what is tested here.
    let layer = Layer::toml(Origin::Workspace("t.toml".into()), "lifecycle.auto_route = 'never'");
    let config = Config::load(vec![layer], &TimeZone::UTC).unwrap();
    let engine = Engine::open(location.open().unwrap(), config).await.unwrap();
    let scope: segue_core::scope::Key = "agent:main:cli:direct:me".parse().unwrap();
    let at = "2026-03-01T10:00:00Z".parse().unwrap();
    let say = async |text: &str| engine.receive(Inbound::user(scope.clone(), at, text)).await.unwrap();
    say("what can I plant in the garden in spring?").await;
    let secret = say("my ERASEDSECRET, a long one so that it has a page of its own").await.seq.unwrap();
    say("my DELETEDSECRET").await;
    say("/session rename the TITLESECRET").await;
    let long = format!("a LONGSECRET {}", "x".repeat(20_000));
    say(&long).await;
    say("/new").await;
    say("kept").await;
    assert!(!found(folder, "DELETEDSECRET").is_empty(), "it is there before");
    // An index for searching is a copy as well.
    let recall = Recall { reach: Reach::Everything, ..Recall::new("ERASEDSECRET", "a test") };
    let recalled = engine.recall(&scope, &recall).await.unwrap().fragments;
    assert!(recalled[0].seq == secret && recalled[0].score > recalled[1].score);
    engine.request(&scope, at, &Request::Erase(vec![secret])).await.unwrap();
    // Neither the message nor the evidence of the decision about it.
    for text in ["ERASEDSECRET", "erasedsecret"] {
        assert_eq!(found(folder, text), Vec::<String>::new());
    }
    let recalled = engine.recall(&scope, &recall).await.unwrap().fragments;
    assert!(recalled.iter().all(|fragment| !fragment.text.contains("ERASEDSECRET")));
    engine.request(&scope, at, &Request::Delete(Pick::Numbered(Number(1)))).await.unwrap();
    // One more turn: whatever the store does behind its answers is done by then.
    say("still here").await;
    for text in ["ERASEDSECRET", "DELETEDSECRET", "TITLESECRET", "LONGSECRET"] {
        assert_eq!(found(folder, text), Vec::<String>::new(), "{text}");
    }
    assert!(!found(folder, "still here").is_empty());
}

/// A title that a person gave is erased with its session, the command that gave it too, and stays erased.
#[tokio::test]
async fn x11_a_title_is_erased_with_its_session() {
    let folder = tempfile::tempdir().unwrap();
    for (name, location) in [
        ("segue.db", Location::Sqlite(folder.path().join("a/segue.db"))),
        ("files", Location::Files(folder.path().join("b"))),
    ] {
        std::fs::create_dir_all(folder.path().join("a")).unwrap();
        let config = Config::load(vec![], &TimeZone::UTC).unwrap();
        let engine = Engine::open(location.open().unwrap(), config).await.unwrap();
        let scope: segue_core::scope::Key = "agent:main:cli:direct:me".parse().unwrap();
        let at = "2026-03-01T10:00:00Z".parse().unwrap();
        let say = async |text: &str| engine.receive(Inbound::user(scope.clone(), at, text)).await.unwrap();
        say("what can I plant in the garden in spring?").await;
        say("/session rename FIRSTSECRET").await;
        say("/new").await;
        say("hello there").await;
        // From another session.
        say("/session rename 1 SECONDSECRET").await;
        assert!(!found(folder.path(), "SECONDSECRET").is_empty(), "{name}: it is there before");
        let state = engine.state(&scope).await.unwrap();
        let said = engine.said_in(&state, Number(1)).await.unwrap();
        let outcome = engine.request(&scope, at, &Request::Erase(said)).await.unwrap();
        assert_eq!(outcome.notice.as_deref(), Some("Erased 4 messages for good."), "and commands");
        say("still here").await;
        for text in ["FIRSTSECRET", "SECONDSECRET", "spring"] {
            assert_eq!(found(folder.path(), text), Vec::<String>::new(), "{text}");
        }
        let state = engine.state(&scope).await.unwrap();
        assert_eq!(engine.describe(&state, Number(1)).await.unwrap().title, None);
        let report = segue_store::verify::verify(engine.store().as_ref(), &scope).await.unwrap();
        assert_eq!(report.problems, Vec::<String>::new(), "{name}");
    }
}

/// a summary that was carried over goes with what it tells of.
#[tokio::test]
async fn r5_a_carried_summary_is_erased_with_its_messages() {
    let layer = Layer::toml(Origin::Workspace("t.toml".into()), "context.window = 1000");
    let config = Config::load(vec![layer], &TimeZone::UTC).unwrap();
    let engine = Engine::open(Location::Memory.open().unwrap(), config).await.unwrap();
    let scope: segue_core::scope::Key = "agent:main:cli:direct:me".parse().unwrap();
    let at = "2026-03-01T10:00:00Z".parse().unwrap();
    let say = async |text: &str| engine.receive(Inbound::user(scope.clone(), at, text)).await.unwrap();
    let secret =
        say("let's go with the Blackwood cottage for the summer holiday in Wales").await.seq.unwrap();
    say(&"which walks are there around the cottage in Wales? ".repeat(80)).await;
    let outcome = say("and what about the walks around the cottage on rainy days?").await;
    assert_eq!(outcome.action.name(), "new_carry_over");
    let told =
        async || engine.messages(&engine.state(&scope).await.unwrap(), outcome.session, 9).await.unwrap();
    assert!(told().await[0].text.contains("Blackwood"), "{:?}", told().await[0].text);
    engine.request(&scope, at, &Request::Erase(vec![secret])).await.unwrap();
    assert!(told().await.iter().all(|told| !told.text.contains("Blackwood")));
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
