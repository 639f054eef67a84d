//! The numbers that the arbiter weighs.

use super::Moment;
use super::lexicon::{LEXICON, Mark};
use super::words::{self, Words};
use crate::Probability;
use crate::classifier::Judgement;
use crate::features::ends_with_question;
use crate::hash::WordHash;
use crate::profile::Role;
use crate::remark::{KEPT_MAX, Remark};
use crate::sentences::{is_courtesy, sentences};
use crate::text::{Kind, Reading, Token, Window};

/// How many numbers there are.
pub const COUNT: usize = 15;

/// What each number is.
pub const NAMES: [&str; COUNT] = [
    "logit of the classifier's session output",
    "logit of its task output",
    "the lower of the two",
    "log of the silence in minutes, at most ten",
    "log of the length against the user's usual",
    "several content words, none of them known",
    "content words of the last answer",
    "opens with a request",
    "asks in full, without a link",
    "a pronoun among the first words",
    "opens with a link",
    "the assistant had asked something",
    "the user's last message closed the matter",
    "code or a log, and no question",
    "not the language the user wrote before",
];

/// The numbers of one message, in the order of [`NAMES`].
pub type Numbers = [f64; COUNT];

/// Past this, a silence says nothing more here: people come back to one matter after a night, and begin another
/// after lunch. R-6 has limits of its own for long silences.
const SILENCE_MINUTES_MAX: f64 = 10.0;
/// Words after which a beginning is over.
const EARLY_TOKENS: usize = 6;
/// With fewer content words there is nothing that could be shared.
const CONTENT_MIN: f64 = 3.0;
/// With fewer words a question leans on what was said before.
const SENTENCE_WORDS_MIN: f64 = 3.5;
/// From this share on a text is read as one in a script without spaces.
const HAN_SHARE_MIN: f64 = 0.4;
/// Shares further apart than this are two languages, not a foreign word.
const SCRIPT_CHANGE_MIN: f64 = 0.6;
/// A longer message does not merely close the matter: "thanks, that's all", 好了, and little more.
const CLOSING_WORDS_MAX: f64 = 6.0;
/// More shared words than this say nothing more.
const SHARED_MAX: usize = 2;
/// The longest an earlier message is read; topics are named early.
const RECENT_BYTES_MAX: usize = 400;

pub(super) fn numbers(judgement: &Judgement, moment: &Moment<'_>) -> Option<Numbers> {
    let session = logit(judgement.session.probability?);
    let task = logit(judgement.task.probability?);
    let minutes = moment.gap.map_or(0.0, |gap| gap.as_secs_f64() / 60.0).max(0.0);

    let reading = Reading::new(moment.text, Window::MESSAGE);
    let mut words = Words::of(&reading);
    let past = Past::of(moment.recent, &mut words);
    let proper = after_fillers(&reading.tokens);
    let opening = LEXICON.begin(proper).0;
    let early = LEXICON.anywhere(&proper[..proper.len().min(EARLY_TOKENS)]);
    let question_word = LEXICON.anywhere(&reading.tokens).has(Mark::Asking);

    let size = size(&reading);
    let script = share_unspaced(&reading);
    // English puts the question word first, Chinese anywhere.
    let asks =
        opening.has(Mark::Asking) || question_word && script.is_some_and(|share| share > HAN_SHARE_MIN);
    let full = size >= SENTENCE_WORDS_MIN;
    Some([
        session,
        task,
        session.min(task),
        minutes.min(SILENCE_MINUTES_MAX).ln_1p(),
        past.user_length.map_or(0.0, |usual| size.ln_1p() - usual),
        flag(words.all_new() && words.content >= CONTENT_MIN),
        past.shared_assistant.min(SHARED_MAX) as f64,
        flag(opening.has(Mark::Fresh)),
        flag(asks && full && !opening.has(Mark::Link)),
        flag(early.has(Mark::Pronoun)),
        flag(opening.has(Mark::Link)),
        flag(past.asked),
        flag(past.closed),
        flag(is_paste(reading.beginning()) && !question_word),
        flag(
            script
                .zip(past.user_script)
                .is_some_and(|(mine, usual)| (mine - usual).abs() > SCRIPT_CHANGE_MIN),
        ),
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
    /// Content words that the assistant's last message knows.
    shared_assistant: usize,
    /// Mean log length of the user's messages.
    user_length: Option<f64>,
    /// How much of them is in a script without spaces.
    user_script: Option<f64>,
    asked: bool,
    closed: bool,
}

/// What is kept of an earlier message for [`Past`].
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Footprint {
    words: Vec<WordHash>,
    log_length: f64,
    script: Option<f64>,
    leaves_open: bool,
    closes: bool,
}

impl Footprint {
    pub(crate) fn of(text: &str) -> Self {
        let reading = Reading::new(&text[..text.floor_char_boundary(RECENT_BYTES_MAX)], Window::MESSAGE);
        let size = size(&reading);
        Self {
            words: words::all(&reading),
            log_length: size.ln_1p(),
            script: share_unspaced(&reading),
            leaves_open: leaves_open(text),
            closes: size <= CLOSING_WORDS_MAX && LEXICON.anywhere(&reading.tokens).has(Mark::Closing),
        }
    }
}

impl Past {
    fn of(recent: &[Remark], words: &mut Words) -> Self {
        let recent = &recent[recent.len().saturating_sub(KEPT_MAX)..];
        let mut past = Self::default();
        let (mut length, mut script) = (Mean::default(), Mean::default());
        for Remark { role, footprint, .. } in recent {
            match role {
                Role::System | Role::Tool => {}
                Role::Assistant => {
                    past.shared_assistant = words.meet(&footprint.words);
                    past.asked = footprint.leaves_open;
                }
                Role::User => {
                    words.meet(&footprint.words);
                    length.add(footprint.log_length);
                    footprint.script.into_iter().for_each(|share| script.add(share));
                    past.closed = footprint.closes;
                }
            }
        }
        past.user_length = length.get();
        past.user_script = script.get();
        past
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    sum: f64,
    count: f64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1.0;
    }

    fn get(self) -> Option<f64> {
        (self.count > 0.0).then(|| self.sum / self.count)
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
    let is_sign = |ch: char| {
        matches!(
            ch,
            '{' | '}'
                | '<'
                | '>'
                | '='
                | ';'
                | '('
                | ')'
                | '['
                | ']'
                | '_'
                | '\\'
                | '|'
                | '/'
                | '`'
                | '#'
                | '$'
                | ':'
        )
    };
    let (mut all, mut signs) = (0, 0);
    for ch in text.chars().take(RECENT_BYTES_MAX) {
        all += 1;
        signs += usize::from(is_sign(ch));
    }
    signs >= 3 && signs * 12 > all
}
