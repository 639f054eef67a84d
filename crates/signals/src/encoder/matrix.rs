//! Matrices in eight bits, and their product with what many tokens are.

use pulp::Simd;

/// How many outputs lie side by side.
pub(super) const PANEL: usize = 16;

/// How many tokens are multiplied at once: as many as fit into the registers of most machines.
const TOKENS: usize = 6;

/// The least that a machine does at once, and so the most parts that a panel has.
const PARTS_MAX: usize = PANEL;

/// A table with a row for each thing.
#[derive(Debug)]
pub(super) struct Rows {
    pub(super) factors: Vec<f32>,
    pub(super) numbers: &'static [u8],
}

impl Rows {
    /// Adds a row to a sum.
    #[inline(always)]
    pub(super) fn add(&self, row: usize, sum: &mut [f32]) {
        let (factor, width) = (self.factors[row], sum.len());
        for (sum, number) in sum.iter_mut().zip(&self.numbers[row * width..][..width]) {
            *sum += factor * f32::from(number.cast_signed());
        }
    }
}

/// A matrix that makes outputs of inputs, in panels: first all that the first outputs take from the first input.
#[derive(Debug)]
pub(super) struct Linear {
    pub(super) inputs: usize,
    pub(super) factors: Vec<f32>,
    pub(super) bias: Vec<f32>,
    pub(super) numbers: &'static [u8],
}

impl Linear {
    /// Multiplies the inputs of all tokens.
    #[inline(always)]
    pub(super) fn apply<S: Simd>(&self, simd: S, inputs: &[f32]) -> Vec<f32> {
        let (width, tokens) = (self.bias.len(), inputs.len() / self.inputs);
        let mut outputs = vec![0.0; tokens * width];
        let mut panel = vec![0.0; self.inputs * PANEL];
        for (number, packed) in self.numbers.chunks_exact(panel.len()).enumerate() {
            for (number, packed) in panel.iter_mut().zip(packed) {
                *number = f32::from(packed.cast_signed());
            }
            let mut product =
                Product { panel: &panel, inputs, outputs: &mut outputs, width, column: number * PANEL };
            let mut token = 0;
            while token < tokens {
                token += match tokens - token {
                    1 => product.of::<S, 1>(simd, token),
                    2 => product.of::<S, 2>(simd, token),
                    3 => product.of::<S, 3>(simd, token),
                    4 => product.of::<S, 4>(simd, token),
                    5 => product.of::<S, 5>(simd, token),
                    _ => product.of::<S, TOKENS>(simd, token),
                };
            }
        }
        for row in outputs.chunks_exact_mut(width) {
            for ((output, factor), bias) in row.iter_mut().zip(&self.factors).zip(&self.bias) {
                *output = *output * factor + bias;
            }
        }
        outputs
    }
}

/// The outputs of one panel for some tokens.
struct Product<'a> {
    panel: &'a [f32],
    inputs: &'a [f32],
    outputs: &'a mut [f32],
    width: usize,
    column: usize,
}

impl Product<'_> {
    /// Multiplies the inputs of `N` tokens from one on, and tells how many those are.
    #[inline(always)]
    fn of<S: Simd, const N: usize>(&mut self, simd: S, first: usize) -> usize {
        let parts = PANEL / S::F32_LANES;
        let depth = self.panel.len() / PANEL;
        let (panel, _) = S::as_simd_f32s(self.panel);
        let inputs: [&[f32]; N] =
            std::array::from_fn(|token| &self.inputs[(first + token) * depth..][..depth]);
        let mut sums = [[simd.splat_f32s(0.0); PARTS_MAX]; N];
        for (depth, panel) in panel.chunks_exact(parts).enumerate() {
            for token in 0..N {
                let input = simd.splat_f32s(inputs[token][depth]);
                for part in 0..parts {
                    sums[token][part] = simd.mul_add_e_f32s(input, panel[part], sums[token][part]);
                }
            }
        }
        for (token, sums) in sums.iter().enumerate() {
            let begin = (first + token) * self.width + self.column;
            let (outputs, _) = S::as_mut_simd_f32s(&mut self.outputs[begin..][..PANEL]);
            outputs.copy_from_slice(&sums[..parts]);
        }
        N
    }
}
