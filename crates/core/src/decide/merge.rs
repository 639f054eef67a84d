//! Merge: one session's view goes into another one; no message moves, none is lost.

use super::{Decided, DecisionBuilder, Verdict};
use crate::decision::Action;
use crate::entry::{Body, Merged};
use crate::notice::Notice;
use crate::refusal::Refusal;
use crate::session::Number;

pub(super) fn merge(
    mut builder: DecisionBuilder<'_>,
    from: Number,
    into: Number,
) -> Result<Decided, Refusal> {
    builder.live(from)?;
    builder.live(into)?;
    if from == into {
        return Err(Refusal::SameSession);
    }
    builder.state().two_tasks(from, into)?;
    let about = builder.note_command()?;
    builder.draft.push(Body::Merged(Merged { from, into }))?;
    let notice = Notice::Merged { from, into };
    builder.close(Verdict::commanded(Action::Merge, "merge", into, notice).about(about))
}
