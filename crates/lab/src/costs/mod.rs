//! What a turn costs on PostgreSQL, beside a bare statement with the same writes.

pub mod bare;
pub mod grow;
pub mod turns;

use crate::torture::seed::Seed;

/// Returns the value in the middle.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Puts items into another order.
pub fn shuffle<T>(items: &mut [T], seed: &mut Seed) {
    for last in (1..items.len()).rev() {
        items.swap(last, seed.below(last + 1));
    }
}
