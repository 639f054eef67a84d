//! P-11: what is extracted from a session into memory: what people say about themselves, how they want things, and what
//! was settled.
//!
//! Rules over sentences, in both languages, and the summary's list of decisions. What somebody asks to be remembered always counts.
//! Questions, quotations and code are never kept; what somebody only wonders about, and what will be over tomorrow, is no fact.

use std::sync::LazyLock;

use crate::code::{Code, code_in};
use crate::phrases::table::MEMORY;
use crate::phrases::{Patterns, Token, tokens};
use crate::role::Role;
use crate::sentences::{asks, sentences};
use crate::summary::Summary;
use crate::text::Window;

/// What kind of thing it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Something about the person.
    Fact,
    /// How the person wants things.
    Preference,
    /// What was settled.
    Decision,
}

/// One thing that was extracted, and the place of the message that says it, as the caller counts them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement<Place> {
    /// What kind of thing it is.
    pub kind: Kind,
    /// What to keep.
    pub text: String,
    /// Which message says so.
    pub source: Place,
}

/// What begins so is quoted, or code.
const SHOWN: [char; 12] = ['>', '"', '“', '「', '+', '/', '#', '<', '{', '|', '$', '`'];
/// A longer sentence tells a story; a shorter one tells nothing.
const SENTENCE_CHARS_MAX: usize = 200;
const SENTENCE_CHARS_MIN: usize = 5;
/// Of one message: more is a document, not something that a person says of themselves.
const PER_MESSAGE_MAX: usize = 5;

static PREFERRED: LazyLock<Patterns> = LazyLock::new(|| Patterns::new(MEMORY, "preference"));
static STATED: LazyLock<Patterns> = LazyLock::new(|| Patterns::new(MEMORY, "fact"));
static UNREAL: LazyLock<Patterns> = LazyLock::new(|| Patterns::new(MEMORY, "unreal"));
static PASSING: LazyLock<Patterns> = LazyLock::new(|| Patterns::new(MEMORY, "passing"));
static REMEMBER: LazyLock<Patterns> = LazyLock::new(|| Patterns::new(MEMORY, "remember"));
static RECALLING: LazyLock<Patterns> = LazyLock::new(|| Patterns::new(MEMORY, "recalling"));
static POLITE: LazyLock<Patterns> = LazyLock::new(|| Patterns::new(MEMORY, "polite"));

/// Finds what is worth keeping of a session, each thing once and with the message that says it.
///
/// ```
/// use segue_signals::memory_extraction::{Kind, extract};
/// use segue_signals::Role;
/// let talk = [(1, Role::User, "I'm allergic to nuts. Can you find a restaurant?")];
/// let kept = extract(talk);
/// assert_eq!((kept[0].kind, kept[0].text.as_str()), (Kind::Preference, "I'm allergic to nuts."));
/// ```
pub fn extract<'a, Place: Copy>(
    messages: impl IntoIterator<Item = (Place, Role, &'a str)>,
) -> Vec<Statement<Place>> {
    let mut kept: Vec<Statement<Place>> = Vec::new();
    let mut summary = Summary::new();
    let mut sources: Vec<(String, Place)> = Vec::new();
    for (source, role, text) in messages {
        if role == Role::User {
            for (kind, text) in said_of_oneself(text) {
                if !kept.iter().any(|known| known.text == text) {
                    kept.push(Statement { kind, text, source });
                }
            }
        }
        summary.observe(role, text);
        for line in summary.decisions() {
            if !sources.iter().any(|(known, _)| *known == line) {
                sources.push((line, source));
            }
        }
    }
    // Only what stands at the end: a decision may have been replaced since.
    for text in summary.decisions() {
        let source = sources.iter().find(|(known, _)| *known == text).map(|(_, source)| *source);
        if let Some(source) = source {
            kept.push(Statement { kind: Kind::Decision, text, source });
        }
    }
    kept
}

fn said_of_oneself(text: &str) -> Vec<(Kind, String)> {
    if code_in(text) == Code::Block {
        return Vec::new();
    }
    let (head, _) = Window::PHRASES.cut(text);
    let found = sentences(head).filter(|sentence| !asks(sentence)).filter_map(|sentence| {
        let chars = sentence.chars().count();
        if !(SENTENCE_CHARS_MIN..=SENTENCE_CHARS_MAX).contains(&chars)
            || sentence.starts_with(SHOWN)
            || sentence.contains(" = ")
        {
            return None;
        }
        let words = tokens(sentence, SENTENCE_CHARS_MAX).list;
        let kind = match () {
            () if asks_to_remember(&words) => Kind::Fact,
            () if UNREAL.any_in(&words) || PASSING.any_in(&words) => return None,
            () if PREFERRED.any_in(&words) => Kind::Preference,
            () if STATED.any_in(&words) => Kind::Fact,
            () => return None,
        };
        Some((kind, sentence.to_owned()))
    });
    found.take(PER_MESSAGE_MAX).collect()
}

