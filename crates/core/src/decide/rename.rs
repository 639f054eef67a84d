//! Rename: a session gets a title, from a person or from a model.

use super::{Decided, Desk, Verdict};
use crate::decision::Action;
use crate::entry::{Body, Erased, Named, Renamed};
use crate::notice::Notice;
use crate::refusal::Refusal;
use crate::session::{Number, Title};

pub(super) fn rename(mut desk: Desk<'_>, session: Number, title: &Title) -> Result<Decided, Refusal> {
    desk.live(session)?;
    let about = desk.note_command()?;
    desk.draft.push(Body::Renamed(Renamed { session, title: title.clone() }))?;
    let notice = Notice::Renamed { session };
    desk.close(Verdict::commanded(Action::Command, "rename", session, notice).about(about))
}

/// Writes down what a model calls a session. A title that a person gave is never touched, and what was left alone by then
/// is left alone: nobody is told.
pub(super) fn name(mut desk: Desk<'_>, named: &Named) -> Result<Decided, Refusal> {
    let titled = desk.live(named.session)?.title.is_some();
    let head = desk.state().head;
    if titled {
        return Ok(desk.close_quietly(named.session, head));
    }
    // The one before is of no use to anybody.
    if let Some(before) = desk.state().standing.names.get(&named.session).map(|name| name.entry) {
        desk.draft.push(Body::Erased(Erased { entries: vec![before] }))?;
        desk.erase.push(before);
    }
    let about = desk.draft.push(Body::Named(named.clone()))?;
    Ok(desk.close_quietly(named.session, about))
}
