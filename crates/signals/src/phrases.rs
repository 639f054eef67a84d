//! Whole messages made of known phrases: the words, and the polite words around them.
//!
//! English words and single Chinese characters are the same kind of token here, so that one small
//! pattern language serves both, and a message may mix them.

use crate::text::{fold, is_invisible, is_unspaced};

/// What stands in front of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gap {
    /// Nothing, a space or a hyphen.
    Joined,
    /// A comma, a full stop, a line break.
    Break,
    /// A question mark.
    Question,
}

/// One word, number or unspaced character, in lower case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) text: String,
    pub(crate) before: Gap,
}

/// Whether all of a message was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    Whole,
    /// It has more tokens than were asked for.
    Cut,
}

/// The first tokens of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Tokens {
    pub(crate) list: Vec<Token>,
    /// What stands after the last token.
    pub(crate) ending: Gap,
    pub(crate) extent: Extent,
}

/// A word longer than this is none of ours, and is not kept whole.
const WORD_CHARS_MAX: usize = 32;
/// Signs that may stand in front of the first word of a message that was read so far.
const CHARS_MAX: usize = 2_048;

/// Reads the first `count` tokens.
pub(crate) fn tokens(text: &str, count: usize) -> Tokens {
    let mut out = Tokens { list: Vec::new(), ending: Gap::Joined, extent: Extent::Whole };
    let mut word = String::new();
    let mut chars = text.chars().map(fold).filter(|&ch| !is_invisible(ch));
    for ch in chars.by_ref().take(CHARS_MAX) {
        if ch == '\'' {
            // "let's" and "lets" are one.
            continue;
        }
        if ch.is_alphanumeric() && !is_unspaced(ch) {
            if word.chars().count() < WORD_CHARS_MAX {
                word.extend(ch.to_lowercase());
            }
            continue;
        }
        // A spaced hyphen is a dash; one inside a word is not.
        let inside = ch.is_whitespace() && ch != '\n' || ch == '-' && !word.is_empty();
        out.push(&mut word);
        if is_unspaced(ch) {
            word.push(simple(ch));
            out.push(&mut word);
        } else if ch == '?' {
            out.ending = Gap::Question;
        } else if !inside && out.ending == Gap::Joined {
            out.ending = Gap::Break;
        }
        if out.list.len() > count {
            break;
        }
    }
    out.push(&mut word);
    if out.list.len() > count || chars.next().is_some() {
        out.list.truncate(count);
        out.extent = Extent::Cut;
    }
    out
}

impl Tokens {
    fn push(&mut self, word: &mut String) {
        if !word.is_empty() {
            self.list.push(Token { text: std::mem::take(word), before: self.ending });
            self.ending = Gap::Joined;
        }
    }
}

/// Traditional characters of our phrases, each followed by its simplified form.
const TRADITIONAL: &str = "繼继續续還还個个話话題题開开從从頭头會会對对舊旧這这剛刚換换別别錯错說说銷销屬属過过來来沒没請请麼么嗎吗們们復复謝谢選选話话讓让聽听幫帮煩烦給给撤撤變变後后樣样";

fn simple(ch: char) -> char {
    let mut pairs = TRADITIONAL.chars();
    while let (Some(old), Some(new)) = (pairs.next(), pairs.next()) {
        if old == ch {
            return new;
        }
    }
    ch
}

#[derive(Clone, Debug)]
struct Slot {
    choices: Vec<Vec<String>>,
    optional: bool,
}

/// Places side by side: `|` between choices, `?` for a place that may be empty, `_` inside a choice.
#[derive(Clone, Debug)]
pub(crate) struct Pattern(Vec<Slot>);

impl Pattern {
    fn parse(text: &str) -> Self {
        let slots = text.split(' ').map(|place| {
            let (choices, optional) = place.strip_suffix('?').map_or((place, false), |place| (place, true));
            let words = |choice: &str| -> Vec<String> {
                tokens(&choice.replace('_', " "), usize::MAX)
                    .list
                    .into_iter()
                    .map(|token| token.text)
                    .collect()
            };
            Slot { choices: choices.split('|').map(words).collect(), optional }
        });
        Self(slots.collect())
    }

    /// How many tokens it takes from the front, as many as it can, without crossing a comma.
    fn takes(&self, tokens: &[Token]) -> usize {
        let run = 1 + tokens.iter().skip(1).take_while(|token| token.before == Gap::Joined).count();
        longest(&self.0, &tokens[..run.min(tokens.len())]).unwrap_or(0)
    }
}

fn longest(slots: &[Slot], tokens: &[Token]) -> Option<usize> {
    let Some((slot, rest)) = slots.split_first() else { return Some(0) };
    let fits = |choice: &&Vec<String>| {
        choice.len() <= tokens.len()
            && choice.iter().zip(tokens).all(|(meant, token)| is_meant(&token.text, meant))
    };
    let taken = slot
        .choices
        .iter()
        .filter(fits)
        .filter_map(|choice| longest(rest, &tokens[choice.len()..]).map(|count| count + choice.len()))
        .max();
    taken.max(if slot.optional { longest(rest, tokens) } else { None })
}

