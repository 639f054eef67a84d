//! The timing of 001: past a day of silence the user is asked, past a week a new session begins, else it goes on
//! where it stood.

use super::{Scales, Weighed};
use crate::decision::{Action, Cause, Confidence, Reason};
use crate::freshness::Silence;
use crate::notice::Limit;
use crate::observed::{Answers, Observed};

pub(super) fn weigh(scales: &Scales<'_>, observed: &Observed) -> Weighed {
    let silence = Silence::of(scales.open, scales.now);
    let limits = scales.policy.tasks;
    if silence.gap > limits.stale_timeout {
        return Weighed::expired("task/stale", silence, Limit::window(limits.stale_timeout));
    }
    let limit_ms = i64::try_from(limits.idle_timeout.as_millis()).unwrap_or(i64::MAX);
    let Silence { gap_ms, since, .. } = silence;
    if silence.gap > limits.idle_timeout && observed.answers == Answers::Agent {
        return Weighed::go_on("task/answer", vec![Reason::AnswersAgent]);
    }
    if silence.gap > limits.idle_timeout {
        let reasons = vec![Reason::Paused { gap_ms, limit_ms, since }];
        return Weighed {
            action: Action::Ask,
            cause: Cause::Temporal,
            confidence: Confidence::new(0.6),
            ..Weighed::go_on("task/idle", reasons)
        };
    }
    Weighed::go_on("task/resume", vec![Reason::WithinIdle { gap_ms, limit_ms, since }])
}
