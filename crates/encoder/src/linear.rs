//! Matrices in eight bits, and their product with the rows of another.

use crate::Damaged;
use crate::bytes::Bytes;
use pulp::Simd;

/// How many columns lie side by side; a machine does at least one number at once.
const PANEL: usize = 16;

/// How many rows are multiplied at once: as many as fit into the registers of most machines.
const ROWS: usize = 6;

/// A matrix in panels: first what the first columns have in the first row. Each column has a scale and a bias.
#[derive(Debug)]
pub(crate) struct Linear {
    inputs: usize,
    scales: Vec<f32>,
    bias: Vec<f32>,
    panels: &'static [u8],
}

impl Linear {
    pub(crate) fn read(bytes: &mut Bytes, inputs: usize, columns: usize) -> Result<Self, Damaged> {
        let (scales, bias) = (bytes.floats(columns)?, bytes.floats(columns)?);
        Ok(Self { inputs, scales, bias, panels: bytes.take(inputs * columns)? })
    }

    /// Multiplies rows and adds the bias to each.
    #[inline(always)]
    pub(crate) fn apply<S: Simd>(&self, simd: S, rows: &[f32]) -> Vec<f32> {
        let (width, count) = (self.bias.len(), rows.len() / self.inputs);
        let mut out = vec![0.0; count * width];
        let mut panel = vec![0.0; self.inputs * PANEL];
        for (at, packed) in self.panels.chunks_exact(panel.len()).enumerate() {
            for (number, packed) in panel.iter_mut().zip(packed) {
                *number = f32::from(packed.cast_signed());
            }
            let mut row = 0;
            while row < count {
                let (rows, out) = (&rows[row * self.inputs..], &mut out[row * width + at * PANEL..]);
                row += match count - row {
                    1 => product::<S, 1>(simd, &panel, rows, out, width),
                    2 => product::<S, 2>(simd, &panel, rows, out, width),
                    3 => product::<S, 3>(simd, &panel, rows, out, width),
                    4 => product::<S, 4>(simd, &panel, rows, out, width),
                    5 => product::<S, 5>(simd, &panel, rows, out, width),
                    _ => product::<S, ROWS>(simd, &panel, rows, out, width),
                };
            }
        }
        for row in out.chunks_exact_mut(width) {
            for ((number, scale), bias) in row.iter_mut().zip(&self.scales).zip(&self.bias) {
                *number = *number * scale + bias;
            }
        }
        out
    }
}

/// Multiplies `N` rows with one panel, and tells how many those are.
#[inline(always)]
fn product<S: Simd, const N: usize>(
    simd: S,
    panel: &[f32],
    rows: &[f32],
    out: &mut [f32],
    width: usize,
) -> usize {
    let (parts, inputs) = (PANEL / S::F32_LANES, panel.len() / PANEL);
    let (panel, _) = S::as_simd_f32s(panel);
    let rows: [&[f32]; N] = std::array::from_fn(|row| &rows[row * inputs..][..inputs]);
    let mut sums = [[simd.splat_f32s(0.0); PANEL]; N];
    for (at, panel) in panel.chunks_exact(parts).enumerate() {
        for row in 0..N {
            let input = simd.splat_f32s(rows[row][at]);
            for part in 0..parts {
                sums[row][part] = simd.mul_add_e_f32s(input, panel[part], sums[row][part]);
            }
        }
    }
    for (row, sums) in sums.iter().enumerate() {
        let (out, _) = S::as_mut_simd_f32s(&mut out[row * width..][..PANEL]);
        out.copy_from_slice(&sums[..parts]);
    }
    N
}
