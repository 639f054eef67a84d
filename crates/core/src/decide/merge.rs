//! Merge: one session's view goes into another one; no message moves, none is lost.

use super::{Decided, Desk, Verdict};
use crate::decision::Action;
use crate::entry::{Body, Merged};
use crate::notice::Notice;
use crate::refusal::Refusal;
use crate::session::Number;

pub(super) fn merge(mut desk: Desk<'_>, from: Number, into: Number) -> Result<Decided, Refusal> {
    desk.live(from)?;
    desk.live(into)?;
    if from == into {
        return Err(Refusal::SameSession);
    }
    desk.state().two_tasks(from, into)?;
    let about = desk.note_command()?;
    desk.draft.push(Body::Merged(Merged { from, into }))?;
    let notice = Notice::Merged { from, into };
    desk.close(Verdict::commanded(Action::Merge, "merge", into, notice).about(about))
}
