//! What is damage and what is not: a passing error, a crash between two lines, a change by hand.

use super::fault::{Extent, Faulty, Then};
use super::layout::all_files;
use super::{Desk, folder};
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

fn three_sessions(desk: &mut Desk) {
    for text in ["one", "two", "three", "four"] {
        desk.new_session();
        desk.say(text);
        desk.say("and more");
    }
    desk.run(&Command::Delete { session: Number(2) });
    crate::files::sweep::sweep(desk.inner()).unwrap();
}

/// L-10, X-5: who may not read a file now may later.
#[test]
fn l10_a_file_that_cannot_be_read_for_a_moment_is_not_damaged_and_nothing_is_moved() {
    let dir = folder();
    let mut desk = Desk::new(dir.path());
    three_sessions(&mut desk);
    for file in ["journal.jsonl", "000003.jsonl", "000004.jsonl", "dropped.jsonl"] {
        // EIO, EACCES, ENFILE, EMFILE.
        for code in [5, 13, 23, 24] {
            desk.close();
            assert!(desk.scope_path(file).exists(), "{file}");
            let before = all_files(&desk.scope_path(""));
            let disk = Arc::new(Unreadable { file, code, now: AtomicBool::new(true) });
            desk.open(disk.clone()).unwrap();
            for _ in 0..2 {
                let found = desk.load();
                assert!(matches!(&found, Err(Error::Unavailable { .. })), "{file}: {found:?}");
                let append = desk.append_of(&super::say("no"));
                let written = desk.inner().append(append);
                assert!(matches!(&written, Err(Error::Unavailable { .. })), "{file}: {written:?}");
            }
            assert_eq!(all_files(&desk.scope_path("")), before, "{file}");
            disk.now.store(false, Ordering::SeqCst);
            assert_eq!(desk.load().unwrap(), desk.expected.state, "{file}");
            desk.check();
        }
    }
}

/// A crash between two lines of the journal is recovered before anything is judged: what was sealed by the append that was
/// never made is not sealed.
#[test]
fn p9_a_crash_between_two_lines_of_the_journal_is_no_damage() {
    let dir = folder();
    let mut desk = Desk::new(dir.path());
    desk.say("one");
    let acknowledged = desk.expected.clone();
    let before = fs::read_to_string(desk.scope_path("journal.jsonl")).unwrap();
    desk.new_session();
    desk.close();
    let after = fs::read_to_string(desk.scope_path("journal.jsonl")).unwrap();
    let first = after[before.len()..].find('\n').unwrap() + 1;
    assert!(after[before.len()..][..first].contains("sealed"), "{after}");
    fs::write(desk.scope_path("journal.jsonl"), &after[..before.len() + first]).unwrap();
    desk.expected = acknowledged;
    // The disk does not take a write, and that is no reason to judge otherwise.
    desk.open(Arc::new(Faulty::new(0, Extent::Half, Then::Stop))).unwrap_or_default();
    desk.reopen();
    let files = all_files(&desk.scope_path(""));
    for _ in 0..2 {
        assert_eq!(desk.problems(), Vec::<String>::new());
        assert_eq!(desk.load().unwrap(), desk.expected.state);
        desk.reopen();
    }
    assert_eq!(all_files(&desk.scope_path("")), files, "who only looks changes nothing");
    desk.say("two");
    desk.new_session();
    desk.check();
    assert_eq!(desk.texts(1), ["one", "two"]);
}

/// The bytes of a line that a power cut left with a hole are set aside alone; all other lines count.
#[test]
fn p9_a_hole_in_the_last_append_costs_only_that_append() {
    for file in ["000001.jsonl", "journal.jsonl"] {
        let dir = folder();
        let mut desk = Desk::new(dir.path());
        desk.say("one");
        let acknowledged = desk.expected.clone();
        let len = fs::read(desk.scope_path(file)).map(|bytes| bytes.len()).unwrap();
        match file {
            "journal.jsonl" => desk.new_session(),
            _ => desk.say(&"long ".repeat(4_000)),
        }
        desk.close();
        let mut bytes = fs::read(desk.scope_path(file)).unwrap();
        bytes[len..len + 100].fill(0);
        fs::write(desk.scope_path(file), &bytes).unwrap();
        desk.expected = acknowledged;
        desk.reopen();
        desk.check();
        desk.say("two");
        desk.check();
        assert_eq!(desk.texts(1), ["one", "two"]);
        assert!(desk.scope_path(&format!("{file}.torn")).exists());
    }
}

/// The same hole in an older line is damage: what came later was acknowledged after it.
#[test]
fn l10_a_hole_in_an_older_line_is_damage() {
    let dir = folder();
    let mut desk = Desk::new(dir.path());
    desk.say("one");
    desk.say("two");
    desk.say("three");
    desk.close();
    let path = desk.scope_path("000001.jsonl");
    let mut bytes = fs::read(&path).unwrap();
    bytes[20..60].fill(0);
    fs::write(&path, &bytes).unwrap();
    desk.reopen();
    assert!(desk.problems().join("\n").contains("000001.jsonl, line 1,"), "{:?}", desk.problems());
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

/// M-D3: every line says what came before it, so that a change by hand is found also where nothing is sealed yet.
#[test]
fn m_d3_an_open_segment_that_was_changed_by_hand_is_found() {
    let dir = folder();
    let mut desk = Desk::new(dir.path());
    for text in ["one", "two", "three"] {
        desk.say(text);
    }
    desk.close();
    for file in ["000001.jsonl", "journal.jsonl"] {
        let path = desk.scope_path(file);
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
                desk.reopen();
                assert_ne!(desk.problems(), Vec::<String>::new(), "{file}: {changed}");
            }
            assert_eq!(fs::read_to_string(&path).unwrap(), changed, "who only looks changes nothing");
            desk.close();
        }
        fs::write(&path, whole).unwrap();
    }
    desk.reopen();
    desk.check();
}
