//! Content words without a table: enough to say whether two messages share any.

use super::lexicon::{LEXICON, Mark};
use crate::hash::WordHash;
use crate::text::{Kind, Reading, Token, prefixes};

/// "Restart", "restarts" and "restarting" are one word: so many first letters count.
const STEM_CHARS: usize = 5;

/// The content words of a message, sorted and once each, and which of them others have used too.
#[derive(Clone, Debug, Default)]
pub(super) struct Words {
    list: Vec<WordHash>,
    known: Vec<bool>,
    /// One bit for each of 64 classes of words: most words of other messages are none of these.
    filter: u64,
    /// How much the message says: a word is one, a character of a script without spaces a half.
    pub(super) content: f64,
}

impl Words {
    pub(super) fn of(reading: &Reading<'_>) -> Self {
        let mut words = Self::default();
        let is_content = |token: &Token| !LEXICON.find(token.hash).has(Mark::Grammar);
        each_word(reading, is_content, |token, hash| {
            words.content += if token.kind == Kind::Unspaced { 0.5 } else { 1.0 };
            words.list.extend(hash);
        });
        words.list.sort_unstable();
        words.list.dedup();
        words.known = vec![false; words.list.len()];
        words.filter = words.list.iter().fold(0, |filter, word| filter | bit(*word));
        words
    }

    /// Counts the words that another message has too, and marks them as known.
    pub(super) fn meet(&mut self, others: &[WordHash]) -> usize {
        let mut shared = 0;
        for hash in others.iter().filter(|hash| self.filter & bit(**hash) != 0) {
            if let Ok(at) = self.list.binary_search(hash) {
                shared += 1;
                self.known[at] = true;
            }
        }
        shared
    }

    /// Whether no message met so far has any of the words.
    pub(super) fn all_new(&self) -> bool {
        !self.known.contains(&true)
    }
}

/// All words of a message. What is no content is not in the list of another, so it need not be looked up there.
pub(super) fn all(reading: &Reading<'_>) -> Vec<WordHash> {
    let mut words = Vec::with_capacity(reading.tokens.len());
    each_word(reading, |_| true, |_, hash| words.extend(hash));
    words
}

fn bit(word: WordHash) -> u64 {
    1 << (word.0 % 64)
}

/// Calls for each token that counts, with its word if one ends there.
fn each_word(
    reading: &Reading<'_>,
    counts: impl Fn(&Token) -> bool,
    mut call: impl FnMut(Token, Option<WordHash>),
) {
    let mut before: Option<Token> = None;
    for &token in &reading.tokens {
        let last = before.take();
        if token.kind == Kind::Number || !counts(&token) {
            continue;
        }
        match token.kind {
            Kind::Number => {}
            Kind::Word => call(token, stem(reading, token)),
            Kind::Unspaced => {
                // Two neighbours make a word more often than one character does.
                let neighbour = last.filter(|last| last.end == token.start && last.part == token.part);
                call(token, neighbour.map(|last| last.hash.then(token.hash)));
                before = Some(token);
            }
        }
    }
}

fn stem(reading: &Reading<'_>, token: Token) -> Option<WordHash> {
    if (token.end - token.start) as usize <= STEM_CHARS {
        return Some(token.hash);
    }
    prefixes(reading.between(token, token)).take(STEM_CHARS).last()
}
