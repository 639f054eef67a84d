//! A rotation that nobody asked for: by time, by meaning or because the window is full (M-B2, M-B4, R-4). It is
//! always announced, and can be taken back.

use super::{Decided, DecisionBuilder, MessageSignals, Verdict};
use crate::decision::{Action, Cause};
use crate::entry::{Asked, Body};
use crate::extras::OFFER_MESSAGES;
use crate::message::{Message, Role};
use crate::notice::Notice;
use crate::policy::QuestionMode;
use crate::refusal::Refusal;
use crate::rules::RuleResult;
use crate::session::Number;

pub(super) fn rotate(
    mut builder: DecisionBuilder<'_>,
    message: &Message,
    signals: MessageSignals<'_>,
    weighed: RuleResult,
    previous: Number,
) -> Result<Decided, Refusal> {
    builder.draft.seal()?;
    let session = builder.open_because(Some(previous), Some(weighed.cause))?;
    let summary = signals.summary.filter(|_| weighed.action == Action::NewCarryOver);
    let summary = builder.carry_over(previous, summary)?;
    let about = builder.draft.push(Body::Message(Role::User, message.clone()))?;
    let (pruned, way_back) = builder.keep_backlog()?;
    // Who comes back to an earlier topic after a night is offered its session.
    let older = weighed.older.filter(|older| *older != session && builder.live(*older).is_ok());
    if older.is_some() {
        let (manner, messages_left) = (QuestionMode::Propose, OFFER_MESSAGES);
        let asked = Asked { held: about, cause: weighed.cause, older, intent: None, manner, messages_left };
        builder.draft.push(Body::Asked(asked))?;
    }
    let notice = match (weighed.cause, weighed.expired) {
        (_, Some(expired)) => Notice::Expired {
            session,
            previous,
            gap_ms: expired.silence.gap_ms,
            since: expired.silence.since,
            limit: expired.limit,
            like: older,
            pruned,
            way_back,
        },
        (Cause::Context, None) => {
            let percent = signals.observed.window.percent;
            Notice::Overflowed { session, previous, percent, summary, pruned, way_back }
        }
        (_, None) => {
            let like = signals.observed.earlier.map(|earlier| earlier.session);
            let like = like.filter(|like| builder.live(*like).is_ok());
            Notice::Shifted { session, previous, like, pruned, way_back }
        }
    };
    let verdict = Verdict::of(weighed, session).notice(notice);
    builder.close(verdict.observing(signals.observed).about(Some(about)))
}
