//! `segue move`: killed and gone on with, with a source that is written meanwhile, and every refusal.

use crate::world::{DURABLE, ME, Ran, World};
use std::path::Path;
use std::process::Stdio;

/// A world with a store of many scopes.
fn many(store: &str) -> World {
    let world = World::with_talk(store);
    let line = |scope: usize, n: usize| {
        format!(
            "{{\"at\":\"2026-03-01T11:00:{n:02}Z\",\"scope\":\"agent:main:cli:direct:p{scope}\",\"role\":\"user\",\"text\":\"message {n}\",\"message_id\":\"{n}\"}}\n"
        )
    };
    let lines: String = (0..4).flat_map(|n| (0..24).map(move |scope| line(scope, n))).collect();
    world.file("many.jsonl", lines);
    world.run(&["replay", "many.jsonl", "--store", store]).expect_code(0);
    world.run(&["erase", ME, "2"]).expect_code(0);
    world
}

/// How many bytes there are below a folder.
fn size(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| match entry.metadata() {
            Ok(found) if found.is_dir() => size(&entry.path()),
            Ok(found) => found.len(),
            Err(_) => 0,
        })
        .sum()
}

fn moved(world: &World, from: &str, to: &str, more: &[&str]) -> Ran {
    world.run(&[&["move", "--from", from, "--to", to][..], more].concat())
}

#[test]
fn a_move_that_is_killed_goes_on() {
    for from in DURABLE {
        for (to, folder) in [("files:copy", "copy"), ("sqlite:to/copy.db", "to")] {
            let world = many(from);
            let dry = moved(&world, from, to, &["--dry-run", "--json"]).expect_code(0).json();
            assert_eq!(dry["scopes"], 25, "{dry}");
            assert!(!world.path(folder).exists());
            // Killed when its target holds so many bytes: at other places each time.
            for bytes in [1, 10_000, 60_000, 120_000] {
                let mut child = world
                    .command()
                    .args(["move", "--from", from, "--to", to])
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .spawn()
                    .unwrap();
                while size(&world.path(folder)) < bytes && child.try_wait().unwrap().is_none() {
                    std::thread::yield_now();
                }
                let _ = child.kill();
                child.wait().unwrap();
                // The source goes on meanwhile.
                let text = format!("said after the kill at {bytes}");
                world.run_with(&["chat", "--store", from, "--scope", ME, "--json"], text.as_bytes());
            }
            let told = moved(&world, from, to, &["--json"]).expect_code(0).json();
            assert_eq!((&told["scopes"], &told["complete"]), (&25.into(), &true.into()), "{told}");
            world.run(&["verify", "--store", to]).expect_code(0);
            for args in
                [&["scopes", "--json"][..], &["sessions", "show", "--json", "agent:main:cli:direct:me#2"]]
            {
                let of = |store: &str| world.run(&[args, &["--store", store]].concat()).expect_code(0).out;
                assert_eq!(of(to), of(from), "{from} to {to}");
            }
            let again = moved(&world, from, to, &["--quick", "--json"]).expect_code(0).json();
            assert_eq!(again["entries"], 0, "{again}");
            // A target that is in use is left alone.
            world.run_with(&["chat", "--store", to, "--scope", ME, "--json"], b"in the new place");
            let refused = moved(&world, from, to, &[]).expect_code(2);
            assert!(refused.err.contains("it is in use"), "{}", refused.seen());
        }
    }
}

#[test]
fn a_token_that_is_revoked_meanwhile_is_revoked_in_the_copy() {
    let world = World::with_talk("sqlite:log.db");
    let tokens = |store: &str| world.run(&["token", "list", "--json", "--store", store]).expect_code(0).out;
    for name in ["phone", "desk"] {
        world.run(&["token", "add", name]).expect_code(0);
    }
    moved(&world, "sqlite:log.db", "files:copy", &[]).expect_code(0);
    assert_eq!(tokens("files:copy"), tokens("sqlite:log.db"));
    world.run(&["token", "revoke", "phone"]).expect_code(0);
    moved(&world, "sqlite:log.db", "files:copy", &[]).expect_code(0);
    assert!(tokens("files:copy").contains("\"revoked_at\":\"20"));
    assert_eq!(tokens("files:copy"), tokens("sqlite:log.db"));
}

/// A token that somebody has made in the target, to be ready for the switch, is there after every run, and is told.
#[test]
fn a_token_of_the_target_is_left_there() {
    let world = World::with_talk("sqlite:log.db");
    world.run(&["token", "add", "phone"]).expect_code(0);
    world.run(&["token", "add", "new", "--store", "files:copy"]).expect_code(0);
    for _ in 0..2 {
        let told = moved(&world, "sqlite:log.db", "files:copy", &[]).expect_code(0);
        assert!(told.err.contains("only the target has"), "{}", told.seen());
        let tokens = world.run(&["token", "list", "--json", "--store", "files:copy"]).expect_code(0).out;
        assert!(tokens.contains("\"new\"") && tokens.contains("\"phone\""), "{tokens}");
    }
}

/// Another program keeps a transaction open in the target's server, which hides the last commits from whoever watches: the next run
/// is no less welcome.
#[test]
fn a_move_goes_on_beside_an_open_transaction() {
    let Some(database) = segue_testing::postgres::database() else { return };
    let world = many("sqlite:log.db");
    let mut session = segue_testing::session::Session::open(database.cluster(), database.name()).unwrap();
    session.run("BEGIN; SELECT pg_current_xact_id()").unwrap();
    moved(&world, "sqlite:log.db", database.url(), &[]).expect_code(0);
    drop(session);
    let again = moved(&world, "sqlite:log.db", database.url(), &["--quick", "--json"]).expect_code(0).json();
    assert_eq!((&again["entries"], &again["complete"]), (&0.into(), &true.into()), "{again}");
    world.run_with(&["chat", "--store", database.url(), "--scope", ME, "--json"], b"in the new place");
    let refused = moved(&world, "sqlite:log.db", database.url(), &[]).expect_code(2);
    assert!(refused.err.contains("it is in use"), "{}", refused.seen());
}

#[test]
fn what_cannot_be_moved_is_refused_with_a_reason() {
    let world = World::with_talk("sqlite:log.db");
    world.run(&["replay", "talk.jsonl", "--store", "files:other"]).expect_code(0);
    for (from, to, part) in [
        ("sqlite:log.db", "sqlite:log.db", "to itself"),
        ("sqlite:missing.db", "files:copy", "there is no store at"),
        ("sqlite:log.db", "memory:", "is forgotten"),
        ("memory:", "files:copy", "is forgotten"),
        ("sqlite:log.db", "files:other", "conversations of its own"),
        ("sqlite:log.db", "nonsense:x", "names no store"),
        ("sqlite:log.db", "postgres://nobody@127.0.0.1:1/none", "cannot be reached"),
        ("postgres://nobody:s3cret@127.0.0.1:1/none", "files:copy", "cannot be reached"),
    ] {
        let refused = moved(&world, from, to, &[]).expect_code(2);
        assert!(refused.err.contains(part), "{from} to {to}: {}", refused.seen());
        assert!(!refused.err.contains("s3cret"), "{}", refused.seen());
    }
    // A copy of another store is not gone on with.
    moved(&world, "sqlite:log.db", "files:copy", &[]).expect_code(0);
    let refused = moved(&world, "files:other", "files:copy", &[]).expect_code(2);
    assert!(refused.err.contains("is a copy of"), "{}", refused.seen());
}
