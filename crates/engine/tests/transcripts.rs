//! Damaged transcripts: whatever is wrong with a file, it is reported by its line, and the rest is read. The
//! samples are those of the command line's tests.

#![allow(clippy::unwrap_used, reason = "tests")]

use segue_engine::port::{FileContext, Format, Line, Read, detect, read};
use std::path::{Path, PathBuf};

fn samples() -> Vec<(PathBuf, Vec<u8>)> {
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/fixtures/import")];
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            match entry.file_type().unwrap().is_dir() {
                true => folders.push(entry.path()),
                false => found.push((entry.path(), std::fs::read(entry.path()).unwrap())),
            }
        }
    }
    assert!(found.len() > 8);
    found
}

fn lines(bytes: &[u8]) -> Vec<Line> {
    let text = |line: &[u8]| String::from_utf8(line.to_owned()).map_err(|_| "it is not UTF-8".to_owned());
    let split = bytes.split_inclusive(|byte| *byte == b'\n').zip(1..);
    split.map(|(line, number)| Line { number, text: text(line) }).collect()
}

fn taken(format: Format, lines: &[Line]) -> Option<Read> {
    read(
        format,
        lines,
        &FileContext { name: "sample".to_owned(), ..FileContext::default() },
        jiff::Timestamp::UNIX_EPOCH,
    )
    .ok()
}

fn messages(read: &Read) -> usize {
    read.talks.iter().map(|talk| talk.messages.len()).sum()
}

/// Cut off anywhere, and read as anything: nothing panics, and what is read is what stands before the cut.
#[test]
fn x12_a_file_that_was_cut_off_is_read_as_far_as_it_goes() {
    for (path, bytes) in samples() {
        let whole = lines(&bytes);
        let Some(format) = detect(&whole, &FileContext::default()) else { continue };
        let all = taken(format, &whole).map_or(0, |read| messages(&read));
        for end in (0..bytes.len()).step_by(11) {
            let cut = lines(&bytes[..end]);
            for other in Format::ALL {
                let read = taken(other, &cut);
                assert!(read.as_ref().is_none_or(|read| read.account.is_balanced()), "{}", path.display());
                if other == format
                    && let Some(read) = read
                {
                    assert!(messages(&read) <= all + 1, "{}", path.display());
                    let last = cut.last().map_or(0, |line| line.number);
                    assert!(
                        read.account.bad.iter().all(|bad| bad.line <= last.max(all)),
                        "{}",
                        path.display()
                    );
                }
            }
        }
    }
}

/// A line that was spoiled is reported with its number, and costs no more than itself.
#[test]
fn x12_a_spoiled_line_costs_itself_only() {
    let one_a_line = [Format::ClaudeCode, Format::Codex, Format::Openclaw];
    let mut spoiled = 0;
    for (path, bytes) in samples() {
        let whole = lines(&bytes);
        let Some(format) =
            detect(&whole, &FileContext::default()).filter(|format| one_a_line.contains(format))
        else {
            continue;
        };
        let before = taken(format, &whole).unwrap();
        for at in 0..whole.len() {
            let mut lines = whole.clone();
            lines[at].text = Ok("{\"type\":\"mess".to_owned());
            let read = taken(format, &lines).unwrap();
            let number = lines[at].number;
            assert!(
                read.account.bad.iter().any(|bad| bad.line == number),
                "{}: line {number}",
                path.display()
            );
            // A user's line of Claude Code may hold a result and words.
            assert!(messages(&read) + 2 >= messages(&before), "{}: line {number}", path.display());
            spoiled += 1;
        }
    }
    assert!(spoiled > 30, "{spoiled}");
}
