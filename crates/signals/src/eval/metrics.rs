//! How right and how honest: precision, recall, F1, calibration.

use serde::Serialize;

/// What was said and what was right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Said, and right.
    pub hits: usize,
    /// Said, and wrong.
    pub false_alarms: usize,
    /// Not said, and wrong.
    pub misses: usize,
    /// Not said, and right.
    pub passes: usize,
}

impl Counts {
    pub(crate) fn add(&mut self, said: bool, right: bool) {
        match (said, right) {
            (true, true) => self.hits += 1,
            (true, false) => self.false_alarms += 1,
            (false, true) => self.misses += 1,
            (false, false) => self.passes += 1,
        }
    }

    /// Of what was said, how much was right; one where nothing was said.
    #[must_use]
    pub fn precision(&self) -> f64 {
        ratio(self.hits, self.hits + self.false_alarms)
    }

    /// Of what was right, how much was said; one where there was nothing to say.
    #[must_use]
    pub fn recall(&self) -> f64 {
        ratio(self.hits, self.hits + self.misses)
    }

    /// The harmonic mean of both.
    #[must_use]
    pub fn f1(&self) -> f64 {
        ratio(2 * self.hits, 2 * self.hits + self.false_alarms + self.misses)
    }
}

fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// Bins of a reliability plot.
pub(crate) const BINS: usize = 10;

/// How often something was right when it was said with about this probability.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Bin {
    /// How many probabilities fell in.
    pub count: usize,
    /// Their mean.
    pub said: f64,
    /// How often a boundary was there.
    pub was: f64,
}

/// Sorts probabilities into bins of equal width.
pub(crate) fn bins(pairs: &[(f32, bool)]) -> [Bin; BINS] {
    let mut bins = [Bin::default(); BINS];
    for &(probability, right) in pairs {
        let bin = &mut bins[((probability * BINS as f32) as usize).min(BINS - 1)];
        bin.count += 1;
        bin.said += f64::from(probability);
        bin.was += if right { 1.0 } else { 0.0 };
    }
    for bin in bins.iter_mut().filter(|bin| bin.count > 0) {
        bin.said /= bin.count as f64;
        bin.was /= bin.count as f64;
    }
    bins
}

/// The expected calibration error: the mean distance between said and was.
pub(crate) fn calibration_error(bins: &[Bin]) -> f64 {
    let all: usize = bins.iter().map(|bin| bin.count).sum();
    let sum: f64 = bins.iter().map(|bin| bin.count as f64 * (bin.said - bin.was).abs()).sum();
    if all == 0 { 0.0 } else { sum / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_a_small_example() {
        let mut counts = Counts::default();
        for (said, right) in [(true, true), (true, false), (false, true), (false, false)] {
            counts.add(said, right);
        }
        assert_eq!((counts.precision(), counts.recall(), counts.f1()), (0.5, 0.5, 0.5));
        assert_eq!(Counts::default().f1(), 1.0);
    }

    #[test]
    fn honest_probabilities_have_no_calibration_error() {
        let honest: Vec<(f32, bool)> = (0..100).map(|at| (0.25, at % 4 == 0)).collect();
        assert!(calibration_error(&bins(&honest)) < 1e-6);
        let boastful: Vec<(f32, bool)> = (0..100).map(|at| (1.0, at % 4 == 0)).collect();
        assert!((calibration_error(&bins(&boastful)) - 0.75).abs() < 1e-6);
    }
}
