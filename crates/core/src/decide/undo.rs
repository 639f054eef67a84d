//! Undo: the last boundary is taken back, by one more entry (X-4, M-E2).

use super::{Decided, DecisionBuilder, Verdict, task};
use crate::decision::Action;
use crate::entry::Body;
use crate::notice::Notice;
use crate::refusal::Refusal;
use crate::undo::Boundary;

pub(super) fn undo(mut builder: DecisionBuilder<'_>) -> Result<Decided, Refusal> {
    let (action, session, from) = match builder.state().boundaries.last() {
        None => return Err(Refusal::NothingToUndo),
        Some(Boundary::Created { from, to, .. }) => (Action::Merge, *from, Some(*to)),
        Some(Boundary::Resumed { from, to, .. }) => (Action::Resume, *from, Some(*to)),
        Some(Boundary::Cleared { session, .. }) => (Action::Merge, *session, None),
    };
    let about = builder.note_command()?;
    take_back(&mut builder)?;
    let notice = Notice::Undone { session, from };
    builder.close(Verdict::commanded(action, "undo", session, notice).about(about))
}

/// Takes the last boundary back. A task that it ended is open again.
pub(super) fn take_back(builder: &mut DecisionBuilder<'_>) -> Result<(), Refusal> {
    if let Some(Boundary::Created { from, to, at }) = builder.state().boundaries.last().cloned() {
        task::reopen(builder, from, to, at)?;
    }
    builder.draft.push(Body::Undone).map(drop)
}
