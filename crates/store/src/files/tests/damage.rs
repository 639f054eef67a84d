//! What is damage and what is not: a passing error, a crash between two lines, a change by hand.

use super::fault::{Extent, Faulty, Then};
use super::layout::all_files;
use super::{Fixture, folder};
use crate::error::Error;
use crate::files::disk::{Disk, Machine};
use segue_core::decide::Command;
use segue_core::session::Number;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A disk on which one file cannot be read for a while.
#[derive(Debug)]
struct Unreadable {
    file: &'static str,
    code: i32,
    now: AtomicBool,
}

impl Disk for Unreadable {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        match path.ends_with(self.file) && self.now.load(Ordering::SeqCst) {
            true => Err(io::Error::from_raw_os_error(self.code)),
            false => Machine.read(path),
        }
    }
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        Machine.create_dir(path)
    }
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        Machine.write(path, bytes)
    }
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        Machine.append(path, bytes)
    }
    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        Machine.truncate(path, len)
    }
    fn sync(&self, path: &Path) -> io::Result<()> {
        Machine.sync(path)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        Machine.rename(from, to)
    }
    fn remove(&self, path: &Path) -> io::Result<()> {
        Machine.remove(path)
    }
    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        Machine.sync_dir(path)
    }
}

fn three_sessions(fixture: &mut Fixture) {
    for text in ["one", "two", "three", "four"] {
        fixture.new_session();
        fixture.say(text);
        fixture.say("and more");
    }
    fixture.run(&Command::Delete { session: Number(2) });
    crate::files::sweep::sweep(fixture.inner()).unwrap();
}

/// L-10, X-5: who may not read a file now may later.
#[test]
fn l10_a_file_that_cannot_be_read_for_a_moment_is_not_damaged_and_nothing_is_moved() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    three_sessions(&mut fixture);
    for file in ["journal.jsonl", "000003.jsonl", "000004.jsonl", "dropped.jsonl"] {
        // EIO, EACCES, ENFILE, EMFILE.
        for code in [5, 13, 23, 24] {
            fixture.close();
            assert!(fixture.scope_path(file).exists(), "{file}");
            let before = all_files(&fixture.scope_path(""));
            let disk = Arc::new(Unreadable { file, code, now: AtomicBool::new(true) });
            fixture.open(disk.clone()).unwrap();
            for _ in 0..2 {
                let found = fixture.load();
                assert!(matches!(&found, Err(Error::Unavailable { .. })), "{file}: {found:?}");
                let append = fixture.append_of(&super::say("no"));
                let written = fixture.inner().append(append);
                assert!(matches!(&written, Err(Error::Unavailable { .. })), "{file}: {written:?}");
            }
            assert_eq!(all_files(&fixture.scope_path("")), before, "{file}");
            disk.now.store(false, Ordering::SeqCst);
            assert_eq!(fixture.load().unwrap(), fixture.expected.state, "{file}");
            fixture.check();
        }
    }
}

/// A crash between two lines of the journal is recovered before anything is judged: what was sealed by the append that was
/// never made is not sealed.
#[test]
fn p9_a_crash_between_two_lines_of_the_journal_is_no_damage() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    fixture.say("one");
    let acknowledged = fixture.expected.clone();
    let before = fs::read_to_string(fixture.scope_path("journal.jsonl")).unwrap();
    fixture.new_session();
    fixture.close();
    let after = fs::read_to_string(fixture.scope_path("journal.jsonl")).unwrap();
    let first = after[before.len()..].find('\n').unwrap() + 1;
    assert!(after[before.len()..][..first].contains("sealed"), "{after}");
    fs::write(fixture.scope_path("journal.jsonl"), &after[..before.len() + first]).unwrap();
    fs::remove_file(fixture.path("commits.jsonl")).unwrap();
    fixture.expected = acknowledged;
    // The disk does not take a write, and that is no reason to judge otherwise.
    fixture.open(Arc::new(Faulty::new(0, Extent::Half, Then::Stop))).unwrap_or_default();
    fixture.reopen();
    let files = all_files(&fixture.scope_path(""));
    for _ in 0..2 {
        assert_eq!(fixture.problems(), Vec::<String>::new());
        assert_eq!(fixture.load().unwrap(), fixture.expected.state);
        fixture.reopen();
    }
    assert_eq!(all_files(&fixture.scope_path("")), files, "who only looks changes nothing");
    fixture.say("two");
    fixture.new_session();
    fixture.check();
    assert_eq!(fixture.texts(1), ["one", "two"]);
}

/// The bytes of a line that a power cut left with a hole are set aside alone; all other lines count.
#[test]
fn p9_a_hole_in_the_last_append_costs_only_that_append() {
    for file in ["000001.jsonl", "journal.jsonl"] {
        let dir = folder();
        let mut fixture = Fixture::new(dir.path());
        fixture.say("one");
        let acknowledged = fixture.expected.clone();
        let len = fs::read(fixture.scope_path(file)).map(|bytes| bytes.len()).unwrap();
        match file {
            "journal.jsonl" => fixture.new_session(),
            _ => fixture.say(&"long ".repeat(4_000)),
        }
        fixture.close();
        let mut bytes = fs::read(fixture.scope_path(file)).unwrap();
        bytes[len..len + 100].fill(0);
        fs::write(fixture.scope_path(file), &bytes).unwrap();
        fs::remove_file(fixture.path("commits.jsonl")).unwrap();
        fixture.expected = acknowledged;
        fixture.reopen();
        fixture.check();
        fixture.say("two");
        fixture.check();
        assert_eq!(fixture.texts(1), ["one", "two"]);
        assert!(fixture.scope_path(&format!("{file}.torn")).exists());
    }
}

