//! A message that asks, in words, for a new session: explicit intent overrides all other signals.

use super::{Decided, DecisionBuilder, MessageSignals, Verdict, on_user_message};
use crate::decision::{Action, Cause, Reason};
use crate::entry::{Body, Of};
use crate::message::{Message, Role};
use crate::notice::Notice;
use crate::policy::Mode;
use crate::refusal::Refusal;

pub(super) fn start_over(
    mut builder: DecisionBuilder<'_>,
    message: &Message,
    phrase: &str,
    signals: MessageSignals<'_>,
) -> Result<Decided, Refusal> {
    let previous = builder.latest()?;
    let reason = Reason::AskedInWords { phrase: phrase.to_owned() };
    // Who starts over where nothing was said yet is there already.
    if builder.state().messages_of(previous) == 0 {
        let verdict = Verdict::new(Action::Continue, Cause::None, previous).because(reason);
        return on_user_message::go_on(builder, message, signals, verdict);
    }
    let observed = signals.observed;
    if builder.policy.mode == Mode::Legacy {
        builder.draft.push(Body::Cleared(Of { session: previous }))?;
        let about = builder.draft.push(Body::Message(Role::User, message.clone()))?;
        let verdict = Verdict::new(Action::Clear, Cause::Intent, previous).because(reason);
        let verdict = verdict.notice(Notice::Cleared { session: previous });
        return builder.close(verdict.observing(observed).about(Some(about)));
    }
    builder.draft.seal()?;
    let session = builder.open_because(Some(previous), Some(Cause::Intent))?;
    let about = builder.draft.push(Body::Message(Role::User, message.clone()))?;
    let (pruned, way_back) = builder.keep_backlog()?;
    let verdict = Verdict::new(Action::New, Cause::Intent, session).because(reason);
    let verdict = verdict.notice(Notice::StartedOver { session, previous, pruned, way_back });
    builder.close(verdict.observing(observed).about(Some(about)))
}
