//! What a store says when the disk is not as it should be: a sentence, never a panic, and never silence.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may do as tests do")]

#[allow(dead_code, reason = "other tests use the rest")]
use rusqlite::Connection;
use segue_core::decide::Command;
use segue_core::entry::{Record, Seq};
use segue_core::retention::{Past, ScheduledDeletion};
use segue_core::session::Number;
use segue_store::conformance::World;
use segue_store::{Error, Location, Store};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const SCOPES: [&str; 2] = ["agent:main:cli:direct:me", "agent:main:cli:direct:you"];

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

fn folder() -> tempfile::TempDir {
    let shm = Path::new("/dev/shm");
    if shm.is_dir() { tempfile::tempdir_in(shm).unwrap() } else { tempfile::tempdir().unwrap() }
}

fn open_sqlite(path: &Path) -> Result<Arc<dyn Store>, Error> {
    Location::Sqlite(path.to_owned()).open()
}

/// Makes a database with something of everything in it.
fn database(folder: &Path) -> (PathBuf, Vec<Vec<Record>>) {
    let path = folder.join("good.db");
    let store = open_sqlite(&path).unwrap();
    let logs = SCOPES.map(|scope| {
        let mut world = World::at(store.clone(), scope);
        block_on(async {
            for n in 0..120 {
                world.say_as(&format!("message {n} {}", "text ".repeat(n)), &format!("id{n}")).await.unwrap();
                if n % 24 == 23 {
                    world.run(&Command::New { first: None }).await.unwrap();
                }
            }
            world.whole_log().await
        })
    });
    (path, logs.into())
}

/// Opens a database and reads everything; says in sentences what is wrong, or that nothing is.
fn look(path: &Path) -> Result<Vec<Vec<Record>>, String> {
    let say = |error: Error| error.to_string();
    let store = open_sqlite(path).map_err(say)?;
    block_on(async {
        let mut problems = store.audit(None).await.map_err(say)?;
        let mut logs = Vec::new();
        for scope in SCOPES.map(|scope| scope.parse().unwrap()) {
            problems.extend(segue_store::verify::verify(store.as_ref(), &scope).await.map_err(say)?.problems);
            logs.push(store.tail(&scope, Seq::ZERO, usize::MAX).await.map_err(say)?);
        }
        if problems.is_empty() { Ok(logs) } else { Err(problems.join("; ")) }
    })
}

