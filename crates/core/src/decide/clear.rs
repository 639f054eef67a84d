//! `/new` in legacy mode: the one session is emptied in place, with the same id (M-F1).

use super::{Decided, Desk, Verdict};
use crate::decision::Action;
use crate::entry::{Body, Of};
use crate::message::{Message, Role};
use crate::notice::Notice;
use crate::refusal::Refusal;

pub(super) fn clear(mut desk: Desk<'_>, first: Option<&Message>) -> Result<Decided, Refusal> {
    let session = match desk.state().latest() {
        Some(session) => session,
        None => desk.open(None)?,
    };
    let mut about = desk.note_command()?;
    desk.draft.push(Body::Cleared(Of { session }))?;
    if let Some(message) = first {
        about = Some(desk.draft.push(Body::Message(Role::User, message.clone()))?);
    }
    let notice = Notice::Cleared { session };
    desk.close(Verdict::commanded(Action::Clear, "new", session, notice).about(about))
}
