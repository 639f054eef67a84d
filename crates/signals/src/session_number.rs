//! Numbers of sessions as people write them: "#2", "session two", 2号会话.

use std::sync::LazyLock;

use crate::numerals::digit;
use crate::phrases::table::NAMING;
use crate::phrases::{Gap, Token, tokens};

/// What tells that a number is one of a session, the least telling first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum How {
    /// Nothing: "2".
    Bare,
    /// A word that may number anything: "number 2", 2号.
    Loose,
    /// The sign: "#2".
    Sign,
    /// A noun: "session 2", 会话2.
    Noun,
}

/// A number, and how many tokens it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SessionNumber {
    pub(crate) number: u32,
    pub(crate) taken: usize,
    pub(crate) how: How,
}

static NOUNS: LazyLock<Vec<Vec<Token>>> = LazyLock::new(|| phrases("numbered"));
static NOUNS_LOOSE: LazyLock<Vec<Vec<Token>>> = LazyLock::new(|| phrases("numbered loosely"));
static NOUNS_BEHIND: LazyLock<Vec<Vec<Token>>> = LazyLock::new(|| phrases("numbered behind"));
static LOOSE_BEHIND: LazyLock<Vec<Vec<Token>>> = LazyLock::new(|| phrases("numbered loosely behind"));
static NUMERALS: LazyLock<Vec<&str>> = LazyLock::new(|| NAMING.words("numeral en"));

fn phrases(list: &str) -> Vec<Vec<Token>> {
    NAMING.words(list).into_iter().map(|phrase| tokens(phrase, usize::MAX).list).collect()
}

/// Reads a number at the beginning of a message.
pub(crate) fn read(list: &[Token]) -> Option<SessionNumber> {
    let first = list.first()?;
    let after = |nouns: &[Vec<Token>], how: How| {
        let noun = nouns.iter().find(|noun| starts(list, noun))?;
        let number = written(list.get(noun.len()).filter(|next| next.before == Gap::Joined)?)?;
        Some(SessionNumber { number, taken: noun.len() + 1, how })
    };
    let before = |nouns: &[Vec<Token>], how: How| {
        let number = written(first)?;
        let noun = nouns.iter().find(|noun| starts(&list[1..], noun) && list[1].before == Gap::Joined)?;
        Some(SessionNumber { number, taken: 1 + noun.len(), how })
    };
    let alone = || {
        let (digits, how) = match first.text.strip_prefix('#') {
            Some(digits) => (digits, How::Sign),
            None => (first.text.as_str(), How::Bare),
        };
        Some(SessionNumber { number: digits.parse().ok()?, taken: 1, how })
    };
    after(&NOUNS, How::Noun)
        .or_else(|| before(&NOUNS_BEHIND, How::Noun))
        .or_else(|| after(&NOUNS_LOOSE, How::Loose))
        .or_else(|| before(&LOOSE_BEHIND, How::Loose))
        .or_else(alone)
}

fn starts(list: &[Token], phrase: &[Token]) -> bool {
    let same = |(at, (token, wanted)): (usize, (&Token, &Token))| {
        token.text == wanted.text && (at == 0 || token.before == Gap::Joined)
    };
    list.len() >= phrase.len() && list.iter().zip(phrase).enumerate().all(same)
}

/// A number in digits or in words: "2", "#2", "two", 二.
fn written(token: &Token) -> Option<u32> {
    let text = token.text.strip_prefix('#').unwrap_or(&token.text);
    if let Ok(number) = text.parse() {
        return Some(number);
    }
    if let Some(at) = NUMERALS.iter().position(|word| *word == text) {
        return u32::try_from(at + 1).ok();
    }
    let mut chars = text.chars();
    let only = chars.next().filter(|_| chars.next().is_none())?;
    digit(only).and_then(|digit| u32::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn x14_numbers_of_sessions_are_read_as_people_write_them() {
        let read = |text: &str| read(&tokens(text, 10).list).map(|read| (read.number, read.taken, read.how));
        assert_eq!(read("session 2 please"), Some((2, 2, How::Noun)));
        assert_eq!(read("Session #2"), Some((2, 2, How::Noun)));
        assert_eq!(read("会话二吧"), Some((2, 3, How::Noun)));
        assert_eq!(read("3号会话"), Some((3, 4, How::Noun)));
        assert_eq!(read("3号"), Some((3, 2, How::Loose)));
        assert_eq!(read("number one"), Some((1, 2, How::Loose)));
        assert_eq!(read("#12"), Some((12, 1, How::Sign)));
        assert_eq!(read("１２"), Some((12, 1, How::Bare)));
        assert_eq!(read("session, 2"), None);
        assert_eq!(read("#99999999999999999999"), None);
        assert_eq!(read(""), None);
    }
}
