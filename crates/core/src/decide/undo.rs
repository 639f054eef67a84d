//! Undo: the last boundary is taken back, by one more entry (X-4, M-E2). Another undo in a row is a step to the session
//! before, and redo goes forward again.

use super::{Decided, DecisionBuilder, Verdict, task};
use crate::decision::Action;
use crate::entry::{Body, Stepped, Way};
use crate::notice::{LeftSession, Notice};
use crate::refusal::Refusal;
use crate::session::Number;
use crate::undo::{Boundary, Walk};

pub(super) fn undo(mut builder: DecisionBuilder<'_>) -> Result<Decided, Refusal> {
    if let Some(walk) = builder.state().extras.walk.clone() {
        let (session, cursor) = before(&builder, &walk)?;
        return step(builder, session, Way::Back, cursor);
    }
    let (action, session, from) = match builder.state().boundaries.last() {
        None => return Err(Refusal::NothingToUndo),
        Some(Boundary::Created { from, to, .. }) => (Action::Merge, *from, Some(*to)),
        Some(Boundary::Resumed { from, to, .. }) => (Action::Resume, *from, Some(*to)),
        Some(Boundary::Cleared { session, .. }) => (Action::Merge, *session, None),
    };
    let left = match from.map(|from| builder.state().messages_of(from)) {
        Some(0) => LeftSession::Empty,
        _ => LeftSession::HeldMessages,
    };
    let about = builder.note_command()?;
    take_back(&mut builder)?;
    let notice = Notice::Undone { session, from, left, lost: builder.pruned };
    builder.close(Verdict::commanded(action, "undo", session, notice).about(about))
}

/// Takes the last boundary back. A task that it ended is open again.
pub(super) fn take_back(builder: &mut DecisionBuilder<'_>) -> Result<(), Refusal> {
    if let Some(Boundary::Created { from, to, at, .. }) = builder.state().boundaries.last().cloned() {
        task::reopen(builder, from, to, at)?;
    }
    builder.draft.push(Body::Undone).map(drop)
}

/// Finds the session before, and how many boundaries are older than it.
fn before(builder: &DecisionBuilder<'_>, walk: &Walk) -> Result<(Number, u32), Refusal> {
    let latest = builder.latest()?;
    for older in (0..walk.cursor).rev() {
        let from = match builder.state().boundaries.get(older as usize) {
            Some(Boundary::Created { from, .. } | Boundary::Resumed { from, .. }) => *from,
            Some(Boundary::Cleared { .. }) | None => continue,
        };
        if from != latest && builder.live(from).is_ok() {
            return Ok((from, older));
        }
    }
    Err(Refusal::NothingToUndo)
}

fn step(
    mut builder: DecisionBuilder<'_>,
    session: Number,
    way: Way,
    cursor: u32,
) -> Result<Decided, Refusal> {
    let from = builder.latest()?;
    let about = builder.note_command()?;
    builder.draft.seal()?;
    builder.draft.push(Body::Stepped(Stepped { session, from, way, cursor }))?;
    let command = match way {
        Way::Back => "undo",
        Way::Forward => "redo",
    };
    let notice = Notice::Resumed { session, messages: builder.state().messages_of(session) };
    builder.close(Verdict::commanded(Action::Resume, command, session, notice).about(about))
}

/// Goes forward again: through the sessions that were left, and at last to the boundary that was taken back.
pub(super) fn redo(mut builder: DecisionBuilder<'_>) -> Result<Decided, Refusal> {
    let walk = builder.state().extras.walk.clone().ok_or(Refusal::NothingToRedo)?;
    if let Some(session) = walk.left.last() {
        return step(builder, *session, Way::Forward, walk.cursor + 1);
    }
    let (action, from, session) = match walk.undone.map(|undone| undone.boundary) {
        Some(Boundary::Created { from, to, .. }) => (Action::New, from, to),
        Some(Boundary::Resumed { from, to, .. }) => (Action::Resume, from, to),
        Some(Boundary::Cleared { .. }) | None => return Err(Refusal::NothingToRedo),
    };
    let about = builder.note_command()?;
    builder.draft.push(Body::Redone)?;
    let notice = Notice::Redone { session, from };
    builder.close(Verdict::commanded(action, "redo", session, notice).about(about))
}
