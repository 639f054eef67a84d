//! A message that names an earlier session goes there, and that session is latest again. Plain words count: no
//! cooldown holds them back.

use super::{Decided, DecisionBuilder, MessageSignals, Verdict};
use crate::decision::{Action, Cause, Reason};
use crate::entry::{Body, Resumed};
use crate::message::{Message, Role};
use crate::notice::Notice;
use crate::observed::Mentioned;
use crate::refusal::Refusal;
use crate::session::Number;

/// Goes to the session that a message names.
pub(super) fn named(
    builder: DecisionBuilder<'_>,
    message: &Message,
    mentioned: &Mentioned,
    signals: MessageSignals<'_>,
) -> Result<Decided, Refusal> {
    let reason = Reason::AskedInWords { phrase: mentioned.phrase.clone() };
    back_to(builder, message, (mentioned.session, Cause::Intent, reason), signals)
}

/// Goes to an earlier session, for a reason.
pub(super) fn back_to(
    mut builder: DecisionBuilder<'_>,
    message: &Message,
    (session, cause, reason): (Number, Cause, Reason),
    signals: MessageSignals<'_>,
) -> Result<Decided, Refusal> {
    let previous = builder.latest()?;
    builder.draft.seal()?;
    builder.draft.push(Body::Resumed(Resumed::chosen(session, previous, None)))?;
    let about = builder.draft.push(Body::Message(Role::User, message.clone()))?;
    let verdict = Verdict::new(Action::Resume, cause, session).because(reason);
    let verdict = verdict.notice(Notice::BackTo { session, previous });
    builder.close(verdict.observing(signals.observed).about(Some(about)))
}
