//! The intent model: one row of weights for each word and fact, one column for each intent.
//!
//! As bytes, little endian: `SEGINTE1`, the weights of the facts and the scale of the words (`f32`), the weights of the words (`i8`).

use super::MessageIntent;
use super::features::{BUCKETS, DENSE, IntentFeatures};
use std::sync::OnceLock;

const MAGIC: &[u8; 8] = b"SEGINTE1";

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
    #[cfg_attr(not(feature = "lab"), allow(dead_code, reason = "segue-lab fits with it"))]
    pub fn new(words: &[[f32; INTENTS]], dense: Vec<[f32; INTENTS]>) -> Self {
        let largest = words.iter().flatten().fold(0.0_f32, |most, weight| most.max(weight.abs()));
        let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
        let round = |row: &[f32; INTENTS]| row.map(|weight| (weight / scale).round() as i8);
        Self { scale, words: words.iter().map(round).collect(), dense }
    }

    /// The weights that are shipped.
    pub(crate) fn builtin() -> Option<&'static Self> {
        static BUILTIN: OnceLock<Option<IntentNetwork>> = OnceLock::new();
        BUILTIN.get_or_init(|| Self::from_bytes(crate::assets::INTENTS)).as_ref()
    }

    /// The bytes of the model; the same weights give the same bytes.
    #[cfg_attr(not(feature = "lab"), allow(dead_code, reason = "segue-lab fits with it"))]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        let numbers = self.dense.iter().flatten().chain([&self.scale]);
        out.extend(numbers.flat_map(|number| number.to_le_bytes()));
        out.extend(self.words.iter().flatten().map(|weight| weight.cast_unsigned()));
        out
    }

    /// Reads a model; nothing if the bytes are none.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.strip_prefix(MAGIC)?;
        let (numbers, words) = bytes.split_at_checked((DENSE * INTENTS + 1) * 4)?;
        let numbers = numbers.as_chunks::<4>().0.iter().map(|number| f32::from_le_bytes(*number));
        let numbers: Vec<f32> = numbers.collect();
        let (dense, rest) = numbers.as_chunks::<INTENTS>();
        let (words, more) = words.as_chunks::<INTENTS>();
        let words: Vec<[i8; INTENTS]> = words.iter().map(|row| row.map(u8::cast_signed)).collect();
        let whole =
            words.len() == BUCKETS && more.is_empty() && numbers.iter().all(|number| number.is_finite());
        whole.then(|| Some(Self { scale: *rest.first()?, words, dense: dense.to_vec() })).flatten()
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_survives_its_bytes_and_damage_is_seen() {
        let Some(model) = IntentNetwork::builtin() else { panic!("what is shipped is no model") };
        let bytes = model.to_bytes();
        assert_eq!(IntentNetwork::from_bytes(&bytes).as_ref(), Some(model));
        for cut in [0, 7, 8, 100, bytes.len() / 2, bytes.len() - 1] {
            assert_eq!(IntentNetwork::from_bytes(&bytes[..cut]), None, "{cut}");
        }
        assert_eq!(IntentNetwork::from_bytes(&[0xff; 4_096]), None);
    }
}
