//! `segue move`: killed and gone on with, with a source that is written meanwhile, and every refusal.

use crate::world::{DURABLE, ME, Ran, World};
use segue_testing::postgres::Database;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

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

/// A place for a store, and what has to live as long.
struct Place {
    url: String,
    /// The folder that a copy is made in; a database has none.
    folder: &'static str,
    database: Option<Database>,
}

/// The places that a store can be moved between; without PostgreSQL only those on the disk.
fn places(of: [(&str, &'static str); 2]) -> Vec<Place> {
    let place = |(url, folder): (&str, _)| Place { url: url.to_owned(), folder, database: None };
    let postgres = segue_testing::postgres::database().map(|database| Place {
        url: database.url().to_owned(),
        folder: "",
        database: Some(database),
    });
    of.map(place).into_iter().chain(postgres).collect()
}

impl Place {
    /// How much of a copy there is: bytes of files, rows of a database.
    fn amount(&self, world: &World) -> u64 {
        let rows = "SELECT count(*) FROM segue_entries";
        match &self.database {
            None => size(&world.path(self.folder)),
            Some(database) => database.psql(rows).ok().and_then(|rows| rows.parse().ok()).unwrap_or(0),
        }
    }

    /// When a move is to be killed.
    fn amounts(&self) -> [u64; 4] {
        match &self.database {
            None => [1, 10_000, 60_000, 120_000],
            Some(_) => [1, 20, 60, 100],
        }
    }

    /// Says something in the store.
    fn say(&self, world: &World, text: &str) {
        world.run_with(&["chat", "--store", &self.url, "--scope", ME, "--json"], text.as_bytes());
    }
}

/// Killed in each pair of stores at other places each time, with a source that goes on meanwhile.
#[test]
fn a_move_that_is_killed_goes_on() {
    for from in 0..places([("", ""); 2]).len() {
        for to in places([("files:copy", "copy"), ("sqlite:to/copy.db", "to")]) {
            let from = places([(DURABLE[0], ""), (DURABLE[1], "")]).swap_remove(from);
            is_moved(&from, &to);
        }
    }
}

fn is_moved(from: &Place, to: &Place) {
    let world = many(&from.url);
    let (from_url, to_url) = (from.url.as_str(), to.url.as_str());
    let dry = moved(&world, from_url, to_url, &["--dry-run", "--json"]).expect_code(0).json();
    assert_eq!(dry["scopes"], 25, "{dry}");
    assert_eq!(to.amount(&world), 0);
    for amount in to.amounts() {
        let mut child = world
            .command()
            .args(["move", "--from", from_url, "--to", to_url])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while to.amount(&world) < amount && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        let _ = child.kill();
        child.wait().unwrap();
        // The source goes on meanwhile.
        from.say(&world, &format!("said after the kill at {amount}"));
    }
    let told = moved(&world, from_url, to_url, &["--json"]).expect_code(0).json();
    assert_eq!((&told["scopes"], &told["complete"]), (&25.into(), &true.into()), "{told}");
    is_the_same(&world, from_url, to_url);
    let again = moved(&world, from_url, to_url, &["--quick", "--json"]).expect_code(0).json();
    assert_eq!(again["entries"], 0, "{again}");
    // A target that is in use is left alone.
    to.say(&world, "in the new place");
    let refused = moved(&world, from_url, to_url, &[]).expect_code(2);
    assert!(refused.err.contains("it is in use"), "{}", refused.seen());
}

/// The copy is sound, and tells the same.
fn is_the_same(world: &World, from: &str, to: &str) {
    world.run(&["verify", "--store", to]).expect_code(0);
    for args in [&["scopes", "--json"][..], &["sessions", "show", "--json", "agent:main:cli:direct:me#2"]] {
        let of = |store: &str| world.run(&[args, &["--store", store]].concat()).expect_code(0).out;
        assert_eq!(of(to), of(from), "{from} to {to}");
    }
}

/// Somebody talks all the while: each run catches up, says whether it did, and after the last one the copy is complete.
#[test]
fn a_source_that_is_written_meanwhile_is_caught_up_with() {
    // A folder is used by one program at a time.
    for from in places([(DURABLE[0], ""), (DURABLE[1], "")]).into_iter().filter(|from| from.url != DURABLE[1])
    {
        let world = many(&from.url);
        let (from_url, to_url) = (from.url.as_str(), "sqlite:to/copy.db");
        let mut talking = world
            .command()
            .args(["chat", "--store", from_url, "--scope", ME, "--json"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let (mut input, stopped) = (talking.stdin.take().unwrap(), Arc::new(AtomicBool::new(false)));
        let is_stopped = Arc::clone(&stopped);
        // The program reads a line once it has written the one before.
        let writer = std::thread::spawn(move || {
            let lines = (0..).take_while(|_| !is_stopped.load(SeqCst));
            lines.map(|n| writeln!(input, "said meanwhile {n}")).take_while(Result::is_ok).count()
        });
        // Until a run has found something that was said since the one before.
        for n in 0.. {
            let ran = moved(&world, from_url, to_url, &["--json"]);
            let told = ran.json();
            let code = if told["complete"] == true { 0 } else { 1 };
            assert_eq!(ran.code, Some(code), "{}", ran.seen());
            if n > 0 && told["entries"].as_u64() > Some(0) {
                break;
            }
        }
        stopped.store(true, SeqCst);
        assert!(writer.join().unwrap() > 0);
        assert!(talking.wait().unwrap().success());
        let last = moved(&world, from_url, to_url, &["--quick", "--json"]).expect_code(0).json();
        assert_eq!(last["complete"], true, "{last}");
        is_the_same(&world, from_url, to_url);
    }
}

/// A backup goes into an empty database, and never over another one.
#[test]
fn a_backup_in_a_database_is_never_written_over() {
    let Some(database) = segue_testing::postgres::database() else { return };
    let world = World::with_talk("sqlite:log.db");
    world.run(&["backup", database.url()]).expect_code(0);
    world.run(&["verify", "--store", database.url()]).expect_code(0);
    let refused = world.run(&["backup", database.url()]).expect_code(2);
    assert!(refused.err.contains("never written over"), "{}", refused.seen());
    let forgotten = world.run(&["backup", "memory:"]).expect_code(2);
    assert!(forgotten.err.contains("is forgotten"), "{}", forgotten.seen());
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
