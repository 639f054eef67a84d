//! Reading the encoder's weights.
//!
//! Layout of the asset, little endian: `SGEN`; version, layers, dimensions, heads, width, places and pieces (`u32` each); where each
//! piece of a word ends (`u32` each), and the pieces, three special ones and the rest in the order of their bytes. Then
//! tables, each as factors of its rows (`f32`) and numbers (`i8`): of pieces and of places; a norm, which is factors and
//! bias (`f32`); and for each layer a matrix, a matrix, a norm, a matrix, a matrix and a norm. A matrix is the factors and the
//! bias of its outputs (`f32`) and its numbers (`i8`), in panels. Numbers are used where they lie.
//! `crates/lab/scripts/pack_encoder.py` makes it.

use super::layer::{Layer, Norm};
use super::matrix::{Linear, PANEL, Rows};
use super::pieces::Pieces;
use super::{DIMENSIONS, Encoder, TOKENS_MAX};

/// Why an encoder cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EncoderError {
    /// This build has none.
    #[error("this build has no sentence encoder: build with the feature `encoder` from the repository")]
    NotBuiltIn,
    /// It is something else, or of another version.
    #[error("this is no encoder of this version: make it again with crates/lab/scripts/pack_encoder.py")]
    NotAnEncoder,
    /// A part of it is missing.
    #[error("the encoder ends too early: make it again with crates/lab/scripts/pack_encoder.py")]
    Truncated,
}

/// Reads an encoder.
pub(super) fn load(bytes: &'static [u8]) -> Result<Encoder, EncoderError> {
    let mut left = Left(bytes);
    if left.bytes(4)? != b"SGEN" {
        return Err(EncoderError::NotAnEncoder);
    }
    let sizes = left.sizes(7)?;
    let &[1, layers, DIMENSIONS, heads, width, places, pieces] = sizes.as_slice() else {
        return Err(EncoderError::NotAnEncoder);
    };
    let whole = |of: usize, by: usize| by > 0 && of.is_multiple_of(by);
    if places < TOKENS_MAX || !whole(DIMENSIONS, heads) || !whole(width, PANEL) {
        return Err(EncoderError::NotAnEncoder);
    }
    let ends = left.sizes(pieces)?;
    let text = left.bytes(ends.last().copied().unwrap_or_default())?;
    let pieces = Pieces::new(ends, text).ok_or(EncoderError::NotAnEncoder)?;
    let words = left.rows(pieces.len())?;
    let places = left.rows(places)?;
    let norm = left.norm()?;
    let mut layer = || {
        Ok(Layer {
            heads,
            looks: left.linear(DIMENSIONS, 3 * DIMENSIONS)?,
            seen: left.linear(DIMENSIONS, DIMENSIONS)?,
            seen_norm: left.norm()?,
            widens: left.linear(DIMENSIONS, width)?,
            narrows: left.linear(width, DIMENSIONS)?,
            norm: left.norm()?,
        })
    };
    let layers: Vec<Layer> = (0..layers).map(|_| layer()).collect::<Result<_, EncoderError>>()?;
    Ok(Encoder { pieces, words, places, norm, layers })
}

/// What is not read yet.
struct Left(&'static [u8]);

impl Left {
    fn bytes(&mut self, count: usize) -> Result<&'static [u8], EncoderError> {
        let (bytes, rest) = self.0.split_at_checked(count).ok_or(EncoderError::Truncated)?;
        self.0 = rest;
        Ok(bytes)
    }

    fn sizes(&mut self, count: usize) -> Result<Vec<usize>, EncoderError> {
        let (words, _) = self.bytes(4 * count)?.as_chunks::<4>();
        Ok(words.iter().map(|word| u32::from_le_bytes(*word) as usize).collect())
    }

    fn numbers(&mut self, count: usize) -> Result<Vec<f32>, EncoderError> {
        let (words, _) = self.bytes(4 * count)?.as_chunks::<4>();
        Ok(words.iter().map(|word| f32::from_le_bytes(*word)).collect())
    }

    fn rows(&mut self, count: usize) -> Result<Rows, EncoderError> {
        Ok(Rows { factors: self.numbers(count)?, numbers: self.bytes(count * DIMENSIONS)? })
    }

    fn norm(&mut self) -> Result<Norm, EncoderError> {
        Ok(Norm { factors: self.numbers(DIMENSIONS)?, bias: self.numbers(DIMENSIONS)? })
    }

    fn linear(&mut self, inputs: usize, outputs: usize) -> Result<Linear, EncoderError> {
        let (factors, bias) = (self.numbers(outputs)?, self.numbers(outputs)?);
        Ok(Linear { inputs, factors, bias, numbers: self.bytes(inputs * outputs)? })
    }
}
