//! Plain words that name a conversation: "back to the Japan trip", "the Japan one", 回到成都那个.
//!
//! Two questions: does a message want to go back to something, and which of several conversations does it name? Both are
//! answered by the words that carry meaning; which of them a conversation has is read once ([`About`]).

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::phrases::lists::Words;
use crate::phrases::table::NAMING;
use crate::phrases::{Gap, Token, tokens};
use crate::session_number::{self, How};
use crate::text::is_unspaced;

/// Words around a name that say nothing about which conversation is meant.
static EMPTY: LazyLock<Words> = LazyLock::new(|| NAMING.set("empty en"));
/// Nouns for any conversation: they count only where nothing else is said.
static GENERIC: LazyLock<Words> = LazyLock::new(|| NAMING.set("generic en"));
/// A name ends before these.
static ENDS: LazyLock<Words> = LazyLock::new(|| NAMING.set("end en"));
static BACK: LazyLock<Vec<Vec<Token>>> = LazyLock::new(|| entries("back"));
static TO_SIGN: LazyLock<Vec<Vec<Token>>> = LazyLock::new(|| entries("to sign"));
static TO_NOUN: LazyLock<Vec<Vec<Token>>> = LazyLock::new(|| entries("to noun"));
/// Words of a choice between conversations.
static CHOICE: LazyLock<Words> = LazyLock::new(|| NAMING.set("choice en"));
static CHOICE_CHINESE: LazyLock<Vec<Vec<Token>>> = LazyLock::new(|| phrases("choice zh"));
static FRAME_CHINESE: LazyLock<Vec<Vec<Token>>> = LazyLock::new(|| phrases("frame zh"));
static TAIL_CHINESE: LazyLock<Vec<Vec<Token>>> = LazyLock::new(|| phrases("tail zh"));

fn phrases(list: &str) -> Vec<Vec<Token>> {
    NAMING.words(list).into_iter().map(|phrase| tokens(phrase, usize::MAX).list).collect()
}

fn entries(list: &str) -> Vec<Vec<Token>> {
    NAMING.entries(list).iter().map(|phrase| tokens(phrase, usize::MAX).list).collect()
}

/// A wish is said at the beginning.
const TOKENS_MAX: usize = 24;
const NAME_TOKENS_MAX: usize = 12;
/// How much of a name in characters must be there: its pairs overlap, so one that differs spoils two.
const PAIRS_SHARE_MIN: f32 = 0.3;

/// What a conversation is about: its words, and its pairs of neighbouring characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct About(BTreeSet<String>);

impl About {
    /// Reads what was said in it, such as its title and its first messages.
    #[must_use]
    pub fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut known = BTreeSet::new();
        for text in texts {
            let read = tokens(text, 400);
            known
                .extend(read.list.iter().filter(|token| !is_character(token)).map(|token| stem(&token.text)));
            known.extend(pairs(&read.list));
        }
        Self(known)
    }
}

/// What a message calls a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// As it was written, in small letters.
    pub phrase: String,
    words: Vec<String>,
    pairs: Vec<String>,
}

impl Name {
    fn of(list: &[Token]) -> Option<Self> {
        let is = |list: &Words, token: &Token| list.has(&token.text);
        let words: Vec<&Token> =
            list.iter().filter(|token| !is_character(token) && !is(&EMPTY, token)).collect();
        let telling: Vec<&Token> = words.iter().copied().filter(|token| !is(&GENERIC, token)).collect();
        let pairs: Vec<String> = pairs(list).collect();
        // "The trip" names one where nothing else is said.
        let words = if telling.is_empty() && pairs.is_empty() { words } else { telling };
        let words: Vec<String> = words.into_iter().map(|token| stem(&token.text)).collect();
        (!words.is_empty() || !pairs.is_empty()).then(|| Self { phrase: joined(list), words, pairs })
    }

    /// Reads what a choice between conversations calls one: "put it in the Japan session", 放到日本那个里.
    pub(crate) fn of_choice(list: &[Token]) -> Option<Self> {
        let mut rest = list;
        while let Some(lead) = longest(&CHOICE_CHINESE, rest) {
            rest = &rest[lead..];
        }
        let rest: Vec<Token> = rest.iter().filter(|token| !CHOICE.has(&token.text)).cloned().collect();
        Self::of(without_tail(&rest))
    }

