//! The default policy, for a session without a task: the window of 000, and inside it the matrix of 003.
//!
//! The end of a day needs a gap of an hour as well: nobody is cut off in mid-sentence.

use super::{Scales, Weighed, adaptive, shift};
use crate::decision::{Action, Cause, Confidence};
use crate::freshness::{DayEnd, Freshness, freshness};
use crate::observed::Observed;

pub(super) fn weigh(scales: &Scales<'_>, observed: &Observed) -> Weighed {
    match freshness(&scales.policy.segmented, DayEnd::AfterAnHour, scales.open, scales.now) {
        Freshness::Expired(silence, limit) => Weighed::expired("layered/expiry", silence, limit),
        Freshness::Fresh(silence) => shift(scales, observed, "layered/shift")
            .unwrap_or_else(|| doubt(scales, observed, adaptive::by_matrix(scales, observed, silence))),
    }
}

/// Asks where the matrix would go on although the message may well be about something else.
fn doubt(scales: &Scales<'_>, observed: &Observed, weighed: Weighed) -> Weighed {
    let threshold = scales.policy.question.threshold;
    let shifts = observed.meaning.shifts().filter(|shifts| *shifts > threshold);
    let goes_on = matches!(weighed.action, Action::Continue | Action::ContinueReinject);
    match shifts {
        Some(shifts) if goes_on => Weighed {
            action: Action::Ask,
            cause: Cause::Semantic,
            confidence: Confidence::new(shifts.value()),
            rule: "layered/doubt".to_owned(),
            ..weighed
        },
        _ => weighed,
    }
}
