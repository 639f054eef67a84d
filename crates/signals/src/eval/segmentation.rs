//! Pk and WindowDiff: how well the cuts lie, near misses forgiven in part.

/// The two usual figures; lower is better.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Segmentation {
    pub(crate) pk: f64,
    pub(crate) window_diff: f64,
}

/// Sums over dialogues; each place of the window counts the same.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sums {
    windows: usize,
    split_wrong: usize,
    count_wrong: usize,
}

impl Sums {
    /// Adds one dialogue: `true` where a turn begins something, what is right and what was said.
    pub(crate) fn add(&mut self, right: &[bool], said: &[bool]) {
        let turns = right.len().min(said.len());
        let segments = right.iter().skip(1).filter(|&&begins| begins).count() + 1;
        // Half the mean length of a segment, as Beeferman and others have it.
        let width = ((turns as f64 / segments as f64) / 2.0).round().max(2.0) as usize;
        for from in 0..turns.saturating_sub(width) {
            let cuts = |flags: &[bool]| flags[from + 1..=from + width].iter().filter(|&&cut| cut).count();
            let (truth, claim) = (cuts(right), cuts(said));
            self.windows += 1;
            self.split_wrong += usize::from((truth == 0) != (claim == 0));
            self.count_wrong += usize::from(truth != claim);
        }
    }

    pub(crate) fn join(&mut self, other: Self) {
        self.windows += other.windows;
        self.split_wrong += other.split_wrong;
        self.count_wrong += other.count_wrong;
    }

    pub(crate) fn figures(self) -> Segmentation {
        let share = |wrong: usize| if self.windows == 0 { 0.0 } else { wrong as f64 / self.windows as f64 };
        Segmentation { pk: share(self.split_wrong), window_diff: share(self.count_wrong) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_cuts_cost_nothing_and_near_ones_less_than_none() {
        let cut = |at: usize| (0..12).map(|turn| turn == at).collect::<Vec<bool>>();
        let figures = |said: &[bool]| {
            let mut sums = Sums::default();
            sums.add(&cut(6), said);
            sums.figures()
        };
        assert_eq!(figures(&cut(6)), Segmentation::default());
        let (near, none) = (figures(&cut(7)), figures(&[false; 12]));
        assert!(0.0 < near.pk && near.pk < none.pk);
        assert!(near.window_diff <= none.window_diff);
        assert_eq!(Sums::default().figures(), Segmentation::default());
    }
}
