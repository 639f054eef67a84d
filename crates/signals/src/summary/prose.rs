//! A message without code and quotations, cut into sentences.

use std::borrow::Cow;

use super::Speaker;
use crate::sentences::sentences;
use crate::text::Window;

/// The most of a sentence that is kept.
pub(super) const SENTENCE_CHARS_MAX: usize = 160;

/// A message as the summary reads it.
#[derive(Debug)]
pub(super) struct ProseMessage {
    pub(super) speaker: Speaker,
    /// The words of the message; of a long one its beginning and its end.
    pub(super) prose: String,
}

impl ProseMessage {
    pub(super) fn new(speaker: Speaker, text: &str) -> Self {
        let (head, tail) = Window::PHRASES.cut(text);
        let mut prose = String::with_capacity(head.len() + tail.len() + 1);
        let mut fenced = false;
        for line in head.lines().chain(tail.lines()) {
            let start = line.trim_start();
            if start.starts_with("```") || start.starts_with("~~~") {
                fenced = !fenced;
            } else if !fenced && !start.starts_with('>') {
                prose.push_str(line);
                prose.push('\n');
            }
        }
        Self { speaker, prose }
    }

    /// The words without links and addresses, which say little about what is talked about.
    pub(super) fn without_links(&self) -> Cow<'_, str> {
        let is_link = |word: &str| word.contains("://") || word.contains('@');
        if !is_link(&self.prose) {
            return Cow::Borrowed(&self.prose);
        }
        self.prose.split_inclusive(char::is_whitespace).filter(|word| !is_link(word)).collect()
    }

    pub(super) fn sentences(&self) -> impl Iterator<Item = &str> {
        sentences(&self.prose).map(|sentence| sentence.trim_start_matches(['-', '*', '#', '•', ' ']))
    }
}

/// One line of at most so many characters, without what cannot be seen.
pub(super) fn short(sentence: &str, chars_max: usize) -> String {
    let mut out = String::new();
    let mut count = 0;
    for word in sentence.split_whitespace() {
        let gap = usize::from(count > 0);
        for (at, ch) in word.chars().filter(|ch| !ch.is_control()).enumerate() {
            let space = if at == 0 { gap } else { 0 };
            if count + space + 1 >= chars_max {
                out.push('…');
                return out;
            }
            if space > 0 {
                out.push(' ');
            }
            out.push(ch);
            count += space + 1;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r5_sentences_are_cut_between_characters() {
        assert_eq!(short(&"数".repeat(500), SENTENCE_CHARS_MAX).chars().count(), SENTENCE_CHARS_MAX);
        assert_eq!(short(" a\u{0}b \n \u{1} c ", 160), "ab c");
        assert_eq!(short("one two", 5), "one…");
    }

    #[test]
    fn r5_code_and_quotations_are_left_out() {
        let said = ProseMessage::new(Speaker::Person, "Look:\n```\nlet x = 1;\n```\n> old\n- It fails. Why?");
        assert_eq!(said.sentences().collect::<Vec<_>>(), ["Look:", "It fails.", "Why?"]);
    }
}
