//! `/new`: always a new session (M-A1, M-A2, M-B1, M-F2).

use super::{Decided, Desk, Verdict};
use crate::decision::Action;
use crate::entry::Body;
use crate::message::{Message, Role};
use crate::notice::Notice;
use crate::refusal::Refusal;

pub(super) fn new(mut desk: Desk<'_>, first: Option<&Message>) -> Result<Decided, Refusal> {
    let mut about = desk.note_command()?;
    let previous = desk.state().latest();
    desk.draft.seal()?;
    let session = desk.open(previous)?;
    if about.is_none() {
        about = desk.note_command()?;
    }
    if let Some(message) = first {
        about = Some(desk.draft.push(Body::Message(Role::User, message.clone()))?);
    }
    let (pruned, _) = desk.keep_backlog()?;
    let notice = Notice::Started { session, pruned };
    desk.close(Verdict::commanded(Action::New, "new", session, notice).about(about))
}
