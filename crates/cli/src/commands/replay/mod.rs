//! `segue replay`: the black box. A recorded conversation runs through the engine at its own time stamps.

mod draw;
mod line;

use crate::Exit;
use crate::args::{Common, Replay};
use crate::{json, paint, setup};
use anyhow::Context as _;
use indicatif::{ProgressBar, ProgressStyle};
use line::Line;
use segue_engine::{Engine, Outcome};
use serde_json::json;
use std::io::{IsTerminal, Read};
use std::path::Path;

/// From how many lines on a progress bar is worth it.
const LINES_BAR_MIN: usize = 2_000;

pub async fn run(common: &Common, replay: &Replay) -> anyhow::Result<Exit> {
    let text = read(&replay.file)?;
    let mut options = Vec::new();
    if let Some(policy) = &replay.policy {
        options.push(("lifecycle.policy", policy.as_str()));
    }
    let config = setup::config(common, &options)?;
    setup::warn(&config);
    // Without a store named for it, a replay leaves nothing behind.
    let store = setup::open(common.store.as_deref().unwrap_or("memory:"))?;
    let engine = Engine::open(store, config).await?;
    let lines: Vec<(usize, &str)> = text.lines().enumerate().map(|(at, line)| (at + 1, line)).collect();
    let bar = bar(common, lines.len());
    let mut drawing = draw::Drawing::default();
    for (number, text) in lines {
        bar.inc(1);
        if text.trim().is_empty() {
            continue;
        }
        let line = Line::parse(text);
        let outcome = match &line {
            Ok(line) => receive(&engine, line).await,
            Err(error) => Err(anyhow::anyhow!("{error:#}")),
        };
        match (outcome, &line) {
            (Ok(outcome), Ok(line)) => {
                if common.json {
                    json::print(&json::outcome(number, &outcome))?;
                } else {
                    bar.suspend(|| drawing.draw(line, &outcome));
                }
            }
            (outcome, _) => {
                let why = outcome.err().map(|error| format!("{error:#}")).unwrap_or_default();
                let sentence = format!("line {number}: {why}");
                bar.suspend(|| eprintln!("{} {sentence}", paint::error("error:")));
                if common.json {
                    json::print(&json!({ "line": number, "action": "refused", "error": why }))?;
                }
                if replay.strict {
                    return Ok(Exit::No);
                }
            }
        }
    }
    bar.finish_and_clear();
    if !common.json {
        drawing.finish();
    }
    Ok(Exit::Done)
}

async fn receive(engine: &Engine, line: &Line) -> anyhow::Result<Outcome> {
    Ok(engine.receive(line.inbound.clone()).await?)
}

/// Reads a file, or standard input for `-`. What is not UTF-8 is shown by replacement characters.
pub fn read(path: &Path) -> anyhow::Result<String> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin().read_to_end(&mut bytes).context("standard input cannot be read")?;
    } else {
        bytes = std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    }
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    })
}

fn bar(common: &Common, lines: usize) -> ProgressBar {
    if lines < LINES_BAR_MIN
        || common.json && std::io::stdout().is_terminal()
        || !std::io::stderr().is_terminal()
    {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} lines, {eta} left");
    ProgressBar::new(lines as u64).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
