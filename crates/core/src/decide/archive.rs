//! Archive: sessions past the backlog's limit leave the list, and nothing of them is lost (P-8). Restore: they come back.

use super::{Decided, DecisionBuilder, Verdict, prune};
use crate::decision::Action;
use crate::entry::{Backlog, Body};
use crate::notice::Notice;
use crate::refusal::Refusal;
use crate::session::{Number, Status};
use crate::undo::Boundary;

/// Archives what is past the limit, as a part of the boundary that was just made.
pub(super) fn archive_excess(builder: &mut DecisionBuilder<'_>) -> Result<(), Refusal> {
    let state = builder.state();
    let sessions = prune::excess(state, builder.policy, prune::Opening::Done);
    if sessions.is_empty() {
        return Ok(());
    }
    let boundary = match state.boundaries.last() {
        Some(Boundary::Created { at, .. }) => Some(*at),
        Some(Boundary::Resumed { .. } | Boundary::Cleared { .. }) | None => None,
    };
    builder.draft.push(Body::Backlog(Backlog::Archived { sessions, boundary })).map(drop)
}

/// Lists an archived session again.
pub(super) fn restore(mut builder: DecisionBuilder<'_>, session: Number) -> Result<Decided, Refusal> {
    let active = builder.latest()?;
    let is_archived = builder.live(session)?.status == Status::Archived;
    let about = builder.note_command()?;
    if is_archived {
        builder.draft.push(Body::Backlog(Backlog::Restored { sessions: vec![session] }))?;
    }
    let notice = Notice::Restored { session };
    builder.close(Verdict::commanded(Action::Command, "restore", active, notice).about(about))
}
