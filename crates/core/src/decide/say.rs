//! A message for the latest session that is not the person's own, or was decided on elsewhere.

use super::{Decided, DecisionBuilder, MessageSignals, on_user_message};
use crate::entry::Body;
use crate::message::{Message, Role};
use crate::observed::Observed;
use crate::refusal::Refusal;

/// Only the person's own words are decided on: an answer belongs where the question was, and a heartbeat
/// neither expires a session nor keeps it fresh.
pub(super) fn say(builder: DecisionBuilder<'_>, role: Role, message: &Message) -> Result<Decided, Refusal> {
    match role {
        Role::User => on_user_message::on_user_message(
            builder,
            message,
            MessageSignals { observed: &Observed::default(), summary: None },
        ),
        Role::Assistant | Role::Tool | Role::System => keep(builder, role, message),
    }
}

/// Takes a message over as it is.
pub(super) fn keep(
    mut builder: DecisionBuilder<'_>,
    role: Role,
    message: &Message,
) -> Result<Decided, Refusal> {
    let session = match builder.state().latest() {
        Some(session) => session,
        None => builder.open(None)?,
    };
    let about = builder.draft.push(Body::Message(role, message.clone()))?;
    Ok(builder.close_quietly(session, about))
}
