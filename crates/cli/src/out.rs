//! Writing, without the panic that `println!` makes of a reader that has gone away or of a full disk.

use crate::{layout, paint};
use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write};

/// Writes a line to standard output. Everything that is printed goes through here or through [`bytes`]: nothing that
/// somebody said, or that stands in a file, can move a reader's cursor.
pub fn line(text: impl Display) -> io::Result<()> {
    let text = text.to_string();
    let shown = if io::stdout().is_terminal() { harmless(&text) } else { Cow::Borrowed(text.as_str()) };
    writeln!(io::stdout().lock(), "{shown}")
}

/// Writes bytes to standard output.
pub fn bytes(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match std::str::from_utf8(bytes) {
        Ok(text) if out.is_terminal() => out.write_all(harmless(text).as_bytes())?,
        _ => out.write_all(bytes)?,
    }
    out.flush()
}

/// The colours and weights that this program writes itself.
const PAINTS: [u8; 9] = [0, 1, 2, 22, 31, 32, 33, 36, 39];

/// Replaces what moves a cursor. Only our own paint stays.
fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') {
        return layout::printable(text);
    }
    let mut out = String::with_capacity(text.len());
    for (at, piece) in text.split('\u{1b}').enumerate() {
        let paint = if at == 0 { None } else { paint_of(piece) };
        match paint {
            Some(end) => {
                let (paint, rest) = piece.split_at(end);
                out.push('\u{1b}');
                out.push_str(paint);
                out.push_str(&layout::printable(rest));
            }
            None => {
                if at > 0 {
                    out.push('\u{fffd}');
                }
                out.push_str(&layout::printable(piece));
            }
        }
    }
    Cow::Owned(out)
}

/// Finds the end of a paint of ours, behind its escape.
fn paint_of(text: &str) -> Option<usize> {
    let end = text.strip_prefix('[')?.find('m')? + 1;
    let codes = text.get(1..end)?;
    let is_ours = |code: &str| code.parse().is_ok_and(|code: u8| PAINTS.contains(&code));
    codes.split(';').all(is_ours).then_some(end + 1)
}

/// Says on standard error what is wrong, each line as a sentence of its own.
pub fn error(text: impl Display) {
    complain(&paint::error("error:"), text);
}

/// Says on standard error what was not done.
pub fn refused(text: impl Display) {
    complain(&paint::error("refused:"), text);
}

/// Says on standard error what is odd.
pub fn warning(text: impl Display) {
    complain(&paint::warning("warning:"), text);
}

fn complain(word: &str, text: impl Display) {
    let mut err = io::stderr().lock();
    for sentence in text.to_string().lines() {
        let hint = if says_full(sentence) { FULL } else { "" };
        // There is nobody left to tell that nobody is listening.
        _ = writeln!(err, "{word} {}{hint}", layout::printable(sentence));
    }
}

/// What to do about a disk that is full.
const FULL: &str =
    " (the disk is full or cannot be written: make room and try again; nothing that was kept is lost)";

/// Tells whether an error is one of a disk that takes nothing more.
fn says_full(text: &str) -> bool {
    let text = text.to_lowercase();
    ["disk i/o error", "disk is full", "no space left"].iter().any(|words| text.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_paint_reaches_a_terminal() {
        assert_eq!(harmless("plain\n"), "plain\n");
        assert_eq!(harmless("\u{1b}[36;1mbold\u{1b}[0m"), "\u{1b}[36;1mbold\u{1b}[0m");
        assert_eq!(harmless("a\u{1b}[2Jb"), "a\u{fffd}[2Jb");
        assert_eq!(harmless("a\u{1b}[8mhidden"), "a\u{fffd}[8mhidden");
        assert_eq!(harmless("\u{1b}]0;title\u{7}x\u{1b}"), "\u{fffd}]0;title\u{fffd}x\u{fffd}");
        assert_eq!(harmless("a\u{9b}31mb"), "a\u{fffd}31mb");
    }

    #[test]
    fn a_full_disk_is_told() {
        assert!(says_full("the store cannot be written: disk I/O error"));
        assert!(says_full("database or disk is full"));
        assert!(!says_full("there is no scope s"));
    }
}
