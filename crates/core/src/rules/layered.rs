//! The default policy, for a session without a task: the window of 000, and inside it the matrix of 003.
//!
//! The end of a day needs a gap of an hour as well: nobody is cut off in mid-sentence.

use super::{Scales, Weighed, adaptive, shift};
use crate::freshness::{DayEnd, Freshness, freshness};
use crate::observed::Observed;

pub(super) fn weigh(scales: &Scales<'_>, observed: &Observed) -> Weighed {
    match freshness(&scales.policy.segmented, DayEnd::AfterAnHour, scales.open, scales.now) {
        Freshness::Expired(silence, limit) => Weighed::expired("layered/expiry", silence, limit),
        Freshness::Fresh(silence) => shift(scales, observed, "layered/shift")
            .unwrap_or_else(|| adaptive::by_matrix(scales, observed, silence)),
    }
}
