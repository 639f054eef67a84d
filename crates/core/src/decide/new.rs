//! `/new`: always a new session (M-A1, M-A2, M-B1, M-F2).

use super::{Decided, DecisionBuilder, Verdict};
use crate::decision::{Action, Cause};
use crate::entry::{Body, Opened, Source};
use crate::message::{Message, Role};
use crate::notice::Notice;
use crate::refusal::Refusal;

/// Opens a session for a conversation from elsewhere (P-8: an import pushes nothing out).
pub(super) fn open_imported(mut builder: DecisionBuilder<'_>) -> Result<Decided, Refusal> {
    let (parent, session) = (builder.state().latest(), builder.state().next_session);
    builder.draft.seal()?;
    let (id, source) = (builder.at.fresh, Source::Imported);
    builder.push_opened(Opened { session, id, parent, cause: None, source })?;
    let head = builder.state().head;
    let decided = builder.close_quietly(session, head);
    Ok(Decided { action: Action::New, cause: Cause::Command, ..decided })
}

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
