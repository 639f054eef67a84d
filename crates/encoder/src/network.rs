//! The network: embeddings of pieces, three convolutions over two, three and five of them, their sum, and four dense layers.

use crate::Damaged;
use crate::bytes::Bytes;
use crate::embedding::{DIMENSIONS, Embedding};
use crate::linear::Linear;
use pulp::{Arch, Simd, WithSimd};

/// How wide a convolution is.
const WIDTH: usize = 256;
const HIDDEN: usize = 320;
/// How many pieces each convolution spans, and how many of them lie in front.
const SPANS: [(usize, usize); 3] = [(2, 0), (3, 1), (5, 2)];
const PROJECTED: usize = SPANS.len() * WIDTH;
const FEATURES: usize = DIMENSIONS + PROJECTED;
/// A row of the table: the lowest number, a step, and how many steps each number is above it, two in a byte.
const ROW_BYTES: usize = 8 + DIMENSIONS / 2;
const EPSILON: f32 = 1e-12;

#[derive(Debug)]
pub(crate) struct Network {
    table: [&'static [[u8; ROW_BYTES]]; 3],
    project: Linear,
    project_norm: Norm,
    convolutions: Vec<[Linear; 2]>,
    norm: Norm,
    sum: Linear,
    hidden: [Linear; 6],
}

#[derive(Debug)]
struct Norm {
    gain: Vec<f32>,
    shift: Vec<f32>,
}

impl Norm {
    fn read(bytes: &mut Bytes, count: usize) -> Result<Self, Damaged> {
        Ok(Self { gain: bytes.floats(count)?, shift: bytes.floats(count)? })
    }

    #[inline(always)]
    fn apply(&self, rows: &mut [f32]) {
        let count = self.gain.len() as f32;
        for row in rows.chunks_exact_mut(self.gain.len()) {
            let mean = sum(row, |x| x) / count;
            let scale = 1.0 / (sum(row, |x| (x - mean) * (x - mean)) / count + EPSILON).sqrt();
            for ((x, gain), shift) in row.iter_mut().zip(&self.gain).zip(&self.shift) {
                *x = (*x - mean) * scale * gain + shift;
            }
        }
    }
}

/// A sum in several lanes, so that a compiler can do many at once.
#[inline(always)]
fn sum(row: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let mut sums = [0.0; 16];
    for row in row.as_chunks::<16>().0 {
        for (sum, x) in sums.iter_mut().zip(row) {
            *sum += of(*x);
        }
    }
    sums.iter().sum()
}

impl Network {
    /// Reads the layers and the table of embeddings, of which each part has as many rows as fit.
    pub(crate) fn read(first: &mut Bytes, others: [Bytes; 2], rows: usize) -> Result<Self, Damaged> {
        let project = Linear::read(first, DIMENSIONS, PROJECTED)?;
        let project_norm = Norm::read(first, PROJECTED)?;
        let mut convolutions = Vec::new();
        for (span, _) in SPANS {
            let mut layer = || Linear::read(first, span * WIDTH, WIDTH);
            convolutions.push([layer()?, layer()?]);
        }
        let norm = Norm::read(first, FEATURES)?;
        let sum = Linear::read(first, FEATURES, DIMENSIONS)?;
        let hidden = [
            Linear::read(first, DIMENSIONS, HIDDEN)?,
            Linear::read(first, DIMENSIONS, HIDDEN)?,
            Linear::read(first, HIDDEN, HIDDEN)?,
            Linear::read(first, HIDDEN, DIMENSIONS)?,
            Linear::read(first, HIDDEN, DIMENSIONS)?,
            Linear::read(first, DIMENSIONS, DIMENSIONS)?,
        ];
        let parts = [first.0, others[0].0, others[1].0].map(|part| part.as_chunks::<ROW_BYTES>());
        let whole = parts.iter().all(|(_, rest)| rest.is_empty());
        let table = parts.map(|(rows, _)| rows);
        if !whole || table.iter().map(|part| part.len()).sum::<usize>() != rows {
            return Err(Damaged);
        }
        Ok(Self { table, project, project_norm, convolutions, norm, sum, hidden })
    }

    pub(crate) fn embed(&self, pieces: &[usize]) -> Embedding {
        Arch::new().dispatch(Embed { network: self, pieces })
    }

