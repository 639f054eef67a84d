//! What is gone: dropped sessions and erased entries leave nothing in the state.

use super::extras_mut;
use crate::entry::{Dropped, Record, Seq};
use crate::extras::ScopeExtras;
use crate::memory;
use crate::retention;
use crate::session::{Number, Session};
use crate::state::State;
use crate::task::fold;
use crate::title;
use std::collections::BTreeSet;
use std::sync::Arc;

pub(super) fn forget_entries(state: &mut State, erased: &[Seq]) {
    if erased.is_empty() {
        return;
    }
    let erased: BTreeSet<Seq> = erased.iter().copied().collect();
    memory::forget(state, &erased);
    title::forget_entries(state, &erased);
    forget_texts(state, &erased);
    if let Some(last) = erased.last().filter(|last| fold::has_staged(&state.extras, **last)) {
        fold::forget_staged(extras_mut(state), *last);
    }
}

/// Lets go of texts that sessions were pinned to.
fn forget_texts(state: &mut State, erased: &BTreeSet<Seq>) {
    let held = |session: &Session| session.pins.texts.iter().any(|seq| erased.contains(seq));
    let pinned = state.sessions.iter().filter(|(_, session)| held(session)).map(|(number, _)| *number);
    for number in pinned.collect::<Vec<Number>>() {
        if let Some(session) = Arc::make_mut(&mut state.sessions).get_mut(&number) {
            Arc::make_mut(session).pins.forget(erased);
        }
    }
}

/// Stages an observation whose words are gone: it was made in the session that its segment belongs to.
pub(super) fn observe_gone(state: &mut State, entry: &Record) {
    let open = [state.open.as_ref(), state.side.as_ref()];
    let session =
        open.into_iter().flatten().find(|open| open.number == entry.segment).map(|open| open.session);
    if let Some(session) = session
        && let Some(task) = extras_mut(state).tasks.get_mut(&session)
    {
        task.stage_gone(entry.seq, entry.segment);
    }
}

/// Keeps nothing in mind about sessions that are gone.
fn forget(state: &mut State, gone: &[Number]) {
    let offered = |extras: &ScopeExtras| extras.question.as_ref().and_then(|question| question.older);
    for number in gone {
        if offered(&state.extras) == Some(*number)
            && let Some(question) = &mut extras_mut(state).question
        {
            question.older = None;
        }
        if retention::knows(&state.extras, *number) {
            retention::forget(extras_mut(state), *number);
        }
        if state.extras.control_models.contains_key(number) {
            extras_mut(state).control_models.remove(number);
        }
        if state.extras.tasks.contains_key(number) || state.extras.kept.contains_key(number) {
            fold::forget(extras_mut(state), *number);
        }
        if state.extras.rotation.as_ref().is_some_and(|rotation| rotation.from == *number) {
            extras_mut(state).rotation = None;
        }
    }
}

pub(super) fn drop_sessions(state: &mut State, dropped: &Dropped) {
    memory::outlive(state, &dropped.sessions);
    let sessions = Arc::make_mut(&mut state.sessions);
    let boundaries = Arc::make_mut(&mut state.boundaries);
    for number in &dropped.sessions {
        sessions.remove(number);
        boundaries.forget(*number);
    }
    forget(state, &dropped.sessions);
    forget_entries(state, &dropped.erased);
    if !state.extras.tasks.is_empty() {
        fold::drop_segments(extras_mut(state), &dropped.segments);
    }
    let segments = Arc::make_mut(&mut state.segments);
    for number in &dropped.segments {
        if let Some(sealed) = segments.remove(number) {
            state.messages = state.messages.saturating_sub(u64::from(sealed.messages));
        }
    }
}
