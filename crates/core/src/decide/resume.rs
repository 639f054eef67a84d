//! Resume: an older session is latest again, with a new segment; its old ones stay sealed (P-7).

use super::{Decided, Desk, Verdict};
use crate::decision::Action;
use crate::entry::{Body, Resumed};
use crate::notice::Notice;
use crate::refusal::Refusal;
use crate::session::Number;

pub(super) fn resume(mut desk: Desk<'_>, session: Number) -> Result<Decided, Refusal> {
    desk.live(session)?;
    let from = desk.latest()?;
    if from == session {
        return Err(Refusal::AlreadyActive(session));
    }
    let about = desk.note_command()?;
    desk.draft.seal()?;
    desk.draft.push(Body::Resumed(Resumed { session, from, moved: None }))?;
    let notice = Notice::Resumed { session, messages: desk.state().messages_of(session) };
    desk.close(Verdict::commanded(Action::Resume, "resume", session, notice).about(about))
}
