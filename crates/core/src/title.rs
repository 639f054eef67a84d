//! Titles: the one that a person gave, else the one that a model made, else what the words themselves say.
//!
//! A person's title is part of the session. A model's is made of what was said, so only its place is kept here, and it
//! goes with any message of its session that is erased.

use crate::entry::{Named, Seq};
use crate::extras::ScopeExtras;
use crate::session::{Number, Status};
use crate::state::State;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Where the title stands that a model made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Name {
    /// The entry.
    pub entry: Seq,
    /// How many messages the session had then.
    pub messages: u32,
}

/// Who gave a session its title.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TitledBy {
    /// A person.
    Person,
    /// A model.
    Model,
    /// Nobody: it is what the session's own words say.
    Words,
}

/// Returns the sessions that a model should name, newest first: those that were left, have no title of a person, and
/// have none of a model or are twice as long by now.
pub fn queue(state: &State) -> impl Iterator<Item = Number> {
    let waits = |number: &Number| {
        let messages = state.messages_of(*number);
        let named = state.extras.names.get(number);
        messages > 0 && named.is_none_or(|name| messages >= name.messages.saturating_mul(2))
    };
    let untitled = state.list().filter(|(_, session)| session.title.is_none()).map(|(number, _)| number);
    untitled.filter(move |number| Some(*number) != state.latest()).filter(waits)
}

/// Returns every entry that holds a title of a session, and of those that went into it.
pub fn entries(state: &State, session: Number) -> BTreeSet<Seq> {
    let of = with_merged(state, session);
    let given = of.iter().filter_map(|number| state.sessions.get(number));
    let given = given.flat_map(|session| session.title_entries.iter().copied());
    given.chain(made(state, session)).collect()
}

/// Returns the entries that hold titles which models made of what a session says, and of what those said that went into
/// it.
fn made(state: &State, session: Number) -> BTreeSet<Seq> {
    let of = with_merged(state, session);
    of.iter().filter_map(|number| state.extras.names.get(number)).map(|name| name.entry).collect()
}

fn with_merged(state: &State, session: Number) -> BTreeSet<Number> {
    let mut of = BTreeSet::from([session]);
    loop {
        let before = of.len();
        let merged = state
            .sessions
            .iter()
            .filter(|(_, s)| matches!(s.status, Status::Merged { into } if of.contains(&into)));
        let merged: Vec<Number> = merged.map(|(number, _)| *number).collect();
        of.extend(merged);
        if of.len() == before {
            return of;
        }
    }
}

/// Folds in that a model named a session.
pub(crate) fn take_in(extras: &mut ScopeExtras, entry: Seq, named: &Named) {
    extras.names.insert(named.session, Name { entry, messages: named.messages });
}

/// Folds in that a session is gone.
pub(crate) fn forget(state: &mut State, session: Number) {
    if state.extras.names.contains_key(&session) {
        Arc::make_mut(&mut state.extras).names.remove(&session);
    }
}

/// Folds in that entries were erased: the titles that they held are gone.
pub(crate) fn forget_entries(state: &mut State, erased: &BTreeSet<Seq>) {
    if state.extras.names.values().any(|name| erased.contains(&name.entry)) {
        Arc::make_mut(&mut state.extras).names.retain(|_, name| !erased.contains(&name.entry));
    }
    let gone = |seq: &Seq| erased.contains(seq);
    let titled = state.sessions.iter().filter(|(_, session)| session.title_entries.iter().any(gone));
    for number in titled.map(|(number, _)| *number).collect::<Vec<Number>>() {
        if let Some(session) = Arc::make_mut(&mut state.sessions).get_mut(&number) {
            let session = Arc::make_mut(session);
            session.title = None;
            session.title_entries.retain(|seq| !gone(seq));
        }
    }
}