/// A word of fewer letters has too many neighbours to be a misspelling.
const TYPO_LETTERS_MIN: usize = 5;
/// Words that are no misspelling of any of ours.
const REAL_WORDS: &str = "order folder holder colder bolder solder elder flesh stars smart stark stare state tonic tropic optic presume three those whole serious newer world night light sight eight might fight tight quiet while mission stave shame seam steam going doing being thread threat clear bring begun began place pleas lease";

fn is_meant(word: &str, meant: &str) -> bool {
    word == meant
        || meant.len() >= TYPO_LETTERS_MIN
            && word.len() + 1 >= TYPO_LETTERS_MIN
            && word.bytes().chain(meant.bytes()).all(|byte| byte.is_ascii_lowercase())
            && one_letter_off(word.as_bytes(), meant.as_bytes())
            && !REAL_WORDS.split(' ').any(|real| real == word)
}

/// One letter more, less or other, or two neighbours swapped.
fn one_letter_off(one: &[u8], other: &[u8]) -> bool {
    let start = one.iter().zip(other).take_while(|(a, b)| a == b).count();
    let (one, other) = (&one[start..], &other[start..]);
    let end = one.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count();
    match (&one[..one.len() - end], &other[..other.len() - end]) {
        ([] | [_], [] | [_]) => true,
        ([a, b], [c, d]) => a == d && b == c,
        _ => false,
    }
}

/// The phrases of one kind of message, and what may stand around them.
#[derive(Debug)]
pub(crate) struct Grammar<K: 'static> {
    phrases: Vec<(Pattern, K)>,
    frames: Vec<Pattern>,
    /// Denials, which deny what follows unless a comma or one of the verbs of theirs comes next.
    denials: Vec<Pattern>,
    after_denial: Vec<Pattern>,
}

/// How far phrases and frames cover a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cover<K> {
    /// What was said, in order.
    pub(crate) said: Vec<K>,
    /// Whether a denial stood before it: "no, ...".
    pub(crate) denied: Denial,
    /// The token after the last phrase.
    pub(crate) phrase_end: usize,
    /// The first token that is not covered.
    pub(crate) end: usize,
}

/// Whether a "no" was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Denial {
    Spoken,
    Absent,
}

impl<K: Copy> Grammar<K> {
    /// Lists are one pattern a line.
    pub(crate) fn new(phrases: &[(K, &str)], frames: &str, denials: &str, after_denial: &str) -> Self {
        let all = |list: &str| list.lines().map(Pattern::parse).collect::<Vec<_>>();
        Self {
            phrases: phrases
                .iter()
                .flat_map(|&(kind, list)| all(list).into_iter().map(move |pattern| (pattern, kind)))
                .collect(),
            frames: all(frames),
            denials: all(denials),
            after_denial: all(after_denial),
        }
    }

    /// Covers a message from its beginning, the longest piece first.
    pub(crate) fn cover(&self, tokens: &[Token]) -> Cover<K> {
        let mut cover = Cover { said: Vec::new(), denied: Denial::Absent, phrase_end: 0, end: 0 };
        let longest = |list: &[Pattern], rest: &[Token]| {
            list.iter().map(|pattern| pattern.takes(rest)).max().unwrap_or(0)
        };
        while cover.end < tokens.len() {
            let rest = &tokens[cover.end..];
            let phrase = self.phrases.iter().map(|(pattern, kind)| (pattern.takes(rest), *kind));
            let phrase = phrase.reduce(|best, next| if next.0 > best.0 { next } else { best });
            let frame = longest(&self.frames, rest);
            let denial = match longest(&self.denials, rest) {
                count if rest.get(count).is_none_or(|next| next.before != Gap::Joined) => count,
                count if longest(&self.after_denial, &rest[count..]) > 0 => count,
                _ => 0,
            };
            match phrase {
                Some((count, kind)) if count > 0 && count >= frame.max(denial) => {
                    cover.said.push(kind);
                    cover.end += count;
                    cover.phrase_end = cover.end;
                }
                _ if denial > 0 && denial >= frame => {
                    cover.denied = Denial::Spoken;
                    cover.end += denial;
                }
                _ if frame > 0 => cover.end += frame,
                _ => break,
            }
        }
        cover
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_know_what_stands_before_them() {
        let read = tokens("No, let’s 繼續?", 10);
        let list: Vec<(&str, Gap)> =
            read.list.iter().map(|token| (token.text.as_str(), token.before)).collect();
        assert_eq!(
            list,
            [("no", Gap::Joined), ("lets", Gap::Break), ("继", Gap::Joined), ("续", Gap::Joined)]
        );
        assert_eq!((read.ending, read.extent), (Gap::Question, Extent::Whole));
        assert_eq!(tokens("one two three", 2).extent, Extent::Cut);
        assert_eq!(tokens(&"!".repeat(1_000_000), 2).extent, Extent::Cut);
    }

    #[test]
    fn one_letter_may_be_wrong_in_a_long_word() {
        for word in ["contniue", "continu", "continnue", "contimue"] {
            assert!(is_meant(word, "continue"), "{word}");
        }
        for (word, meant) in [("order", "older"), ("nww", "new"), ("kontinu", "continue")] {
            assert!(!is_meant(word, meant), "{word}");
        }
    }
}
