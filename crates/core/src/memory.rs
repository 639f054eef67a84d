//! Memory: what outlives the sessions it was said in (P-11).
//!
//! A session that was left waits in a queue until what is worth keeping was taken from it. The queue is the log
//! itself: it is every session that is not latest and has messages behind the last one that was looked at. So it
//! cannot be lost, and what is taken out of it is written with the mark that it was, in one append.

use crate::entry::Seq;
use crate::session::{Number, Upkeep};
use crate::state::State;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

/// What kind of thing is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Something about the person.
    Fact,
    /// How the person wants things.
    Preference,
    /// What was settled.
    Decision,
    /// What was asked and not answered.
    Question,
}

impl Kind {
    /// All kinds, in the order in which people read them.
    pub const ALL: [Self; 4] = [Self::Fact, Self::Preference, Self::Decision, Self::Question];

    /// Returns the word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fact => "fact",
            Self::Preference => "preference",
            Self::Decision => "decision",
            Self::Question => "question",
        }
    }
}

/// One thing that is remembered. It stands in an entry of its own, so that it can be forgotten alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remembered {
    /// The session that it comes from.
    pub session: Number,
    /// What kind of thing it is.
    pub kind: Kind,
    /// What is remembered.
    pub text: String,
    /// The message that says so.
    pub source: Seq,
}

/// What is worth keeping was taken from a session, up to a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extraction {
    /// The session.
    pub session: Number,
    /// The last message that was looked at.
    pub upto: Seq,
    /// What was taken, without its words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken: Vec<Taken>,
}

/// What was found in a session that was left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extracted {
    /// The session.
    pub session: Number,
    /// The last entry that was looked at.
    pub upto: Seq,
    /// What is worth keeping.
    pub found: Vec<Remembered>,
}

/// An entry that remembers something, and the message that it comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taken {
    /// The entry.
    pub entry: Seq,
    /// The message.
    pub source: Seq,
}

/// What a scope knows about its memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryEntry {
    /// The entry that holds the words.
    pub entry: Seq,
    /// The session that it comes from.
    pub session: Number,
    /// The message that says so.
    pub source: Seq,
    /// Whether it is still remembered.
    #[serde(default, skip_serializing_if = "Status::is_kept")]
    pub status: Status,
}

/// Whether something is still remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It is.
    #[default]
    Kept,
    /// It was forgotten on request. Its source is known still, so that it does not come back.
    Forgotten,
}

impl Status {
    /// Tells whether it is.
    pub fn is_kept(&self) -> bool {
        *self == Self::Kept
    }
}

/// Returns the sessions that wait to be looked at, oldest first.
pub fn queue(state: &State) -> impl Iterator<Item = Number> {
    let latest = state.latest();
    let waits = move |number: &Number| {
        Some(*number) != latest && end(state, *number).is_some_and(|end| end > extracted(state, *number))
    };
    let mut waiting: Vec<Number> = state.all().map(|(number, _)| number).filter(waits).collect();
    waiting.sort_unstable();
    waiting.into_iter()
}

/// Tells how far a session was looked at.
pub fn extracted(state: &State, session: Number) -> Seq {
    state.sessions.get(&session).and_then(|session| session.upkeep.extracted).unwrap_or(Seq::ZERO)
}

/// Returns all that is remembered, and what was and is not any more, session by session.
pub fn all(state: &State) -> impl Iterator<Item = &MemoryEntry> {
    let theirs = state.sessions.values().flat_map(|session| &session.upkeep.memories);
    theirs.chain(state.extras.memories.iter())
}

/// Returns what is remembered.
pub fn kept(state: &State) -> impl Iterator<Item = &MemoryEntry> {
    all(state).filter(|memory| memory.status.is_kept())
}

/// Returns the last entry that a session sees.
pub fn end(state: &State, session: Number) -> Option<Seq> {
    state.view(session).iter().next_back().map(|span| span.last)
}

/// Folds in what was taken from a session.
pub(crate) fn take_in(state: &mut State, extraction: &Extraction) {
    let session = extraction.session;
    let memory = |taken: &Taken| MemoryEntry {
        entry: taken.entry,
        session,
        source: taken.source,
        status: Status::Kept,
    };
    let taken = extraction.taken.iter().map(memory);
    match upkeep_mut(state, session) {
        Some(upkeep) => {
            upkeep.extracted = upkeep.extracted.max(Some(extraction.upto));
            upkeep.memories.extend(taken);
        }
        None => left_mut(state).extend(taken),
    }
}

/// Folds in that entries were erased: what they remembered is forgotten.
pub(crate) fn forget(state: &mut State, erased: &BTreeSet<Seq>) {
    let goes = |memory: &MemoryEntry| memory.status.is_kept() && erased.contains(&memory.entry);
    let sessions: BTreeSet<Number> =
        kept(state).filter(|memory| goes(memory)).map(|memory| memory.session).collect();
    for session in sessions {
        let memories = match upkeep_mut(state, session) {
            Some(upkeep) => &mut upkeep.memories,
            None => left_mut(state),
        };
        for memory in memories.iter_mut().filter(|memory| goes(memory)) {
            memory.status = Status::Forgotten;
        }
    }
}

/// Folds in that sessions are gone: what is remembered of them outlives them.
pub fn outlive(state: &mut State, gone: &[Number]) {
    let left = gone.iter().filter_map(|number| state.sessions.get(number));
    let left: Vec<MemoryEntry> = left.flat_map(|session| session.upkeep.memories.iter().copied()).collect();
    if !left.is_empty() {
        let memories = left_mut(state);
        memories.extend(left);
        memories.sort_by_key(|memory| memory.entry);
    }
}

/// Folds in that one session went into another one: what was looked at there was looked at.
pub(crate) fn join(state: &mut State, from: Number, into: Number) {
    if state.sessions.get(&from).is_none_or(|session| session.upkeep.extracted.is_none()) {
        return;
    }
    let seen = upkeep_mut(state, from).and_then(|upkeep| upkeep.extracted.take());
    if let Some(upkeep) = upkeep_mut(state, into) {
        upkeep.extracted = upkeep.extracted.max(seen);
    }
}

/// What is remembered of sessions that are gone.
fn left_mut(state: &mut State) -> &mut Vec<MemoryEntry> {
    Arc::make_mut(&mut Arc::make_mut(&mut state.extras).memories)
}

fn upkeep_mut(state: &mut State, session: Number) -> Option<&mut Upkeep> {
    let session = Arc::make_mut(&mut state.sessions).get_mut(&session)?;
    Some(&mut Arc::make_mut(session).upkeep)
}
