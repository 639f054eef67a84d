//! `/new` in legacy mode: the one session is emptied in place, with the same id (M-F1).

use super::{Decided, DecisionBuilder, Verdict};
use crate::decision::Action;
use crate::entry::{Body, Of};
use crate::message::{Message, Role};
use crate::notice::Notice;
use crate::refusal::Refusal;

pub(super) fn clear(mut builder: DecisionBuilder<'_>, first: Option<&Message>) -> Result<Decided, Refusal> {
    let session = match builder.state().latest() {
        Some(session) => session,
        None => builder.open(None)?,
    };
    let mut about = builder.note_command()?;
    builder.draft.push(Body::Cleared(Of { session }))?;
    if let Some(message) = first {
        about = Some(builder.draft.push(Body::Message(Role::User, message.clone()))?);
    }
    let notice = Notice::Cleared { session };
    builder.close(Verdict::commanded(Action::Clear, "new", session, notice).about(about))
}
