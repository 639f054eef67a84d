//! `segue-lab train`: fits the built-in classifier's weights to labelled dialogues.

use crate::args::{Common, Train};
use crate::out;
use crate::train;
use anyhow::{Context as _, bail};
use indicatif::{ProgressBar, ProgressStyle};
use segue_signals::boundary::Output;
use segue_signals::eval::{Dataset, Meaning, Split};
use serde_json::json;
use std::fs;
use std::io::IsTerminal;
use std::path::Path;

/// The folders of a data directory, and what a boundary means in each.
const FOLDERS: [&str; 3] = ["session", "task", "topic"];

pub fn run(common: &Common, options: &Train) -> anyhow::Result<()> {
    let sets = read(&options.dir)?;
    for name in &options.leave_out {
        if !sets.iter().any(|set| set.name == *name) && !train::OWN_SETS.contains(&name.as_str()) {
            bail!("there is no set {name:?} to leave out: the sets are {}", names(&sets));
        }
    }
    let bar = if std::io::stderr().is_terminal() && !common.json {
        let style = ProgressStyle::with_template("{msg:8} {bar:40} {pos}/{len} {elapsed}");
        ProgressBar::no_length().with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
    } else {
        ProgressBar::hidden()
    };
    let wanted = train::Options { leave_out: options.leave_out.clone(), effort: train::Effort::Full };
    let model = train::train(&sets, &wanted, &mut |progress| {
        bar.set_length(progress.all as u64);
        bar.set_position(progress.done as u64);
        bar.set_message(progress.output.word());
    })?;
    bar.finish_and_clear();
    let bytes = model.to_bytes();
    let shown = options.out.display();
    fs::write(&options.out, &bytes)
        .with_context(|| format!("{shown} cannot be written: check the path and its rights"))?;
    let (session, task) = (model.threshold(Output::Session), model.threshold(Output::Task));
    if common.json {
        out::json(&json!({
            "out": options.out, "bytes": bytes.len(), "left_out": options.leave_out,
            "sets": sets.iter().map(|set| &set.name).collect::<Vec<_>>(),
            "thresholds": { "session": session, "task": task },
        }))?;
    } else {
        out::line(format!(
            "{shown}: {} bytes, thresholds {session:.2} (session) and {task:.2} (task)",
            bytes.len()
        ))?;
    }
    Ok(())
}

fn names(sets: &[Dataset]) -> String {
    let mut names: Vec<&str> = sets.iter().map(|set| set.name.as_str()).chain(train::OWN_SETS).collect();
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}

/// Reads every `NAME.train.jsonl` and `NAME.dev.jsonl` of the known folders, in the order of their names.
fn read(dir: &Path) -> anyhow::Result<Vec<Dataset>> {
    let mut sets = Vec::new();
    for folder in FOLDERS {
        let Some(meaning) = Meaning::from_folder(folder) else { continue };
        let Ok(entries) = fs::read_dir(dir.join(folder)) else { continue };
        let mut files: Vec<_> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
        files.sort();
        for file in files {
            let name = file.file_name().and_then(|name| name.to_str()).unwrap_or("");
            let (name, split) = match name.strip_suffix(".train.jsonl") {
                Some(name) => (name, Split::Train),
                None => match name.strip_suffix(".dev.jsonl") {
                    Some(name) => (name, Split::Dev),
                    None => continue,
                },
            };
            let shown = file.display();
            let text = fs::read_to_string(&file).with_context(|| format!("{shown} cannot be read"))?;
            sets.push(
                Dataset::parse(name, meaning, split, &text)
                    .with_context(|| format!("{shown} cannot be used"))?,
            );
        }
    }
    if sets.is_empty() {
        bail!(
            "{} has no labelled sets: they are expected as session/NAME.train.jsonl, task/NAME.train.jsonl and the like",
            dir.display()
        );
    }
    Ok(sets)
}
