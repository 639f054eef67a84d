//! Undo, redo, and the steps between sessions.

use super::{
    FoldError, extras_mut, join_extras, let_go, move_latest, open_segment, push_boundary, session_mut,
    set_status,
};
use crate::Timestamp;
use crate::entry::{Body, Kind, Record, Stepped, Way};
use crate::retention;
use crate::session::{Number, Origin, Status};
use crate::span::Spans;
use crate::state::State;
use crate::task::fold;
use crate::undo::{BOUNDARIES_MAX, Boundary, Undone, Walk};
use std::sync::Arc;

/// How many merges are followed to the session that a fork was made of. All sessions are looked at past that.
const MERGES_MAX: usize = 64;

/// Tells whether going back and forth is over: something else has happened. A message is told by its header, so that an
/// erased one folds like any other.
pub(super) fn ends_with(entry: &Record, body: &Body) -> bool {
    let is_task = entry.kind == Kind::Task;
    let is_structural = matches!(
        body,
        Body::Opened(_)
            | Body::Resumed(_)
            | Body::Forked(_)
            | Body::Split(_)
            | Body::Merged(_)
            | Body::Cleared(_)
            | Body::Pruned(_)
            | Body::Deleted(_)
    );
    entry.kind.role().is_some() || is_task || is_structural
}

/// Takes the last boundary back.
pub(super) fn undo(state: &mut State, entry: &Record) -> Result<(), FoldError> {
    let boundary = Arc::make_mut(&mut state.boundaries).pop();
    let boundary = boundary.ok_or(FoldError::Boundary { seq: entry.seq })?;
    let undone = match &boundary {
        Boundary::Created { from, to, at, archived } => {
            let (from, to, at) = (*from, *to, *at);
            let is_plain = is_plain(state, from, to);
            let from_saw = session_mut(state, entry, from)?.spans.clone();
            let created = session_mut(state, entry, to)?;
            let (inherited, since) = std::mem::take(&mut created.spans).apart(at);
            let (origin, parent, updated_at) = (created.origin, created.parent, created.updated_at);
            created.status = Status::Merged { into: from };
            let back = match origin {
                // A fork's parent still sees what the fork began with, and `from` may be another session.
                Origin::First | Origin::New | Origin::Import | Origin::Fork => since,
                Origin::Split => since.union(&inherited),
            };
            give_back(state, entry, from, &back, updated_at)?;
            move_latest(state, entry, to, from)?;
            let unseen = match origin {
                Origin::Fork => unseen(state, parent, &inherited),
                Origin::First | Origin::New | Origin::Import | Origin::Split => Spans::default(),
            };
            set_status(state, entry, archived, Status::Archived, Status::Live)?;
            if unseen.messages() == 0 {
                join_extras(state, to, from);
                is_plain.then_some((from_saw, inherited))
            } else {
                // Nobody else sees what the fork began with any more, so it stays a session with that.
                let fork = session_mut(state, entry, to)?;
                (fork.status, fork.spans) = (Status::Live, unseen);
                if state.extras.tasks.contains_key(&to) {
                    fold::go_back(extras_mut(state), to, from, at);
                }
                None
            }
        }
        Boundary::Resumed { from, to, at, taken } => {
            let (from, to, at) = (*from, *to, *at);
            let is_plain = is_plain(state, from, to);
            let from_saw = session_mut(state, entry, from)?.spans.clone();
            let resumed = session_mut(state, entry, to)?;
            let (kept, since) = resumed.spans.apart(at);
            resumed.spans = kept.without(taken);
            let updated_at = resumed.updated_at;
            give_back(state, entry, from, &since.union(taken), updated_at)?;
            move_latest(state, entry, to, from)?;
            if state.extras.tasks.contains_key(&to) {
                fold::go_back(extras_mut(state), to, from, at);
            }
            is_plain.then_some((from_saw, Spans::default()))
        }
        Boundary::Cleared { session, view } => {
            let cleared = session_mut(state, entry, *session)?;
            cleared.spans = cleared.spans.union(view);
            None
        }
    };
    let_go(state);
    stay(state);
    let undone = undone.map(|(from_saw, inherited)| Undone { boundary, from_saw, inherited });
    let cursor = u32::try_from(state.boundaries.len()).unwrap_or(u32::MAX);
    extras_mut(state).walk = Some(Box::new(Walk { undone, left: Vec::new(), cursor }));
    Ok(())
}

