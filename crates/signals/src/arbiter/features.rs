//! The numbers that the arbiter weighs.

use super::Moment;
use super::lexicon::{LEXICON, Mark};
use super::words::Words;
use crate::Probability;
use crate::classifier::Judgement;
use crate::features::ends_with_question;
use crate::health::{HealthMessage, MESSAGES_MAX};
use crate::profile::Role;
use crate::sentences::{is_courtesy, sentences};
use crate::text::{Kind, Reading, Token, Window};

/// How many numbers there are.
pub const COUNT: usize = 16;

/// What each number is.
pub const NAMES: [&str; COUNT] = [
    "logit of the classifier's session output",
    "logit of its task output",
    "log of the silence in minutes",
    "log of the silence past ten minutes",
    "log of the content words",
    "log of the length against the session's other messages of the user",
    "several content words, none of them known",
    "content words of the last answer",
    "content words of the user's last message",
    "opens a request of its own",
    "a pronoun or \"the one\" among the first words",
    "goes on from what was said",
    "the assistant had asked something",
    "the user's last message closed the matter",
    "code, a log or a path",
    "another language than the user's last message",
];

/// The numbers of one message, in the order of [`NAMES`].
pub type Numbers = [f64; COUNT];

/// Words after which a beginning is over.
const EARLY_TOKENS: usize = 6;
/// With fewer content words there is nothing that could be shared.
const CONTENT_MIN: f64 = 3.0;
/// A longer message does not merely close the matter.
const CLOSING_WORDS_MAX: f64 = 6.0;
/// More shared words than this say nothing more.
const SHARED_MAX: usize = 2;
/// The longest an earlier message is read; topics are named early.
const RECENT_BYTES_MAX: usize = 600;

pub(super) fn numbers(judgement: &Judgement, moment: &Moment<'_>) -> Option<Numbers> {
    let session = logit(judgement.session.probability?);
    let task = logit(judgement.task.probability?);
    let minutes = moment.gap.map_or(0.0, |gap| gap.as_secs_f64() / 60.0).max(0.0);

    let reading = Reading::new(moment.text, Window::MESSAGE);
    let words = Words::of(&reading);
    let content = f64::from(words.content);
    let proper = after_fillers(&reading.tokens);
    let opening = LEXICON.begin(proper).0;
    let early = LEXICON.anywhere(&proper[..proper.len().min(EARLY_TOKENS)]);

    let past = Past::of(moment.recent, &words);
    let length = size(&reading).ln_1p();
    let language = share_unspaced(&reading).zip(past.user_script);
    Some([
        session,
        task,
        minutes.ln_1p(),
        (minutes / 10.0).max(1.0).ln(),
        content.ln_1p(),
        past.user_length.map_or(0.0, |usual| length - usual),
        flag(past.shared == 0 && content >= CONTENT_MIN),
        past.shared_assistant.min(SHARED_MAX) as f64,
        past.shared_user.min(SHARED_MAX) as f64,
        flag(opening.has(Mark::Fresh)),
        flag(early.has(Mark::Pronoun)),
        flag(early.has(Mark::Link)),
        flag(past.asked),
        flag(past.closed),
        flag(is_paste(reading.beginning())),
        flag(language.is_some_and(|(mine, before)| (mine - before).abs() > 0.6)),
    ])
}

fn logit(probability: Probability) -> f64 {
    let p = f64::from(probability.get()).clamp(0.001, 0.999);
    (p / (1.0 - p)).ln()
}

fn flag(holds: bool) -> f64 {
    if holds { 1.0 } else { 0.0 }
}

/// What the messages before say about this one.
#[derive(Clone, Copy, Debug, Default)]
struct Past {
    /// Content words that any of them knows.
    shared: usize,
    shared_user: usize,
    shared_assistant: usize,
    /// Mean log length of the user's messages.
    user_length: Option<f64>,
    user_script: Option<f64>,
    asked: bool,
    closed: bool,
}

impl Past {
    fn of(recent: &[HealthMessage<'_>], words: &Words) -> Self {
        let recent = &recent[recent.len().saturating_sub(MESSAGES_MAX)..];
        let mut past = Self::default();
        let mut known = words.nothing_known();
        let (mut length, mut count) = (0.0, 0.0);
        for message in recent {
            match message.role {
                Role::System | Role::Tool => {}
                Role::Assistant => {
                    let reading = Reading::new(beginning(message.text), Window::MESSAGE);
                    past.shared_assistant = words.mark_shared(&Words::of(&reading), &mut known);
                    past.asked = leaves_open(message.text);
                }
                Role::User => {
                    let reading = Reading::new(beginning(message.text), Window::MESSAGE);
                    past.shared_user = words.mark_shared(&Words::of(&reading), &mut known);
                    let size = size(&reading);
                    (length, count) = (length + size.ln_1p(), count + 1.0);
                    past.user_script = share_unspaced(&reading);
                    past.closed =
                        size <= CLOSING_WORDS_MAX && LEXICON.anywhere(&reading.tokens).has(Mark::Closing);
                }
            }
        }
        past.shared = known.iter().filter(|known| **known).count();
        past.user_length = (count > 0.0).then(|| length / count);
        past
    }
}

/// Skips "ok", "thanks" and the like.
fn after_fillers(tokens: &[Token]) -> &[Token] {
    let mut rest = tokens;
    loop {
        let (_, taken) = LEXICON.begin(rest);
        if taken == 0 {
            return rest;
        }
        rest = &rest[taken..];
    }
}

/// A question that waits for its answer, and no courtesy.
fn leaves_open(text: &str) -> bool {
    ends_with_question(text.trim_end())
        && sentences(ending(text)).last().is_none_or(|sentence| !is_courtesy(sentence))
}

fn beginning(text: &str) -> &str {
    &text[..text.floor_char_boundary(RECENT_BYTES_MAX)]
}

fn ending(text: &str) -> &str {
    &text[text.floor_char_boundary(text.len().saturating_sub(RECENT_BYTES_MAX))..]
}

/// Length in words; a character of a script without spaces is half a word.
fn size(reading: &Reading<'_>) -> f64 {
    reading.tokens.iter().map(|token| if token.kind == Kind::Unspaced { 0.5 } else { 1.0 }).sum()
}

/// How much of a text is in a script without spaces; `None` for a text too short to tell.
fn share_unspaced(reading: &Reading<'_>) -> Option<f64> {
    let count = |kind| reading.tokens.iter().filter(|token| token.kind == kind).count() as f64;
    let (unspaced, spaced) = (count(Kind::Unspaced) / 2.0, count(Kind::Word));
    (unspaced + spaced >= 2.0).then(|| unspaced / (unspaced + spaced))
}

/// Whether signs make up so much of a text that it is hardly prose.
fn is_paste(text: &str) -> bool {
    const SIGNS: &str = "{}<>=;()[]_\\|/`#$:";
    let (mut all, mut signs) = (0, 0);
    for ch in text.chars().take(RECENT_BYTES_MAX) {
        all += 1;
        signs += usize::from(SIGNS.contains(ch));
    }
    signs >= 3 && signs * 12 > all
}
