//! Titles: the one that a person gave, else the one that a model made, else what the words themselves say.
//!
//! A person's title is part of the session. A model's is made of what was said, so only its place is kept here, and it
//! goes with any message of its session that is erased.

use crate::entry::{Named, Seq};
use crate::session::{Number, Session, Status};
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
        let named = name(state, *number);
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
    of.iter().filter_map(|number| name(state, *number)).map(|name| name.entry).collect()
}

/// Tells where the title of a session stands that a model made.
pub fn name(state: &State, session: Number) -> Option<Name> {
    state.sessions.get(&session)?.upkeep.name
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
pub(crate) fn take_in(state: &mut State, entry: Seq, named: &Named) {
    if let Some(session) = Arc::make_mut(&mut state.sessions).get_mut(&named.session) {
        Arc::make_mut(session).upkeep.name = Some(Name { entry, messages: named.messages });
    }
}

/// Folds in that entries were erased: the titles that they held are gone.
pub(crate) fn forget_entries(state: &mut State, erased: &BTreeSet<Seq>) {
    let gone = |seq: &Seq| erased.contains(seq);
    let is_named = |session: &Session| session.upkeep.name.is_some_and(|name| gone(&name.entry));
    let titled = state.sessions.iter().filter(|(_, s)| is_named(s) || s.title_entries.iter().any(gone));
    for number in titled.map(|(number, _)| *number).collect::<Vec<Number>>() {
        if let Some(session) = Arc::make_mut(&mut state.sessions).get_mut(&number) {
            let session = Arc::make_mut(session);
            session.upkeep.name.take_if(|name| gone(&name.entry));
            if session.title_entries.last().is_some_and(gone) {
                session.title = None;
            }
            session.title_entries.retain(|seq| !gone(seq));
        }
    }
}
