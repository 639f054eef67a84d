//! Figures with intervals: streams are drawn again and again, since turns of one stream are not independent.

use segue_signals::internals::SplitMix;

const DRAWS: usize = 400;

/// A figure and the interval in which 95 of 100 draws of streams fall.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl Figure {
    /// Computes a figure of all streams, and of draws of them.
    pub fn of<T>(streams: &[T], figure: impl Fn(&[&T]) -> Option<f64>) -> Option<Self> {
        let value = figure(&streams.iter().collect::<Vec<_>>())?;
        let mut random = SplitMix::new(7);
        let mut draws: Vec<f64> = (0..DRAWS)
            .filter_map(|_| {
                let drawn: Vec<&T> =
                    streams.iter().filter_map(|_| streams.get(random.below(streams.len()))).collect();
                figure(&drawn)
            })
            .collect();
        draws.sort_by(f64::total_cmp);
        let at = |share: f64| draws.get((share * draws.len() as f64) as usize).copied().unwrap_or(value);
        Some(Self { value, low: at(0.025), high: at(0.975) })
    }
}

/// A message: how probable it was called that something new begins, and whether it does.
pub type Scored = (f64, bool);

/// The probability that a boundary is called more probable than another turn.
pub fn auc(scored: &[Scored]) -> Option<f64> {
    let mut sorted: Vec<Scored> = scored.to_vec();
    sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut below, mut wins) = (0.0, 0.0);
    for tied in sorted.chunk_by(|a, b| a.0 == b.0) {
        let new = tied.iter().filter(|(_, new)| *new).count() as f64;
        let others = tied.len() as f64 - new;
        wins += new * (below + others / 2.0);
        below += others;
    }
    let new = sorted.len() as f64 - below;
    (new > 0.0 && below > 0.0).then(|| wins / (new * below))
}

/// The share of boundaries that are missed at a threshold which calls so many of the other turns new.
pub fn missed_at(scored: &[Scored], falsely: f64) -> Option<f64> {
    let mut others: Vec<f64> = scored.iter().filter(|(_, new)| !new).map(|(p, _)| *p).collect();
    others.sort_by(|a, b| b.total_cmp(a));
    let threshold = *others.get((others.len() as f64 * falsely) as usize)?;
    let new: Vec<f64> = scored.iter().filter(|(_, new)| *new).map(|(p, _)| *p).collect();
    let missed = new.iter().filter(|p| **p <= threshold).count();
    (!new.is_empty()).then(|| missed as f64 / new.len() as f64)
}

/// The time at a share of all, in microseconds.
pub fn quantile(times: &mut [u64], share: f64) -> u64 {
    times.sort_unstable();
    times.get((times.len() as f64 * share) as usize).or(times.last()).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn j1_auc_and_missed_count_ties_by_half_and_never_as_found() {
        let scored = [(0.9, true), (0.5, true), (0.5, false), (0.1, false)];
        assert_eq!(auc(&scored), Some(0.875));
        assert_eq!(missed_at(&scored, 0.0), Some(0.5));
        assert_eq!(missed_at(&scored, 0.5), Some(0.0));
        assert_eq!(auc(&[(0.5, true)]), None);
    }

    #[test]
    fn j1_an_interval_holds_its_figure() {
        let streams: Vec<f64> = (0..100).map(f64::from).collect();
        let mean = |drawn: &[&f64]| Some(drawn.iter().copied().sum::<f64>() / drawn.len() as f64);
        let figure = Figure::of(&streams, mean).unwrap();
        assert!(figure.low < figure.value && figure.value < figure.high, "{figure:?}");
        assert_eq!(Figure::of(&streams, mean), Some(figure));
    }
}
