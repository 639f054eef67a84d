//! The files of an import: one that was named, or all transcripts below a folder, in the order in which they were had.

use crate::input;
use anyhow::Context as _;
use segue_core::Timestamp;
use segue_engine::port::{self, Beside, Format, Line};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The longest line that is read: a whole conversation may be on one.
const LINE_BYTES_MAX: u64 = 1 << 30;

/// How much of a file is read to tell what it is.
const HEAD_BYTES_MAX: u64 = 256 << 10;

/// How deep folders are looked into. Claude Code and Codex have four levels at most.
const DEPTH_MAX: usize = 8;

/// A transcript that was found.
pub struct Found {
    pub path: PathBuf,
    pub format: Format,
    pub bytes: u64,
    began: Option<Timestamp>,
}

/// Finds the transcripts below a folder. Links are not followed; what is no transcript is counted.
pub fn below(folder: &Path, format: Option<Format>) -> anyhow::Result<(Vec<Found>, usize)> {
    let (mut found, mut others) = (Vec::new(), 0);
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let entries =
            fs::read_dir(&folder).with_context(|| format!("{} cannot be read", folder.display()))?;
        for entry in entries {
            let entry = entry.with_context(|| format!("{} cannot be read", folder.display()))?;
            let (path, kind) = (entry.path(), entry.file_type()?);
            if kind.is_dir() && depth < DEPTH_MAX {
                folders.push((path, depth + 1));
            } else if kind.is_file() {
                match look_at(&path, format)? {
                    Some(transcript) => found.push(transcript),
                    None => others += 1,
                }
            }
        }
    }
    found.sort_by(|a, b| (a.began, &a.path).cmp(&(b.began, &b.path)));
    Ok((found, others))
}

/// Tells by its name whether a file may be a transcript. OpenClaw keeps what was reset under `ID.jsonl.reset.TIME`.
fn may_be_one(name: &str) -> bool {
    let ends = |end: &str| name.ends_with(end);
    let is_index = ends(".meta.json") || name == "sessions.json" || name == "index.json";
    !is_index && (ends(".jsonl") || ends(".json") || ends(".segue") || name.contains(".jsonl.reset."))
}

fn look_at(path: &Path, format: Option<Format>) -> anyhow::Result<Option<Found>> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    if !may_be_one(&name) {
        return Ok(None);
    }
    let bytes = fs::metadata(path).map_or(0, |about| about.len());
    // One object over many lines has to be read as a whole.
    let bytes_max = if name.ends_with(".json") { u64::MAX } else { HEAD_BYTES_MAX };
    let (lines, beside) = (read(path, bytes_max)?, beside(path));
    let Some(detected) = port::detect(&lines, &beside) else { return Ok(None) };
    if format.is_some_and(|format| format != detected) {
        return Ok(None);
    }
    let began = port::began(&lines, &beside);
    Ok(Some(Found { path: path.to_owned(), format: detected, bytes, began }))
}

/// Reads the lines of a file, or as many as fit.
pub fn read(path: &Path, bytes_max: u64) -> anyhow::Result<Vec<Line>> {
    let mut lines = input::lines(path, LINE_BYTES_MAX)?;
    let (mut all, mut bytes) = (Vec::new(), 0);
    while bytes < bytes_max
        && let Some(line) = lines.next_line().with_context(|| format!("{} cannot be read", path.display()))?
    {
        bytes += line.bytes;
        if !line.text.as_ref().is_ok_and(|text| text.trim().is_empty()) {
            all.push(Line { number: line.number, text: line.text });
        }
    }
    Ok(all)
}

/// Reads what stands beside a file and says more about it.
pub fn beside(path: &Path) -> Beside {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.split_once(".json").map_or(&*name, |(stem, _)| stem);
    let json = |path: PathBuf| -> Option<Value> { serde_json::from_slice(&fs::read(path).ok()?).ok() };
    let folder = path.parent();
    // OpenClaw: agents/AGENT/sessions/ID.jsonl
    let names: Vec<_> = path.iter().rev().take(4).map(|part| part.to_string_lossy()).collect();
    let agent = match names.as_slice() {
        [_, sessions, agent, agents] if sessions == "sessions" && agents == "agents" => {
            Some(agent.to_string())
        }
        _ => None,
    };
    Beside {
        name: stem.to_owned(),
        agent,
        meta: folder.and_then(|folder| json(folder.join(format!("{stem}.meta.json")))),
        index: folder.and_then(|folder| json(folder.join("sessions.json"))),
    }
}
