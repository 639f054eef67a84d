//! A reply to a session that may not be latest any more: it goes where it was asked for, in a small
//! segment of its own, and `latest` stays where it is.

use super::{Decided, DecisionBuilder, say};
use crate::entry::{Body, Of};
use crate::message::{Message, Role};
use crate::refusal::Refusal;
use crate::session::{Number, Status};
use crate::state::State;

pub(super) fn reply(
    mut builder: DecisionBuilder<'_>,
    role: Role,
    message: &Message,
    session: Number,
) -> Result<Decided, Refusal> {
    let session = home(builder.state(), session)?;
    if builder.state().latest() == Some(session) {
        return say::say(builder, role, message);
    }
    builder.draft.push(Body::Attached(Of { session }))?;
    let about = builder.draft.push(Body::Message(role, message.clone()))?;
    builder.draft.seal()?;
    Ok(builder.close_quietly(session, about))
}

/// Follows merges to the session that holds what the given one held.
pub(super) fn home(state: &State, mut session: Number) -> Result<Number, Refusal> {
    // A session is merged into a live one only, so each step leads to a session that was live later.
    for _ in 0..state.sessions.len() {
        match state.sessions.get(&session).map(|s| s.status) {
            Some(Status::Live | Status::Archived) => return Ok(session),
            Some(Status::Merged { into }) => session = into,
            None => break,
        }
    }
    Err(Refusal::NoSession(session))
}
