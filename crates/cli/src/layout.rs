//! Text on a terminal: how wide it is, where it may be broken, and what must not reach it.

use jiff::tz::TimeZone;
use segue_core::Timestamp;
use std::borrow::Cow;
use std::io::IsTerminal;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// How wide output is where nobody says, in columns.
const WIDTH: usize = 80;

/// Longer lines are hard to read, however wide the terminal is.
const WIDTH_MAX: usize = 100;
const WIDTH_MIN: usize = 40;

/// What must not begin a line, and what must not end one.
const NOT_FIRST: &str = "，。！？：；、）】」』》〉”’…—～·%,.!?:;)]}";
const NOT_LAST: &str = "（【「『《〈“‘([{";

/// Returns how wide standard output is.
pub fn width() -> usize {
    if !std::io::stdout().is_terminal() {
        return WIDTH;
    }
    let columns = terminal_size::terminal_size().map(|(columns, _)| usize::from(columns.0));
    columns.unwrap_or(WIDTH).clamp(WIDTH_MIN, WIDTH_MAX)
}

/// Replaces control characters: a message must not be able to move the reader's cursor.
pub fn printable(text: &str) -> Cow<'_, str> {
    // Marks that turn the direction of writing can make a line read as something else.
    let odd = |c: char| {
        (c.is_control() && c != '\n' && c != '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(odd) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace("\r\n", "\n").chars().map(|c| if odd(c) { '\u{fffd}' } else { c }).collect())
}

/// Writes a time as people read it, in a time zone.
pub fn time(at: Timestamp, zone: &TimeZone) -> String {
    at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string()
}

/// Fills a text with spaces to a width.
pub fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(text.width())))
}

/// Cuts a text to a width, on a character.
pub fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut left = width.saturating_sub(1);
    let fits = |c: &char| {
        let own = c.width().unwrap_or(0);
        let fits = own <= left;
        left = left.saturating_sub(own);
        fits
    };
    let mut kept: String = text.chars().take_while(fits).collect();
    kept.truncate(kept.trim_end().len());
    kept + "…"
}

/// Breaks a text into lines of a width. White space at the beginning of a line stays.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let text = printable(text);
    let text = text.replace('\t', "    ");
    let lines: Vec<String> = text.trim_end().lines().flat_map(|line| wrap_line(line, width.max(2))).collect();
    if lines.is_empty() { vec![String::new()] } else { lines }
}

/// Breaks a line of a list or table; what does not fit hangs below its last column.
pub fn wrap_hanging(line: &str, width: usize) -> Vec<String> {
    let begins_column = |at: &usize| {
        let (head, text) = line.split_at(*at);
        let may_fit = head.len() <= 4 * width;
        may_fit && head.ends_with("  ") && !text.starts_with(' ') && head.width() <= width / 2
    };
    let column = line.char_indices().map(|(at, _)| at).rfind(begins_column).unwrap_or(0);
    let (head, text) = line.split_at(column);
    let hang = head.width();
    let wrapped = wrap(text, width.saturating_sub(hang)).into_iter().enumerate();
    wrapped
        .map(|(at, line)| if at == 0 { format!("{head}{line}") } else { padded("", hang) + &line })
        .collect()
}

fn wrap_line(line: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = line;
    while let Some(at) = break_at(rest, width) {
        let (head, tail) = rest.split_at(at);
        lines.push(head.trim_end().to_owned());
        rest = tail.trim_start();
    }
    lines.push(rest.trim_end().to_owned());
    lines
}

/// Finds where a line that is too long is broken: at the last place that is good, else where it is full; nothing if it
/// fits. It looks no further than the width.
fn break_at(line: &str, width: usize) -> Option<usize> {
    let begin = line.len() - line.trim_start().len();
    let (mut good, mut full, mut used) = (None, None, 0);
    let mut before: Option<char> = None;
    for (at, c) in line.char_indices() {
        // A space may hang over the end.
        if at > begin && before.is_some_and(|before| may_break(before, c)) {
            good = Some(at);
        }
        used += c.width().unwrap_or(0);
        if used > width && !c.is_whitespace() {
            full = Some(at);
            break;
        }
        before = Some(c);
    }
    let full = full?;
    Some(good.unwrap_or(full).max(line.chars().next().map_or(1, char::len_utf8)))
}

/// Tells whether a line may be broken between two characters.
pub fn may_break(before: char, after: char) -> bool {
    if after.is_whitespace() || NOT_FIRST.contains(after) || NOT_LAST.contains(before) {
        return false;
    }
    before.is_whitespace() || is_wide(before) || is_wide(after)
}

fn is_wide(c: char) -> bool {
    c.width() == Some(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, width: usize, expected: &[&str]) {
        assert_eq!(wrap(text, width), expected, "{text:?}");
    }

    #[test]
    fn breaks_at_spaces() {
        check("", 10, &[""]);
        check("short", 10, &["short"]);
        check("one two three", 7, &["one two", "three"]);
        check("one two three", 8, &["one two", "three"]);
        check("one\n\ntwo\n", 8, &["one", "", "two"]);
        check("  * indented words", 10, &["  *", "indented", "words"]);
        check("unbreakableword", 6, &["unbrea", "kablew", "ord"]);
    }

    #[test]
    fn breaks_chinese_between_characters_but_not_before_a_comma() {
        check("我想订一家安静的酒店", 8, &["我想订一", "家安静的", "酒店"]);
        check("我想订一，安静的酒店", 8, &["我想订", "一，安静", "的酒店"]);
        check("说（安静）吧", 4, &["说", "（安", "静）", "吧"]);
        check("用 Rust 写", 7, &["用 Rust", "写"]);
    }

    #[test]
    fn never_hangs_on_a_narrow_column() {
        for width in 0..5 {
            for text in ["酒店，，，", "。。。。", "a b c", "👍👍", "   x", "\u{301}\u{301}"] {
                assert!(!wrap(text, width).is_empty());
            }
        }
    }

    /// A line of a megabyte is laid out in time that grows with its length: this took 13 seconds.
    #[test]
    fn a_very_long_line_is_broken_too() {
        let words = wrap(&"word ".repeat(200_000), 80);
        assert_eq!((words.len(), words[0].len()), (12_500, 79));
        assert_eq!(wrap(&"x".repeat(1 << 20), 64).len(), 1 << 14);
        assert!(wrap_hanging(&"a  b".repeat(200_000), 80).len() > 1_000);
    }

    #[test]
    fn lists_hang_below_their_last_column() {
        let check = |line, expected: &[&str]| assert_eq!(wrap_hanging(line, 20), expected);
        check("* 1  some words that are long", &["* 1  some words that", "     are long"]);
        check("    2  酒店，酒店酒店酒店", &["    2  酒店，酒店酒", "       店酒店"]);
        check("plain words that go on here", &["plain words that go", "on here"]);
        check("/a      what it does so", &["/a      what it does", "        so"]);
        check("", &[""]);
    }

    #[test]
    fn cuts_on_a_character() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("longer one", 8), "longer…");
        assert_eq!(cut("我想订酒店", 6), "我想…");
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(printable("a\x1b[2Jb\u{202e}\n"), "a\u{fffd}[2Jb\u{fffd}\n");
        assert_eq!(printable("a\r\nb\x07"), "a\nb\u{fffd}");
    }
}
