//! Debounce: at most one rotation by meaning, and one question, in a cooldown (M-E1, R-14).

use super::{Scales, Weighed};
use crate::Timestamp;
use crate::decision::{Action, Cause, Confidence, Reason};
use crate::observed::Observed;
use jiff::SignedDuration;

pub(super) fn restrain(scales: &Scales<'_>, observed: &Observed, weighed: Weighed) -> Weighed {
    let mut weighed = weighed;
    let since = |at: Option<Timestamp>, cooldown: SignedDuration| {
        let ago = scales.now.duration_since(at?);
        (ago <= cooldown).then_some((millis(ago), millis(cooldown)))
    };
    let by_meaning = weighed.action == Action::New && weighed.cause == Cause::Semantic;
    let asked = since(scales.extras.asked_at, scales.policy.question.cooldown);
    // Who comes back to something is offered the way back, not a new session.
    let asks_about_meaning = weighed.action == Action::Ask && weighed.cause == Cause::Semantic;
    if (by_meaning || asks_about_meaning)
        && asked.is_none()
        && let Some(earlier) = observed.earlier
    {
        let like = Reason::LikeEarlier { session: earlier.session, belongs: earlier.belongs };
        if !weighed.reasons.contains(&like) {
            weighed.reasons.push(like);
        }
        weighed.action = Action::Ask;
        weighed.rule = format!("{} return", weighed.rule);
    }
    if weighed.action == Action::Ask && weighed.cause == Cause::Semantic {
        weighed.older = observed.earlier.map(|earlier| earlier.session);
    }
    if weighed.action == Action::New
        && by_meaning
        && let Some((ago_ms, cooldown_ms)) = since(scales.extras.shifted_at, scales.policy.shift.cooldown)
    {
        weighed.reasons.push(Reason::ShiftedLately { ago_ms, cooldown_ms });
        weighed.rule = format!("{} debounced", weighed.rule);
        weighed.action = Action::Ask;
        weighed.older = observed.earlier.map(|earlier| earlier.session);
    }
    if weighed.action == Action::Ask
        && let Some((ago_ms, cooldown_ms)) = asked
    {
        return held_back(weighed, Reason::AskedLately { ago_ms, cooldown_ms });
    }
    weighed
}

fn held_back(weighed: Weighed, why: Reason) -> Weighed {
    let mut reasons = weighed.reasons;
    reasons.push(why);
    Weighed {
        action: Action::Continue,
        cause: Cause::None,
        confidence: Confidence::new(0.5),
        rule: format!("{} held back", weighed.rule),
        reasons,
        older: None,
        ..weighed
    }
}

fn millis(duration: SignedDuration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
