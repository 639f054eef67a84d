//! Fitting one network: Adam for the dense part, AdaGrad for the hashed one.
//!
//! One thread and a fixed order of sums: the same examples give the same bytes.

use super::examples::Example;
use segue_signals::internals::DENSE;
use segue_signals::internals::SplitMix;
use segue_signals::internals::network::{BUCKETS, DensePart, HIDDEN, MEMBERS, PART, WidePart, sigmoid};

/// How a network is fitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Recipe {
    pub(crate) seed: u64,
    pub(crate) epochs: usize,
    pub(crate) batch: usize,
    pub(crate) dense_rate: f32,
    pub(crate) wide_rate: f32,
    pub(crate) dense_decay: f32,
    pub(crate) wide_decay: f32,
    /// How often an example is shown without its words, so that the dense part learns to stand alone.
    pub(crate) wordless: f32,
    /// How often a single hashed feature is left out.
    pub(crate) dropout: f32,
}

impl Recipe {
    pub(crate) const DEFAULT: Self = Self {
        seed: 17,
        epochs: 6,
        batch: 32,
        dense_rate: 0.002,
        wide_rate: 0.08,
        dense_decay: 0.01,
        wide_decay: 1e-5,
        wordless: 0.25,
        dropout: 0.2,
    };
}

/// What fitting gives, before rounding.
#[derive(Clone, Debug)]
pub(crate) struct Fitted {
    pub(crate) wide: Vec<f32>,
    pub(crate) dense: DensePart<PART>,
}

impl Fitted {
    /// The logit of one network by itself.
    pub(crate) fn logit(&self, features: &segue_signals::internals::Features) -> f32 {
        let words: f32 =
            features.sparse.iter().map(|active| self.wide[active.bucket as usize] * active.value).sum();
        words + self.dense.finish(&features.dense, &self.dense.hidden(&features.dense))
    }
}

/// Puts the members into one network whose logit is the mean of theirs.
pub(crate) fn combine(members: &[Fitted; MEMBERS]) -> (WidePart, DensePart<HIDDEN>) {
    let share = 1.0 / MEMBERS as f32;
    let mut dense = DensePart::zero();
    let mut wide = vec![0.0; BUCKETS];
    for (at, member) in members.iter().enumerate() {
        let units = at * PART..(at + 1) * PART;
        for (row, part) in dense.rows.iter_mut().zip(&member.dense.rows) {
            row[units.clone()].copy_from_slice(part);
        }
        dense.hidden_bias[units.clone()].copy_from_slice(&member.dense.hidden_bias);
        dense.out[units].copy_from_slice(&member.dense.out.map(|weight| weight * share));
        for (sum, weight) in dense.direct.iter_mut().zip(&member.dense.direct) {
            *sum += weight * share;
        }
        dense.bias += member.dense.bias * share;
        for (sum, weight) in wide.iter_mut().zip(&member.wide) {
            *sum += weight * share;
        }
    }
    (WidePart::quantise(&wide), dense)
}

const PARAMETERS: usize = DENSE * PART + PART + PART + DENSE + 1;

struct Adam {
    first: Vec<f32>,
    second: Vec<f32>,
    step: i32,
}

impl Adam {
    fn update(
        &mut self,
        dense: &mut DensePart<PART>,
        gradient: &DensePart<PART>,
        recipe: &Recipe,
        rate: f32,
    ) {
        self.step += 1;
        let (warm1, warm2) = (1.0 - 0.9_f32.powi(self.step), 1.0 - 0.999_f32.powi(self.step));
        let moments = self.first.iter_mut().zip(self.second.iter_mut());
        let places = values_mut(dense).zip(values(gradient)).zip(moments);
        for ((place, &slope), (first, second)) in places {
            *first = 0.9 * *first + 0.1 * slope;
            *second = 0.999 * *second + 0.001 * slope * slope;
            let step = (*first / warm1) / ((*second / warm2).sqrt() + 1e-7);
            *place -= rate * (step + recipe.dense_decay * *place);
        }
    }
}

