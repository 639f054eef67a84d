//! A layer: each token looks at the others of its text, and is then thought over.

use super::DIMENSIONS;
use super::arithmetic::{dot, exp, gelu, sum};
use super::matrix::Linear;
use pulp::Simd;

/// Keeps numbers in bounds.
#[derive(Debug)]
pub(super) struct Norm {
    pub(super) factors: Vec<f32>,
    pub(super) bias: Vec<f32>,
}

impl Norm {
    #[inline(always)]
    pub(super) fn apply(&self, state: &mut [f32]) {
        for row in state.chunks_exact_mut(DIMENSIONS) {
            let mean = sum(row) / DIMENSIONS as f32;
            row.iter_mut().for_each(|number| *number -= mean);
            let spread = 1.0 / (dot(row, row) / DIMENSIONS as f32 + 1e-12).sqrt();
            for ((number, factor), bias) in row.iter_mut().zip(&self.factors).zip(&self.bias) {
                *number = *number * spread * factor + bias;
            }
        }
    }
}

/// One of the layers.
#[derive(Debug)]
pub(super) struct Layer {
    pub(super) heads: usize,
    /// What a token looks for, what it is found by, and what it then says, side by side.
    pub(super) looks: Linear,
    pub(super) seen: Linear,
    pub(super) seen_norm: Norm,
    pub(super) widens: Linear,
    pub(super) narrows: Linear,
    pub(super) norm: Norm,
}

impl Layer {
    /// Takes the tokens of several texts a step further.
    #[inline(always)]
    pub(super) fn apply<S: Simd>(&self, simd: S, state: &mut [f32], lengths: &[usize]) {
        let looked = self.looks.apply(simd, state);
        let mut seen = vec![0.0; state.len()];
        let mut first = 0;
        for length in lengths {
            let (rows, width) = (first..first + length, 3 * DIMENSIONS);
            let of_text = &looked[rows.start * width..rows.end * width];
            self.look_around(of_text, &mut seen[rows.start * DIMENSIONS..rows.end * DIMENSIONS]);
            first += length;
        }
        add(state, &self.seen.apply(simd, &seen));
        self.seen_norm.apply(state);
        let mut wide = self.widens.apply(simd, state);
        wide.iter_mut().for_each(|number| *number = gelu(*number));
        add(state, &self.narrows.apply(simd, &wide));
        self.norm.apply(state);
    }

    /// Gathers for each token of a text what the others say, as far as it looks for them.
    #[inline(always)]
    fn look_around(&self, looked: &[f32], seen: &mut [f32]) {
        let width = DIMENSIONS / self.heads;
        let scale = 1.0 / (width as f32).sqrt();
        let tokens = seen.len() / DIMENSIONS;
        let part = |token: usize, which: usize, head: usize| {
            let begin = token * 3 * DIMENSIONS + which * DIMENSIONS + head * width;
            &looked[begin..begin + width]
        };
        let mut shares = vec![0.0_f32; tokens];
        for head in 0..self.heads {
            for token in 0..tokens {
                for (other, share) in shares.iter_mut().enumerate() {
                    *share = scale * dot(part(token, 0, head), part(other, 1, head));
                }
                let largest = shares.iter().copied().fold(f32::MIN, f32::max);
                shares.iter_mut().for_each(|share| *share = exp(*share - largest));
                let whole: f32 = shares.iter().sum();
                let row = &mut seen[token * DIMENSIONS + head * width..][..width];
                for (other, share) in shares.iter().enumerate() {
                    let says = part(other, 2, head);
                    row.iter_mut().zip(says).for_each(|(number, says)| *number += share / whole * says);
                }
            }
        }
    }
}

#[inline(always)]
fn add(state: &mut [f32], more: &[f32]) {
    state.iter_mut().zip(more).for_each(|(number, more)| *number += more);
}
