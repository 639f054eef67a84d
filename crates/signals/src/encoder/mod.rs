//! A sentence encoder: where a text lies among all that can be said in English.
//!
//! It is all-MiniLM-L6-v2, a transformer of six layers, in eight bits. Two texts that mean the same lie near each other, with
//! no word in common. A short question takes some milliseconds; that is why it is asked only where words do not decide.

mod arithmetic;
mod english;
mod layer;
mod matrix;
mod pieces;
mod weights;

use crate::assets;
pub use english::is_english;
use layer::{Layer, Norm};
use matrix::Rows;
use pieces::Pieces;
use pulp::{Arch, Simd, WithSimd};
use std::sync::OnceLock;
pub use weights::EncoderError;

/// How many tokens of a text are read, with the two that frame it.
const TOKENS_MAX: usize = 64;

/// How many tokens are read at once: the weights are unpacked once for all of them.
const BATCH: usize = 192;

/// How many numbers tell where a text lies.
pub const DIMENSIONS: usize = 384;

/// Raised whenever the same text may lie elsewhere than before: another model, other tokens.
pub const VERSION: u32 = 1;

/// Where a text lies.
#[derive(Debug, Clone, PartialEq)]
pub struct Sense {
    numbers: Box<[i8; DIMENSIONS]>,
    length: f32,
}

impl Sense {
    fn new(numbers: Vec<i8>) -> Option<Self> {
        let numbers: Box<[i8; DIMENSIONS]> = numbers.into_boxed_slice().try_into().ok()?;
        let length = (product(&numbers, &numbers) as f32).sqrt();
        (length > 0.0).then_some(Self { numbers, length })
    }

    /// Takes bytes that [`Sense::bytes`] gave.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Self::new(bytes.iter().map(|byte| byte.cast_signed()).collect())
    }

    /// Gives the bytes that it is kept as.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.numbers.iter().map(|number| number.cast_unsigned()).collect()
    }

    /// Only the direction counts, so the largest number may have any size.
    fn of(numbers: &[f32]) -> Option<Self> {
        let largest = numbers.iter().fold(0.0_f32, |largest, number| largest.max(number.abs()));
        Self::new(numbers.iter().map(|number| (number / largest * 127.0).round() as i8).collect())
    }

    /// Tells how near two texts are, up to 1.
    #[must_use]
    pub fn nearness(&self, other: &Self) -> f32 {
        product(&self.numbers, &other.numbers) as f32 / (self.length * other.length)
    }
}

fn product(a: &[i8; DIMENSIONS], b: &[i8; DIMENSIONS]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

/// The encoder.
///
/// ```ignore
/// let encoder = segue_signals::encoder::Encoder::builtin()?;
/// let [bread, loaf, server] = ["my bread is too dense", "why is the loaf so heavy", "restart the server"]
///     .map(|text| encoder.sense(text).expect("is English"));
/// assert!(bread.nearness(&loaf) > 2.0 * bread.nearness(&server));
/// # Ok::<(), segue_signals::encoder::EncoderError>(())
/// ```
#[derive(Debug)]
pub struct Encoder {
    pieces: Pieces,
    words: Rows,
    places: Rows,
    norm: Norm,
    layers: Vec<Layer>,
}

impl Encoder {
    /// The encoder that is shipped with the library; it is unpacked once.
    pub fn builtin() -> Result<&'static Self, EncoderError> {
        static BUILTIN: OnceLock<Result<Encoder, EncoderError>> = OnceLock::new();
        let load = || weights::load(assets::ENCODER.ok_or(EncoderError::NotBuiltIn)?);
        BUILTIN.get_or_init(load).as_ref().map_err(|error| *error)
    }

    /// Tells where a text lies.
    #[must_use]
    pub fn sense(&self, text: &str) -> Option<Sense> {
        self.senses(&[text]).pop().flatten()
    }

    /// Tells where texts lie, in their order; nothing for one that is not in English.
    #[must_use]
    pub fn senses(&self, texts: &[&str]) -> Vec<Option<Sense>> {
        let tokens: Vec<Vec<usize>> = texts.iter().map(|text| self.tokens(text)).collect();
        let arch = Arch::new();
        let mut senses = Vec::with_capacity(texts.len());
        let mut left = tokens.as_slice();
        while !left.is_empty() {
            let mut sum = 0;
            let fitting = left.iter().take_while(|tokens| {
                sum += tokens.len();
                sum <= BATCH
            });
            let (batch, rest) = left.split_at(fitting.count().max(1));
            senses.extend(arch.dispatch(Read { encoder: self, texts: batch }));
            left = rest;
        }
        senses
    }

    /// Cuts a text into tokens; none if it is not in English.
    fn tokens(&self, text: &str) -> Vec<usize> {
        if is_english(text) { self.pieces.of(text, TOKENS_MAX) } else { Vec::new() }
    }
}

/// Some texts that are read at once, with all that the machine can do.
struct Read<'a> {
    encoder: &'a Encoder,
    texts: &'a [Vec<usize>],
}

impl WithSimd for Read<'_> {
    type Output = Vec<Option<Sense>>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Self::Output {
        let Self { encoder, texts } = self;
        if texts.iter().all(Vec::is_empty) {
            return vec![None; texts.len()];
        }
        let mut state: Vec<f32> = Vec::new();
        for (place, token) in texts.iter().flat_map(|tokens| tokens.iter().enumerate()) {
            let begin = state.len();
            state.resize(begin + DIMENSIONS, 0.0);
            encoder.words.add(*token, &mut state[begin..]);
            encoder.places.add(place, &mut state[begin..]);
        }
        encoder.norm.apply(&mut state);
        let lengths: Vec<usize> = texts.iter().map(Vec::len).collect();
        for layer in &encoder.layers {
            layer.apply(simd, &mut state, &lengths);
        }
        let mut begin = 0;
        let pooled = lengths.iter().map(|length| {
            let mut sum = [0.0_f32; DIMENSIONS];
            for token in state[begin..begin + length * DIMENSIONS].chunks_exact(DIMENSIONS) {
                sum.iter_mut().zip(token).for_each(|(sum, number)| *sum += number);
            }
            begin += length * DIMENSIONS;
            (*length > 0).then(|| Sense::of(&sum)).flatten()
        });
        pooled.collect()
    }
}

#[cfg(all(test, encoder_asset))]
mod tests;
