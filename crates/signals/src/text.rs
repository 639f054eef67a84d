//! Reading text: what is looked at, and how it is cut into tokens.
//!
//! Chinese, Japanese and Thai have no spaces, so each of their characters is a token of its own;
//! everything else is cut into words. Nothing is allocated for a word: a token is a hash and a place.

use crate::hash::{Hasher, WordHash};

/// How much of a long text is read: its beginning and its end say what it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    head_bytes: usize,
    tail_bytes: usize,
}

impl Window {
    /// For a message that is to be judged.
    pub const MESSAGE: Self = Self { head_bytes: 1_024, tail_bytes: 512 };
    /// For a message that becomes part of the session's profile.
    pub(crate) const HISTORY: Self = Self { head_bytes: 1_024, tail_bytes: 1_024 };
    /// For rules that look for phrases.
    pub(crate) const PHRASES: Self = Self { head_bytes: 4_096, tail_bytes: 1_024 };

    /// Cuts the text on character boundaries; the tail is empty when the head holds everything.
    pub fn cut(self, text: &str) -> (&str, &str) {
        if text.len() <= self.head_bytes + self.tail_bytes {
            return (text, "");
        }
        let head = floor(text, self.head_bytes);
        let tail = floor(text, text.len() - self.tail_bytes);
        (&text[..head], &text[tail..])
    }
}

/// The last character boundary at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// What a token is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A word of a script that puts spaces between words.
    Word,
    /// One character of a script that does not.
    Unspaced,
    /// A run of digits, hashed by its length only: "7" and "8" say the same about a topic.
    Number,
}

/// One token: the lower-cased word's hash and where it stands in its half of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) hash: WordHash,
    pub(crate) kind: Kind,
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Which half of the window the place refers to.
    pub(crate) part: Part,
}

/// The half of a window a token stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The beginning of the text.
    Head,
    /// The end of a text too long to be read whole.
    Tail,
}

/// A text as it is read: tokens and the two halves they stand in.
#[derive(Clone, Debug)]
pub(crate) struct Reading<'a> {
    head: &'a str,
    tail: &'a str,
    pub(crate) tokens: Vec<Token>,
}

impl<'a> Reading<'a> {
    /// Reads as much of the text as the window shows.
    pub(crate) fn new(text: &'a str, window: Window) -> Self {
        let (head, tail) = window.cut(text);
        let mut tokens = Vec::with_capacity((head.len() + tail.len()) / 4 + 1);
        tokenize(head, Part::Head, &mut tokens);
        tokenize(tail, Part::Tail, &mut tokens);
        Self { head, tail, tokens }
    }

    /// The text between the start of one token and the end of another of the same half.
    pub(crate) fn between(&self, first: Token, last: Token) -> &'a str {
        let half = match first.part {
            Part::Head => self.head,
            Part::Tail => self.tail,
        };
        half.get(first.start as usize..last.end as usize).unwrap_or("")
    }

    /// The first characters of what was read.
    pub(crate) fn beginning(&self) -> &'a str {
        self.head
    }
}

fn tokenize(text: &str, part: Part, out: &mut Vec<Token>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        // Spaces and signs, without a closer look.
        if byte.is_ascii() && !byte.is_ascii_alphanumeric() {
            at += 1;
            continue;
        }
        let Some(ch) = char_at(text, at) else { break };
        let start = at;
        at += ch.len_utf8();
        let ch = fold(ch);
        if is_unspaced(ch) {
            let hash = Hasher::new().char(ch).finish();
            out.push(token(hash, Kind::Unspaced, start, at, part));
        } else if ch.is_ascii_digit() || ch.is_numeric() {
            let mut digits = 1_u8;
            while let Some(next) = char_at(text, at).filter(|next| fold(*next).is_numeric()) {
                digits = (digits + 1).min(5);
                at += next.len_utf8();
            }
            let hash = Hasher::new().byte(b'#').byte(digits).finish();
            out.push(token(hash, Kind::Number, start, at, part));
        } else if ch.is_alphabetic() {
            let (hasher, end) = rest_of_word(text, at, lower(Hasher::new(), ch));
            at = end;
            out.push(token(hasher.finish(), Kind::Word, start, at, part));
        }
    }
}

/// Feeds the rest of a word to a hasher; returns where the word ends, too.
fn rest_of_word(text: &str, mut at: usize, mut hasher: Hasher) -> (Hasher, usize) {
    let bytes = text.as_bytes();
    loop {
        while let Some(byte) = bytes.get(at).filter(|byte| byte.is_ascii_alphabetic()) {
            hasher = hasher.byte(byte.to_ascii_lowercase());
            at += 1;
        }
        let Some(next) = char_at(text, at) else { break };
        let folded = fold(next);
        let after = at + next.len_utf8();
        if is_joiner(folded) {
            // "don't" is one word, "the boys' room" is not: look at what follows.
            if !char_at(text, after).is_some_and(|ch| is_word_char(fold(ch))) {
                break;
            }
        } else if is_word_char(folded) {
            hasher = lower(hasher, folded);
        } else if !is_invisible(folded) {
            break;
        }
        at = after;
    }
    (hasher, at)
}

fn token(hash: WordHash, kind: Kind, start: usize, end: usize, part: Part) -> Token {
    // A window is a few kilobytes, so a place always fits.
    Token { hash, kind, start: start as u32, end: end as u32, part }
}

fn char_at(text: &str, at: usize) -> Option<char> {
    text.get(at..)?.chars().next()
}

/// Makes full-width letters, digits and punctuation plain.
pub(crate) fn fold(ch: char) -> char {
    match ch {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(ch as u32 - 0xfee0).unwrap_or(ch),
        '\u{3000}' => ' ',
        '\u{2019}' | '\u{2018}' => '\'',
        _ => ch,
    }
}

