//! Stores that cannot be used: a clear sentence with what to do next, and what is there stays as it is.

use crate::world::{DURABLE, ME, Ran, World, check};
use serde_json::json;
use std::fs;

#[test]
fn places_where_nothing_can_be_kept() {
    let world = World::new();
    world.file("talk.jsonl", crate::world::TALK.trim_start());
    world.file("file", "just a file");
    world.file("folder/x", "");
    check!(world.script(
        "replay talk.jsonl --store sqlite:file/log.db
         replay talk.jsonl --store files:file/log
         replay talk.jsonl --store files:file
         replay talk.jsonl --store sqlite:folder
         replay talk.jsonl --store sqlite:
         replay talk.jsonl --store log.db
         scopes --store sqlite:file"
    ));
    assert_eq!(fs::read(world.path("file")).unwrap(), b"just a file");
    let url = "postgres://me:s3cret@127.0.0.1:1/segue";
    let refused = world.run(&["scopes", "--store", url]).expect_code(2);
    assert!(refused.err.contains("error: PostgreSQL cannot be reached"), "{}", refused.seen());
    assert!(!refused.err.contains("s3cret"), "{}", refused.seen());
}

/// A folder that is somebody else's, and a store in it.
#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_written() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    let world = World::new();
    world.file("talk.jsonl", crate::world::TALK.trim_start());
    world.file("locked/x", "");
    for store in ["sqlite:locked/old.db", "files:locked/old"] {
        world.run(&["replay", "talk.jsonl", "--store", store]).expect_code(0);
    }
    // Nothing is locked for root, so root becomes nobody; who may not be able to reach the binary.
    fs::copy(env!("CARGO_BIN_EXE_segue"), world.path("segue")).unwrap();
    let mode = |path: &str, mode| {
        fs::set_permissions(world.path(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("", 0o755);
    mode("locked/old.db", 0o444);
    mode("locked/old", 0o555);
    mode("locked", 0o555);
    let is_root = fs::metadata(world.path("")).unwrap().uid() == 0;
    let run = |args: &[&str]| {
        let mut command = world.prepared(&world.path("segue").to_string_lossy());
        if is_root {
            command.uid(65_534).gid(65_534);
        }
        Ran::of(command.args(args).output().unwrap())
    };
    let mut seen = String::new();
    for store in ["sqlite:locked/new.db", "sqlite:locked/deep/new.db", "sqlite:locked/old.db"] {
        let ran = run(&["replay", "talk.jsonl", "--store", store]).expect_code(2);
        seen.push_str(&format!("{store}\n{}", ran.seen()));
    }
    let ran = run(&["replay", "talk.jsonl", "--store", "files:locked/new"]).expect_code(2);
    seen.push_str(&format!("files:locked/new\n{}", ran.seen()));
    check!(seen);
    mode("locked", 0o755);
    mode("locked/old", 0o755);
    mode("locked/old.db", 0o644);
    for store in ["sqlite:locked/old.db", "files:locked/old"] {
        world.run(&["verify", "--store", store]).expect_code(0);
    }
}

#[allow(clippy::disallowed_methods, reason = "the test is another program")]
fn sql(world: &World, statement: &str) {
    let db = rusqlite::Connection::open(world.path("log.db")).unwrap();
    db.execute_batch(statement).unwrap();
}

#[test]
fn a_database_of_a_newer_segue() {
    let world = World::with_talk("sqlite:log.db");
    sql(&world, "PRAGMA user_version = 99");
    let before = fs::read(world.path("log.db")).unwrap();
    check!(world.script("scopes\nreplay talk.jsonl --store sqlite:log.db\nverify"));
    assert_eq!(fs::read(world.path("log.db")).unwrap(), before);
}

#[test]
fn a_database_of_another_program() {
    let world = World::new().variable("SEGUE_STORE_URL", "sqlite:log.db");
    sql(&world, "CREATE TABLE photos (name TEXT)");
    check!(world.script("scopes\nsessions new agent:main:main"));
}

/// What is no database any more is not touched, and `verify` says no.
#[test]
fn a_damaged_database() {
    let world = World::with_talk("sqlite:log.db");
    let whole = fs::read(world.path("log.db")).unwrap();
    let garbage = vec![0x5a; whole.len()];
    fs::write(world.path("log.db"), &garbage).unwrap();
    check!(world.script("scopes\nreplay talk.jsonl --store sqlite:log.db\nverify\nverify --json"));
    assert_eq!(fs::read(world.path("log.db")).unwrap(), garbage);
    // Damage anywhere: never a panic, and never "sound".
    for page in 1..whole.len() / 4096 {
        let mut damaged = whole.clone();
        damaged[page * 4096..(page + 1) * 4096].fill(0xff);
        fs::write(world.path("log.db"), &damaged).unwrap();
        let ran = world.run(&["verify", "--json"]);
        assert_eq!(ran.code, Some(1), "page {page}: {}", ran.seen());
        assert_eq!(ran.json()["ok"], json!(false), "page {page}");
        world.run(&["sessions", "list", ME]);
        world.run(&["sessions", "show", ME]);
    }
    fs::write(world.path("log.db"), &whole[..whole.len() / 2]).unwrap();
    assert_eq!(world.run(&["verify"]).code, Some(1));
}

/// The disk is full in the middle of a replay: the lines that were acknowledged are there, the others are
/// reported one by one, and the store is sound.
#[cfg(unix)]
#[test]
fn a_full_disk_under_the_store() {
    let line = |n: usize| {
        let text = "x".repeat(2_000);
        format!(r#"{{"at":"2026-03-01T10:00:00Z","scope":"s","text":"{n} {text}","message_id":"{n}"}}"#)
    };
    for store in DURABLE {
        let world = World::new().variable("SEGUE_STORE_URL", store);
        world.file("many.jsonl", (0..200).map(line).collect::<Vec<_>>().join("\n"));
        // A limit on the size of files stands in for a disk; the signal would kill where a disk does not.
        let script = format!(
            "trap '' XFSZ; ulimit -f 300; exec {} replay many.jsonl --json --store {store}",
            env!("CARGO_BIN_EXE_segue")
        );
        let ran = Ran::of(world.prepared("sh").args(["-c", &script]).output().unwrap());
        let lines = ran.json_lines();
        let taken: Vec<u64> = lines
            .iter()
            .filter(|line| line["action"] == json!("continue"))
            .map(|line| line["line"].as_u64().unwrap())
            .collect();
        assert!(!taken.is_empty() && taken.len() < 200, "{store}: {} taken, {}", taken.len(), ran.err);
        assert!(!ran.err.is_empty());
        // Then there is room again.
        world.run(&["verify"]).expect_code(0);
        let shown = world.run(&["sessions", "show", "s", "--json"]).expect_code(0).json();
        let kept: Vec<String> = shown["conversation_state"]
            .as_array()
            .unwrap()
            .iter()
            .map(|message| message["content"].as_str().unwrap().split(' ').next().unwrap().to_owned())
            .collect();
        for line in taken {
            assert!(kept.contains(&(line - 1).to_string()), "{store}: line {line} is lost");
        }
        world.run(&["replay", "many.jsonl", "--store", store]).expect_code(0);
        assert_eq!(world.run(&["scopes", "--json"]).json()[0]["messages"], json!(200));
        world.run(&["verify"]).expect_code(0);
    }
}

/// Many programs make the same store at the same moment: one makes it, the others find it made.
#[test]
fn many_programs_make_one_store() {
    for round in 0..5 {
        let world = World::new();
        let start = |n: usize| {
            let mut command = world.command();
            command.args(["sessions", "new", &format!("scope-{n}"), "--store", "sqlite:log.db"]);
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap()
        };
        let children: Vec<_> = (0..8).map(start).collect();
        for child in children {
            let ran = Ran::of(child.wait_with_output().unwrap()).expect_code(0);
            assert_eq!(ran.err, "", "round {round}");
        }
        let scopes = world.run(&["scopes", "--json", "--store", "sqlite:log.db"]).json();
        assert_eq!(scopes.as_array().unwrap().len(), 8);
        world.run(&["verify", "--store", "sqlite:log.db"]).expect_code(0);
    }
}

/// Two programs on one store: the second waits or is told to, and nothing is lost.
#[test]
fn two_programs_at_once() {
    let line = |who: &str, n: usize| {
        format!(r#"{{"at":"2026-03-01T10:00:00Z","scope":"s","text":"{who} {n}","message_id":"{who}{n}"}}"#)
    };
    let world = World::new();
    for who in ["a", "b"] {
        world.file(&format!("{who}.jsonl"), (0..50).map(|n| line(who, n)).collect::<Vec<_>>().join("\n"));
    }
    let start = |who: &str| {
        let mut command = world.command();
        command.args(["replay", &format!("{who}.jsonl"), "--json", "--store", "sqlite:log.db"]);
        command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped()).spawn().unwrap()
    };
    let children = ["a", "b"].map(start);
    for child in children {
        let ran = Ran::of(child.wait_with_output().unwrap()).expect_code(0);
        assert_eq!((ran.json_lines().len(), ran.err.as_str()), (50, ""));
    }
    let scopes = world.run(&["scopes", "--json", "--store", "sqlite:log.db"]).json();
    assert_eq!(scopes[0]["messages"], json!(100));
    world.run(&["verify", "--store", "sqlite:log.db"]).expect_code(0);
}
