//! Whole messages made of known phrases: the words, and the polite words around them.
//!
//! English words and single Chinese characters are the same kind of token here, so that one small
//! pattern language serves both, and a message may mix them.

pub(crate) mod lists;
pub(crate) mod pattern;
pub(crate) mod table;
pub(crate) mod typo;

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::text::{fold, is_invisible, is_unspaced};
use lists::Words;
use pattern::Pattern;
use table::{INTENT, Table};
use typo::Spelled;

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
    let (mut word, mut hash) = (String::new(), false);
    let mut chars = text.chars().map(fold).filter(|&ch| !is_invisible(ch));
    for ch in chars.by_ref().take(CHARS_MAX) {
        if ch == '\'' {
            // "let's" and "lets" are one.
            continue;
        }
        if ch == '#' {
            out.push(&mut word);
            hash = true;
            continue;
        }
        if std::mem::take(&mut hash) {
            // "#2" is a number of ours, and one token.
            match ch.is_ascii_digit() {
                true => word.push('#'),
                false if out.ending == Gap::Joined => out.ending = Gap::Break,
                false => {}
            }
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

/// The simplified form of a character.
pub(crate) fn simple(ch: char) -> char {
    static SIMPLIFIED: LazyLock<HashMap<char, char>> = LazyLock::new(|| {
        let pairs = INTENT.words("traditional");
        pairs.iter().filter_map(|pair| pair.chars().next().zip(pair.chars().nth(1))).collect()
    });
    SIMPLIFIED.get(&ch).copied().unwrap_or(ch)
}

/// Cuts a choice of a pattern into tokens.
fn units(choice: &str) -> Vec<String> {
    tokens(&choice.replace('_', " "), usize::MAX).list.into_iter().map(|token| token.text).collect()
}

/// How many tokens a pattern takes from the front, without crossing a comma.
fn takes(pattern: &Pattern<String>, tokens: &[Token]) -> usize {
    let same = |token: &Token, meant: &String| is_meant(&token.text, meant);
    pattern.longest(run(tokens), &same).unwrap_or(0)
}

/// The tokens up to a comma.
fn run(tokens: &[Token]) -> &[Token] {
    let run = 1 + tokens.iter().skip(1).take_while(|token| token.before == Gap::Joined).count();
    &tokens[..run.min(tokens.len())]
}

/// A word of fewer letters has too many neighbours to be a misspelling.
const TYPO_LETTERS_MIN: usize = 5;

fn is_meant(word: &str, meant: &str) -> bool {
    static REAL: LazyLock<Words> = LazyLock::new(|| INTENT.set("typo en"));
    word == meant
        || meant.len() >= TYPO_LETTERS_MIN
            && word.len() + 1 >= TYPO_LETTERS_MIN
            && word.bytes().chain(meant.bytes()).all(|byte| byte.is_ascii_lowercase())
            && typo::distance(Spelled::new(word), Spelled::new(meant), 1).is_some()
            && !REAL.has(word)
}

/// The phrases of one kind of message, and what may stand around them.
#[derive(Debug)]
pub(crate) struct Grammar<K: 'static> {
    phrases: Vec<(Pattern<String>, K)>,
    frames: Vec<Pattern<String>>,
    /// Denials, which deny what follows unless a comma or one of the verbs of theirs comes next.
    denials: Vec<Pattern<String>>,
    after_denial: Vec<Pattern<String>>,
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

/// Puts the sets of a table in the place of their names: `<noun>`.
fn expanded(line: &str, sets: &[(&str, &str)]) -> String {
    sets.iter()
        .rev()
        .fold(line.to_owned(), |line, (name, choices)| line.replace(&format!("<{name}>"), choices))
}

/// Reads the patterns of a list.
fn patterns(table: Table, list: &str) -> Vec<Pattern<String>> {
    let sets = table.sets();
    table.lines(list).map(|line| Pattern::parse(&expanded(line, &sets), units)).collect()
}

/// Patterns that are looked for in a sentence, without typing errors: what stands there may be about anything.
#[derive(Debug)]
pub(crate) struct Patterns(Vec<Pattern<String>>);

impl Patterns {
    pub(crate) fn new(table: Table, list: &str) -> Self {
        Self(patterns(table, list))
    }

    /// How many tokens the longest of them takes from the front; nothing if there is none.
    pub(crate) fn begin(&self, tokens: &[Token]) -> Option<usize> {
        let run = run(tokens);
        let same = |token: &Token, meant: &String| token.text == *meant;
        self.0.iter().filter_map(|pattern| pattern.longest(run, &same)).max().filter(|count| *count > 0)
    }

    /// Whether one of them is anywhere.
    pub(crate) fn any_in(&self, tokens: &[Token]) -> bool {
        (0..tokens.len()).any(|from| self.begin(&tokens[from..]).is_some())
    }
}

impl<K: Copy> Grammar<K> {
    /// Reads a table: the lists of phrases, and those of frames and denials.
    pub(crate) fn new(table: Table, phrases: &[(K, &str)]) -> Self {
        let all = |list: &str| patterns(table, list);
        let of_kind = |&(kind, list): &(K, &str)| all(list).into_iter().map(move |pattern| (pattern, kind));
        Self {
            phrases: phrases.iter().flat_map(of_kind).collect(),
            frames: all("frame"),
            denials: all("denial"),
            after_denial: all("after denial"),
        }
    }

    /// Covers a message from its beginning, the longest piece first.
    pub(crate) fn cover(&self, tokens: &[Token]) -> Cover<K> {
        let mut cover = Cover { said: Vec::new(), denied: Denial::Absent, phrase_end: 0, end: 0 };
        let longest = |list: &[Pattern<String>], rest: &[Token]| {
            list.iter().map(|pattern| takes(pattern, rest)).max().unwrap_or(0)
        };
        while cover.end < tokens.len() {
            let rest = &tokens[cover.end..];
            let phrase = self.phrases.iter().map(|(pattern, kind)| (takes(pattern, rest), *kind));
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
        let numbered = tokens("回到＃2 #x", 10).list;
        let numbered: Vec<&str> = numbered.iter().map(|token| token.text.as_str()).collect();
        assert_eq!(numbered, ["回", "到", "#2", "x"]);
        assert_eq!(tokens("one two three", 2).extent, Extent::Cut);
        assert_eq!(tokens(&"!".repeat(1_000_000), 2).extent, Extent::Cut);
    }

    #[test]
    fn sets_stand_for_their_choices() {
        let sets = [("noun", "chat|topic"), ("old", "older <noun>|old")];
        assert_eq!(expanded("go <old>|<noun>?", &sets), "go older chat|topic|old|chat|topic?");
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
