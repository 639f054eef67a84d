//! Debounce: at most one rotation by meaning, and one question, in a cooldown (M-E1, R-14).

use super::{RuleInputs, RuleResult};
use crate::Timestamp;
use crate::decision::{Action, Cause, Confidence, Reason};
use crate::observed::Observed;
use crate::policy::Rule;
use jiff::SignedDuration;

pub(super) fn restrain(scales: &RuleInputs<'_>, observed: &Observed, weighed: RuleResult) -> RuleResult {
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
    // Past the window too, whether it goes on or begins a session. 000 to the letter knows no earlier session.
    let past_the_window = weighed.cause == Cause::Temporal
        && (weighed.action == Action::Ask || weighed.expired.is_some())
        && scales.policy.rule != Rule::Segmented;
    if let Some(earlier) = observed.earlier.filter(|_| past_the_window) {
        weighed.reasons.push(Reason::LikeEarlier { session: earlier.session, belongs: earlier.belongs });
    }
    if past_the_window || weighed.action == Action::Ask && weighed.cause == Cause::Semantic {
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

fn held_back(weighed: RuleResult, why: Reason) -> RuleResult {
    let mut reasons = weighed.reasons;
    reasons.push(why);
    RuleResult {
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
