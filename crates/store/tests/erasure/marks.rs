//! Texts that are found wherever a part of them is.

use std::collections::BTreeSet;
use std::path::Path;

const MARK: &[u8] = b"MARK";
const MARK_DIGITS: usize = 8;

/// Makes a text of a mark, over and over.
pub fn text(mark: u64, bytes: u64) -> String {
    format!("MARK{mark:08x} ").repeat(1 + bytes as usize / 13)
}

/// Finds the marks in some bytes.
pub fn marks(bytes: &[u8], found: &mut BTreeSet<u64>) {
    let mut rest = bytes;
    while let Some(at) = rest.windows(MARK.len()).position(|part| part == MARK) {
        rest = &rest[at + MARK.len()..];
        let digits = rest.get(..MARK_DIGITS).and_then(|digits| std::str::from_utf8(digits).ok());
        found.extend(digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()));
    }
}

pub fn marks_below(folder: &Path, found: &mut BTreeSet<u64>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { marks_below(&path, found) } else { marks(&std::fs::read(&path).unwrap(), found) }
    }
}
