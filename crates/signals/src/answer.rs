//! R-14, X-14: how a message reads as the answer to "continue this topic or start fresh?"
//!
//! Only a message that is nothing but an answer is one: "continue" is, "continue with the second
//! paragraph" is the next message of the conversation. "Yes" answers no either-or question.

use std::sync::LazyLock;

use crate::naming::{About, Name};
use crate::phrases::lists::{Phrases, Words};
use crate::phrases::table::ANSWER;
use crate::phrases::{Extent, Gap, Grammar, Token, tokens};
use crate::sentences;
use crate::session_number::{self, How};

/// What the person chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Go on with the session as it is.
    Continue,
    /// Begin a new session.
    Fresh,
    /// Go back to the older session.
    Older,
}

/// The numbers of the sessions that a question names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offered {
    /// The session that the message is in.
    pub here: Option<u32>,
    /// The older session.
    pub older: Option<u32>,
}

/// What a message says to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reading {
    /// It is an answer.
    Answer(Answer),
    /// It is an answer if what it names is one of the sessions.
    Names(Choice),
    /// It is something else.
    Other,
}

/// A short message that may name one of the sessions that a question is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    name: Name,
    /// What is said besides.
    said: Option<Answer>,
}

impl Choice {
    /// Tells which session it names, by what they are about: "the Japan one", 成都那个. Nothing if it fits neither, or both.
    #[must_use]
    pub fn of(&self, here: &About, older: Option<&About>) -> Option<Answer> {
        let (to_here, to_older) = (self.name.fits(here), older.map_or(0.0, |older| self.name.fits(older)));
        let named = match to_here.total_cmp(&to_older) {
            std::cmp::Ordering::Greater => Answer::Continue,
            std::cmp::Ordering::Less => Answer::Older,
            std::cmp::Ordering::Equal => return None,
        };
        // "Continue with the Japan one" goes back.
        let agrees = |said: Answer| said == named || said == Answer::Continue;
        self.said.is_none_or(agrees).then_some(named)
    }
}

/// How a choice was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Words,
    /// By its place among the choices, or by a number alone.
    Place,
}

static GRAMMAR: LazyLock<Grammar<(Answer, Way)>> = LazyLock::new(|| {
    let kinds = [
        ((Answer::Continue, Way::Words), "continue"),
        ((Answer::Continue, Way::Place), "continue place"),
        ((Answer::Fresh, Way::Words), "fresh"),
        ((Answer::Fresh, Way::Place), "fresh place"),
        ((Answer::Older, Way::Words), "older"),
        ((Answer::Older, Way::Place), "older place"),
    ];
    Grammar::new(ANSWER, &kinds)
});
static ASKING: LazyLock<Words> = LazyLock::new(|| ANSWER.set("asking"));
static CHOICES: LazyLock<Words> = LazyLock::new(|| ANSWER.set("choice"));
static YES: LazyLock<Words> = LazyLock::new(|| ANSWER.clauses("yes"));
static OFFERED: LazyLock<Phrases> = LazyLock::new(|| ANSWER.whole("offered"));

/// An answer is short; anything longer says something else too.
const TOKENS_MAX: usize = 24;
/// A longer message says more than which session is meant.
const NAME_TOKENS_MAX: usize = 12;
/// Signs of code and markup: "`continue`" is a keyword, not a choice.
const SIGNS: &str = "`{}<>=$\\|;@";

/// Reads a whole message as the answer to the question whether to go on, start fresh or go back.
///
/// ```
/// use segue_signals::answer::{Answer, Offered, Reading, read_answer};
/// let offered = Offered { here: Some(2), older: Some(1) };
/// assert_eq!(read_answer("yes, continue please", offered), Reading::Answer(Answer::Continue));
/// assert_eq!(read_answer("go to #1", offered), Reading::Answer(Answer::Older));
/// assert_eq!(read_answer("开新的吧", offered), Reading::Answer(Answer::Fresh));
/// assert_eq!(read_answer("continue with the second paragraph?", offered), Reading::Other);
/// ```
#[must_use]
pub fn read_answer(text: &str, offered: Offered) -> Reading {
    let Some(cover) = covered(text, offered) else { return Reading::Other };
    let mut said = cover.said.iter().map(|(answer, _)| *answer);
    let first = said.next();
    if !said.all(|other| Some(other) == first) {
        return Reading::Other;
    }
    match (first, cover.rest.is_empty()) {
        (Some(answer), true) => Reading::Answer(answer),
        (said, false) if cover.rest.len() <= NAME_TOKENS_MAX && !sentences::asks(text) => {
            let name = Name::of_choice(&cover.rest);
            name.map_or(Reading::Other, |name| Reading::Names(Choice { name, said }))
        }
        _ => Reading::Other,
    }
}