    /// Tells how well it fits a conversation, from 0 to 1; 0 if a word of it was never said there.
    #[must_use]
    pub fn fits(&self, about: &About) -> f32 {
        let share = |units: &[String]| {
            units.iter().filter(|unit| about.0.contains(*unit)).count() as f32 / units.len().max(1) as f32
        };
        let (words, pairs) = (share(&self.words), share(&self.pairs));
        match (self.words.is_empty(), self.pairs.is_empty()) {
            (false, true) if words >= 1.0 => words,
            (true, false) if pairs >= PAIRS_SHARE_MIN => pairs,
            (false, false) if words >= 1.0 && pairs >= PAIRS_SHARE_MIN => (words + pairs) / 2.0,
            _ => 0.0,
        }
    }
}

/// What a message wants to go back to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// What it calls it.
    Name(Name),
    /// The session's number.
    Number(u32),
}

/// Reads what a message wants to go back to; nothing if it does not want to go back.
///
/// ```
/// use segue_signals::naming::{About, Target, goes_back_to};
/// let japan = About::of(["Plan a trip to Japan in April"]);
/// let fits = |text| match goes_back_to(text) {
///     Some(Target::Name(name)) => name.fits(&japan) > 0.0,
///     _ => false,
/// };
/// assert!(fits("ok, back to the Japan trip") && !fits("go back to the login page"));
/// assert_eq!(goes_back_to("back to #1"), Some(Target::Number(1)));
/// assert_eq!(goes_back_to("I was in Japan last year"), None);
/// ```
#[must_use]
pub fn goes_back_to(text: &str) -> Option<Target> {
    let list = tokens(text, TOKENS_MAX).list;
    let mut rest = &list[..];
    loop {
        if let Some(number) = number_after(rest) {
            return Some(Target::Number(number));
        }
        if let Some(cue) = longest(&BACK, rest).filter(|cue| rest.len() > *cue) {
            return Name::of(without_tail(name_after(&rest[cue..]))).map(Target::Name);
        }
        let lead = longest(&FRAME_CHINESE, rest);
        match lead.or_else(|| rest.first().filter(|token| EMPTY.has(&token.text)).map(|_| 1)) {
            Some(lead) => rest = &rest[lead..],
            None => return None,
        }
    }
}

/// Reads a number of a session behind the words that go to one, if nothing else is said in the clause.
fn number_after(list: &[Token]) -> Option<u32> {
    let after = |cues: &[Vec<Token>], how: fn(How) -> bool| {
        let rest = &list[longest(cues, list)?..];
        let read = session_number::read(rest).filter(|read| how(read.how))?;
        let rest = &rest[read.taken..];
        let end = rest.iter().position(|token| token.before != Gap::Joined).unwrap_or(rest.len());
        let rest = without_tail(&rest[..end]);
        rest.iter().all(|token| EMPTY.has(&token.text) || ENDS.has(&token.text)).then_some(read.number)
    };
    after(&TO_NOUN, |how| how == How::Noun).or_else(|| after(&TO_SIGN, |how| how >= How::Sign))
}

/// How long the longest phrase is that a message begins with.
fn longest(phrases: &[Vec<Token>], list: &[Token]) -> Option<usize> {
    phrases.iter().filter(|phrase| starts(list, phrase)).map(Vec::len).max()
}

/// The words up to a comma, or up to one that begins something else.
fn name_after(list: &[Token]) -> &[Token] {
    let ends = |(at, token): (usize, &Token)| at > 0 && token.before != Gap::Joined || ENDS.has(&token.text);
    let end = list.iter().enumerate().position(ends).unwrap_or(list.len());
    &list[..end.min(NAME_TOKENS_MAX)]
}

fn starts(list: &[Token], phrase: &[Token]) -> bool {
    list.len() >= phrase.len() && list.iter().zip(phrase).all(|(token, wanted)| token.text == wanted.text)
}

fn without_tail(list: &[Token]) -> &[Token] {
    let end =
        list.iter().skip(1).position(|token| token.before != Gap::Joined).map_or(list.len(), |at| at + 1);
    let mut list = &list[..end.min(NAME_TOKENS_MAX)];
    let ends = |list: &[Token], tail: &[Token]| {
        list.len().checked_sub(tail.len()).is_some_and(|from| starts(&list[from..], tail))
    };
    while let Some(tail) = TAIL_CHINESE.iter().find(|tail| ends(list, tail)) {
        list = &list[..list.len() - tail.len()];
    }
    list
}

