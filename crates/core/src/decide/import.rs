//! Imports: a conversation from elsewhere gets a session of its own, and the person's stays latest.

use super::{Decided, DecisionBuilder};
use crate::decision::{Action, Cause};
use crate::entry::{Body, Opened, Resumed, ResumedBy, Source};
use crate::refusal::Refusal;
use crate::session::{Number, Origin};
use crate::state::State;
use crate::undo::Boundary;

/// Opens a session for a conversation from elsewhere (P-8: an import pushes nothing out).
pub(super) fn open(mut builder: DecisionBuilder<'_>) -> Result<Decided, Refusal> {
    let (parent, session) = (builder.state().latest(), builder.state().next_session);
    builder.draft.seal()?;
    let (id, source) = (builder.at.fresh, Source::Imported);
    builder.push_opened(Opened { session, id, parent, cause: None, source })?;
    let head = builder.state().head;
    let decided = builder.close_quietly(session, head);
    Ok(Decided { action: Action::New, cause: Cause::Command, ..decided })
}

/// Goes back to the session that was latest before the import, as if it had been latest all the time.
pub(super) fn end(mut builder: DecisionBuilder<'_>) -> Result<Decided, Refusal> {
    let session = before_import(builder.state()).ok_or(Refusal::NothingToUndo)?;
    let from = builder.latest()?;
    builder.live(session)?;
    builder.draft.seal()?;
    let resumed = Resumed { session, from, moved: None, by: ResumedBy::ImportEnd };
    let at = builder.draft.push(Body::Resumed(resumed))?;
    Ok(builder.close_quietly(session, at))
}

/// Finds the session that was latest before the one that an import has opened, if no boundary was made since. Whether somebody
/// has talked there meanwhile stands in the log, and who ends an import looks first.
pub fn before_import(state: &State) -> Option<Number> {
    let latest = state.latest()?;
    let is_imported = state.live(latest)?.origin == Origin::Import;
    match state.boundaries.last()? {
        Boundary::Created { from, to, .. } if is_imported && *to == latest => Some(*from),
        _ => None,
    }
}
