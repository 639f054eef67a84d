//! Whether a message refers to what was said: as the answer to a question, or to something that is over.

use super::Shift;
use super::embedder::Embedder;
use super::lexicon::Mark;
use super::words::shared;
use crate::cues::Cue;
use crate::hash::WordHash;
use crate::remark::Remark;
use crate::role::Role;
use crate::work::LastWord;

/// So many content words say enough where the message leans on what was said, and where it does not.
const LEANING_CONTENT_MIN: f32 = 2.0;
const GROUNDED_CONTENT_MIN: f32 = 4.0;

/// Two messages of which so much more is written without spaces share no words.
const SCRIPTS_APART: f32 = 0.6;

/// Words that name what the assistant did.
const DONE_BY_YOU: [&str; 20] = [
    "you did",
    "you made",
    "you changed",
    "you added",
    "you wrote",
    "you used",
    "you said",
    "you fixed",
    "your change",
    "your fix",
    "your last",
    "刚才",
    "刚刚",
    "之前",
    "上次",
    "上面",
    "你改的",
    "你做的",
    "你写的",
    "你加的",
];

/// Tells whether a message answers a question of the assistant: that was its last word, and the message is not about something
/// else. `shift` is what was said about the message, nothing if it says too little by itself: then "yes", "no" and "2" answer.
#[must_use]
pub fn answers(recent: &[Remark], message: &Remark, shift: Option<Shift>) -> bool {
    let last = recent.iter().rev().find(|remark| matches!(remark.role, Role::User | Role::Assistant));
    let was_asked =
        last.is_some_and(|last| last.role == Role::Assistant && last.last_word == LastWord::OpenQuestion);
    let note = &message.note;
    let settles = || note.anywhere.has(Cue::Agree) || note.anywhere.has(Cue::Disagree) || note.numbers > 0.0;
    was_asked && shift.map_or_else(settles, |shift| shift.logit < 0.0)
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
    note.early.has(Mark::Pronoun)
        || DONE_BY_YOU.iter().any(|words| lower.contains(words))
        || note.asks && shares(recent, message)
}

/// Tells how near a message is to the nearest of others, from -1 to 1.
#[must_use]
pub fn nearness(embedder: &Embedder, said: &[&str], text: &str) -> Option<f32> {
    let message = embedder.embed(&segue_encoder::clipped(text))?;
    let near = |said: &&str| Some(message.cosine(&*embedder.embed(&segue_encoder::clipped(said))?));
    said.iter().filter_map(near).max_by(f32::total_cmp)
}