fn values(part: &DensePart<PART>) -> impl Iterator<Item = &f32> {
    part.rows
        .iter()
        .flatten()
        .chain(&part.hidden_bias)
        .chain(&part.out)
        .chain(&part.direct)
        .chain(std::iter::once(&part.bias))
}

fn values_mut(part: &mut DensePart<PART>) -> impl Iterator<Item = &mut f32> {
    part.rows
        .iter_mut()
        .flatten()
        .chain(&mut part.hidden_bias)
        .chain(&mut part.out)
        .chain(&mut part.direct)
        .chain(std::iter::once(&mut part.bias))
}

fn start(random: &mut SplitMix) -> DensePart<PART> {
    let mut dense = DensePart::zero();
    let spread = 1.0 / (DENSE as f32 / 4.0).sqrt();
    for weight in dense.rows.iter_mut().flatten() {
        *weight = (random.unit() * 2.0 - 1.0) * spread;
    }
    for weight in &mut dense.out {
        *weight = (random.unit() * 2.0 - 1.0) * 0.3;
    }
    dense
}

/// Fits a network; `progress` hears of each finished epoch.
pub(crate) fn fit(examples: &[Example], recipe: &Recipe, mut progress: impl FnMut(usize)) -> Fitted {
    let mut random = SplitMix::new(recipe.seed);
    let mut dense = start(&mut random);
    let mut wide = vec![0.0_f32; BUCKETS];
    let mut squares = vec![1e-3_f32; BUCKETS];
    let mut adam = Adam { first: vec![0.0; PARAMETERS], second: vec![0.0; PARAMETERS], step: 0 };
    let mut order: Vec<u32> = (0..examples.len() as u32).collect();
    let batches = (examples.len() / recipe.batch + 1) * recipe.epochs;
    let mut done = 0;
    let mut kept = Vec::new();
    for epoch in 0..recipe.epochs {
        random.shuffle(&mut order);
        for batch in order.chunks(recipe.batch) {
            let pace = 1.0 - done as f32 / batches as f32;
            done += 1;
            let mut gradient = DensePart::zero();
            for &at in batch {
                let example = &examples[at as usize];
                let dense_in = &example.features.dense;
                kept.clear();
                if random.unit() >= recipe.wordless {
                    let keep = 1.0 / (1.0 - recipe.dropout);
                    for active in &example.features.sparse {
                        if random.unit() >= recipe.dropout {
                            kept.push((active.bucket as usize, active.value * keep));
                        }
                    }
                }
                let hidden = dense.hidden(dense_in);
                let words: f32 = kept.iter().map(|&(bucket, value)| wide[bucket] * value).sum();
                let logit = words + dense.finish(dense_in, &hidden);
                let target = if example.label { 1.0 } else { 0.0 };
                let error = (sigmoid(logit) - target) * example.weight;
                for &(bucket, value) in &kept {
                    let slope = error * value + recipe.wide_decay * wide[bucket];
                    squares[bucket] += slope * slope;
                    wide[bucket] -= recipe.wide_rate * (0.1 + 0.9 * pace) * slope / squares[bucket].sqrt();
                }
                add_gradient(&mut gradient, &dense, dense_in, &hidden, error / batch.len() as f32);
            }
            adam.update(&mut dense, &gradient, recipe, recipe.dense_rate * (0.05 + 0.95 * pace));
        }
        progress(epoch + 1);
    }
    Fitted { wide, dense }
}

fn add_gradient(
    gradient: &mut DensePart<PART>,
    dense: &DensePart<PART>,
    input: &[f32; DENSE],
    hidden: &[f32; PART],
    error: f32,
) {
    gradient.bias += error;
    let mut back = [0.0; PART];
    for unit in 0..PART {
        if hidden[unit] > 0.0 {
            gradient.out[unit] += error * hidden[unit];
            back[unit] = error * dense.out[unit];
            gradient.hidden_bias[unit] += back[unit];
        }
    }
    for ((&value, row), direct) in input.iter().zip(&mut gradient.rows).zip(&mut gradient.direct) {
        if value != 0.0 {
            *direct += error * value;
            for (place, slope) in row.iter_mut().zip(&back) {
                *place += value * slope;
            }
        }
    }
}
