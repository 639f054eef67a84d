//! Terms: the words that carry a topic, found in the word table, with weight and vector.
//!
//! Scripts without spaces are cut by the longest entry of the table that fits; a word the table
//! does not know is tried by its beginning ("dermatologists" by "dermatologist").

use crate::embed::{Table, Vector};
use crate::hash::WordHash;
use crate::text::{Kind, Reading, Token, prefixes};

/// The longest word that is looked for in a script without spaces, in characters.
const UNSPACED_CHARS_MAX: usize = 6;
/// How short the beginning of an unknown word may be that still counts for the whole.
const PREFIX_CHARS_MIN: usize = 4;
const SYLLABLES_MIN: usize = 2;
/// Weight of a word that the table does not know: names and jargon, which are rare.
const UNKNOWN_WEIGHT: f32 = 1.0;
/// Below this weight a word is grammar, not content.
pub(crate) const CONTENT_WEIGHT: f32 = 0.2;

/// One term of a text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Term {
    pub(crate) hash: WordHash,
    /// How much the term says about the topic, from 0 to 1.
    pub(crate) weight: f32,
    pub(crate) first: Token,
    pub(crate) last: Token,
}

impl Term {
    /// Content is what a topic is made of; the rest is grammar.
    pub(crate) fn is_content(&self) -> bool {
        self.weight >= CONTENT_WEIGHT
    }
}

/// The terms of a text and their sum.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Terms {
    pub(crate) list: Vec<Term>,
    pub(crate) vector: Vector,
}

impl Terms {
    pub(crate) fn of(reading: &Reading<'_>, table: &Table) -> Self {
        let tokens = &reading.tokens;
        let mut terms = Self { list: Vec::with_capacity(tokens.len()), vector: Vector::ZERO };
        let mut at = 0;
        while let Some(&token) = tokens.get(at) {
            at += match token.kind {
                Kind::Word => terms.word(reading, table, token),
                Kind::Unspaced => terms.unspaced(reading, table, &tokens[at..]),
                Kind::Number => 1,
            };
        }
        terms
    }

    fn push(&mut self, hash: WordHash, weight: f32, first: Token, last: Token) {
        self.list.push(Term { hash, weight, first, last });
    }

    fn word(&mut self, reading: &Reading<'_>, table: &Table, token: Token) -> usize {
        if let Some(row) = table.find(token.hash) {
            let weight = table.add(row, &mut self.vector);
            self.push(token.hash, weight, token, token);
            return 1;
        }
        let text = reading.between(token, token);
        let syllabic = text.chars().next().is_some_and(|ch| ('\u{ac00}'..='\u{d7a3}').contains(&ch));
        let shortest = if syllabic { SYLLABLES_MIN } else { PREFIX_CHARS_MIN };
        let known = prefixes(text)
            .take(32)
            .enumerate()
            .filter(|&(at, _)| at + 1 >= shortest)
            .filter_map(|(_, hash)| table.find(hash).map(|row| (hash, row)))
            .last();
        match known {
            Some((hash, row)) => {
                let weight = table.add(row, &mut self.vector);
                self.push(hash, weight, token, token);
            }
            None => self.push(token.hash, UNKNOWN_WEIGHT, token, token),
        }
        1
    }

    fn unspaced(&mut self, reading: &Reading<'_>, table: &Table, tokens: &[Token]) -> usize {
        let run = tokens
            .iter()
            .take(UNSPACED_CHARS_MAX)
            .take_while(|token| token.kind == Kind::Unspaced && token.part == tokens[0].part)
            .scan(tokens[0].start, |next, token| {
                // A gap means that a space or a comma stands between the two characters.
                let adjacent = token.start == *next;
                *next = token.end;
                adjacent.then_some(*token)
            })
            .count();
        let text = reading.between(tokens[0], tokens[run.max(1) - 1]);
        let known = prefixes(text)
            .zip(1..)
            .filter_map(|(hash, length)| table.find(hash).map(|row| (hash, row, length)))
            .last();
        match known {
            Some((hash, row, length)) => {
                let weight = table.add(row, &mut self.vector);
                self.push(hash, weight, tokens[0], tokens[length - 1]);
                length
            }
            None => {
                self.push(tokens[0].hash, UNKNOWN_WEIGHT, tokens[0], tokens[0]);
                1
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Window;

    fn content(text: &str) -> Vec<String> {
        let table = Table::load(crate::assets::WORDS).unwrap();
        let reading = Reading::new(text, Window::MESSAGE);
        Terms::of(&reading, &table)
            .list
            .iter()
            .filter(|term| term.is_content())
            .map(|term| reading.between(term.first, term.last).to_owned())
            .collect()
    }

    #[test]
    fn r9_a_chinese_sentence_is_many_words() {
        let words = content("我想在北京订一家酒店");
        assert!(words.len() >= 3 && words.contains(&"酒店".to_owned()), "{words:?}");
    }

    #[test]
    fn unknown_words_count_by_their_beginning_or_fully() {
        assert_eq!(content("the dermatologistsx and zqxjk"), ["dermatologistsx", "zqxjk"]);
    }
}
