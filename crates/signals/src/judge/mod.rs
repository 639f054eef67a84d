//! R-1: whether a new conversation begins with a message.
//!
//! In stages, each with its cost. Words, cues and shape decide what is clear, in microseconds. Where they are not sure, the
//! encoder looks at where the message lies, and what was said before it. Both are fitted on real talk with assistants, which
//! has no true times: a silence is added by a rule of its own.

mod embedder;
mod evidence;
mod features;
mod lexicon;
mod model;
mod note;
mod reference;
mod words;

use jiff::SignedDuration;

use crate::Probability;
use crate::cues::Cue;
use crate::remark::Remark;
use features::{Meanings, Pair};
use lexicon::Mark;
use model::Model;

pub use embedder::Embedder;
pub use evidence::evidence;
pub(crate) use lexicon::is_grammar;
pub use model::Damaged;
pub(crate) use note::Note;
pub use reference::{answers, is_grounded, nearness, refers_back};
pub(crate) use reference::{is_comparable, overlap};

/// Beyond these the encoder would hardly change what words say.
const CLEARLY_ON: f32 = -6.0;
const CLEARLY_NEW: f32 = 2.0;

/// Of so short messages that lean on what was said, one in ten begins something in the streams that the models are fitted on.
const LEANING_WORDS_MAX: f32 = 4.5;
const LEANING_MAX: f32 = -1.0;
/// A word or two that ask nothing answer or go on: of those in the streams one in ten begins something.
const BRIEF_WORDS_MAX: f32 = 2.0;
/// Who says "got it" and then much more may well begin something.
const ACKNOWLEDGING_WORDS_MAX: f32 = 20.0;
/// A greeting is worth an offer, and no split.
const GREETING_MAX: f32 = 0.2;

/// What an hour's silence and each e-fold of it adds to the logit. Below an hour it says nothing: fitted on the sessions of seven
/// developers, whose odds of another matter double from one hour to three and double again to ten.
const PER_LOG_HOUR: f32 = 0.64;
const SILENCE_MAX: f32 = 2.5;

/// What is said about a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shift {
    logit: f32,
    /// Who says so.
    pub stage: Stage,
}

/// How far one looked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Words, cues and shape, which are clear.
    Words,
    /// Words, cues and shape, which are not: look at the meaning.
    Unsure,
    /// Embeddings, too.
    Meaning,
}

impl Shift {
    /// The probability that a new conversation begins, after a silence.
    #[must_use]
    pub fn after(self, silence: SignedDuration) -> Probability {
        let hours = (silence.as_secs_f32() / 3_600.0).max(1.0);
        let logit = self.logit + (hours.ln() * PER_LOG_HOUR).min(SILENCE_MAX);
        Probability::new(1.0 / (1.0 + (-logit).exp()))
    }
}

/// Judges a message by its words; nothing if it cannot be told: nothing was said before, or next to nothing is said now.
///
/// ```
/// use segue_signals::{Remark, Role, judge};
/// let talk = [
///     Remark::of(Role::User, "My parser crashes on empty input, can you help?"),
///     Remark::of(Role::Assistant, "Sure. Which line does it point to?"),
/// ];
/// let message = |text| Remark::of(Role::User, text);
/// assert_eq!(judge::by_words(&talk, &message("ok")), None);
/// let embedder = judge::Embedder::default();
/// let shift = |text| judge::by_meaning(&embedder, &talk, &message(text)).map(|shift| shift.after(jiff::SignedDuration::ZERO));
/// assert!(shift("the one that reads the header") < shift("how long do boiled eggs keep in the fridge?"));
/// ```
#[must_use]
pub fn by_words(recent: &[Remark], message: &Remark) -> Option<Shift> {
    let pair = Pair::of(recent, message).filter(|_| tells(message))?;
    let logit = within_bounds(&pair, Model::builtin().ok()?.by_words(&pair.words()));
    let stage = if !(CLEARLY_ON..=CLEARLY_NEW).contains(&logit) { Stage::Words } else { Stage::Unsure };
    Some(Shift { logit, stage })
}

/// Judges a message by its words and its meaning. This takes some milliseconds for each message that was not embedded before.
#[must_use]
pub fn by_meaning(embedder: &Embedder, recent: &[Remark], message: &Remark) -> Option<Shift> {
    let pair = Pair::of(recent, message).filter(|_| tells(message))?;
    let meanings = Meanings::of(embedder, &pair)?;
    let mut numbers = pair.words();
    numbers.extend(pair.nearness(&meanings));
    let logit = within_bounds(&pair, Model::builtin().ok()?.by_meaning(&numbers, &meanings));
    Some(Shift { logit, stage: Stage::Meaning })
}

/// What a message cannot begin alone, whatever the models make of it: "translate it" leans on what was said, "got it" takes it in,
/// what was asked for continues, and a bare greeting begins something after a pause only.
fn within_bounds(pair: &Pair<'_>, logit: f32) -> f32 {
    let note = &pair.message.note;
    let was_asked_for = pair.reply.is_some_and(|reply| reply.note.wants_material)
        && !note.marks.has(Mark::Fresh)
        && !note.question;
    let is_brief = note.size <= BRIEF_WORDS_MAX
        && !note.asks
        && !note.opening.has(Cue::Greeting)
        && !note.marks.has(Mark::Fresh);
    let takes_in = note.acknowledges && note.size <= ACKNOWLEDGING_WORDS_MAX;
    let leans =
        note.early.has(Mark::Pronoun) || note.marks.has(Mark::Link) || note.opening.has(Cue::Continue);
    if note.says_nothing {
        logit.min(GREETING_MAX)
    } else if leans && note.size <= LEANING_WORDS_MAX || is_brief || takes_in || was_asked_for {
        logit.min(LEANING_MAX)
    } else {
        logit
    }
}

/// "ok", an emoji, a number: too little to tell anything. A greeting may begin something.
fn tells(message: &Remark) -> bool {
    let note = &message.note;
    let greets = note.opening.has(Cue::Greeting);
    greets || !note.says_nothing && (note.content > 0.0 || note.size >= 3.0)
}

/// What words, cues and shape say, then what the embeddings say, as numbers to be fitted on; nothing if nothing was said before.
#[cfg(feature = "lab")]
#[doc(hidden)]
#[must_use]
pub fn numbers(embedder: &Embedder, recent: &[Remark], message: &Remark) -> Option<Vec<f32>> {
    let pair = Pair::of(recent, message)?;
    let mut numbers = pair.words();
    numbers.extend(pair.nearness(&Meanings::of(embedder, &pair)?));
    Some(numbers)
}
