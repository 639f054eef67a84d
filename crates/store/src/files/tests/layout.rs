//! What a person finds in the folder.

use super::{Fixture, ME, folder, message_seq, say_as};
use crate::error::Error;
use crate::files::Files;
use segue_core::decide::Command;
use segue_core::message::MessageId;
use segue_core::session::{Number, Title};
use serde_json::json;
use std::fs;

#[test]
fn the_index_has_exactly_the_shape_of_004() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    assert_eq!(fixture.index(), json!({"version": 1, "scopes": {}}));
    fixture.say("one");
    fixture.new_session();
    fixture.new_session();
    fixture.run(&Command::Resume { session: Number(2) });
    assert_eq!(
        fixture.index(),
        json!({
            "version": 1,
            "scopes": {
                ME: {
                    "active_session_key": format!("{ME}#2"),
                    "ordered_sessions": [format!("{ME}#3"), format!("{ME}#2"), ME],
                    "updated_at": "2026-03-01T10:04:00Z"
                }
            }
        })
    );
}

#[test]
fn a_scope_is_a_folder_with_a_journal_and_a_file_for_each_segment() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    fixture.say("one");
    fixture.new_session();
    fixture.say("two");
    let lines = |name: &str| -> Vec<serde_json::Value> {
        let text = fs::read_to_string(fixture.scope_path(name)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let kinds = |name: &str| -> Vec<String> {
        lines(name).iter().filter_map(|line| line["kind"].as_str().map(str::to_owned)).collect()
    };
    assert_eq!(lines("journal.jsonl")[0], json!({"segue": 4, "scope": ME}));
    assert_eq!(kinds("journal.jsonl"), ["opened", "sealed", "opened"]);
    assert_eq!(kinds("000001.jsonl"), ["user", "decision", "command"]);
    assert_eq!(kinds("000002.jsonl"), ["decision", "user", "decision"]);
    let said = &lines("000002.jsonl")[1];
    assert_eq!(said["body"], json!({"text": "two"}));
    assert_eq!(said["batch"], json!([said["seq"], said["seq"].as_u64().unwrap() + 1]));
}

#[test]
fn an_erased_body_is_nowhere_on_the_disk() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    fixture.run(&say_as("a secret", "77"));
    fixture.run(&Command::Rename { session: Number(1), title: Title::new("a hidden title").unwrap() });
    fixture.say("more");
    let secret = message_seq(&fixture, "a secret");
    fixture.run(&Command::Erase { entries: vec![secret], along: Vec::new() });
    fixture.say("and more");
    fixture.new_session();
    assert_eq!(
        fixture.inner().with(&fixture.scope, |s| Ok(s.seen[&MessageId("77".into())])).unwrap(),
        secret
    );
    fixture.run(&Command::Delete { session: Number(1) });
    fixture.say("still more");
    fixture.check();
    let everything: String = fs::read_dir(fixture.scope_path(""))
        .unwrap()
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    assert!(!everything.contains("a secret") && !everything.contains("a hidden title"));
    assert!(everything.contains("\"erased\":\""));
}

#[test]
fn odd_scopes_have_folders_of_their_own() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    let keys = [
        "a:b",
        "a_b",
        "A:b",
        "../x",
        "..",
        ".",
        "con",
        "ü🙂",
        "index.json",
        "lock",
        "store.lock",
        &"x".repeat(1024),
    ];
    for key in keys {
        fixture.scope = key.parse().unwrap();
        fixture.expected = Default::default();
        fixture.say(key);
    }
    fixture.reopen();
    for key in keys {
        fixture.scope = key.parse().unwrap();
        assert_eq!(fixture.texts(1), [key]);
    }
    assert_eq!(fixture.scopes().len(), keys.len());
    assert_eq!(fixture.problems(), Vec::<String>::new());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is written outside");
}

#[test]
fn only_one_process_has_the_store_open() {
    let dir = folder();
    let fixture = Fixture::new(dir.path());
    let second = Files::open(dir.path());
    assert!(matches!(&second, Err(Error::Unavailable { why, .. }) if why.contains("another process")));
    drop(fixture);
    assert!(Files::open(dir.path()).is_ok());
}

#[test]
fn a_folder_that_cannot_be_made_is_a_sentence() {
    let dir = folder();
    fs::write(dir.path().join("file"), "").unwrap();
    let error = Files::open(&dir.path().join("file/store")).unwrap_err();
    assert!(matches!(&error, Error::Unavailable { .. }), "{error}");
}

#[test]
fn newer_formats_are_refused() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    fixture.say("one");
    fixture.close();
    let journal = fs::read_to_string(fixture.scope_path("journal.jsonl")).unwrap();
    fs::write(fixture.scope_path("journal.jsonl"), journal.replace("\"segue\":4", "\"segue\":5")).unwrap();
    fixture.reopen();
    assert!(matches!(fixture.load(), Err(Error::NewerFormat { found: 5, known: 4 })));
    fixture.close();
    fs::write(fixture.path("index.json"), r#"{"version":7,"future":true}"#).unwrap();
    assert!(matches!(Files::open(dir.path()), Err(Error::NewerFormat { found: 7, known: 1 })));
}

/// An entry of a kind that only a newer program knows is no damage: it is said, and nothing is touched.
#[test]
fn l10_an_entry_of_an_unknown_kind_is_of_a_newer_segue() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    fixture.say("one");
    fixture.close();
    for (file, bones, end) in [
        ("journal.jsonl", "\"bones\":1,", "\n"),
        ("000001.jsonl", "", "\n"),
        // Its end may have been cut off, which is mended where the entry can be read.
        ("000001.jsonl", "", ""),
    ] {
        let path = fixture.scope_path(file);
        let whole = fs::read_to_string(&path).unwrap();
        let seq = fixture.expected.state.as_ref().unwrap().head.0 + 1;
        let line = format!(
            "{{\"seq\":{seq},\"segment\":1,\"at\":\"2026-03-01T12:00:00.000000Z\",\"kind\":\"foreseen\",\"nth\":1,\
             \"batch\":[{seq},{seq}],{bones}\"body\":{{\"visibility\":7}}}}{end}"
        );
        fs::write(&path, format!("{whole}{line}")).unwrap();
        fixture.reopen();
        let before = all_files(dir.path());
        let found = fixture.inner().with(&fixture.scope, |scope| Ok(scope.state.clone()));
        let error = found.unwrap_err().to_string();
        assert!(error.contains("'foreseen'") && error.contains("use a newer Segue"), "{file}: {error}");
        let append = fixture.append_of(&super::say("two"));
        let error = fixture.inner().append(append).unwrap_err().to_string();
        assert!(error.contains("use a newer Segue"), "{file}: {error}");
        assert!(
            fixture.problems().join(" ").contains("use a newer Segue"),
            "{file}: {:?}",
            fixture.problems()
        );
        assert_eq!(all_files(dir.path()), before, "{file}: nothing is touched");
        fixture.close();
        fs::write(&path, whole).unwrap();
    }
    // What is one letter off is damage, and no kind that anybody will know.
    let path = fixture.scope_path("000001.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, whole.replacen("\"user\"", "\"usar\"", 1)).unwrap();
    fixture.reopen();
    assert!(fixture.problems().join(" ").contains("it is set aside"), "{:?}", fixture.problems());
}

/// Reads every file of a folder.
pub(super) fn all_files(folder: &std::path::Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(all_files(&path)),
            false => found.push((path.clone(), fs::read(&path).unwrap())),
        }
    }
    found.sort();
    found
}