/// Reads a whole message as the answer to an offer: the model has answered since, so that only what speaks of sessions and topics
/// is for us. "2" and "go back" may answer the model.
///
/// ```
/// use segue_signals::answer::{Answer, Offered, Reading, read_answer_to_offer};
/// let offered = Offered { here: Some(2), older: Some(1) };
/// assert_eq!(read_answer_to_offer("a new one please", offered), Reading::Answer(Answer::Fresh));
/// assert_eq!(read_answer_to_offer("2", offered), Reading::Other);
/// ```
#[must_use]
pub fn read_answer_to_offer(text: &str, offered: Offered) -> Reading {
    let speaks_of_it = |cover: &Covered| {
        let words = cover.list.iter().map(|token| token.text.as_str()).collect::<Vec<_>>().join(" ");
        let unspaced = words.replace(' ', "");
        cover.said.iter().all(|(_, way)| *way == Way::Words)
            && (OFFERED.any_in(&format!(" {words} ")) || !unspaced.is_ascii() && OFFERED.any_in(&unspaced))
    };
    match read_answer(text, offered) {
        Reading::Answer(answer) if covered(text, offered).as_ref().is_some_and(speaks_of_it) => {
            Reading::Answer(answer)
        }
        Reading::Answer(_) => Reading::Other,
        reading => reading,
    }
}

struct Covered {
    list: Vec<Token>,
    said: Vec<(Answer, Way)>,
    /// What is neither an answer nor polite.
    rest: Vec<Token>,
}

/// Covers a message with the phrases of answers; nothing if it can be none.
fn covered(text: &str, offered: Offered) -> Option<Covered> {
    let read = tokens(text, TOKENS_MAX);
    if read.extent == Extent::Cut || text.contains(|ch| SIGNS.contains(ch)) {
        return None;
    }
    let list = with_numbers(&read.list, offered);
    let asks = read.ending == Gap::Question || list.iter().any(|token| token.before == Gap::Question);
    if asks && !list.iter().any(|token| ASKING.has(&token.text)) {
        return None;
    }
    let cover = GRAMMAR.cover(&list);
    let rest = list.get(cover.end..).unwrap_or_default().to_vec();
    Some(Covered { said: cover.said, rest, list })
}

/// Puts one word in the place of each number of a session that was offered, with the noun that stands with it.
fn with_numbers(list: &[Token], offered: Offered) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(list.len());
    let mut at = 0;
    while at < list.len() {
        let (token, taken) = numbered(&list[at..], out.last(), offered);
        out.push(token);
        at += taken;
    }
    out
}

/// Reads the number of a session at the beginning, and how many tokens it takes; else the first token as it is.
fn numbered(list: &[Token], before: Option<&Token>, offered: Offered) -> (Token, usize) {
    let Some(first) = list.first() else { return (Token { text: String::new(), before: Gap::Joined }, 1) };
    let which = |number: u32, this: &'static str, that: &'static str| match number {
        _ if Some(number) == offered.here => Some(this),
        _ if Some(number) == offered.older => Some(that),
        _ => None,
    };
    let is_choice = before.is_some_and(|before| CHOICES.has(&before.text));
    let read = session_number::read(list).filter(|read| read.how >= How::Noun || !is_choice);
    let word = read.and_then(|read| {
        let word = match read.how {
            How::Bare => which(read.number, "thisbare", "thatbare"),
            How::Loose => which(read.number, "thisnumber", "thatnumber"),
            How::Sign | How::Noun => {
                Some(which(read.number, "thisnumber", "thatnumber").unwrap_or("othernumber"))
            }
        };
        Some((word?, read.taken))
    });
    match word {
        Some((word, taken)) => (Token { text: word.to_owned(), before: first.before }, taken),
        None => (first.clone(), 1),
    }
}

/// Tells whether a whole message agrees to an offer and says nothing else.
///
/// ```
/// use segue_signals::answer::agrees;
/// assert!(agrees("Yes, please!") && agrees("是的。"));
/// assert!(!agrees("yes, but in Rust") && !agrees("no"));
/// ```
#[must_use]
pub fn agrees(text: &str) -> bool {
    let words = text.split(|ch: char| !ch.is_alphanumeric()).filter(|word| !word.is_empty());
    YES.has(&words.collect::<Vec<_>>().join(" ").to_lowercase())
}

#[cfg(test)]
mod tests;
