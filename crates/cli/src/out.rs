//! Writing, without the panic that `println!` makes of a reader that has gone away or of a full disk.

use crate::{layout, paint};
use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write};

/// Writes a line to standard output. Everything that is printed for people goes through here or through [`text`], to a
/// terminal or not: nothing that somebody said, or that stands in a file, can move a reader's cursor.
pub fn line(text: impl Display) -> io::Result<()> {
    writeln!(io::stdout().lock(), "{}", harmless(&text.to_string()))
}

/// Writes a text for people to standard output, as it comes.
pub fn text(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(harmless(text).as_bytes())?;
    out.flush()
}

/// Writes bytes for programs to standard output. On a terminal they are for people.
pub fn bytes(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match std::str::from_utf8(bytes) {
        Ok(text) if out.is_terminal() => out.write_all(harmless(text).as_bytes())?,
        _ => out.write_all(bytes)?,
    }
    out.flush()
}

/// Replaces what moves a cursor or paints. Only our own paint becomes one.
fn harmless(text: &str) -> Cow<'_, str> {
    if !text.contains(paint::MARK.as_str()) {
        return layout::printable(text);
    }
    let mut out = String::with_capacity(text.len());
    for (at, piece) in text.split(paint::MARK.as_str()).enumerate() {
        let (paint, rest) = match paint_of(piece).filter(|_| at > 0) {
            Some(end) => piece.split_at(end),
            None => ("", piece),
        };
        if !paint.is_empty() {
            out.push('\u{1b}');
            out.push_str(paint);
        }
        out.push_str(&layout::printable(rest));
    }
    Cow::Owned(out)
}

/// Finds the end of a paint, behind its escape.
fn paint_of(text: &str) -> Option<usize> {
    let end = text.strip_prefix('[')?.find('m')? + 1;
    let codes = text.get(1..end)?;
    codes.chars().all(|c| c.is_ascii_digit() || c == ';').then_some(end + 1)
}

/// Says on standard error what is wrong, each line as a sentence of its own.
pub fn error(text: impl Display) {
    complain(paint::error, "error:", text);
}

/// Says on standard error what was not done.
pub fn refused(text: impl Display) {
    complain(paint::error, "refused:", text);
}

/// Says on standard error what is odd.
pub fn warning(text: impl Display) {
    complain(paint::warning, "warning:", text);
}

fn complain(paint: fn(&'static str) -> String, word: &'static str, text: impl Display) {
    let (mut err, painted) = (io::stderr().lock(), harmless(&paint(word)).into_owned());
    for sentence in text.to_string().lines() {
        let sentence = layout::printable(sentence);
        // A person reads it there, and a terminal breaks lines in the midst of words.
        let lines = match err.is_terminal() {
            true => layout::wrap(&sentence, layout::width().saturating_sub(word.len() + 1)),
            false => vec![sentence.into_owned()],
        };
        for (at, line) in lines.iter().enumerate() {
            let begin = if at == 0 { painted.clone() } else { " ".repeat(word.len()) };
            // There is nobody left to tell that nobody is listening.
            _ = writeln!(err, "{begin} {line}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_paint_is_one() {
        let mark = paint::MARK.as_str();
        assert_eq!(harmless("plain\n"), "plain\n");
        assert_eq!(harmless(&format!("{mark}[36;1mbold{mark}[0m")), "\u{1b}[36;1mbold\u{1b}[0m");
        assert_eq!(
            harmless(&format!("{mark}[36;1ma\u{1b}[31mb{mark}[0m")),
            "\u{1b}[36;1ma\u{fffd}[31mb\u{1b}[0m"
        );
        assert_eq!(harmless("a\u{1b}[2Jb"), "a\u{fffd}[2Jb");
        assert_eq!(harmless("a\u{1b}[31mred"), "a\u{fffd}[31mred");
        assert_eq!(harmless("\u{1b}]0;title\u{7}x\u{1b}"), "\u{fffd}]0;title\u{fffd}x\u{fffd}");
        assert_eq!(harmless("a\u{9b}31mb"), "a\u{fffd}31mb");
    }
}
