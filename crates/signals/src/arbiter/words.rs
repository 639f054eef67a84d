//! Content words without a table: enough to say whether two messages share any.

use super::lexicon::{LEXICON, Mark};
use crate::hash::WordHash;
use crate::text::{Kind, Reading, Token, prefixes};

/// "Restart", "restarts" and "restarting" are one word: so many first letters count.
const STEM_CHARS: usize = 5;

/// The content words of a message, sorted and once each.
#[derive(Clone, Debug, Default)]
pub(super) struct Words {
    list: Vec<WordHash>,
    /// How much the message says: a word is one, a character of a script without spaces a half.
    pub(super) content: f32,
}

impl Words {
    pub(super) fn of(reading: &Reading<'_>) -> Self {
        let mut words = Self::default();
        let mut before: Option<Token> = None;
        for &token in &reading.tokens {
            let grammar = LEXICON.find(token.hash).has(Mark::Grammar);
            match token.kind {
                Kind::Number => before = None,
                _ if grammar => before = None,
                Kind::Word => {
                    let text = reading.between(token, token);
                    words.list.extend(prefixes(text).take(STEM_CHARS).last());
                    words.content += 1.0;
                    before = None;
                }
                Kind::Unspaced => {
                    words.content += 0.5;
                    // Two neighbours make a word more often than one character does.
                    if let Some(last) =
                        before.filter(|last| last.end == token.start && last.part == token.part)
                    {
                        words.list.push(last.hash.then(token.hash));
                    }
                    before = Some(token);
                }
            }
        }
        words.list.sort_unstable();
        words.list.dedup();
        words
    }

    /// One mark for each word, none of them set.
    pub(super) fn nothing_known(&self) -> Vec<bool> {
        vec![false; self.list.len()]
    }

    /// Counts the words that another message has too, and marks them as known.
    pub(super) fn mark_shared(&self, other: &Self, known: &mut [bool]) -> usize {
        let mut shared = 0;
        for (word, known) in self.list.iter().zip(known) {
            if other.list.binary_search(word).is_ok() {
                *known = true;
                shared += 1;
            }
        }
        shared
    }
}
