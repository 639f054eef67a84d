//! `segue eval`: how right, how honest and how quick the built-in classifier is.

use crate::args::{Common, Eval};
use crate::{Exit, json, out};
use anyhow::{Context as _, bail};
use indicatif::{ProgressBar, ProgressStyle};
use segue_signals::Classifier;
use segue_signals::eval::{self, Dataset, Meaning, Report, Split};
use serde_json::json;
use std::fs;
use std::io::IsTerminal;
use std::path::Path;
use std::time::Instant;

pub fn run(common: &Common, options: &Eval) -> anyhow::Result<Exit> {
    let sets = options.files.iter().map(|file| read(file, options)).collect::<anyhow::Result<Vec<_>>>()?;
    let begun = Instant::now();
    let classifier = Classifier::builtin()?;
    let loaded = begun.elapsed();
    let dialogues: usize = sets.iter().map(|set| set.dialogues.len()).sum();
    let bar = if std::io::stderr().is_terminal() && !common.json {
        let style = ProgressStyle::with_template("{bar:40} {pos}/{len} dialogues {elapsed}");
        ProgressBar::new(dialogues as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
    } else {
        ProgressBar::hidden()
    };
    let mut clock = || begun.elapsed();
    let mut reports = Vec::new();
    for set in &sets {
        reports.extend(eval::evaluate(&classifier, set, &mut clock, &mut || bar.inc(1)));
    }
    bar.finish_and_clear();
    if reports.is_empty() {
        bail!("no turn in these files could be judged: a dialogue needs a user's turn after its first one");
    }
    let pooled = eval::pool(&reports);
    if common.json {
        json::print(&json!({ "load_ms": loaded.as_secs_f64() * 1e3, "sets": reports, "pooled": pooled }))?;
    } else {
        print(&reports, &pooled)?;
        out::line(format!("loaded in {:.1} ms", loaded.as_secs_f64() * 1e3))?;
    }
    Ok(Exit::Done)
}

/// A set's meaning is its folder's name, unless it is said; labelled conversations are sessions.
fn read(file: &Path, options: &Eval) -> anyhow::Result<Dataset> {
    let shown = file.display();
    let text = fs::read_to_string(file).with_context(|| format!("{shown} cannot be read: check the path"))?;
    let folder = file.parent().and_then(Path::file_name).and_then(|name| name.to_str());
    let meaning = options
        .output
        .map(Into::into)
        .or_else(|| folder.and_then(Meaning::from_folder))
        .unwrap_or(Meaning::Session);
    let name = file.file_name().and_then(|name| name.to_str()).unwrap_or("set");
    let name = name.split('.').next().unwrap_or(name);
    // Two files of one name in two folders are two sets.
    let name = match folder {
        Some(folder) if Meaning::from_folder(folder).is_none() => format!("{folder}/{name}"),
        _ => name.to_owned(),
    };
    Dataset::parse(&name, meaning, Split::Dev, &text).with_context(|| format!("{shown} cannot be used"))
}

fn print(reports: &[Report], pooled: &[Report]) -> anyhow::Result<()> {
    out::line(format!(
        "{:18} {:8} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "set",
        "output",
        "turns",
        "P",
        "R",
        "F1",
        "Pk",
        "WD",
        "ECE",
        "abstain",
        "inside",
        "outside",
        "p50 µs",
        "p99 µs",
    ))?;
    for report in reports.iter().chain(pooled) {
        let micro = |ns: u64| ns as f64 / 1e3;
        out::line(format!(
            "{:18} {:8} {:6} {:6.3} {:6.3} {:6.3} {:6.3} {:6.3} {:6.3} {:7.1}% {:8.3} {:8.3} {:8.1} {:8.1}",
            report.set,
            report.output,
            report.decisions,
            report.precision,
            report.recall,
            report.f1,
            report.pk,
            report.window_diff,
            report.calibration_error,
            report.abstain_rate * 100.0,
            report.inside.precision(),
            report.outside.precision(),
            micro(report.times.p50_ns),
            micro(report.times.p99_ns),
        ))?;
    }
    out::line(
        "inside, outside: precision of boundaries inside and outside of the abstain band (0.3 to 0.7)",
    )?;
    Ok(())
}