/// "Please remember that ..." counts whatever it says; "remember when we met?" does not.
fn asks_to_remember(words: &[Token]) -> bool {
    let mut rest = words;
    while let Some(polite) = POLITE.begin(rest) {
        rest = &rest[polite..];
    }
    REMEMBER.begin(rest).is_some_and(|cue| cue < rest.len()) && RECALLING.begin(rest).is_none()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

    use super::*;

    fn kept(lines: &[(Role, &str)]) -> Vec<(Kind, String, usize)> {
        let numbered = lines.iter().enumerate().map(|(at, (role, text))| (at, *role, *text));
        extract(numbered).into_iter().map(|k| (k.kind, k.text, k.source)).collect()
    }

    #[test]
    fn p11_what_people_say_of_themselves_is_kept_with_its_source() {
        use Role::{Assistant, User};
        let talk = kept(&[
            (User, "Hi! My name is Ann and I live in Graz."),
            (Assistant, "Hello Ann. I love Graz. What can I do?"),
            (User, "Find a restaurant. I'm allergic to nuts, and I never eat fish."),
            (User, "我住在成都。我不吃香菜！你会做什么菜？"),
        ]);
        let of = |kind| {
            talk.iter().filter(|(k, _, _)| *k == kind).map(|(_, t, s)| (t.as_str(), *s)).collect::<Vec<_>>()
        };
        assert_eq!(of(Kind::Fact), [("My name is Ann and I live in Graz.", 0), ("我住在成都。", 3)]);
        let fish = ("I'm allergic to nuts, and I never eat fish.", 2);
        assert_eq!(of(Kind::Preference), [fish, ("我不吃香菜！", 3)]);
    }

    #[test]
    fn p11_what_is_asked_imagined_or_shown_is_not() {
        use Role::User;
        let talk = kept(&[
            (User, "Do I live in a flood zone?"),
            (User, "If I had a boat I would live in Lisbon."),
            (User, "I have a question about taxes."),
            (User, "> I prefer tabs"),
            (User, "```\nmy name is x\n```"),
            (User, "我有个问题"),
            (User, "im a lost soul lol"),
            (User, "I have a quick one for you"),
            (User, "my car is making a weird noise"),
            (User, "call me back later"),
            (User, "do you remember when we met?"),
            (User, "记住单词有什么好方法？"),
        ]);
        let own: Vec<_> =
            talk.iter().filter(|(k, _, _)| matches!(k, Kind::Fact | Kind::Preference)).collect();
        assert!(own.is_empty(), "{own:?}");
    }

    #[test]
    fn p11_what_somebody_asks_to_be_remembered_always_counts() {
        use Role::User;
        for text in [
            "remember that my wedding is on June 12",
            "And please don't forget that the gate code is 4711",
            "记住周五要交房租",
            "麻烦帮我记一下，门牌是18号",
            "I work nights in a hospital",
            "我家有两只猫",
        ] {
            let talk = kept(&[(User, text)]);
            assert!(talk.iter().any(|(_, kept, _)| kept == text), "{text}: {talk:?}");
        }
    }

    #[test]
    fn p11_what_was_settled_is_kept_and_no_question() {
        use Role::{Assistant, User};
        let talk = kept(&[
            (User, "Which hotel is nearer to the river?"),
            (Assistant, "Santa Clara. Shall I book it for 6 April?"),
            (User, "Yes, book it."),
            (Assistant, "Done."),
            (User, "How late does the kitchen close?"),
        ]);
        assert!(talk.iter().any(|(kind, _, source)| *kind == Kind::Decision && *source == 2), "{talk:?}");
        assert!(talk.iter().all(|(_, text, _)| !text.ends_with('?')), "{talk:?}");
        let talk = kept(&[(User, "like 40k?"), (User, "we like food + hiking")]);
        assert_eq!(talk, [(Kind::Preference, "we like food + hiking".to_owned(), 1)]);
    }
}
