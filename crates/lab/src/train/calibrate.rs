//! Making probabilities honest, and choosing the one threshold.

use segue_signals::internals::network::{Calibration, sigmoid};

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

/// How much more a set may lose if the threshold is lower for it.
const SLACK: f32 = 0.004;

/// The threshold at which the set that loses most against its own best loses least; of those that are
/// equally good, the lowest.
///
/// A mean would let a large easy set pay for a small hard one. And between "certain" and "certainly not"
/// there is little in sets the model knows, so the choice there is free; in a set it does not know,
/// probabilities of true boundaries are lower, so the lower end carries over better.
pub(crate) fn threshold(sets: &[Vec<Scored>], calibration: Calibration) -> f32 {
    let steps: Vec<f32> = (20..=80).map(|step| step as f32 / 100.0).collect();
    let mut losses = vec![0.0_f32; steps.len()];
    for set in sets {
        let values: Vec<f32> = steps.iter().map(|&step| f1(set, calibration, step)).collect();
        let best = values.iter().fold(0.0_f32, |best, &value| best.max(value));
        for (loss, value) in losses.iter_mut().zip(values) {
            *loss = loss.max(best - value);
        }
    }
    let least = losses.iter().fold(1.0_f32, |least, &loss| least.min(loss));
    let good = losses.iter().position(|&loss| loss <= least + SLACK);
    good.map_or(0.5, |at| steps[at])
}

fn f1(set: &[Scored], calibration: Calibration, threshold: f32) -> f32 {
    let (mut hit, mut wrong) = (0.0, 0.0);
    for one in set {
        let said = sigmoid(calibration.apply(one.logit)) >= threshold;
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
            .map(|at| Scored {
                logit: if at < 100 { 3.0 } else { -3.0 },
                label: at < 100 && at % 2 == 0,
                weight: 1.0,
            })
            .collect();
        let calibration = platt(&scored);
        assert!((sigmoid(calibration.apply(3.0)) - 0.5).abs() < 0.02);
        assert!(sigmoid(calibration.apply(-3.0)) < 0.05);
        assert_eq!(platt(&[]), Calibration::NONE);
    }
}
