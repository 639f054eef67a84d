//! One output's network: hashed words add up, dense features pass one hidden layer.

use crate::features::{Active, BUCKET_BITS, DENSE, Features};

/// Networks that are fitted apart and shipped as one.
pub(crate) const MEMBERS: usize = 3;
/// Hidden units of one of them.
pub(crate) const PART: usize = 16;
/// Units of the hidden layer as it is shipped.
pub(crate) const HIDDEN: usize = MEMBERS * PART;
pub(crate) const BUCKETS: usize = 1 << BUCKET_BITS;

/// The dense part: a hidden layer and a direct path beside it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DensePart<const UNITS: usize> {
    /// One row of weights for each dense feature, so that absent features cost nothing.
    pub(crate) rows: Vec<[f32; UNITS]>,
    pub(crate) hidden_bias: [f32; UNITS],
    pub(crate) out: [f32; UNITS],
    pub(crate) direct: Vec<f32>,
    pub(crate) bias: f32,
}

impl<const UNITS: usize> DensePart<UNITS> {
    pub(crate) fn zero() -> Self {
        Self {
            rows: vec![[0.0; UNITS]; DENSE],
            hidden_bias: [0.0; UNITS],
            out: [0.0; UNITS],
            direct: vec![0.0; DENSE],
            bias: 0.0,
        }
    }

    /// The hidden units before they are bent.
    pub(crate) fn hidden(&self, dense: &[f32; DENSE]) -> [f32; UNITS] {
        let mut sums = self.hidden_bias;
        for (&value, row) in dense.iter().zip(&self.rows) {
            if value != 0.0 {
                for (sum, weight) in sums.iter_mut().zip(row) {
                    *sum += value * weight;
                }
            }
        }
        sums
    }

    /// The logit, given the hidden units.
    pub(crate) fn finish(&self, dense: &[f32; DENSE], hidden: &[f32; UNITS]) -> f32 {
        let direct = dot(dense, &self.direct);
        let bent: f32 = hidden.iter().zip(&self.out).map(|(unit, weight)| unit.max(0.0) * weight).sum();
        self.bias + direct + bent
    }
}

/// Eight sums side by side, so that none waits for the one before; the order is fixed.
fn dot(values: &[f32], weights: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 8];
    for (values, weights) in values.chunks(8).zip(weights.chunks(8)) {
        for (sum, (value, weight)) in sums.iter_mut().zip(values.iter().zip(weights)) {
            *sum += value * weight;
        }
    }
    sums.iter().sum()
}

/// The hashed part, eight bits a weight.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WidePart {
    pub(crate) scale: f32,
    pub(crate) weights: Vec<i8>,
}

impl WidePart {
    /// Rounds trained weights to eight bits.
    pub(crate) fn quantise(weights: &[f32]) -> Self {
        let largest = weights.iter().fold(0.0_f32, |most, weight| most.max(weight.abs()));
        let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
        let round = |weight: &f32| (weight / scale).round().clamp(-127.0, 127.0) as i8;
        Self { scale, weights: weights.iter().map(round).collect() }
    }

    fn sum(&self, sparse: &[Active]) -> f32 {
        let sum: f32 =
            sparse.iter().map(|active| active.value * f32::from(self.weights[active.bucket as usize])).sum();
        sum * self.scale
    }
}

/// A network as it is shipped.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Network {
    pub(crate) wide: WidePart,
    pub(crate) dense: DensePart<HIDDEN>,
    pub(crate) calibration: Calibration,
    pub(crate) threshold: f32,
}

/// Turns a logit into a probability that can be believed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Calibration {
    pub(crate) slope: f32,
    pub(crate) shift: f32,
}

impl Calibration {
    pub(crate) const NONE: Self = Self { slope: 1.0, shift: 0.0 };

    /// The logit that can be believed.
    pub(crate) fn apply(self, logit: f32) -> f32 {
        self.slope * logit + self.shift
    }
}

impl Network {
    pub(crate) fn logit(&self, features: &Features) -> f32 {
        let hidden = self.dense.hidden(&features.dense);
        self.wide.sum(&features.sparse) + self.dense.finish(&features.dense, &hidden)
    }
}

pub(crate) fn sigmoid(logit: f32) -> f32 {
    1.0 / (1.0 + (-logit.clamp(-30.0, 30.0)).exp())
}
