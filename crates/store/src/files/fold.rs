//! Folding: from the entries that are there to the state of the scope.

use super::scan::Scans;
use super::tombstones::Tombstones;
use crate::error::Error;
use segue_core::entry::{Body, Record, Seq};
use segue_core::evolve::evolve;
use segue_core::memory;
use segue_core::scope::Key;
use segue_core::segment;
use segue_core::session::{Number, Session, Status};
use segue_core::state::State;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What the journal says is to be done to the files.
#[derive(Debug, Default)]
pub(super) struct Orders {
    /// Segments whose files are to be deleted.
    pub dropped: BTreeSet<segment::Number>,
    /// Entries whose bodies are to be erased.
    pub erased: BTreeSet<Seq>,
}

/// Reads what the journal orders.
pub(super) fn orders(scans: &Scans) -> Orders {
    let mut orders = Orders::default();
    for placed in &scans.journal.lines {
        match placed.line.record.body() {
            Ok(Body::Pruned(dropped) | Body::Deleted(dropped)) => {
                orders.dropped.extend(dropped.segments);
                orders.erased.extend(dropped.erased);
            }
            Ok(Body::Erased(erased)) => orders.erased.extend(erased.entries),
            _ => {}
        }
    }
    orders
}

/// Folds all that is there, and the tombstones of what was deleted.
pub(super) fn fold(key: &Key, scans: &Scans, tombstones: &Tombstones) -> Result<State, Error> {
    let mut records: BTreeMap<Seq, &Record> = tombstones.last.iter().map(|last| (last.seq, last)).collect();
    let mut there = BTreeSet::new();
    for record in scans.all().flat_map(|scan| &scan.lines).map(|placed| &placed.line.record) {
        if !there.insert(record.seq) {
            return Err(Error::damaged(format!("{key:?}"), format!("entry {} is there twice", record.seq)));
        }
        records.insert(record.seq, record);
    }
    let mut state = State::empty(key.clone());
    for record in records.into_values() {
        lift(&mut state, record);
        evolve(&mut state, record).map_err(|misfit| Error::damaged(format!("{key:?}"), misfit))?;
    }
    Ok(state)
}

/// Counts the messages before an entry that are not there any more: the entry knows how many they were.
fn lift(state: &mut State, record: &Record) {
    let before = record.nth.saturating_sub(u32::from(record.kind.role().is_some()));
    let writing = [&mut state.open, &mut state.side].into_iter().flatten();
    for open in writing.filter(|open| open.number == record.segment) {
        let gone = before.saturating_sub(open.messages);
        open.messages += gone;
        state.messages += u64::from(gone);
    }
}

/// Takes the sessions out of a state of which nothing is left, because their files are missing; tells
/// which. A session that still has a part stays, and so does the latest one: it goes on.
///
/// The log is not touched: once the files are put back, the sessions are there again.
pub(super) fn hide_missing(state: &mut State, missing: &BTreeSet<segment::Number>) -> Vec<Number> {
    let latest = state.latest();
    let lost = |session: &Session| {
        let mut spans = session.spans.iter().peekable();
        spans.peek().is_some() && spans.all(|span| missing.contains(&span.segment))
    };
    let mut hidden: Vec<Number> = state
        .all()
        .filter(|(number, session)| Some(*number) != latest && lost(session))
        .map(|(number, _)| number)
        .collect();
    if hidden.is_empty() {
        return hidden;
    }
    let merged_into = |gone: &BTreeSet<Number>, session: &Session| match session.status {
        Status::Merged { into } => gone.contains(&into),
        Status::Live | Status::Archived => false,
    };
    let mut gone: BTreeSet<Number> = hidden.iter().copied().collect();
    // Sessions are merged into one another in chains, and a chain goes as a whole.
    loop {
        let before = gone.len();
        let more = state.sessions.iter().filter(|(_, session)| merged_into(&gone, session));
        let more: Vec<Number> = more.map(|(number, _)| *number).collect();
        gone.extend(more);
        if gone.len() == before {
            break;
        }
    }
    // What is remembered of them stands elsewhere, and can still be read and erased.
    memory::outlive(state, &gone.iter().copied().collect::<Vec<Number>>());
    let boundaries = Arc::make_mut(&mut state.boundaries);
    let sessions = Arc::make_mut(&mut state.sessions);
    for number in &gone {
        sessions.remove(number);
        boundaries.forget(*number);
    }
    let (mut seen, mut looked_at) = (BTreeSet::<segment::Number>::new(), BTreeSet::new());
    sessions.values().for_each(|session| session.spans.add_segments(&mut seen, &mut looked_at));
    // A delete later on must not take these for garbage: their files may come back.
    let segments = Arc::make_mut(&mut state.segments);
    for number in missing.difference(&seen) {
        if let Some(sealed) = segments.remove(number) {
            state.messages = state.messages.saturating_sub(u64::from(sealed.messages));
        }
    }
    hidden.sort_unstable();
    hidden
}
