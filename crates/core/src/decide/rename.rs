//! Rename: a session gets a title, from a person or from a model.

use super::{Decided, DecisionBuilder, Verdict};
use crate::decision::Action;
use crate::entry::{Body, Erased, Named, Renamed};
use crate::notice::Notice;
use crate::refusal::Refusal;
use crate::session::{Number, Title};
use crate::title;

pub(super) fn rename(
    mut builder: DecisionBuilder<'_>,
    session: Number,
    title: &Title,
) -> Result<Decided, Refusal> {
    builder.live(session)?;
    let about = builder.note_command()?;
    builder.draft.push(Body::Renamed(Renamed { session, title: title.clone() }))?;
    let notice = Notice::Renamed { session };
    builder.close(Verdict::commanded(Action::Command, "rename", session, notice).about(about))
}

/// Writes down what a model calls a session. A title that a person gave is never touched, and what was left alone by then
/// is left alone: nobody is told.
pub(super) fn name(mut builder: DecisionBuilder<'_>, named: &Named) -> Result<Decided, Refusal> {
    let titled = builder.live(named.session)?.title.is_some();
    let head = builder.state().head;
    if titled {
        return Ok(builder.close_quietly(named.session, head));
    }
    // The one before is of no use to anybody.
    if let Some(before) = title::name(builder.state(), named.session).map(|name| name.entry) {
        builder.draft.push(Body::Erased(Erased { entries: vec![before] }))?;
        builder.erase([before]);
    }
    let about = builder.draft.push(Body::Named(named.clone()))?;
    Ok(builder.close_quietly(named.session, about))
}
