//! Measuring a classifier on labelled dialogues: `segue eval` without its files.
//!
//! Causal: a message is judged by what came before it. Where sessions are judged, the profile begins
//! anew where the classifier itself says so, as it would in an engine; labels are never looked at.

mod data;
mod labels;
mod metrics;
mod segmentation;

use std::time::Duration;

use serde::Serialize;

use crate::boundary::{Lean, Outcome, Output, Verdict};
use crate::classifier::Classifier;
use crate::profile::{Profile, Role};

pub use data::{DataError, Dataset, Dialogue, Meaning, Split, Turn};
pub use labels::label;
pub use metrics::{BINS, Bin, Counts};

/// Time on one core, measured by the caller's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Times {
    /// Half of the decisions were at least so quick, in nanoseconds.
    pub p50_ns: u64,
    /// All but one in a hundred were.
    pub p99_ns: u64,
}

/// What was measured for one output on one set.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// The set.
    pub set: String,
    /// `session` or `task`.
    pub output: &'static str,
    /// Turns that were judged.
    pub decisions: usize,
    /// Turns that begin something.
    pub boundaries: usize,
    /// With the one threshold, over all turns.
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
    /// Share of turns in the abstain band.
    pub abstain_rate: f64,
    /// Share of turns with no answer at all ("ok").
    pub unknown_rate: f64,
    /// Right answers inside the abstain band.
    pub inside: Counts,
    /// Right answers outside of it.
    pub outside: Counts,
    /// Time per decision, the message's own observation included.
    pub times: Times,
}

/// One judged turn.
#[derive(Clone, Copy, Debug)]
struct Judged {
    outcome: Outcome,
    right: bool,
    took: Duration,
}

/// Measures both outputs on a set, as far as it labels them; `clock` gives the time since any fixed
/// instant, `progress` hears of each dialogue.
pub fn evaluate(
    classifier: &Classifier,
    set: &Dataset,
    clock: &mut dyn FnMut() -> Duration,
    progress: &mut dyn FnMut(),
) -> Vec<Report> {
    let mut judged: [Vec<Judged>; 2] = [Vec::new(), Vec::new()];
    let mut cuts = [segmentation::Sums::default(), segmentation::Sums::default()];
    for dialogue in &set.dialogues {
        let turns = judge(classifier, set.meaning, dialogue, clock);
        for (at, output) in Output::ALL.into_iter().enumerate() {
            let (mut right, mut said) = (Vec::new(), Vec::new());
            for (turn, judgement) in dialogue.turns.iter().zip(&turns) {
                let truth = truth(output, set.meaning, turn);
                let outcome = judgement.map(|(outcomes, took)| (outcomes[at], took));
                right.push(truth == Some(true));
                said.push(outcome.is_some_and(|(outcome, _)| outcome.leans == Lean::Boundary));
                if let (Some(right), Some((outcome, took))) = (truth, outcome) {
                    judged[at].push(Judged { outcome, right, took });
                }
            }
            cuts[at].add(&right, &said);
        }
        progress();
    }
    Output::ALL
        .into_iter()
        .zip(judged)
        .zip(cuts)
        .filter(|((_, judged), _)| !judged.is_empty())
        .filter(|((output, _), _)| asks(*output, set.meaning))
        .map(|((output, judged), cuts)| report(&set.name, output, &judged, cuts.figures()))
        .collect()
}

/// Topic sets have no label of ours; the nearest question is whether something else begins.
fn truth(output: Output, meaning: Meaning, turn: &Turn) -> Option<bool> {
    match (output, meaning) {
        (Output::Task, Meaning::Topic) => Some(turn.boundary == 1),
        _ => label(output, meaning, turn),
    }
}

fn asks(output: Output, meaning: Meaning) -> bool {
    match (output, meaning) {
        (Output::Session, Meaning::Session) | (Output::Task, _) => true,
        (Output::Session, Meaning::Task | Meaning::Topic) => false,
    }
}

type Judgements = Vec<Option<([Outcome; 2], Duration)>>;

fn judge(
    classifier: &Classifier,
    meaning: Meaning,
    dialogue: &Dialogue,
    clock: &mut dyn FnMut() -> Duration,
) -> Judgements {
    let mut profile = Profile::new();
    let mut last_user: Option<jiff::Timestamp> = None;
    dialogue
        .turns
        .iter()
        .map(|turn| {
            let role = turn.role();
            let at: Option<jiff::Timestamp> = turn.at.as_deref().and_then(|at| at.parse().ok());
            let gap = at.zip(last_user).map(|(now, last)| now.duration_since(last));
            let begun = clock();
            let judgement = (role == Role::User && profile.messages() > 0)
                .then(|| classifier.judge(&profile, &turn.text, gap));
            let leans = judgement.as_ref().map(|judgement| judgement.session.leans);
            if meaning == Meaning::Session && leans == Some(Lean::Boundary) {
                profile = Profile::new();
            }
            classifier.observe(&mut profile, role, &turn.text);
            let took = clock().saturating_sub(begun);
            if role == Role::User {
                last_user = at.or(last_user);
            }
            judgement.map(|judgement| ([judgement.session, judgement.task], took))
        })
        .collect()
}

