//! `segue eval`: how right, how honest and how quick the built-in judgement is.

use crate::args::{Common, Eval};
use crate::{Exit, json, out};
use anyhow::{Context as _, bail};
use indicatif::{ProgressBar, ProgressStyle};
use segue_signals::eval::{Dataset, Measured, Report};
use segue_signals::judge::Embedder;
use serde_json::json;
use std::fs;
use std::io::IsTerminal;
use std::path::Path;
use std::time::Instant;

pub fn run(common: &Common, options: &Eval) -> anyhow::Result<Exit> {
    let sets = options.files.iter().map(|file| read(file)).collect::<anyhow::Result<Vec<_>>>()?;
    let begun = Instant::now();
    let embedder = Embedder::default();
    // The encoder is unpacked when it is first asked.
    let _ = embedder.embed("hello");
    let loaded = begun.elapsed();
    let dialogues: usize = sets.iter().map(|set| set.dialogues.len()).sum();
    let bar = if std::io::stderr().is_terminal() && !common.json {
        let style = ProgressStyle::with_template("{bar:40} {pos}/{len} dialogues {elapsed}");
        ProgressBar::new(dialogues as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
    } else {
        ProgressBar::hidden()
    };
    let mut clock = || begun.elapsed();
    let (mut reports, mut all) = (Vec::new(), Measured::default());
    for set in &sets {
        let mut measured = Measured::default();
        for dialogue in &set.dialogues {
            measured.add(&embedder, dialogue, &mut clock);
            bar.inc(1);
        }
        reports.extend(measured.report(&set.name));
        all.join(&measured);
    }
    bar.finish_and_clear();
    let Some(pooled) = all.report("all") else {
        bail!("no turn in these files could be judged: a dialogue needs a user's turn after its first one");
    };
    if common.json {
        json::print(&json!({ "load_ms": loaded.as_secs_f64() * 1e3, "sets": reports, "pooled": [pooled] }))?;
    } else {
        print(&reports, &pooled)?;
        out::line(format!("loaded in {:.1} ms", loaded.as_secs_f64() * 1e3))?;
    }
    Ok(Exit::Done)
}

fn read(file: &Path) -> anyhow::Result<Dataset> {
    let shown = file.display();
    let text = fs::read_to_string(file).with_context(|| format!("{shown} cannot be read: check the path"))?;
    let part = |path: Option<&std::ffi::OsStr>| path.and_then(|name| name.to_str()).map(str::to_owned);
    let name = part(file.file_name()).unwrap_or_default();
    let name = name.split('.').next().unwrap_or("set");
    // Two files of one name in two folders are two sets.
    let name = match part(file.parent().and_then(Path::file_name)) {
        Some(folder) => format!("{folder}/{name}"),
        None => name.to_owned(),
    };
    Dataset::parse(&name, &text).with_context(|| format!("{shown} cannot be used"))
}

fn print(reports: &[Report], pooled: &Report) -> anyhow::Result<()> {
    out::line(format!(
        "{:24} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>6} {:>8} {:>9} {:>9}",
        "set", "turns", "P", "R", "F1", "Pk", "WD", "ECE", "unknown", "p50 µs", "p99 µs",
    ))?;
    for report in reports.iter().chain([pooled]) {
        let micro = |ns: u64| ns as f64 / 1e3;
        out::line(format!(
            "{:24} {:6} {:6.3} {:6.3} {:6.3} {:6.3} {:6.3} {:6.3} {:7.1}% {:9.1} {:9.1}",
            report.set,
            report.decisions,
            report.precision,
            report.recall,
            report.f1,
            report.pk,
            report.window_diff,
            report.calibration_error,
            report.unknown_rate * 100.0,
            micro(report.times.p50_ns),
            micro(report.times.p99_ns),
        ))?;
    }
    Ok(())
}