fn lower(hasher: Hasher, ch: char) -> Hasher {
    if ch.is_ascii() {
        hasher.byte(ch.to_ascii_lowercase() as u8)
    } else {
        ch.to_lowercase().fold(hasher, Hasher::char)
    }
}

/// Feeds a word to a hasher character by character, as the tokenizer does, and reports each prefix.
pub(crate) fn prefixes(word: &str) -> impl Iterator<Item = WordHash> + '_ {
    word.chars().map(fold).filter(|&ch| !is_invisible(ch) && !is_joiner(ch)).scan(
        Hasher::new(),
        |hasher, ch| {
            *hasher = lower(*hasher, ch);
            Some(hasher.finish())
        },
    )
}

fn is_word_char(ch: char) -> bool {
    (ch.is_alphabetic() && !is_unspaced(ch)) || is_combining(ch)
}

fn is_joiner(ch: char) -> bool {
    ch == '\''
}

/// Characters that are there and cannot be seen; they must not split a word or hide a phrase.
pub(crate) fn is_invisible(ch: char) -> bool {
    matches!(ch, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}'
        | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{00ad}' | '\u{fe00}'..='\u{fe0f}')
}

fn is_combining(ch: char) -> bool {
    matches!(ch, '\u{0300}'..='\u{036f}' | '\u{0610}'..='\u{061a}' | '\u{064b}'..='\u{065f}'
        | '\u{0900}'..='\u{0903}' | '\u{093a}'..='\u{094f}')
}

/// Han characters, in the blocks that are in use.
pub(crate) fn is_han(ch: char) -> bool {
    matches!(ch, '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{323af}')
}

/// Characters of scripts that put no spaces between words.
pub(crate) fn is_unspaced(ch: char) -> bool {
    is_han(ch)
        || matches!(ch, '\u{3040}'..='\u{30ff}' | '\u{0e00}'..='\u{0eff}'
            | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}')
}

/// Lower case, without apostrophes, single spaces, one at each end: phrases are found as whole words.
pub(crate) fn padded(text: &str) -> String {
    let mut out = String::from(" ");
    for ch in text.chars().map(fold).filter(|ch| *ch != '\'') {
        if ch.is_alphanumeric() {
            out.extend(ch.to_lowercase());
        } else if !out.ends_with(' ') {
            out.push(' ');
        }
    }
    if !out.ends_with(' ') {
        out.push(' ');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        let reading = Reading::new(text, Window::MESSAGE);
        let place = |token: &Token| reading.between(*token, *token).to_owned();
        reading.tokens.iter().map(place).collect()
    }

    /// The tokens of a text, character by character and without short cuts.
    fn slowly(text: &str) -> Vec<Token> {
        let mut out = Vec::new();
        let mut chars = text.char_indices().peekable();
        while let Some((start, ch)) = chars.next() {
            let mut end = start + ch.len_utf8();
            let ch = fold(ch);
            if is_unspaced(ch) {
                out.push(token(Hasher::new().char(ch).finish(), Kind::Unspaced, start, end, Part::Head));
            } else if ch.is_numeric() {
                let mut digits = 1_u8;
                while let Some((at, next)) = chars.next_if(|&(_, next)| fold(next).is_numeric()) {
                    digits = (digits + 1).min(5);
                    end = at + next.len_utf8();
                }
                let hash = Hasher::new().byte(b'#').byte(digits).finish();
                out.push(token(hash, Kind::Number, start, end, Part::Head));
            } else if ch.is_alphabetic() {
                let mut hasher = lower(Hasher::new(), ch);
                while let Some(&(at, next)) = chars.peek() {
                    let folded = fold(next);
                    let follows = chars.clone().nth(1).is_some_and(|(_, ch)| is_word_char(fold(ch)));
                    match folded {
                        _ if is_joiner(folded) && follows => {}
                        _ if is_word_char(folded) => hasher = lower(hasher, folded),
                        _ if is_invisible(folded) => {}
                        _ => break,
                    }
                    end = at + next.len_utf8();
                    chars.next();
                }
                out.push(token(hasher.finish(), Kind::Word, start, end, Part::Head));
            }
        }
        out
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig {
            failure_persistence: None,
            ..proptest::prelude::ProptestConfig::default()
        })]

        #[test]
        fn the_short_way_reads_what_the_long_way_reads(text in "[a-zA-Z0-9 '’\u{200b}éßİ數数カ한ｅ５.,!\n\u{301}😀]{0,40}|.{0,40}") {
            proptest::prop_assert_eq!(Reading::new(&text, Window::PHRASES).tokens, slowly(&text));
        }
    }

    #[test]
    fn chinese_is_cut_into_characters_and_english_into_words() {
        assert_eq!(words("Don't 换个话题, ok?"), ["Don't", "换", "个", "话", "题", "ok"]);
        assert_eq!(words("  \u{1f600}!? "), Vec::<String>::new());
    }

    #[test]
    fn case_width_and_invisible_characters_change_no_hash() {
        let hash = |text| Reading::new(text, Window::MESSAGE).tokens[0].hash;
        assert_eq!(hash("Parser"), hash("ｐａｒｓｅｒ"));
        assert_eq!(hash("pa\u{200b}rser"), WordHash::of("parser"));
        assert_eq!(hash("don’t"), WordHash::of("dont"));
        assert_eq!(prefixes("don’t").last(), Some(WordHash::of("dont")));
    }

    #[test]
    fn a_long_text_is_read_at_both_ends_on_character_boundaries() {
        let text = "数".repeat(10_000);
        let (head, tail) = Window::MESSAGE.cut(&text);
        assert!(head.len() <= 1_024 && tail.len() <= 515);
        assert!(text.starts_with(head) && text.ends_with(tail));
    }
}
