//! One output's network: hashed words add up, dense features pass one hidden layer.

use crate::features::{Active, BUCKET_BITS, DENSE, Features};

/// Networks that are fitted apart and shipped as one.
pub const MEMBERS: usize = 3;
/// Hidden units of one of them.
pub const PART: usize = 16;
/// Units of the hidden layer as it is shipped.
pub const HIDDEN: usize = MEMBERS * PART;
pub const BUCKETS: usize = 1 << BUCKET_BITS;

/// The dense part: a hidden layer and a direct path beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct DensePart<const UNITS: usize> {
    /// One row of weights for each dense feature, so that absent features cost nothing.
    pub rows: Vec<[f32; UNITS]>,
    pub hidden_bias: [f32; UNITS],
    pub out: [f32; UNITS],
    pub direct: Vec<f32>,
    pub bias: f32,
}

impl<const UNITS: usize> DensePart<UNITS> {
    pub fn zero() -> Self {
        Self {
            rows: vec![[0.0; UNITS]; DENSE],
            hidden_bias: [0.0; UNITS],
            out: [0.0; UNITS],
            direct: vec![0.0; DENSE],
            bias: 0.0,
        }
    }

    /// The hidden units before they are bent.
    pub fn hidden(&self, dense: &[f32; DENSE]) -> [f32; UNITS] {
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
    pub fn finish(&self, dense: &[f32; DENSE], hidden: &[f32; UNITS]) -> f32 {
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
pub struct WidePart {
    pub scale: f32,
    pub weights: Vec<i8>,
}

impl WidePart {
    /// Rounds trained weights to eight bits.
    pub fn quantise(weights: &[f32]) -> Self {
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
pub struct Network {
    pub wide: WidePart,
    pub dense: DensePart<HIDDEN>,
    pub calibration: Calibration,
    pub threshold: f32,
}

/// Turns a logit into a probability that can be believed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    pub slope: f32,
    pub shift: f32,
}

impl Calibration {
    pub const NONE: Self = Self { slope: 1.0, shift: 0.0 };

    /// The logit that can be believed.
    pub fn apply(self, logit: f32) -> f32 {
        self.slope * logit + self.shift
    }
}

impl Network {
    pub fn logit(&self, features: &Features) -> f32 {
        let hidden = self.dense.hidden(&features.dense);
        self.wide.sum(&features.sparse) + self.dense.finish(&features.dense, &hidden)
    }
}

pub fn sigmoid(logit: f32) -> f32 {
    1.0 / (1.0 + (-logit.clamp(-30.0, 30.0)).exp())
}
