//! Move: the last exchange goes to another session, which is latest then.

use super::{Decided, DecisionBuilder, Verdict};
use crate::decision::Action;
use crate::entry::{Body, Moved, Resumed};
use crate::notice::Notice;
use crate::refusal::Refusal;
use crate::session::Number;
use crate::span::{Cut, Side};

pub(super) fn move_exchange(
    mut builder: DecisionBuilder<'_>,
    session: Number,
    at: &Cut,
) -> Result<Decided, Refusal> {
    builder.live(session)?;
    let from = builder.latest()?;
    if from == session {
        return Err(Refusal::AlreadyActive(session));
    }
    if !builder.state().view(from).hold(at.segment, at.message) {
        return Err(Refusal::NotInSession { session: from, seq: at.message });
    }
    builder.draft.seal()?;
    let (kept, taken) = builder.state().view(from).cut(at, Side::InFront);
    builder.draft.push(Body::Resumed(Resumed::chosen(session, from, Some(Moved { kept, taken }))))?;
    // The command is said in the session that it leads to: it must not go along as a part of the exchange.
    let about = builder.note_command()?;
    let notice = Notice::BackTo { session, previous: from };
    builder.close(Verdict::commanded(Action::Resume, "move", session, notice).about(about))
}
