//! Resume: an older session is latest again, with a new segment; its old ones stay sealed (P-7).

use super::{Decided, DecisionBuilder, Verdict};
use crate::decision::Action;
use crate::entry::{Body, Resumed};
use crate::notice::Notice;
use crate::refusal::Refusal;
use crate::session::Number;

pub(super) fn resume(mut builder: DecisionBuilder<'_>, session: Number) -> Result<Decided, Refusal> {
    builder.live(session)?;
    let from = builder.latest()?;
    if from == session {
        return Err(Refusal::AlreadyActive(session));
    }
    let about = builder.note_command()?;
    builder.draft.seal()?;
    builder.draft.push(Body::Resumed(Resumed::chosen(session, from, None)))?;
    let notice = Notice::Resumed { session, messages: builder.state().messages_of(session) };
    builder.close(Verdict::commanded(Action::Resume, "resume", session, notice).about(about))
}
