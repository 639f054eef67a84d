//! `segue-lab fit-arbiter`: fits the arbiter's weights.
//!
//! Reads `eval/dev` only. Prints the weights for `src/arbiter/weights.rs` and what cross-validation says of them.
//! `--report FILES` measures the shipped weights on other conversations instead, and fits nothing.

use crate::out;
use anyhow::Context as _;
use std::path::PathBuf;

use segue_signals::arbiter::samples::{Sample, cross_validate, known, samples};
use segue_signals::arbiter::{NAMES, WEIGHTS, fit::fit};
use segue_signals::eval::{Dataset, Meaning, Split};
use segue_signals::{Classifier, Probability};

const DEV: [&str; 2] = ["eval/dev/en/conversations.jsonl", "eval/dev/zh/conversations.jsonl"];
const FOLDS: usize = 10;
/// Probabilities from which a shift could be acted on.
const THRESHOLDS: [f64; 4] = [0.3, 0.5, 0.7, 0.9];
/// False alarms for each message of a user.
const ALARMS: [f64; 5] = [0.005, 0.01, 0.015, 0.02, 0.03];

pub fn run(files: &[PathBuf]) -> anyhow::Result<()> {
    let classifier = Classifier::builtin()?;
    if !files.is_empty() {
        let samples = read(&classifier, files)?;
        let said = |sample: &Sample| sample.numbers.map_or(0.0, |numbers| WEIGHTS.probability(&numbers));
        return report(&samples, &samples.iter().map(said).collect::<Vec<_>>());
    }
    let samples = read(&classifier, &DEV.map(PathBuf::from))?;
    let fitted = fit(&known(&samples));
    out::line(format!("    bias: {:.4},\n    weights: [", fitted.bias))?;
    for (name, weight) in NAMES.iter().zip(fitted.weights) {
        out::line(format!("        {weight:.4}, // {name}"))?;
    }
    out::line(format!("    ],\n\n{FOLDS} folds of whole conversations:"))?;
    report(&samples, &cross_validate(&samples, FOLDS))
}

fn read(classifier: &Classifier, files: &[PathBuf]) -> anyhow::Result<Vec<Sample>> {
    let mut dialogues = Vec::new();
    for file in files {
        let name = file.display().to_string();
        let text = std::fs::read_to_string(file).with_context(|| format!("{name} cannot be read"))?;
        dialogues.extend(Dataset::parse(&name, Meaning::Session, Split::Dev, &text)?.dialogues);
    }
    Ok(samples(classifier, &dialogues))
}

fn report(samples: &[Sample], said: &[f64]) -> anyhow::Result<()> {
    let alone: Vec<f64> =
        samples.iter().map(|sample| f64::from(sample.classifier.map_or(0.0, Probability::get))).collect();
    let mut languages: Vec<&str> = samples.iter().map(|sample| sample.language.as_str()).collect();
    languages.sort_unstable();
    languages.dedup();
    for (who, said) in [("arbiter", said), ("classifier alone", &alone)] {
        for language in std::iter::once(None).chain(languages.iter().map(Some)) {
            let pairs: Vec<(f64, bool)> = samples
                .iter()
                .zip(said)
                .filter(|(sample, _)| language.is_none_or(|language| sample.language == *language))
                .map(|(sample, said)| (*said, sample.label))
                .collect();
            if who == "arbiter" && language.is_none() {
                at_thresholds(&pairs)?;
                out::line(heading())?;
            }
            out::line(row(&format!("{who}, {}", language.unwrap_or(&"all")), &pairs))?;
        }
    }
    Ok(())
}

fn heading() -> String {
    let alarms: String = ALARMS.iter().map(|alarms| format!(" {:5.1}%", alarms * 100.0)).collect();
    format!("{:24}{alarms}   Brier    ECE  messages  boundaries", "recall at false alarms of")
}

/// What comes of acting from a probability on: the figures that carry over to other conversations.
fn at_thresholds(pairs: &[(f64, bool)]) -> anyhow::Result<()> {
    let boundaries = pairs.iter().filter(|(_, label)| *label).count();
    for threshold in THRESHOLDS {
        let said = |wanted: bool| {
            pairs.iter().filter(|(said, label)| *said >= threshold && *label == wanted).count()
        };
        let recall = said(true) as f64 / (boundaries as f64).max(1.0);
        let alarms = said(false) as f64 / pairs.len() as f64 * 100.0;
        out::line(format!("from {threshold}: recall {recall:.3}, false alarms {alarms:.2} %"))?;
    }
    Ok(())
}

fn row(name: &str, pairs: &[(f64, bool)]) -> String {
    let boundaries = pairs.iter().filter(|(_, label)| *label).count();
    let recalls: String = ALARMS.iter().map(|alarms| format!(" {:6.3}", recall(pairs, *alarms))).collect();
    let count = pairs.len() as f64;
    let wanted = |label: bool| if label { 1.0 } else { 0.0 };
    let brier: f64 = pairs.iter().map(|(said, label)| (said - wanted(*label)).powi(2)).sum::<f64>() / count;
    let mut bins = [(0.0, 0.0); 10];
    for (said, label) in pairs {
        let bin = &mut bins[((said * 10.0) as usize).min(9)];
        *bin = (bin.0 + said, bin.1 + wanted(*label));
    }
    let ece: f64 = bins.iter().map(|(said, was)| (said - was).abs()).sum::<f64>() / count;
    format!("{name:25}{recalls}  {brier:.4}  {ece:.3}  {count:8}  {boundaries:10}")
}

/// How many boundaries are found with the lowest threshold that gives no more false alarms than allowed.
fn recall(pairs: &[(f64, bool)], alarms: f64) -> f64 {
    let mut sorted = pairs.to_vec();
    // Of equal probabilities the false alarm comes first, so that no figure rests on luck.
    sorted.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
    let allowed = (alarms * pairs.len() as f64) as usize;
    let (mut wrong, mut found) = (0, 0);
    for (_, label) in sorted {
        if label {
            found += 1;
        } else if wrong == allowed {
            break;
        } else {
            wrong += 1;
        }
    }
    let boundaries = pairs.iter().filter(|(_, label)| *label).count();
    f64::from(found) / (boundaries as f64).max(1.0)
}
