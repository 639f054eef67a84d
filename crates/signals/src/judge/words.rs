//! Content words without a table: enough to say whether two messages share any.

use super::lexicon::{LEXICON, Mark};
use crate::hash::WordHash;
use crate::text::{Kind, Reading, Token, prefixes};

/// "Restart", "restarts" and "restarting" are one word: so many first letters count.
const STEM_CHARS: usize = 5;

/// A content word, and the tokens that it is made of.
pub(super) struct Word {
    pub(super) hash: WordHash,
    pub(super) first: Token,
    pub(super) last: Token,
}

/// How much a message says (a word is one, a character of a script without spaces a half), and its content words in order.
pub(super) fn content(reading: &Reading<'_>) -> (f32, Vec<Word>) {
    let (mut content, mut words) = (0.0, Vec::with_capacity(reading.tokens.len()));
    let mut before: Option<Token> = None;
    for &token in &reading.tokens {
        let last = before.take();
        if token.kind == Kind::Number || LEXICON.find(token.hash).has(Mark::Grammar) {
            continue;
        }
        match token.kind {
            Kind::Number => {}
            Kind::Word => {
                content += 1.0;
                words.extend(stem(reading, token).map(|hash| Word { hash, first: token, last: token }));
            }
            Kind::Unspaced => {
                content += 0.5;
                // Two neighbours make a word more often than one character does.
                let neighbour = last.filter(|last| last.end == token.start && last.part == token.part);
                let word = |last: Token| Word { hash: last.hash.then(token.hash), first: last, last: token };
                words.extend(neighbour.map(word));
                before = Some(token);
            }
        }
    }
    (content, words)
}

/// The hashes of words, sorted and once each.
pub(super) fn hashes(words: &[Word]) -> Vec<WordHash> {
    let mut hashes: Vec<WordHash> = words.iter().map(|word| word.hash).collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

fn stem(reading: &Reading<'_>, token: Token) -> Option<WordHash> {
    if (token.end - token.start) as usize <= STEM_CHARS {
        return Some(token.hash);
    }
    prefixes(reading.between(token, token)).take(STEM_CHARS).last()
}

/// How many words two sorted lists share.
pub(super) fn shared(a: &[WordHash], b: &[WordHash]) -> usize {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    let mut shared = 0;
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        match x.cmp(y) {
            std::cmp::Ordering::Less => _ = a.next(),
            std::cmp::Ordering::Greater => _ = b.next(),
            std::cmp::Ordering::Equal => {
                shared += 1;
                (_, _) = (a.next(), b.next());
            }
        }
    }
    shared
}