/// Tells whether two sessions have neither tasks nor wishes that a redo would have to take apart again.
fn is_plain(state: &State, from: Number, to: Number) -> bool {
    let extras = &state.extras;
    let has_task = |number: &Number| extras.tasks.contains_key(number) || extras.kept.contains_key(number);
    !has_task(&from) && !has_task(&to) && !retention::knows(extras, to)
}

/// Finds the part of a fork's spans that no session sees.
fn unseen(state: &State, parent: Option<Number>, spans: &Spans) -> Spans {
    let mut left = spans.clone();
    // The session that it was forked from sees all of it, unless something happened to that since.
    for number in parent.and_then(|parent| heir(state, parent)).into_iter().chain(state.all().map(|(n, _)| n))
    {
        if left.messages() == 0 {
            break;
        }
        left = left.without(&state.view(number));
    }
    left
}

/// Finds the session that holds what a session held: itself, or the one that it was merged into.
fn heir(state: &State, mut number: Number) -> Option<Number> {
    for _ in 0..MERGES_MAX {
        match state.sessions.get(&number)?.status {
            Status::Live | Status::Archived => return Some(number),
            Status::Merged { into } => number = into,
        }
    }
    None
}

/// Who takes a boundary back wants to stay: that is as fresh as an opening.
fn stay(state: &mut State) {
    let clock = state.clock;
    if let Some(open) = state.open.as_mut() {
        open.opened_at = clock;
    }
}

fn give_back(
    state: &mut State,
    entry: &Record,
    session: Number,
    spans: &Spans,
    updated_at: Timestamp,
) -> Result<(), FoldError> {
    let session = session_mut(state, entry, session)?;
    session.spans = session.spans.union(spans);
    session.updated_at = session.updated_at.max(updated_at);
    Ok(())
}

/// Makes the boundary again that was taken back last. Nothing was said since.
pub(super) fn redo(state: &mut State, entry: &Record) -> Result<(), FoldError> {
    let walk = extras_mut(state).walk.take();
    let undone = walk.and_then(|walk| walk.undone).ok_or(FoldError::Boundary { seq: entry.seq })?;
    let (from, to) = match &undone.boundary {
        Boundary::Created { from, to, .. } | Boundary::Resumed { from, to, .. } => (*from, *to),
        Boundary::Cleared { .. } => return Err(FoldError::Boundary { seq: entry.seq }),
    };
    let before = session_mut(state, entry, from)?;
    let since = std::mem::replace(&mut before.spans, undone.from_saw.clone()).without(&undone.from_saw);
    let behind = session_mut(state, entry, to)?;
    behind.status = Status::Live;
    behind.spans = behind.spans.union(&undone.inherited).union(&since);
    move_latest(state, entry, from, to)?;
    if let Boundary::Created { archived, .. } = &undone.boundary {
        set_status(state, entry, archived, Status::Live, Status::Archived)?;
    }
    push_boundary(state, undone.boundary);
    let_go(state);
    stay(state);
    Ok(())
}

/// Makes the session before, or the one behind it, latest. All that the steps leave is one boundary, from where they
/// began: what is said next can be taken back to there.
pub(super) fn step(state: &mut State, entry: &Record, stepped: &Stepped) -> Result<(), FoldError> {
    open_segment(state, entry, stepped.session)?;
    let mut walk = extras_mut(state).walk.take().unwrap_or_default();
    let start = walk.left.first().copied().unwrap_or(stepped.from);
    let boundaries = Arc::make_mut(&mut state.boundaries);
    if !walk.left.is_empty() {
        boundaries.pop();
    }
    match stepped.way {
        Way::Back => walk.left.push(stepped.from),
        Way::Forward => _ = walk.left.pop(),
    }
    walk.cursor = stepped.cursor;
    if !walk.left.is_empty() {
        // The oldest one is forgotten where there is no room.
        let lost = u32::from(boundaries.len() == BOUNDARIES_MAX);
        walk.cursor = walk.cursor.saturating_sub(lost);
        let (to, at, taken) = (stepped.session, entry.seq, Spans::default());
        boundaries.push(Boundary::Resumed { from: start, to, at, taken });
    }
    extras_mut(state).walk = Some(walk);
    Ok(())
}