fn report(set: &str, output: Output, judged: &[Judged], cuts: segmentation::Segmentation) -> Report {
    let mut counts = Counts::default();
    let (mut inside, mut outside) = (Counts::default(), Counts::default());
    let mut unknown = 0;
    let mut pairs = Vec::new();
    for one in judged {
        let said = one.outcome.leans == Lean::Boundary;
        counts.add(said, one.right);
        match one.outcome.verdict {
            Verdict::Abstain => inside.add(said, one.right),
            Verdict::Boundary | Verdict::Continues => outside.add(said, one.right),
            Verdict::Unknown => unknown += 1,
        }
        pairs.extend(one.outcome.probability.map(|probability| (probability.get(), one.right)));
    }
    let bins = metrics::bins(&pairs);
    let share = |count: usize| count as f64 / judged.len().max(1) as f64;
    let abstained = inside.hits + inside.false_alarms + inside.misses + inside.passes;
    Report {
        set: set.to_owned(),
        output: output.word(),
        decisions: judged.len(),
        boundaries: counts.hits + counts.misses,
        counts,
        precision: counts.precision(),
        recall: counts.recall(),
        f1: counts.f1(),
        pk: cuts.pk,
        window_diff: cuts.window_diff,
        calibration_error: metrics::calibration_error(&bins),
        bins,
        abstain_rate: share(abstained),
        unknown_rate: share(unknown),
        inside,
        outside,
        times: times(judged),
    }
}

fn times(judged: &[Judged]) -> Times {
    let mut all: Vec<u64> =
        judged.iter().map(|one| u64::try_from(one.took.as_nanos()).unwrap_or(u64::MAX)).collect();
    all.sort_unstable();
    let at = |share: usize| {
        all.get((all.len() * share / 100).min(all.len().saturating_sub(1))).copied().unwrap_or(0)
    };
    Times { p50_ns: at(50), p99_ns: at(99) }
}

/// Puts the reports of several sets together, one for each output; segmentation and times are means
/// weighted by decisions.
#[must_use]
pub fn pool(reports: &[Report]) -> Vec<Report> {
    Output::ALL
        .into_iter()
        .filter_map(|output| {
            let same: Vec<&Report> = reports.iter().filter(|report| report.output == output.word()).collect();
            pooled(&same)
        })
        .collect()
}

fn pooled(reports: &[&Report]) -> Option<Report> {
    let (first, rest) = reports.split_first()?;
    let mut all = (*first).clone();
    "all".clone_into(&mut all.set);
    for report in rest {
        let (mine, theirs) = (all.decisions as f64, report.decisions as f64);
        let mean = |a: f64, b: f64| (a * mine + b * theirs) / (mine + theirs).max(1.0);
        all.pk = mean(all.pk, report.pk);
        all.window_diff = mean(all.window_diff, report.window_diff);
        all.abstain_rate = mean(all.abstain_rate, report.abstain_rate);
        all.unknown_rate = mean(all.unknown_rate, report.unknown_rate);
        all.times.p50_ns = mean(all.times.p50_ns as f64, report.times.p50_ns as f64) as u64;
        all.times.p99_ns = mean(all.times.p99_ns as f64, report.times.p99_ns as f64) as u64;
        for (bin, other) in all.bins.iter_mut().zip(&report.bins) {
            let count = bin.count + other.count;
            let share =
                |a: f64, b: f64| (a * bin.count as f64 + b * other.count as f64) / count.max(1) as f64;
            *bin = Bin { count, said: share(bin.said, other.said), was: share(bin.was, other.was) };
        }
        all.counts = sum(all.counts, report.counts);
        all.inside = sum(all.inside, report.inside);
        all.outside = sum(all.outside, report.outside);
        all.decisions += report.decisions;
        all.boundaries += report.boundaries;
    }
    (all.precision, all.recall, all.f1) = (all.counts.precision(), all.counts.recall(), all.counts.f1());
    all.calibration_error = metrics::calibration_error(&all.bins);
    Some(all)
}

fn sum(a: Counts, b: Counts) -> Counts {
    Counts {
        hits: a.hits + b.hits,
        false_alarms: a.false_alarms + b.false_alarms,
        misses: a.misses + b.misses,
        passes: a.passes + b.passes,
    }
}
