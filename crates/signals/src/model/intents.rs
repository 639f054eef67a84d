//! The intent model: one row of weights for each word and fact, one column for each intent.

use crate::task_intent::MessageIntent;
use crate::task_intent::features::{BUCKETS, DENSE, IntentFeatures};

/// How many intents there are.
pub const INTENTS: usize = 6;

/// Sums become probabilities that add up to one.
pub fn softmax(mut sums: [f32; INTENTS]) -> [f32; INTENTS] {
    let largest = sums.iter().copied().fold(f32::MIN, f32::max);
    for sum in &mut sums {
        *sum = (*sum - largest).exp();
    }
    let all: f32 = sums.iter().sum();
    sums.map(|sum| sum / all)
}

/// The weights, eight bits for words.
#[derive(Clone, Debug, PartialEq)]
pub struct IntentNetwork {
    pub scale: f32,
    pub words: Vec<[i8; INTENTS]>,
    pub dense: Vec<[f32; INTENTS]>,
}

impl IntentNetwork {
    pub fn new(words: &[[f32; INTENTS]], dense: Vec<[f32; INTENTS]>) -> Self {
        let largest = words.iter().flatten().fold(0.0_f32, |most, weight| most.max(weight.abs()));
        let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
        let round = |row: &[f32; INTENTS]| row.map(|weight| (weight / scale).round() as i8);
        Self { scale, words: words.iter().map(round).collect(), dense }
    }

    #[cfg(test)]
    pub fn zero() -> Self {
        Self { scale: 1.0, words: vec![[0; INTENTS]; BUCKETS], dense: vec![[0.0; INTENTS]; DENSE] }
    }

    /// The likeliest intent and its probability.
    pub fn best(&self, features: &IntentFeatures) -> (MessageIntent, f32) {
        let mut sums = [0.0; INTENTS];
        for &(bucket, value) in &features.words {
            for (sum, &weight) in sums.iter_mut().zip(&self.words[bucket as usize]) {
                *sum += value * self.scale * f32::from(weight);
            }
        }
        for (&value, row) in features.dense.iter().zip(&self.dense) {
            for (sum, weight) in sums.iter_mut().zip(row) {
                *sum += value * weight;
            }
        }
        let chances = softmax(sums);
        MessageIntent::ALL
            .into_iter()
            .zip(chances)
            .fold((MessageIntent::Unclear, 0.0), |best, next| if next.1 > best.1 { next } else { best })
    }

    pub fn numbers(&self) -> impl Iterator<Item = f32> + '_ {
        self.dense.iter().flatten().copied().chain(std::iter::once(self.scale))
    }

    pub const SIZES: [usize; 3] = [BUCKETS, DENSE, INTENTS];
}
