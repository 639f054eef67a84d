//! `/new`: always a new session (M-A1, M-A2, M-B1, M-F2).

use super::{Decided, DecisionBuilder, Verdict};
use crate::decision::Action;
use crate::entry::Body;
use crate::message::{Message, Role};
use crate::notice::Notice;
use crate::refusal::Refusal;

pub(super) fn new(mut builder: DecisionBuilder<'_>, first: Option<&Message>) -> Result<Decided, Refusal> {
    let mut about = builder.note_command()?;
    let previous = builder.state().latest();
    builder.draft.seal()?;
    let session = builder.open(previous)?;
    if about.is_none() {
        about = builder.note_command()?;
    }
    if let Some(message) = first {
        about = Some(builder.draft.push(Body::Message(Role::User, message.clone()))?);
    }
    let (pruned, _) = builder.keep_backlog()?;
    let notice = Notice::Started { session, pruned };
    builder.close(Verdict::commanded(Action::New, "new", session, notice).about(about))
}
