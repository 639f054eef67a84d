//! Measuring the judgement on labelled dialogues: `segue eval` without its files.
//!
//! Causal: a message is judged by what came before it. What was said begins anew where the judgement itself says so, as it would
//! in an engine; labels are never looked at.

mod data;
mod metrics;
mod segmentation;

use std::time::Duration;

use jiff::SignedDuration;
use serde::Serialize;

use crate::judge::{self, Embedder, Stage};
use crate::probability::Probability;
use crate::remark::{KEPT_MAX, Remark};
use crate::role::Role;

pub use data::{DataError, Dataset, Dialogue, Turn};
use metrics::BINS;
pub use metrics::{Bin, Counts};

/// From this probability on a turn counts as a beginning: the engine's own default.
pub(crate) const THRESHOLD: f32 = 0.65;

/// Time on one core, measured by the caller's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Times {
    /// Half of the decisions were at least so quick, in nanoseconds.
    pub p50_ns: u64,
    /// All but one in a hundred were.
    pub p99_ns: u64,
}

/// What was measured on one set, or on several together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The set.
    pub set: String,
    /// Turns that were judged.
    pub decisions: usize,
    /// Turns that begin something.
    pub boundaries: usize,
    /// What was said and what was right.
    pub counts: Counts,
    /// Precision.
    pub precision: f64,
    /// Recall.
    pub recall: f64,
    /// F1.
    pub f1: f64,
    /// Pk; lower is better.
    pub pk: f64,
    /// WindowDiff; lower is better.
    pub window_diff: f64,
    /// Expected calibration error over ten bins.
    pub calibration_error: f64,
    /// The bins of the reliability plot.
    pub bins: [Bin; BINS],
    /// Share of turns with no answer at all ("ok").
    pub unknown_rate: f64,
    /// Time per decision.
    pub times: Times,
}

/// One judged turn.
#[derive(Clone, Copy, Debug)]
struct Judged {
    new: Option<Probability>,
    right: bool,
    took: Duration,
}

/// What was measured so far.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    judged: Vec<Judged>,
    cuts: segmentation::Sums,
}

impl Measured {
    /// Judges the turns of a dialogue; `clock` gives the time since any fixed instant.
    pub fn add(&mut self, embedder: &Embedder, dialogue: &Dialogue, clock: &mut dyn FnMut() -> Duration) {
        let mut said: Vec<Remark> = Vec::new();
        let mut last: Option<jiff::Timestamp> = None;
        let (mut right, mut claimed) = (Vec::new(), Vec::new());
        for turn in &dialogue.turns {
            let at: Option<jiff::Timestamp> = turn.at.as_deref().and_then(|at| at.parse().ok());
            let gap = at.zip(last).map_or(SignedDuration::ZERO, |(now, last)| now.duration_since(last));
            let begun = clock();
            let remark = Remark::of(turn.role(), &turn.text);
            let is_judged = turn.role() == Role::User && !said.is_empty();
            let new = if is_judged { judged(embedder, &said, &remark, gap) } else { None };
            let took = clock().saturating_sub(begun);
            let begins = new.is_some_and(|new| new.get() >= THRESHOLD);
            if is_judged {
                self.judged.push(Judged { new, right: turn.boundary == 1, took });
            }
            right.push(turn.boundary == 1);
            claimed.push(begins);
            if begins {
                said.clear();
            }
            said.push(remark);
            said.drain(..said.len().saturating_sub(KEPT_MAX));
            last = if turn.role() == Role::User { at.or(last) } else { last };
        }
        self.cuts.add(&right, &claimed);
    }

    /// Takes in what was measured on another set.
    pub fn join(&mut self, other: &Self) {
        self.judged.extend(&other.judged);
        self.cuts.join(other.cuts);
    }

    /// Says what was measured; nothing if no turn was judged.
    #[must_use]
    pub fn report(&self, set: &str) -> Option<Report> {
        let mut counts = Counts::default();
        for one in &self.judged {
            counts.add(one.new.is_some_and(|new| new.get() >= THRESHOLD), one.right);
        }
        let known = self.judged.iter().filter_map(|one| Some((one.new?.get(), one.right)));
        let known: Vec<(f32, bool)> = known.collect();
        let (bins, cuts) = (metrics::bins(&known), self.cuts.figures());
        let decisions = self.judged.len();
        (decisions > 0).then(|| Report {
            set: set.to_owned(),
            decisions,
            boundaries: self.judged.iter().filter(|one| one.right).count(),
            counts,
            precision: counts.precision(),
            recall: counts.recall(),
            f1: counts.f1(),
            pk: cuts.pk,
            window_diff: cuts.window_diff,
            calibration_error: metrics::calibration_error(&bins),
            bins,
            unknown_rate: (decisions - known.len()) as f64 / decisions as f64,
            times: self.times(),
        })
    }

    fn times(&self) -> Times {
        let took = self.judged.iter().map(|one| u64::try_from(one.took.as_nanos()).unwrap_or(u64::MAX));
        let mut all: Vec<u64> = took.collect();
        all.sort_unstable();
        let last = all.len().saturating_sub(1);
        let at = |share: usize| all.get((all.len() * share / 100).min(last)).copied().unwrap_or(0);
        Times { p50_ns: at(50), p99_ns: at(99) }
    }
}

fn judged(
    embedder: &Embedder,
    said: &[Remark],
    message: &Remark,
    gap: SignedDuration,
) -> Option<Probability> {
    let by_words = judge::by_words(said, message)?;
    let shift = match by_words.stage {
        Stage::Words => by_words,
        Stage::Unsure | Stage::Meaning => judge::by_meaning(embedder, said, message).unwrap_or(by_words),
    };
    Some(shift.after(gap))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dialogue_of_two_matters_is_measured() {
        let line = r#"{"id":"1","turns":[{"role":"user","text":"my parser crashes on empty input"},
            {"role":"assistant","text":"Check that the list of rows is not empty."},
            {"role":"user","text":"does it also crash on a header row?"},
            {"role":"user","text":"What is the capital of Mongolia?","boundary":1}]}"#;
        let set = Dataset::parse("two", &line.replace('\n', "")).map(|set| set.dialogues);
        let mut measured = Measured::default();
        for dialogue in set.iter().flatten() {
            measured.add(&Embedder::default(), dialogue, &mut || Duration::ZERO);
        }
        let report = measured.report("two").map(|report| (report.decisions, report.boundaries, report.f1));
        assert_eq!(report, Some((2, 1, 1.0)));
        assert_eq!(Measured::default().report("none"), None);
    }
}
