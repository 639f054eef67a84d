//! The timing of 001: past a day of silence the user is asked, past a week a new session begins, else it goes on
//! where it stood.

use super::{RuleInputs, RuleResult};
use crate::decision::{Action, Cause, Confidence, Reason};
use crate::freshness::Silence;
use crate::notice::Limit;
use crate::observed::{Answers, Observed};

pub(super) fn weigh(scales: &RuleInputs<'_>, observed: &Observed) -> RuleResult {
    let silence = Silence::of(scales.open, scales.now);
    let limits = scales.policy.tasks;
    if silence.gap > limits.stale_timeout {
        return RuleResult::expired("task/stale", silence, Limit::window(limits.stale_timeout));
    }
    let limit_ms = i64::try_from(limits.idle_timeout.as_millis()).unwrap_or(i64::MAX);
    let Silence { gap_ms, since, .. } = silence;
    if silence.gap > limits.idle_timeout && observed.answers == Answers::Agent {
        return RuleResult::go_on("task/answer", vec![Reason::AnswersAgent]);
    }
    if silence.gap > limits.idle_timeout {
        let reasons = vec![Reason::Paused { gap_ms, limit_ms, since }];
        return RuleResult {
            action: Action::Ask,
            cause: Cause::Temporal,
            confidence: Confidence::new(0.6),
            ..RuleResult::go_on("task/idle", reasons)
        };
    }
    RuleResult::go_on("task/resume", vec![Reason::WithinIdle { gap_ms, limit_ms, since }])
}
