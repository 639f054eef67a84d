//! A copy of a live store is noticed, and a backup is safe at any time (finding 22).

use super::{ANN, said_in, world};
use crate::world::World;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Stdio};

/// A chat that goes on, in a process of its own.
struct Live {
    child: Child,
    stdin: ChildStdin,
}

impl Live {
    /// Begins a chat, and returns when what is said is durable.
    fn with(world: &World, said: &[&str]) -> Self {
        let mut command = world.command();
        command.args(["chat", "--scope", ANN, "--json"]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (mut stdin, mut out) =
            (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        for text in said {
            writeln!(stdin, "{text}").unwrap();
            let mut line = String::new();
            out.read_line(&mut line).unwrap();
            assert!(line.starts_with('{'), "{line}");
        }
        Self { child, stdin }
    }

    fn end(self) {
        let Self { mut child, stdin } = self;
        drop(stdin);
        assert!(child.wait().unwrap().success());
    }

    fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn copy(world: &World, from: &str, to: &str) {
    std::fs::copy(world.path(from), world.path(to)).unwrap();
}

#[test]
fn fc22_a_copy_without_its_log_is_noticed() {
    let world = world();
    let live = Live::with(&world, &["the hotel in Lisbon", "it has a pool"]);
    copy(&world, "log.db", "alone.db");
    copy(&world, "log.db", "both.db");
    copy(&world, "log.db-wal", "both.db-wal");
    // Whatever is done with it, whoever does it is warned.
    for verb in ["scopes", "why", "scopes"] {
        let ran = world.run(&[verb, "--store", "sqlite:alone.db"]);
        assert!(ran.err.contains("without its write-ahead log"), "{verb}: {}", ran.seen());
    }
    for verb in ["verify", "doctor"] {
        let ran = world.run(&[verb, "--store", "sqlite:alone.db"]).expect_code(1);
        assert!(ran.out.contains("without its write-ahead log"), "{verb}: {}", ran.seen());
        assert!(ran.out.contains("segue backup"), "{verb}: {}", ran.seen());
        world.run(&[verb, "--store", "sqlite:both.db"]).expect_code(0);
    }
    let both = world.run(&["sessions", "show", ANN, "--store", "sqlite:both.db"]).expect_code(0).out;
    assert!(both.contains("it has a pool"), "{both}");
    // The store itself is sound, while it is in use and after.
    world.run(&["verify"]).expect_code(0);
    live.end();
    world.run(&["verify"]).expect_code(0);
    copy(&world, "log.db", "later.db");
    world.run(&["verify", "--store", "sqlite:later.db"]).expect_code(0);
}

#[test]
fn fc22_a_crash_is_no_copy() {
    let world = world();
    Live::with(&world, &["the hotel in Lisbon"]).kill();
    for _ in 0..2 {
        world.run(&["verify"]).expect_code(0);
    }
    assert_eq!(said_in(&world, 1), ["user: the hotel in Lisbon"]);
}

#[test]
fn fc22_a_backup_is_safe_at_any_time() {
    let world = world();
    let live = Live::with(&world, &["the hotel in Lisbon", "/new", "the soup"]);
    for place in ["backup.db", "files:backup"] {
        let ran = world.run(&["backup", place]).expect_code(0);
        assert!(ran.out.contains("verified"), "{}", ran.out);
    }
    live.end();
    let refused = world.run(&["backup", "backup.db"]).expect_code(2);
    assert!(refused.err.contains("never written over"), "{}", refused.err);
    for (n, from) in ["backup.db", "files:backup"].iter().enumerate() {
        let store = format!("sqlite:back{n}.db");
        world.run(&["restore", from, "--store", &store]).expect_code(0);
        world.run(&["verify", "--store", &store]).expect_code(0);
        let listed = world.run(&["sessions", "list", ANN, "--store", &store, "--json"]).expect_code(0).json();
        assert_eq!(listed.as_array().unwrap().len(), 2);
    }
}
