//! Making probabilities honest, and choosing the one threshold.

use crate::model::network::{Calibration, sigmoid};

/// A logit, what was right, and how much it counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scored {
    pub(crate) logit: f32,
    pub(crate) label: bool,
    pub(crate) weight: f32,
}

const ROUNDS: usize = 60;

/// Fits slope and shift by Newton's method (Platt), in double precision and a fixed order.
pub(crate) fn platt(scored: &[Scored]) -> Calibration {
    let (mut slope, mut shift) = (1.0_f64, 0.0_f64);
    for _ in 0..ROUNDS {
        let (mut g0, mut g1, mut h00, mut h01, mut h11) = (0.0, 0.0, 1e-6, 0.0, 1e-6);
        for one in scored {
            let logit = f64::from(one.logit);
            let weight = f64::from(one.weight);
            let p = 1.0 / (1.0 + (-(slope * logit + shift)).exp());
            let error = weight * (p - if one.label { 1.0 } else { 0.0 });
            let curve = weight * (p * (1.0 - p)).max(1e-9);
            g0 += error * logit;
            g1 += error;
            h00 += curve * logit * logit;
            h01 += curve * logit;
            h11 += curve;
        }
        let det = h00 * h11 - h01 * h01;
        if det.abs() < 1e-12 {
            break;
        }
        // Half steps: slower, and they do not overshoot on well separated data.
        slope -= 0.5 * (h11 * g0 - h01 * g1) / det;
        shift -= 0.5 * (h00 * g1 - h01 * g0) / det;
    }
    if slope.is_finite() && shift.is_finite() && slope > 0.05 {
        Calibration { slope: slope as f32, shift: shift as f32 }
    } else {
        Calibration::NONE
    }
}

/// The threshold with the best mean F1 over the sets; each set counts the same.
pub(crate) fn threshold(sets: &[Vec<Scored>], calibration: Calibration) -> f32 {
    let mean = |threshold: f32| {
        let sum: f32 = sets.iter().map(|set| f1(set, calibration, threshold)).sum();
        sum / sets.len().max(1) as f32
    };
    let mut best = (0.5, f32::MIN);
    for step in 20..=80 {
        let candidate = step as f32 / 100.0;
        let value = mean(candidate);
        if value > best.1 {
            best = (candidate, value);
        }
    }
    best.0
}

fn f1(set: &[Scored], calibration: Calibration, threshold: f32) -> f32 {
    let (mut hit, mut wrong) = (0.0, 0.0);
    for one in set {
        let said = sigmoid(calibration.slope * one.logit + calibration.shift) >= threshold;
        match (said, one.label) {
            (true, true) => hit += 1.0,
            (true, false) | (false, true) => wrong += 1.0,
            (false, false) => {}
        }
    }
    if hit == 0.0 { 0.0 } else { 2.0 * hit / (2.0 * hit + wrong) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn platt_moves_probabilities_to_frequencies() {
        // Half of what has logit 3 is right: its probability must become a half.
        let scored: Vec<Scored> = (0..200)
            .map(|at| Scored { logit: if at < 100 { 3.0 } else { -3.0 }, label: at < 100 && at % 2 == 0, weight: 1.0 })
            .collect();
        let calibration = platt(&scored);
        assert!((calibration.probability(3.0) - 0.5).abs() < 0.02);
        assert!(calibration.probability(-3.0) < 0.05);
        assert_eq!(platt(&[]), Calibration::NONE);
    }
}
