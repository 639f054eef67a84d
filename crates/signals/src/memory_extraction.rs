//! P-11: what is extracted from a session into memory: what people say about themselves, how they want things, and what
//! was settled.
//!
//! Rules over sentences, in both languages, and the summary's list of decisions. Questions, quotations and code are never
//! kept, and what somebody only wonders about is no fact.

use std::sync::LazyLock;

use crate::code::{Code, code_in};
use crate::lists::Phrases;
use crate::profile::Role;
use crate::sentences::{asks, sentences};
use crate::summary::Summary;
use crate::text::Window;
use crate::{Classifier, text};

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

/// A longer sentence tells a story; a shorter one tells nothing.
const SENTENCE_CHARS_MAX: usize = 200;
const SENTENCE_CHARS_MIN: usize = 5;
/// Of one message: more is a document, not something that a person says of themselves.
const PER_MESSAGE_MAX: usize = 5;

/// Words of a script with spaces are looked for as a whole, at the beginning of the sentence or anywhere.
const PREFERENCES: &str = " i prefer | we prefer | we like | we love | we enjoy | i enjoy | we hate | we dont like | we dont eat | we are vegetarian | im into | i am into | we are into | i d prefer | i would prefer | i like | i love | i really like | i hate | i dislike | i dont like | i do not like | i cant stand | i always | i never | i usually | i dont eat | i do not eat | i dont drink | im allergic | i am allergic | im vegetarian | im vegan | i am vegetarian | i am vegan | my favourite | my favorite | call me | please always | please never | from now on | in future please |\
我们喜欢|我们都喜欢|我们不吃|我们爱|我爱吃|我爱喝|我喜欢|我不喜欢|我很喜欢|我更喜欢|我最喜欢|我讨厌|我偏好|我习惯|我不吃|我不喝|我吃素|我过敏|过敏|叫我|以后都|以后请|今后请|请一直|请不要再|我一般都|我从不|我总是|我比较喜欢";
const FACTS: &str = " my name is | our names are | there are two of us | there are three of us | we are two | we are three | we are a family | our budget is | my budget is | our son | our daughter | our kids | our dog | our cat | i live in | i live near | i moved to | i work as | i work at | i work for | i work in | im a | i am a | im an | i am an | i study | i was born | my birthday is | my wife | my husband | my partner | my son | my daughter | my kids | my mother | my father | my sister | my brother | my dog | my cat | my boss | my company | my team | my car is | my phone is | my email is | my address is | i have a | i have an | i have two | i have three | we have a | we live in | i speak |\
我们一家|我们两个人|我们的预算|我的预算|我叫|我的名字|我住在|我家在|我在|我是|我有|我老婆|我老公|我妻子|我丈夫|我儿子|我女儿|我孩子|我妈|我爸|我的生日|我的公司|我们公司|我的邮箱|我的电话|我养了|我的工作|我今年";
/// What is only imagined or wished for says nothing yet.
const UNREAL: &str = " if i | if we | i wish | i think | i guess | maybe | i would like | i d like to | i have a question | i have a problem | im a bit | im a little | i am a bit | i have an error | i have an issue | i like that | i like it | i love it | i like this |\
如果我|要是我|我想问|我在想|我有个问题|我有一个问题|我是想|我是说|我是不是|我在用|我有点|我在看";

static PREFERRED: LazyLock<Phrases> = LazyLock::new(|| listed(PREFERENCES));
static STATED: LazyLock<Phrases> = LazyLock::new(|| listed(FACTS));
static IMAGINED: LazyLock<Phrases> = LazyLock::new(|| listed(UNREAL));

fn listed(phrases: &str) -> Phrases {
    Phrases::new(phrases.split('|').filter(|phrase| !phrase.is_empty()).map(str::to_owned).collect())
}

/// Finds what is worth keeping of a session, each thing once and with the message that says it.
///
/// ```
/// use segue_signals::memory_extraction::{Kind, extract};
/// use segue_signals::{Classifier, Role};
/// let talk = [(1, Role::User, "I'm allergic to nuts. Can you find a restaurant?")];
/// let kept = extract(&Classifier::builtin()?, talk);
/// assert_eq!((kept[0].kind, kept[0].text.as_str()), (Kind::Preference, "I'm allergic to nuts."));
/// # Ok::<(), segue_signals::LoadError>(())
/// ```
pub fn extract<'a, Place: Copy>(
    classifier: &Classifier,
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
        summary.observe(classifier, role, text);
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
            || sentence.starts_with(['>', '"', '“', '「'])
        {
            return None;
        }
        let plain = plain(sentence);
        let kind = match () {
            () if IMAGINED.any_in(&plain) => return None,
            () if PREFERRED.any_in(&plain) => Kind::Preference,
            () if STATED.any_in(&plain) => Kind::Fact,
            () => return None,
        };
        Some((kind, sentence.to_owned()))
    });
    found.take(PER_MESSAGE_MAX).collect()
}

/// Lower case, without apostrophes and signs, single spaces, one at each end.
fn plain(sentence: &str) -> String {
    let mut out = String::from(" ");
    for ch in sentence.chars().map(text::fold).flat_map(char::to_lowercase) {
        if ch.is_alphanumeric() {
            out.push(ch);
        } else if ch != '\'' && !out.ends_with(' ') {
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
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

    use super::*;

    fn kept(lines: &[(Role, &str)]) -> Vec<(Kind, String, usize)> {
        let classifier = Classifier::builtin().unwrap();
        let numbered = lines.iter().enumerate().map(|(at, (role, text))| (at, *role, *text));
        extract(&classifier, numbered).into_iter().map(|k| (k.kind, k.text, k.source)).collect()
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
        ]);
        let own: Vec<_> =
            talk.iter().filter(|(k, _, _)| matches!(k, Kind::Fact | Kind::Preference)).collect();
        assert!(own.is_empty(), "{own:?}");
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
