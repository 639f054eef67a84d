//! The rules that weigh what was observed about a message: one file for each policy.
//!
//! Pure: a policy, what the scope keeps in mind, the time and the evidence go in; what to do comes out, with the
//! rule that said so, why, and what would have tipped it.

mod adaptive;
mod layered;
mod restrain;
mod segmented;
mod task;
#[cfg(test)]
mod tests;

use crate::Timestamp;
use crate::decision::{Action, Alternative, Cause, Confidence, Counterfactual, Reason, Thresholds};
use crate::evidence::{Semantic, Window};
use crate::extras::ScopeExtras;
use crate::freshness::{Freshness, Silence};
use crate::notice::Limit;
use crate::observed::Observed;
use crate::policy::{Policy, Rule};
use crate::segment;
use crate::session::Number;

/// What a message is weighed by.
#[derive(Debug, Clone, Copy)]
pub struct RuleInputs<'a> {
    /// The settings.
    pub policy: &'a Policy,
    /// The open segment.
    pub open: &'a segment::Open,
    /// What the scope keeps in mind.
    pub extras: &'a ScopeExtras,
    /// Whether a task is open in the session.
    pub errand: OpenTask,
    /// The time.
    pub now: Timestamp,
}

/// Whether a session has an open task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OpenTask {
    /// It has.
    Open,
    /// It has none.
    None,
}

/// What came of weighing.
#[derive(Debug, Clone, PartialEq)]
pub struct RuleResult {
    /// What to do.
    pub action: Action,
    /// What kind of evidence decided.
    pub cause: Cause,
    /// How sure it is.
    pub confidence: Confidence,
    /// The rule that said so.
    pub rule: String,
    /// Why.
    pub reasons: Vec<Reason>,
    /// The thresholds that were in force.
    pub thresholds: Option<Thresholds>,
    /// What would have tipped it.
    pub alternatives: Vec<Alternative>,
    /// What ran out, if time decided.
    pub expired: Option<Expired>,
    /// An older session to offer.
    pub older: Option<Number>,
}

/// What ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expired {
    /// How long it has been, and since what.
    pub silence: Silence,
    /// What ran out.
    pub limit: Limit,
}

impl RuleResult {
    fn go_on(rule: &str, reasons: Vec<Reason>) -> Self {
        Self {
            action: Action::Continue,
            cause: Cause::None,
            confidence: Confidence::CERTAIN,
            rule: rule.to_owned(),
            reasons,
            thresholds: None,
            alternatives: Vec::new(),
            expired: None,
            older: None,
        }
    }

    fn expired(rule: &str, silence: Silence, limit: Limit) -> Self {
        Self {
            action: Action::New,
            cause: Cause::Temporal,
            reasons: vec![limit.reason(silence)],
            expired: Some(Expired { silence, limit }),
            ..Self::go_on(rule, Vec::new())
        }
    }
}

/// Weighs a message of the user.
pub fn weigh(scales: &RuleInputs<'_>, observed: &Observed) -> RuleResult {
    // Above 95 percent there is no choice left, whatever the policy (DESIGN, precedence 5).
    let weighed = if observed.window.band == Window::Emergency {
        RuleResult {
            action: Action::NewCarryOver,
            cause: Cause::Context,
            ..RuleResult::go_on(
                "window/emergency",
                vec![Reason::WindowAt { percent: observed.window.percent }],
            )
        }
    } else {
        match (scales.policy.rule, scales.errand) {
            (Rule::Segmented, _) => segmented::weigh(scales, observed),
            (Rule::Adaptive, _) => adaptive::weigh(scales, observed),
            (Rule::Task, _) | (Rule::Layered, OpenTask::Open) => task::weigh(scales, observed),
            (Rule::Layered, OpenTask::None) => layered::weigh(scales, observed),
        }
    };
    let mut weighed = restrain::restrain(scales, observed, weighed);
    let thresholds = thresholds(scales, observed);
    weighed.alternatives = alternatives(scales, observed, &weighed, thresholds);
    weighed.thresholds = Some(thresholds);
    weighed
}

/// Returns the thresholds that are in force for a message, after doubling.
fn thresholds(scales: &RuleInputs<'_>, observed: &Observed) -> Thresholds {
    let policy = scales.policy;
    let silence = match (policy.rule, scales.errand) {
        (Rule::Segmented, _) | (Rule::Layered, OpenTask::None) => policy.segmented.active_window,
        (Rule::Adaptive, _) => adaptive::limits(scales, observed).new_after,
        (Rule::Task, _) | (Rule::Layered, OpenTask::Open) => policy.tasks.stale_timeout,
    };
    let silence_ms = i64::try_from(silence.as_millis()).unwrap_or(i64::MAX);
    Thresholds { silence_ms, shift: policy.shift.threshold }
}

/// Begins a session because the message is about something else, if that is sure enough (M-B4).
fn shift(scales: &RuleInputs<'_>, observed: &Observed, rule: &str) -> Option<RuleResult> {
    let threshold = scales.policy.shift.threshold;
    let shifts = observed.meaning.shifts().filter(|shifts| *shifts > threshold)?;
    Some(RuleResult {
        action: Action::New,
        cause: Cause::Semantic,
        confidence: Confidence::new(shifts.value()),
        ..RuleResult::go_on(rule, vec![Reason::Shifted { shifts, threshold }])
    })
}

/// Says that the session is fresh.
fn fresh(scales: &RuleInputs<'_>, silence: Silence) -> Reason {
    Freshness::Fresh(silence).reason(&scales.policy.segmented)
}

/// Says what would have tipped the decision, for the kinds of evidence that could have.
fn alternatives(
    scales: &RuleInputs<'_>,
    observed: &Observed,
    weighed: &RuleResult,
    thresholds: Thresholds,
) -> Vec<Alternative> {
    let was_ms = Silence::of(scales.open, scales.now).gap_ms;
    let limit_ms = thresholds.silence_ms;
    let border = thresholds.shift.rest();
    let by_meaning = match scales.policy.rule {
        Rule::Task => None,
        Rule::Segmented | Rule::Adaptive | Rule::Layered => observed.meaning.belongs,
    };
    let mut found = Vec::new();
    match (weighed.action, weighed.cause) {
        (Action::New, Cause::Temporal) => {
            let tip =
                Counterfactual::SilenceUpTo { limit_ms: weighed.limit_ms().unwrap_or(limit_ms), was_ms };
            found.push(Alternative { action: Action::Continue, tip });
        }
        (Action::New, Cause::Semantic) => {
            if let Some(was) = by_meaning {
                found.push(Alternative {
                    action: Action::Continue,
                    tip: Counterfactual::BelongsFrom { border, was },
                });
            }
        }
        _ => {
            if was_ms <= limit_ms {
                found.push(Alternative {
                    action: Action::New,
                    tip: Counterfactual::SilenceOver { limit_ms, was_ms },
                });
            }
            if let Some(was) = by_meaning.filter(|was| *was >= border) {
                found.push(Alternative {
                    action: Action::New,
                    tip: Counterfactual::BelongsBelow { border, was },
                });
            }
        }
    }
    found
}

impl RuleResult {
    fn limit_ms(&self) -> Option<i64> {
        match self.expired?.limit {
            Limit::Window { window_ms } => Some(window_ms),
            Limit::Day => None,
        }
    }
}

/// Says what the message is about, if that can be told.
fn about(observed: &Observed) -> Option<Reason> {
    let belongs = observed.meaning.belongs?;
    match observed.meaning.band {
        Semantic::Unknown => None,
        band => Some(Reason::Belongs { band, belongs }),
    }
}
