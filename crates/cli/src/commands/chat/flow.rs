//! A text that comes piece by piece, broken into lines while it comes.

use crate::layout;
use unicode_width::UnicodeWidthChar;

/// What stands before each line.
const INDENT: &str = "  ";

/// A text that comes piece by piece. A word is held back until it is whole, as it may belong on the next line.
#[derive(Debug)]
pub struct WordWrap {
    width: usize,
    /// How far the line is written, without its indent; nothing if nothing was written yet.
    column: Option<usize>,
    /// Line ends and spaces that are written if a word follows: an answer often ends with some.
    lines: usize,
    spaces: usize,
    word: String,
    word_width: usize,
}

impl WordWrap {
    /// Begins a text that is so wide.
    pub fn new(width: usize) -> Self {
        let width = width.saturating_sub(INDENT.len()).max(2);
        Self { width, column: None, lines: 0, spaces: 0, word: String::new(), word_width: 0 }
    }

    /// Takes a piece, and returns what is to be written now.
    pub fn push(&mut self, piece: &str) -> String {
        let mut out = String::new();
        for c in layout::printable(&piece.replace('\r', "")).chars() {
            match c {
                '\n' => {
                    self.end_word(&mut out);
                    (self.lines, self.spaces) = (self.lines + 1, 0);
                }
                c if c.is_whitespace() => {
                    self.end_word(&mut out);
                    self.spaces += if c == '\t' { 4 } else { 1 };
                }
                c => self.take(c, &mut out),
            }
        }
        out
    }

    /// Something else is written in between, on lines of its own: what comes next begins a line. Tells whether a line was
    /// begun.
    pub fn breaks_off(&mut self) -> bool {
        (self.lines, self.spaces) = (0, 0);
        self.column.take().is_some()
    }

    /// Ends the text, perhaps with a mark, and returns what is left to be written.
    pub fn finish(mut self, mark: Option<&str>) -> String {
        let mut out = String::new();
        self.end_word(&mut out);
        if let Some(mark) = mark {
            (self.lines, self.spaces) = (0, 1);
            out += &self.push(mark);
            self.end_word(&mut out);
        }
        if self.column.is_some() {
            out.push('\n');
        }
        out
    }

    fn take(&mut self, c: char, out: &mut String) {
        let width = c.width().unwrap_or(0);
        let breaks = self.word.chars().next_back().is_some_and(|before| layout::may_break(before, c));
        if breaks || self.word_width + width > self.width {
            self.end_word(out);
        }
        self.word.push(c);
        self.word_width += width;
    }

    fn end_word(&mut self, out: &mut String) {
        if self.word.is_empty() {
            return;
        }
        let fits = |column: usize| column + self.spaces + self.word_width <= self.width;
        let column = match self.column {
            Some(column) if self.lines == 0 && fits(column) => {
                out.extend(std::iter::repeat_n(' ', self.spaces));
                column + self.spaces
            }
            Some(_) if self.lines == 0 => {
                out.push('\n');
                out.push_str(INDENT);
                0
            }
            begun => {
                let lines = if begun.is_some() { self.lines } else { 0 };
                let spaces = self.spaces.min(self.width.saturating_sub(self.word_width));
                out.extend(std::iter::repeat_n('\n', lines));
                out.push_str(INDENT);
                out.extend(std::iter::repeat_n(' ', spaces));
                spaces
            }
        };
        out.push_str(&self.word);
        self.column = Some(column + self.word_width);
        self.word.clear();
        (self.word_width, self.lines, self.spaces) = (0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pieces: &[&str], expected: &str) {
        let mut flow = WordWrap::new(12);
        let mut out: String = pieces.iter().map(|piece| flow.push(piece)).collect();
        out += &flow.finish(None);
        assert_eq!(out, expected, "{pieces:?}");
    }

    #[test]
    fn pieces_are_broken_between_words() {
        check(&["one t", "wo thr", "ee four"], "  one two\n  three four\n");
        check(&["a\n\n  - b", "\r", "\n  - c\n"], "  a\n\n    - b\n    - c\n");
        check(&["unbreakable", "words"], "  unbreakabl\n  ewords\n");
        check(&["\n\na\n", "\nb \n\n"], "  a\n\n  b\n");
        check(&["  \n"], "");
        check(&[], "");
    }

    #[test]
    fn chinese_is_broken_between_characters_but_not_before_a_comma() {
        check(&["我想订", "一家", "，安静的酒店"], "  我想订一\n  家，安静的\n  酒店\n");
    }

    #[test]
    fn a_model_cannot_move_the_cursor() {
        check(&["a\x1b[2J", "b"], "  a\u{fffd}[2Jb\n");
    }

    #[test]
    fn a_mark_ends_what_was_cut_off() {
        for (said, expected) in [("one ", "  one [x]\n"), ("one\n", "  one [x]\n"), ("on", "  on [x]\n")] {
            let mut flow = WordWrap::new(12);
            let written = flow.push(said);
            assert_eq!(written + &flow.finish(Some("[x]")), expected);
        }
    }

    #[test]
    fn what_comes_in_between_has_lines_of_its_own() {
        let mut flow = WordWrap::new(40);
        assert_eq!(flow.push("Hello the"), "  Hello");
        assert_eq!((flow.breaks_off(), flow.breaks_off()), (true, false));
        assert_eq!(flow.push("re. "), "  there.");
        assert!(flow.breaks_off());
        assert_eq!(flow.finish(None), "");
    }

    #[test]
    fn what_is_whole_is_written_at_once() {
        let mut flow = WordWrap::new(40);
        assert_eq!(flow.push("Hello the"), "  Hello");
        assert_eq!(flow.push("re. "), " there.");
    }
}