fn is_character(token: &Token) -> bool {
    token.text.chars().next().is_some_and(is_unspaced)
}

/// Neighbouring characters, two by two; one alone stands for itself.
fn pairs(list: &[Token]) -> impl Iterator<Item = String> + '_ {
    list.windows(2)
        .filter(|two| two.iter().all(is_character) && two[1].before == Gap::Joined)
        .map(|two| format!("{}{}", two[0].text, two[1].text))
}

fn joined(list: &[Token]) -> String {
    let mut out = String::new();
    for token in list {
        if !out.is_empty() && !is_character(token) {
            out.push(' ');
        }
        out.push_str(&token.text);
    }
    out
}

/// "Trips" and "trip" are one.
fn stem(word: &str) -> String {
    let long = word.chars().count() > 3 && !word.ends_with("ss");
    word.strip_suffix('s').filter(|_| long).unwrap_or(word).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sessions() -> [About; 3] {
        [
            About::of(["plan a trip to japan for two weeks, with the jr pass", "no oven btw"]),
            About::of(["my Spring Boot service times out under load"]),
            About::of(["帮我规划一下成都三日游，想吃火锅"]),
        ]
    }

    fn best(text: &str) -> Option<usize> {
        let Some(Target::Name(name)) = goes_back_to(text) else { return None };
        let fits = sessions().map(|about| name.fits(&about));
        (0..3).filter(|at| fits[*at] > 0.0).max_by(|a, b| fits[*a].total_cmp(&fits[*b]))
    }

    #[test]
    fn r11_plain_words_name_an_earlier_session() {
        for (text, session) in [
            ("ok back to the japan trip", 0),
            ("Back to Japan: what does the rail pass cost?", 0),
            ("let's go back to the trip please", 0),
            ("can we return to the Spring Boot thing", 1),
            ("resume the spring boot discussion", 1),
            ("anyway, back to that Spring Boot service. why is it slow?", 1),
            ("回到成都那个", 2),
            ("好，我们回到成都的话题吧", 2),
            ("接着聊成都三日游", 2),
            ("那就说回成都", 2),
        ] {
            assert_eq!(best(text), Some(session), "{text}");
        }
    }

    #[test]
    fn x14_a_number_names_a_session() {
        for text in [
            "back to #1",
            "ok, go back to #1 please",
            "go to session 1",
            "回到#1",
            "好，回到1号会话吧",
            "back to #1: how much?",
        ] {
            assert_eq!(goes_back_to(text), Some(Target::Number(1)), "{text}");
        }
        for text in [
            "open #1",
            "go to #1",
            "in session 1 you said so",
            "back to 1 cup",
            "go to session 1 of the course",
            "去1号线",
        ] {
            assert!(!matches!(goes_back_to(text), Some(Target::Number(_))), "{text}");
        }
    }

    #[test]
    fn r11_what_only_sounds_like_it_names_none() {
        for text in [
            "go back two lines",
            "go back to the login page",
            "back to school shopping list",
            "return to sender",
            "I am back from Japan",
            "continue with the second paragraph",
            "resume the download",
            "when will we be back to normal",
            "回到首页",
            "接着写第二段",
            "我想回到家",
            "",
            "back to",
        ] {
            assert_eq!(best(text), None, "{text}");
        }
        assert_eq!(best(&"back to ".repeat(50_000)), None);
    }

    #[test]
    fn r14_a_choice_is_named_by_what_it_is_about() {
        let [japan, spring, chengdu] = sessions();
        let best = |text: &str| {
            let name = Name::of_choice(&tokens(text, 24).list)?;
            let fits = [&japan, &spring, &chengdu].map(|about| name.fits(about));
            (0..3).filter(|at| fits[*at] > 0.0).max_by(|a, b| fits[*a].total_cmp(&fits[*b]))
        };
        for (text, at) in [
            ("the japan one", Some(0)),
            ("put it in the japan session", Some(0)),
            ("Japan please", Some(0)),
            ("the one about Japan", Some(0)),
            ("spring boot", Some(1)),
            ("the spring one", Some(1)),
            ("成都那个", Some(2)),
            ("回到成都那个", Some(2)),
            ("放到成都那个会话里去", Some(2)),
            ("the one", None),
            ("which one is that?", None),
            ("how long is the flight to japan from here and what does it cost", None),
            ("the garden", None),
            ("", None),
        ] {
            assert_eq!(best(text), at, "{text}");
        }
    }
}
