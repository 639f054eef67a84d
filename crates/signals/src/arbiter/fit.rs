//! How the weights are made: logistic regression with a penalty, by Newton's method in a fixed order.

use super::{COUNT, Numbers};

/// What a weight may cost, on numbers of unit variance. From 1 to 3 cross-validation is indifferent, above it
/// gets worse; the larger one, so that no rare sign decides alone.
const PENALTY: f64 = 3.0;
const ROUNDS: usize = 40;
/// Below this variance a number is the same everywhere and says nothing.
const VARIANCE_MIN: f64 = 1e-9;
/// The weights and the bias.
const UNKNOWNS: usize = COUNT + 1;

/// Weights that were fitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fitted {
    /// Added to every logit.
    pub bias: f64,
    /// One weight for each number.
    pub weights: [f64; COUNT],
}

impl Fitted {
    /// The probability that these weights give.
    #[must_use]
    pub fn probability(&self, numbers: &Numbers) -> f64 {
        let sum = |sum, (weight, number): (&f64, &f64)| sum + weight * number;
        sigmoid(self.weights.iter().zip(numbers).fold(self.bias, sum))
    }
}

fn sigmoid(logit: f64) -> f64 {
    1.0 / (1.0 + (-logit).exp())
}

/// Fits weights to messages of which it is known whether a conversation began with them.
///
/// The same samples in the same order give the same weights.
#[must_use]
pub fn fit(samples: &[(Numbers, bool)]) -> Fitted {
    let (mean, scale) = spread(samples);
    let rows: Vec<([f64; UNKNOWNS], f64)> = samples
        .iter()
        .map(|(numbers, label)| {
            // The last place belongs to the bias.
            let mut row = [1.0; UNKNOWNS];
            for at in 0..COUNT {
                row[at] = (numbers[at] - mean[at]) / scale[at];
            }
            (row, if *label { 1.0 } else { 0.0 })
        })
        .collect();
    let mut at = [0.0; UNKNOWNS];
    for _ in 0..ROUNDS {
        let step = solve(newton(&rows, &at));
        for (value, step) in at.iter_mut().zip(step) {
            *value -= step;
        }
    }
    let mut fitted = Fitted { bias: at[COUNT], weights: [0.0; COUNT] };
    for place in 0..COUNT {
        fitted.weights[place] = at[place] / scale[place];
        fitted.bias -= fitted.weights[place] * mean[place];
    }
    fitted
}

/// Mean and standard deviation of each number.
fn spread(samples: &[(Numbers, bool)]) -> (Numbers, Numbers) {
    let count = (samples.len() as f64).max(1.0);
    let (mut mean, mut variance) = ([0.0; COUNT], [0.0; COUNT]);
    for at in 0..COUNT {
        mean[at] = samples.iter().map(|(numbers, _)| numbers[at]).sum::<f64>() / count;
        variance[at] =
            samples.iter().map(|(numbers, _)| (numbers[at] - mean[at]).powi(2)).sum::<f64>() / count;
    }
    (mean, variance.map(|variance| if variance < VARIANCE_MIN { 1.0 } else { variance.sqrt() }))
}

/// Curvature and slope of the loss side by side.
type System = [[f64; UNKNOWNS + 1]; UNKNOWNS];

fn newton(rows: &[([f64; UNKNOWNS], f64)], at: &[f64; UNKNOWNS]) -> System {
    let mut system = [[0.0; UNKNOWNS + 1]; UNKNOWNS];
    for (row, label) in rows {
        let p = sigmoid(row.iter().zip(at).map(|(number, weight)| number * weight).sum());
        for i in 0..UNKNOWNS {
            for j in 0..UNKNOWNS {
                system[i][j] += p * (1.0 - p) * row[i] * row[j];
            }
            system[i][UNKNOWNS] += (p - label) * row[i];
        }
    }
    for i in 0..COUNT {
        system[i][i] += PENALTY;
        system[i][UNKNOWNS] += PENALTY * at[i];
    }
    // The bias is free, and must be found even where all labels are the same.
    system[COUNT][COUNT] += 1e-6;
    system
}

/// Gaussian elimination; the penalty keeps every pivot away from zero.
fn solve(mut system: System) -> [f64; UNKNOWNS] {
    for pivot in 0..UNKNOWNS {
        let lead = system[pivot];
        for row in system.iter_mut().skip(pivot + 1) {
            let factor = row[pivot] / lead[pivot];
            for (value, lead) in row.iter_mut().zip(lead).skip(pivot) {
                *value -= factor * lead;
            }
        }
    }
    let mut out = [0.0; UNKNOWNS];
    for row in (0..UNKNOWNS).rev() {
        let known: f64 = (row + 1..UNKNOWNS).map(|column| system[row][column] * out[column]).sum();
        out[row] = (system[row][UNKNOWNS] - known) / system[row][row];
    }
    out
}
