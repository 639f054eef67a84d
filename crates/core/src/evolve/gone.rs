//! What is gone: dropped sessions and erased entries leave nothing in the state.

use super::standing_mut;
use crate::entry::{Dropped, Seq};
use crate::memory;
use crate::retention;
use crate::session::Number;
use crate::standing::Standing;
use crate::state::State;
use crate::task::fold;
use crate::title;
use std::sync::Arc;

pub(super) fn forget_entries(state: &mut State, erased: &[Seq]) {
    if memory::any_in(&state.standing, erased) {
        memory::forget(standing_mut(state), erased);
    }
    title::forget_entries(state, erased);
}

/// Keeps nothing in mind about sessions that are gone.
fn forget(state: &mut State, gone: &[Number]) {
    let offered = |standing: &Standing| standing.question.as_ref().and_then(|question| question.older);
    for number in gone {
        if offered(&state.standing) == Some(*number)
            && let Some(question) = &mut standing_mut(state).question
        {
            question.older = None;
        }
        if retention::knows(&state.standing, *number) {
            retention::forget(standing_mut(state), *number);
        }
        title::forget(state, *number);
        if state.standing.control_models.contains_key(number) {
            standing_mut(state).control_models.remove(number);
        }
        if state.standing.tasks.contains_key(number) || state.standing.kept.contains_key(number) {
            fold::forget(standing_mut(state), *number);
        }
        if state.standing.rotation.as_ref().is_some_and(|rotation| rotation.from == *number) {
            standing_mut(state).rotation = None;
        }
    }
}

pub(super) fn drop_sessions(state: &mut State, dropped: &Dropped) {
    let sessions = Arc::make_mut(&mut state.sessions);
    let boundaries = Arc::make_mut(&mut state.boundaries);
    for number in &dropped.sessions {
        sessions.remove(number);
        boundaries.forget(*number);
    }
    forget(state, &dropped.sessions);
    forget_entries(state, &dropped.erased);
    if !state.standing.tasks.is_empty() {
        fold::drop_segments(standing_mut(state), &dropped.segments);
    }
    let segments = Arc::make_mut(&mut state.segments);
    for number in &dropped.segments {
        if let Some(sealed) = segments.remove(number) {
            state.messages = state.messages.saturating_sub(u64::from(sealed.messages));
        }
    }
}
