//! Whether a message refers to what was said: as the answer to a question, or to something that is over.

use std::sync::LazyLock;

use super::Shift;
use super::embedder::Embedder;
use super::lexicon::Mark;
use super::words::shared;
use crate::cues::Cue;
use crate::hash::WordHash;
use crate::phrases::lists::Phrases;
use crate::phrases::table::CUE;
use crate::remark::Remark;
use crate::role::Role;
use crate::sentences::requests;
use crate::text::padded;
use crate::work::LastWord;

/// So many content words say enough where the message leans on what was said, and where it does not.
const LEANING_CONTENT_MIN: f32 = 2.0;
const GROUNDED_CONTENT_MIN: f32 = 4.0;

/// A message of so few words says too little to be about something else, and one with a number somewhat later.
const BRIEF_WORDS_MAX: f32 = 3.0;
const NUMBERED_WORDS_MAX: f32 = 5.0;

/// From here on a request may be of its own (5 %), and here what is told is plainly about something else (82 %).
const GOES_ON: f32 = -3.0;
const PLAINLY_NEW: f32 = 1.5;

/// Two messages of which so much more is written without spaces share no words.
const SCRIPTS_APART: f32 = 0.6;

/// Verbs that change what is there, at the beginning of a message.
static CHANGES: LazyLock<Vec<String>> = LazyLock::new(|| CUE.entries("changes"));
/// Words that name what the assistant did.
static DONE_BY_YOU: LazyLock<Phrases> = LazyLock::new(|| CUE.whole("done by you"));

/// Tells whether a message answers a question of the assistant: that was its last word, and the message is no request or question
/// of its own. `shift` is what was said about the message, nothing if it says too little by itself: then "yes", "no" and "2" answer.
///
/// A few words, a number and a code answer whatever they are about; what says more must not be plainly about something else.
#[must_use]
pub fn answers(recent: &[Remark], message: &Remark, shift: Option<Shift>) -> bool {
    let last = recent.iter().rev().find(|remark| matches!(remark.role, Role::User | Role::Assistant));
    let asked = last.filter(|last| last.role == Role::Assistant && last.last_word == LastWord::OpenQuestion);
    let Some(asked) = asked else { return false };
    let note = &message.note;
    if note.says_nothing {
        // "Good morning" agrees to nothing.
        let greets = note.opening.has(Cue::Greeting);
        return !greets && (note.anywhere.has(Cue::Agree) || note.anywhere.has(Cue::Disagree));
    }
    let logit = shift.map_or(f32::NEG_INFINITY, |shift| shift.logit);
    // "Which day do you fly?" may be answered by "can you make it Friday?"
    let shares = shared(&note.words, &asked.note.words) > 0;
    let requests = note.asks || requests(&message.text);
    if requests && (logit > GOES_ON || shift.is_none()) && !shares {
        return false;
    }
    let is_brief = note.size <= BRIEF_WORDS_MAX || note.numbers > 0.0 && note.size <= NUMBERED_WORDS_MAX;
    is_brief || logit < PLAINLY_NEW
}

/// Tells whether the words of a message show what it goes on with: it shares one with what was said, leans on it, or says enough
/// to be judged by its meaning.
#[must_use]
pub fn is_grounded(recent: &[Remark], message: &Remark) -> bool {
    let note = &message.note;
    let leans = note.early.has(Mark::Pronoun) || note.marks.has(Mark::Link);
    // "Hello again" shares its greeting.
    let shares = shares(recent, message) && !note.opening.has(Cue::Greeting);
    shares || leans && note.content >= LEANING_CONTENT_MIN || note.content >= GROUNDED_CONTENT_MIN
}

fn shares(recent: &[Remark], message: &Remark) -> bool {
    recent.iter().any(|other| shared(&message.note.words, &other.note.words) > 0)
}

/// How many of a message's content words were said before, as a share; nothing if it has none.
pub(crate) fn overlap(recent: &[Remark], message: &Remark) -> Option<f32> {
    let words = &message.note.words;
    let is_known = |word: &&WordHash| recent.iter().any(|other| other.note.words.binary_search(word).is_ok());
    (!words.is_empty()).then(|| words.iter().filter(is_known).count() as f32 / words.len() as f32)
}

/// Tells whether words of a message can be found in what was said at all (R-9): across scripts they cannot.
pub(crate) fn is_comparable(recent: &[Remark], message: &Remark) -> bool {
    let script = |remark: &Remark| remark.note.script;
    let is_near = |other: f32| script(message).is_none_or(|mine| (mine - other).abs() < SCRIPTS_APART);
    let mut known = recent.iter().filter_map(script).peekable();
    known.peek().is_none() || known.any(is_near)
}

/// Tells whether a message refers to what was said before it: "it still fails", "why did you use a lock?"
///
/// ```
/// use segue_signals::{Remark, Role, judge};
/// let talk = [
///     Remark::of(Role::User, "Add retry logic to the client"),
///     Remark::of(Role::Assistant, "Done: three tries with jitter."),
/// ];
/// let refers = |text| judge::refers_back(&talk, &Remark::of(Role::User, text));
/// assert!(refers("it still fails on Windows") && refers("why does it need jitter?"));
/// assert!(!refers("Now let's add connection pooling"));
/// ```
#[must_use]
pub fn refers_back(recent: &[Remark], message: &Remark) -> bool {
    let note = &message.note;
    let lower = message.text.to_lowercase();
    let changes = || CHANGES.iter().any(|change| lower.starts_with(change.as_str()));
    note.early.has(Mark::Pronoun)
        || DONE_BY_YOU.any_in(&padded(&message.text))
        || (note.asks || changes()) && shares(recent, message)
}

/// Tells how near a message is to the nearest of others, from -1 to 1.
#[must_use]
pub fn nearness(embedder: &Embedder, said: &[&str], text: &str) -> Option<f32> {
    let message = embedder.embed(&segue_encoder::clipped(text))?;
    let near = |said: &&str| Some(message.cosine(&*embedder.embed(&segue_encoder::clipped(said))?));
    said.iter().filter_map(near).max_by(f32::total_cmp)
}