/// Writes a database file that has no write-ahead log beside it.
fn write_anew(path: &Path, bytes: &[u8]) {
    for beside in ["db-wal", "db-shm"] {
        let _ = std::fs::remove_file(path.with_extension(beside));
    }
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_folder_that_cannot_be_made_is_said_to_be_so() {
    // Below a file there is no folder, not even for root.
    let folder = folder();
    let file = folder.path().join("file");
    std::fs::write(&file, "I am a file").unwrap();
    for url in ["sqlite:DIR/segue.db", "sqlite:DIR/deep/segue.db", "files:DIR", "files:DIR/deep"] {
        let location: Location = url.replace("DIR", &file.display().to_string()).parse().unwrap();
        let error = location.open().err().unwrap();
        assert!(matches!(error, Error::Unavailable { .. }), "{url}: {error:?}");
        assert!(error.to_string().contains(&file.display().to_string()), "{url}: {error}");
    }
    let error = open_sqlite(folder.path()).err().unwrap();
    assert!(matches!(error, Error::Unavailable { .. }), "a folder in the place of the database: {error:?}");
    assert_eq!(std::fs::read(&file).unwrap(), b"I am a file");
}

#[test]
#[allow(clippy::disallowed_methods, reason = "plays another program")]
fn a_newer_format_is_refused_and_left_alone() {
    let folder = folder();
    let (path, _) = database(folder.path());
    Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let before = std::fs::read(&path).unwrap();
    let error = open_sqlite(&path).err().unwrap();
    assert!(matches!(error, Error::NewerFormat { found: 99, .. }), "{error:?}");
    assert!(error.to_string().contains("use a newer Segue"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

/// announcements of an older format are brought along, and are what the log says.
#[test]
#[allow(clippy::disallowed_methods, reason = "plays an older program")]
fn x1_announcements_of_an_older_format_are_known_by_their_entry() {
    let folder = folder();
    let path = folder.path().join("older.db");
    let mut world = World::new(open_sqlite(&path).unwrap());
    let before = block_on(async {
        for text in ["one", "two", "three"] {
            world.say(text).await;
            world.run(&Command::New { first: None }).await.unwrap();
        }
        let past = Past::Count { limit: 1 };
        for sessions in [vec![1, 2], vec![2]] {
            let going =
                sessions.into_iter().map(|n| ScheduledDeletion { session: Number(n), past }).collect();
            let announce = Command::Announce { going, stays: Vec::new(), due: world.now };
            world.run(&announce).await.unwrap();
        }
        world.state().await.extras.retiring.clone()
    });
    assert!(before[&Number(1)].entry < before[&Number(2)].entry);
    drop(world);
    let older = Connection::open(&path).unwrap();
    let strip =
        "UPDATE scope_extras SET extras = json_remove(extras, '$.retiring.1.entry', '$.retiring.2.entry')";
    assert_eq!(older.execute(strip, []).unwrap(), 1);
    let unlist = "DROP TABLE extras_rows; ALTER TABLE scope_extras DROP COLUMN has_rows;
                  ALTER TABLE scope_extras RENAME COLUMN extras TO mind; ALTER TABLE scope_extras RENAME TO standing;
                  ALTER TABLE sessions DROP COLUMN upkeep; DROP TABLE upkeep_due; DROP TRIGGER purges_erased; DROP TRIGGER purges_deleted; DROP TABLE purges; DROP TABLE in_use;
                  DROP TRIGGER entries_plain; DROP TABLE keyring; DROP TABLE span_pages;
                  DROP TRIGGER embeddings_erased; DROP TRIGGER embeddings_dropped; DROP TABLE embeddings;
                  DROP TABLE search_terms; DROP TABLE search_index; DROP TABLE search_messages;
                  DROP TABLE search_scopes; DROP TABLE search_key; DROP TABLE commits; DROP TABLE named_values; DROP TABLE leases; DROP INDEX scopes_newest;
                  ALTER TABLE scopes RENAME COLUMN updated_at TO clock;
                  CREATE INDEX scopes_newest ON scopes (clock DESC, key)";
    older.execute_batch(unlist).unwrap();
    older.execute_batch(include_str!("../src/sqlite/search.sql")).unwrap();
    older.execute_batch(include_str!("../src/sqlite/runs.sql")).unwrap();
    older.pragma_update(None, "user_version", 6).unwrap();
    drop(older);
    let world = World::new(open_sqlite(&path).unwrap());
    block_on(async {
        assert_eq!(world.state().await.extras.retiring, before);
        world.verify().await;
    });
}

#[test]
#[allow(clippy::disallowed_methods, reason = "plays another program")]
fn another_programs_database_is_refused_and_left_alone() {
    let folder = folder();
    let path = folder.path().join("other.db");
    let other = Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE notes (text); INSERT INTO notes VALUES ('mine')").unwrap();
    drop(other);
    let before = std::fs::read(&path).unwrap();
    let error = open_sqlite(&path).err().unwrap();
    assert!(error.to_string().contains("is another program's database"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert!(!folder.path().join("other.db-wal").exists());
}

#[test]
fn what_is_no_database_is_said_to_be_so() {
    let folder = folder();
    let path = folder.path().join("text.db");
    std::fs::write(&path, "this is a text, and longer than a hundred bytes. ".repeat(200)).unwrap();
    let error = open_sqlite(&path).err().unwrap();
    assert!(matches!(error, Error::Damaged { .. }), "{error:?}");
    let (good, _) = database(folder.path());
    let mut bytes = std::fs::read(good).unwrap();
    bytes[..100].fill(0xa5);
    std::fs::write(&path, bytes).unwrap();
    let error = open_sqlite(&path).err().unwrap();
    assert!(matches!(error, Error::Damaged { .. }), "{error:?}");
}

/// Wherever the file was cut off: something is said, unless nothing of it was read yet.
#[test]
fn a_truncated_database_is_said_to_be_so() {
    let folder = folder();
    let (good, _) = database(folder.path());
    let bytes = std::fs::read(good).unwrap();
    let path = folder.path().join("short.db");
    for keep in (1..bytes.len()).step_by(3_001) {
        write_anew(&path, &bytes[..keep]);
        let said = look(&path).expect_err(&format!("only {keep} bytes are left"));
        assert!(said.contains(' '), "{keep}: {said}");
    }
}

/// Bytes are flipped all over the file: it is found, or it changed nothing that anybody reads.
#[test]
fn flipped_bytes_are_found_or_do_no_harm() {
    let folder = folder();
    let (good, logs) = database(folder.path());
    let bytes = std::fs::read(good).unwrap();
    assert_eq!(look(&folder.path().join("good.db")).as_ref(), Ok(&logs));
    let path = folder.path().join("bad.db");
    let (mut found, mut harmless) = (0, 0);
    for at in (0..bytes.len()).step_by(bytes.len() / 120) {
        let mut bad = bytes.clone();
        let end = (at + 1 + at % 7).min(bad.len());
        bad[at..end].iter_mut().for_each(|byte| *byte ^= 0x41);
        write_anew(&path, &bad);
        match look(&path) {
            Err(_) => found += 1,
            Ok(read) => {
                assert_eq!(read, logs, "flipped from {at} to {end}");
                harmless += 1;
            }
        }
    }
    println!("{found} found, {harmless} in bytes that nobody reads");
    assert!(found > 60, "{found} found, {harmless} harmless");
}

/// A file of the log that is not what was written is found, whatever byte of it was changed.
#[test]
fn flipped_bytes_in_files_are_found() {
    let folder = folder();
    let location = Location::Files(folder.path().join("good"));
    let mut world = World::new(location.open().unwrap());
    block_on(async {
        for n in 0..6 {
            world.say_as(&format!("message {n}"), &format!("id{n}")).await.unwrap();
            if n % 2 == 1 {
                world.run(&Command::New { first: None }).await.unwrap();
            }
        }
    });
    let scope = world.scope.clone();
    drop(world);
    let mut changed = 0;
    let (good, bad) = (folder.path().join("good"), folder.path().join("bad"));
    // A line of `commits.jsonl` that was changed is left out: the logs have it.
    let files = log_files(&good).into_iter().filter(|file| !file.ends_with("commits.jsonl"));
    for file in files {
        let bytes = std::fs::read(&file).unwrap();
        // The last line may be taken for one that a crash has torn, which is mended.
        let whole = bytes[..bytes.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap_or(0);
        for at in (0..whole).step_by(17) {
            let _ = std::fs::remove_dir_all(&bad);
            copy(&good, &bad);
            let mut flipped = bytes.clone();
            flipped[at] ^= 0x01;
            let name = file.strip_prefix(&good).unwrap();
            std::fs::write(bad.join(name), &flipped).unwrap();
            assert!(
                look_at_files(&bad, &scope).is_err(),
                "{}: byte {at} was changed: {}",
                name.display(),
                String::from_utf8_lossy(&flipped[at.saturating_sub(200)..(at + 30).min(flipped.len())])
            );
            changed += 1;
        }
    }
    assert!(changed > 50, "{changed}");
}

fn look_at_files(folder: &Path, scope: &segue_core::scope::Key) -> Result<(), String> {
    let say = |error: Error| error.to_string();
    let store = Location::Files(folder.to_owned()).open().map_err(say)?;
    block_on(async {
        let mut problems = segue_store::verify::verify(store.as_ref(), scope).await.map_err(say)?.problems;
        problems.extend(store.audit(None).await.map_err(say)?);
        if problems.is_empty() { Ok(()) } else { Err(problems.join("; ")) }
    })
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn log_files(folder: &Path) -> Vec<PathBuf> {
    let (folders, files): (Vec<_>, Vec<_>) = entries(folder).into_iter().partition(|path| path.is_dir());
    let mut found: Vec<PathBuf> =
        files.into_iter().filter(|file| file.extension().is_some_and(|e| e == "jsonl")).collect();
    found.extend(folders.iter().flat_map(|folder| log_files(folder)));
    found.sort();
    found
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for path in entries(from) {
        let there = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &there);
        } else {
            std::fs::copy(&path, &there).unwrap();
        }
    }
}
