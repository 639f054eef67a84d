//! The policy of 000: a window of activity, the end of the day, and a topic shift above the threshold.

use super::{RuleInputs, RuleResult, about, fresh, shift};
use crate::freshness::{DayEnd, Freshness, freshness};
use crate::observed::Observed;

pub(super) fn weigh(scales: &RuleInputs<'_>, observed: &Observed) -> RuleResult {
    let window = &scales.policy.segmented;
    match freshness(window, DayEnd::Strict, scales.open, scales.now) {
        Freshness::Expired(silence, limit) => RuleResult::expired("segmented/expiry", silence, limit),
        Freshness::Fresh(silence) => shift(scales, observed, "segmented/shift").unwrap_or_else(|| {
            let reasons = [Some(fresh(scales, silence)), about(observed)];
            RuleResult::go_on("segmented/fresh", reasons.into_iter().flatten().collect())
        }),
    }
}