    #[inline(always)]
    fn look_up(&self, piece: usize, out: &mut [f32]) {
        let mut at = piece;
        for part in self.table {
            let Some(row) = part.get(at) else {
                at -= part.len();
                continue;
            };
            let (floats, steps) = row.split_at(8);
            let (floats, _) = floats.as_chunks::<4>();
            let [low, step] = [0, 1].map(|at| f32::from_le_bytes(floats[at]));
            for (pair, byte) in out.as_chunks_mut::<2>().0.iter_mut().zip(steps) {
                *pair = [byte & 15, byte >> 4].map(|steps| low + step * f32::from(steps));
            }
            return;
        }
    }
}

struct Embed<'a> {
    network: &'a Network,
    pieces: &'a [usize],
}

impl WithSimd for Embed<'_> {
    type Output = Embedding;

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> Embedding {
        let Self { network, pieces } = self;
        let mut looked_up = vec![0.0; pieces.len() * DIMENSIONS];
        for (row, piece) in looked_up.chunks_exact_mut(DIMENSIONS).zip(pieces) {
            network.look_up(*piece, row);
        }
        let mut projected = network.project.apply(simd, &looked_up);
        network.project_norm.apply(&mut projected);
        let mut features = vec![0.0; pieces.len() * FEATURES];
        copy_columns(&looked_up, DIMENSIONS, &mut features, 0);
        for (at, ([inner, outer], span)) in network.convolutions.iter().zip(SPANS).enumerate() {
            let row = |row: &[f32]| row[at * WIDTH..(at + 1) * WIDTH].to_vec();
            let input: Vec<f32> = projected.chunks_exact(PROJECTED).flat_map(row).collect();
            let middle = convolve(simd, inner, span, &input);
            let output = convolve(simd, outer, span, &middle);
            copy_columns(&output, WIDTH, &mut features, DIMENSIONS + at * WIDTH);
        }
        network.norm.apply(&mut features);
        let mut sum = vec![0.0; FEATURES];
        for row in features.chunks_exact(FEATURES) {
            sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
        }
        // The mean of what each piece gives, times the root of their number.
        let count = pieces.len() as f32;
        sum.iter_mut().for_each(|x| *x /= count);
        let mut sum = network.sum.apply(simd, &sum);
        sum.iter_mut().for_each(|x| *x *= count.sqrt());
        let [first, skip, second, third, last_skip, last] = &network.hidden;
        let y0 = map(first.apply(simd, &sum), positive);
        let y1 = map(add(skip.apply(simd, &sum), &second.apply(simd, &y0)), positive);
        let y2 = map(third.apply(simd, &y1), positive);
        let out = map(add(last_skip.apply(simd, &y1), &last.apply(simd, &y2)), f32::tanh);
        let length = out.iter().map(|x| x * x).sum::<f32>().max(EPSILON).sqrt();
        Embedding::of(&std::array::from_fn(|at| out[at] / length))
    }
}

fn copy_columns(from: &[f32], width: usize, features: &mut [f32], at: usize) {
    for (row, from) in features.chunks_exact_mut(FEATURES).zip(from.chunks_exact(width)) {
        row[at..at + width].copy_from_slice(from);
    }
}

/// A convolution, and what went in added to what comes out.
#[inline(always)]
fn convolve<S: Simd>(simd: S, layer: &Linear, (span, before): (usize, usize), input: &[f32]) -> Vec<f32> {
    let rows = input.len() / WIDTH;
    let mut windows = vec![0.0; rows * span * WIDTH];
    for (row, window) in windows.chunks_exact_mut(span * WIDTH).enumerate() {
        for (at, column) in window.chunks_exact_mut(WIDTH).enumerate() {
            // Outside of the text there is nothing.
            if let Some(piece) = (row + at).checked_sub(before).filter(|piece| *piece < rows) {
                column.copy_from_slice(&input[piece * WIDTH..(piece + 1) * WIDTH]);
            }
        }
    }
    add(map(layer.apply(simd, &windows), positive), input)
}

#[inline(always)]
fn map(mut row: Vec<f32>, of: impl Fn(f32) -> f32) -> Vec<f32> {
    row.iter_mut().for_each(|x| *x = of(*x));
    row
}

#[inline(always)]
fn add(mut row: Vec<f32>, other: &[f32]) -> Vec<f32> {
    row.iter_mut().zip(other).for_each(|(x, other)| *x += other);
    row
}

#[inline(always)]
fn positive(number: f32) -> f32 {
    number.max(0.0)
}
