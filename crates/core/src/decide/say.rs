//! A message for the latest session that is not the person's own, or was decided on elsewhere.

use super::{Decided, Desk, Hearing, hear};
use crate::entry::Body;
use crate::message::{Message, Role};
use crate::observed::Observed;
use crate::refusal::Refusal;

/// Only the person's own words are decided on: an answer belongs where the question was, and a heartbeat
/// neither expires a session nor keeps it fresh.
pub(super) fn say(desk: Desk<'_>, role: Role, message: &Message) -> Result<Decided, Refusal> {
    match role {
        Role::User => hear::hear(desk, message, Hearing { observed: &Observed::default(), summary: None }),
        Role::Assistant | Role::Tool | Role::System => keep(desk, role, message),
    }
}

/// Takes a message over as it is.
pub(super) fn keep(mut desk: Desk<'_>, role: Role, message: &Message) -> Result<Decided, Refusal> {
    let session = match desk.state().latest() {
        Some(session) => session,
        None => desk.open(None)?,
    };
    let about = desk.draft.push(Body::Message(role, message.clone()))?;
    Ok(desk.close_quietly(session, about))
}
