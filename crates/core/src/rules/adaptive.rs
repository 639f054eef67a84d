//! The policy of 003: past a day a new session, before that the combined matrix.

use super::{RuleInputs, RuleResult, about, fresh};
use crate::decision::{Cause, Confidence, Reason};
use crate::evidence::{Evidence, Health, Intent, Pause, Semantic, Window};
use crate::freshness::Silence;
use crate::matrix;
use crate::notice::Limit;
use crate::observed::{Answers, Observed};
use crate::policy::Adaptive;
use jiff::SignedDuration;

pub(super) fn weigh(scales: &RuleInputs<'_>, observed: &Observed) -> RuleResult {
    let silence = Silence::of(scales.open, scales.now);
    let limits = limits(scales, observed);
    if silence.gap > limits.new_after && observed.answers == Answers::Nothing {
        return RuleResult::expired("adaptive/expiry", silence, Limit::window(limits.new_after));
    }
    by_matrix(scales, observed, silence)
}

/// Returns the limits after doubling.
pub(super) fn limits(scales: &RuleInputs<'_>, observed: &Observed) -> Adaptive {
    let factor = observed.patience.factor();
    let grow = |limit: SignedDuration| limit.checked_mul(factor).unwrap_or(SignedDuration::MAX);
    let Adaptive { reinject_from, ask_from, new_after } = scales.policy.adaptive;
    Adaptive { reinject_from: grow(reinject_from), ask_from: grow(ask_from), new_after: grow(new_after) }
}

/// Asks the matrix.
pub(super) fn by_matrix(scales: &RuleInputs<'_>, observed: &Observed, silence: Silence) -> RuleResult {
    let limits = limits(scales, observed);
    // An answer is no less one in the morning.
    let pause = if silence.gap >= limits.ask_from && observed.answers == Answers::Nothing {
        Pause::Long
    } else if silence.gap >= limits.reinject_from {
        Pause::Medium
    } else {
        Pause::Short
    };
    // Its words need not be those of the topic: "X7KQ2P".
    let semantic = match (observed.answers, pause) {
        (Answers::Agent, Pause::Medium | Pause::Long) => Semantic::High,
        _ => observed.meaning.band,
    };
    let evidence = Evidence {
        semantic,
        intent: Intent::None,
        window: observed.window.band,
        pause,
        health: observed.health.band,
    };
    let (number, row) = matrix::row(&evidence);
    let mut reasons = Vec::new();
    match pause {
        Pause::Short => reasons.push(fresh(scales, silence)),
        Pause::Medium | Pause::Long => {
            let limit = if pause == Pause::Long { limits.ask_from } else { limits.reinject_from };
            let limit_ms = i64::try_from(limit.as_millis()).unwrap_or(i64::MAX);
            reasons.push(Reason::Paused { gap_ms: silence.gap_ms, limit_ms, since: silence.since });
        }
    }
    if observed.answers == Answers::Agent {
        reasons.push(Reason::AnswersAgent);
    }
    reasons.extend(about(observed).filter(|_| semantic == observed.meaning.band));
    if observed.window.band != Window::Healthy {
        reasons.push(Reason::WindowAt { percent: observed.window.percent });
    }
    if observed.health.band == Health::Bad {
        reasons.push(Reason::Stuck { findings: observed.health.findings.clone() });
    }
    let confidence = Confidence::new(f64::from(row.confidence) / 100.0);
    let weighed = RuleResult::go_on(&format!("matrix/{number}"), reasons);
    let older = observed.earlier.filter(|_| row.cause == Cause::Semantic);
    let mut weighed = RuleResult { action: row.action, cause: row.cause, confidence, ..weighed };
    if let Some(earlier) = older {
        weighed.reasons.push(Reason::LikeEarlier { session: earlier.session, belongs: earlier.belongs });
    }
    weighed
}
