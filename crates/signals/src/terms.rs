//! Terms: the words that carry a topic, and how much each says.
//!
//! How common a word is tells the encoder's vocabulary, which has the pieces that texts of many kinds are made of. Scripts without
//! spaces are cut by the longest piece that fits, else into pairs of characters.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::hash::WordHash;
use crate::judge::is_grammar;
use crate::text::{Kind, Reading, Token, prefixes};

/// The longest word that is looked for in a script without spaces, in characters.
const UNSPACED_CHARS_MAX: usize = 6;
/// How short the beginning of an unknown word may be that still counts for the whole, and how much may follow: an ending.
const PREFIX_CHARS_MIN: usize = 4;
const ENDING_CHARS_MAX: usize = 3;
/// Weight of a word that the vocabulary does not have: names and jargon, which are rare.
const UNKNOWN_WEIGHT: f32 = 1.0;
/// Below this weight a word is grammar, not content.
pub(crate) const CONTENT_WEIGHT: f32 = 0.2;
/// One word in ten thousand says half as much as one that nobody uses.
const HALF: f32 = 1e-4;

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

/// How much each word of the vocabulary says. Nothing is known if what is shipped is damaged, which a test rules out.
static WEIGHTS: LazyLock<HashMap<WordHash, f32>> = LazyLock::new(|| {
    let mut likely: HashMap<WordHash, f32> = HashMap::new();
    for (piece, score) in segue_encoder::vocabulary().into_iter().flatten() {
        let word = piece.trim_start_matches(segue_encoder::SPACE);
        // Inside of a word a piece is no word, where words have spaces between them.
        if word.len() < piece.len() || word.chars().all(crate::text::is_unspaced) {
            *likely.entry(WordHash::of(&word.to_lowercase())).or_default() += score.exp();
        }
    }
    likely.values_mut().for_each(|likely| *likely = HALF / (HALF + *likely));
    likely
});

fn weight(word: WordHash) -> Option<f32> {
    WEIGHTS.get(&word).copied()
}

/// The terms of a text, in order.
pub(crate) fn terms(reading: &Reading<'_>) -> Vec<Term> {
    let tokens = &reading.tokens;
    let mut terms = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while let Some(&token) = tokens.get(at) {
        at += match token.kind {
            Kind::Word => {
                let (hash, weight) = word(reading, token);
                terms.push(Term { hash, weight, first: token, last: token });
                1
            }
            Kind::Unspaced => {
                let (hash, weight, length) = unspaced(reading, &tokens[at..]);
                terms.push(Term { hash, weight, first: token, last: tokens[at + length - 1] });
                length
            }
            Kind::Number => 1,
        };
    }
    terms
}

/// A word, or what it begins with: "dermatologists" is "dermatologist".
fn word(reading: &Reading<'_>, token: Token) -> (WordHash, f32) {
    if let Some(weight) = weight(token.hash) {
        return (token.hash, weight);
    }
    let text = reading.between(token, token);
    let from = text.chars().count().saturating_sub(ENDING_CHARS_MAX).max(PREFIX_CHARS_MIN);
    let beginnings = prefixes(text).take(32).skip(from - 1);
    let known = beginnings.filter_map(|hash| Some((hash, weight(hash)?))).last();
    known.unwrap_or((token.hash, UNKNOWN_WEIGHT))
}

/// The longest word that a script without spaces goes on with, and how many characters it has.
fn unspaced(reading: &Reading<'_>, tokens: &[Token]) -> (WordHash, f32, usize) {
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
        .count()
        .max(1);
    let text = reading.between(tokens[0], tokens[run - 1]);
    let known = prefixes(text).zip(1..).filter_map(|(hash, length)| Some((hash, weight(hash)?, length)));
    let known = known.last().unwrap_or((tokens[0].hash, UNKNOWN_WEIGHT, 1));
    let says = |token: &Token| !is_grammar(token.hash);
    match prefixes(text).nth(1) {
        // Two characters make a word more often than one does.
        Some(pair) if known.2 == 1 && says(&tokens[0]) && says(&tokens[1]) => (pair, UNKNOWN_WEIGHT, 2),
        _ => known,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Window;

    fn content(text: &str) -> Vec<String> {
        let reading = Reading::new(text, Window::MESSAGE);
        let content = terms(&reading).into_iter().filter(Term::is_content);
        content.map(|term| reading.between(term.first, term.last).to_owned()).collect()
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

    #[test]
    fn rare_words_weigh_more_than_common_ones() {
        let weigh = |word| weight(WordHash::of(word)).unwrap_or(UNKNOWN_WEIGHT);
        assert!(weigh("parser") > 0.9 && weigh("hotel") > 0.8 && weigh("the") < 0.1);
        assert!(weigh("酒店") > 0.8 && weigh("的") < 0.1);
    }
}