/// The same hole in an older line is damage: what came later was acknowledged after it.
#[test]
fn l10_a_hole_in_an_older_line_is_damage() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    fixture.say("one");
    fixture.say("two");
    fixture.say("three");
    fixture.close();
    let path = fixture.scope_path("000001.jsonl");
    let mut bytes = fs::read(&path).unwrap();
    bytes[20..60].fill(0);
    fs::write(&path, &bytes).unwrap();
    fixture.reopen();
    assert!(fixture.problems().join("\n").contains("000001.jsonl, line 1,"), "{:?}", fixture.problems());
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

/// M-D3: every line says what came before it, so that a change by hand is found also where nothing is sealed yet.
#[test]
fn m_d3_an_open_segment_that_was_changed_by_hand_is_found() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    for text in ["one", "two", "three"] {
        fixture.say(text);
    }
    fixture.close();
    for file in ["000001.jsonl", "journal.jsonl"] {
        let path = fixture.scope_path(file);
        let whole = fs::read_to_string(&path).unwrap();
        let lines: Vec<&str> = whole.split_inclusive('\n').collect();
        let mut changes = vec![whole.replacen("\"at\":\"2026", "\"at\":\"2025", 1)];
        if file == "000001.jsonl" {
            changes.extend([
                whole.replacen("\"text\":\"two\"", "\"text\":\"tow\"", 1),
                whole.replacen("\"text\":\"three\"", "\"text\":\"thrEE\"", 1),
                // The last message of all, and what was said to it.
                lines[2..].concat(),
                [&lines[..2], &lines[4..]].concat().concat(),
            ]);
        }
        for changed in changes {
            assert_ne!(changed, whole);
            fs::write(&path, &changed).unwrap();
            for _ in 0..2 {
                fixture.reopen();
                assert_ne!(fixture.problems(), Vec::<String>::new(), "{file}: {changed}");
            }
            assert_eq!(fs::read_to_string(&path).unwrap(), changed, "who only looks changes nothing");
            fixture.close();
        }
        fs::write(&path, whole).unwrap();
    }
    fixture.reopen();
    fixture.check();
}

/// Issue 16, row 15: lines that were cut off the end of an open segment leave whole lines behind; what was acknowledged is known
/// elsewhere.
#[test]
fn m_d3_an_open_segment_that_was_cut_off_is_found() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    for text in ["one", "two", "three"] {
        fixture.say(text);
    }
    let path = fixture.scope_path("000001.jsonl");
    fixture.close();
    let whole = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = whole.lines().collect();
    fs::write(&path, lines[..lines.len() - 1].join("\n") + "\n").unwrap();
    for _ in 0..2 {
        fixture.reopen();
        let problems = crate::files::audit::scope(fixture.inner(), &fixture.scope).unwrap();
        assert!(
            problems.iter().any(|problem| problem.contains("were written and are missing")),
            "{problems:?}"
        );
        fixture.close();
    }
    fs::write(&path, whole).unwrap();
    fixture.reopen();
    assert_eq!(crate::files::audit::scope(fixture.inner(), &fixture.scope).unwrap(), Vec::<String>::new());
}

/// A line of the values that was changed may be the one that took a token away: it is told, and stays as it is.
#[test]
fn a_value_that_was_changed_by_hand_is_told_and_a_torn_one_is_cut_off() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    let now = fixture.now;
    let write = |fixture: &Fixture, key: &str, bytes: &str| {
        let inner = fixture.inner();
        let value = crate::values::Value::new(key, bytes);
        crate::files::lock(&inner.values).put(inner.disk.as_ref(), "t", value).unwrap();
    };
    let read = |fixture: &Fixture, key: &str| {
        let values = crate::files::lock(&fixture.inner().values);
        values.table.get("t", key, now).map(|value| String::from_utf8_lossy(&value.bytes).into_owned())
    };
    write(&fixture, "a", "valid");
    write(&fixture, "a", "revoked");
    write(&fixture, "b", "one");
    fixture.close();
    let path = dir.path().join("sessions/values.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    // A crash tears the last line: it is not read, and cut off before the next one is written.
    fs::write(&path, format!("{whole}{{\"len\":90,\"su")).unwrap();
    fixture.reopen();
    assert_eq!(crate::files::audit::store(fixture.inner()).unwrap(), Vec::<String>::new());
    assert_eq!(fs::read_to_string(&path).unwrap().len(), whole.len() + 13, "reading changes nothing");
    write(&fixture, "c", "two");
    fixture.reopen();
    assert_eq!(crate::files::audit::store(fixture.inner()).unwrap(), Vec::<String>::new());
    assert_eq!(
        (read(&fixture, "a").as_deref(), read(&fixture, "c").as_deref()),
        (Some("revoked"), Some("two"))
    );
    fixture.close();
    let changed = fs::read_to_string(&path).unwrap().replacen("revoked", "rivoked", 1);
    fs::write(&path, &changed).unwrap();
    for _ in 0..2 {
        fixture.reopen();
        let problems = crate::files::audit::store(fixture.inner()).unwrap();
        assert!(problems.iter().any(|p| p.contains("values.jsonl, line")), "{problems:?}");
        fixture.close();
        assert_eq!(fs::read_to_string(&path).unwrap(), changed, "nothing is rewritten in silence");
    }
}
