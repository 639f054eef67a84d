//! The files of an import: one that was named, or all transcripts below a folder, in the order in which they were had.

use super::database::{self, Rows};
use super::source;
use crate::out;
use anyhow::Context as _;
use segue_core::Timestamp;
use segue_engine::port::{self, Beside, Format, InMemory, Line, Source};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// How much of a file is read to tell what it is.
const HEAD_BYTES_MAX: u64 = 256 << 10;

/// How deep folders are looked into. Claude Code and Codex have four levels at most.
const DEPTH_MAX: usize = 8;

/// Where the lines of a transcript are.
pub enum Origin {
    /// In the file.
    File,
    /// In the rows of one session of a database.
    Session(String),
    /// Here: they came by standard input.
    Kept(Vec<Line>),
}

/// A transcript that was found: a file, or a session of a database.
pub struct Found {
    pub path: PathBuf,
    pub format: Format,
    pub bytes: u64,
    pub beside: Beside,
    pub origin: Origin,
    began: Option<Timestamp>,
    /// How many bytes of it are in memory at once.
    bytes_max: u64,
}

impl Found {
    /// Opens it for reading.
    pub fn open(&self) -> anyhow::Result<Box<dyn Source + Send>> {
        Ok(match &self.origin {
            Origin::File => source::open(&self.path, self.bytes_max)?,
            Origin::Session(session) => Box::new(Rows::new(&self.path, self.format, session)),
            Origin::Kept(lines) => Box::new(InMemory::from(lines.clone())),
        })
    }

    fn session(&self) -> Option<&str> {
        match &self.origin {
            Origin::Session(session) => Some(session),
            Origin::File | Origin::Kept(_) => None,
        }
    }

    /// What it is called in reports.
    pub fn shown(&self, folder: &Path) -> String {
        let path = self.path.strip_prefix(folder).ok().filter(|path| !path.as_os_str().is_empty());
        let path = path.or(self.path.file_name().map(Path::new)).unwrap_or(&self.path).display();
        match self.session() {
            Some(session) => format!("{path}, session {session}"),
            None => path.to_string(),
        }
    }
}

/// What there is besides transcripts.
#[derive(Debug, Clone, Copy, Default)]
pub struct Others {
    pub files: usize,
    /// Files with nothing in them.
    pub empty: usize,
}

/// Finds the transcripts below a folder. Links are not followed; what is no transcript is counted.
pub fn below(folder: &Path, format: Option<Format>, bytes_max: u64) -> anyhow::Result<(Vec<Found>, Others)> {
    let (mut found, mut others) = (Vec::new(), Others::default());
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
                let before = found.len();
                found.extend(look_at(&path, format, bytes_max)?);
                if found.len() == before {
                    let is_empty = entry.metadata().is_ok_and(|about| about.len() == 0);
                    *(if is_empty { &mut others.empty } else { &mut others.files }) += 1;
                }
            }
        }
    }
    found.sort_by(|a, b| (a.began, &a.path, a.session()).cmp(&(b.began, &b.path, b.session())));
    Ok((found, others))
}

/// Lists the sessions of a database; nothing if it is none that is known.
pub fn of_database(path: &Path, format: Option<Format>) -> anyhow::Result<Option<Vec<Found>>> {
    let detected = database::format(path)?.filter(|detected| format.is_none_or(|format| format == *detected));
    let Some(format) = detected else { return Ok(None) };
    let found = |session: database::Session| Found {
        path: path.to_owned(),
        format,
        bytes: session.bytes,
        beside: session.beside,
        origin: Origin::Session(session.id),
        began: session.began,
        bytes_max: u64::MAX,
    };
    Ok(Some(database::sessions(path, format)?.into_iter().map(found).collect()))
}

/// Tells by its name whether a file may be a transcript. OpenClaw keeps what was reset under `ID.jsonl.reset.TIME`.
fn may_be_one(name: &str) -> bool {
    let ends = |end: &str| name.ends_with(end);
    let is_index = ends(".meta.json") || name == "sessions.json" || name == "index.json";
    let is_kept = name.contains(".jsonl.reset.") || name.contains(".jsonl.deleted.");
    !is_index && (ends(".jsonl") || ends(".json") || ends(".segue") || is_kept)
}

fn look_at(path: &Path, format: Option<Format>, bytes_max: u64) -> anyhow::Result<Vec<Found>> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let may_be_database = [".sqlite", ".db", ".sqlite3"].iter().any(|end| name.ends_with(end));
    if may_be_database && database::is_one(path) {
        // A database that cannot be read is no reason to leave the others alone.
        return Ok(of_database(path, format).ok().flatten().unwrap_or_default());
    }
    if !may_be_one(&name) {
        return Ok(Vec::new());
    }
    let bytes = fs::metadata(path).map_or(0, |about| about.len());
    // One object over many lines has to be read as a whole.
    let is_whole = name.ends_with(".json");
    if is_whole && bytes > bytes_max {
        let shown = path.display();
        out::warning(format!(
            "{shown} has {bytes} bytes and is not looked at: limits.import_bytes_max is {bytes_max}"
        ));
        return Ok(Vec::new());
    }
    let head_bytes = if is_whole { bytes_max } else { HEAD_BYTES_MAX };
    let (lines, beside) = (source::read(path, head_bytes, bytes_max)?, beside(path));
    let Some(detected) = port::detect(&lines, &beside) else { return Ok(Vec::new()) };
    if format.is_some_and(|format| format != detected) {
        return Ok(Vec::new());
    }
    let began = port::began(&lines, &beside);
    let (path, format, origin) = (path.to_owned(), detected, Origin::File);
    Ok(vec![Found { path, format, bytes, beside, origin, began, bytes_max }])
}

/// Finds out what a file is that was named: by its head, and where that does not tell, by all of it.
pub fn named(path: &Path, format: Option<Format>, bytes_max: u64) -> anyhow::Result<Option<Found>> {
    let beside = beside(path);
    let found = |format, origin, beside| {
        let bytes = fs::metadata(path).map_or(0, |about| about.len());
        Found { path: path.to_owned(), format, bytes, beside, origin, began: None, bytes_max }
    };
    if path == Path::new("-") {
        let lines = source::read_input(bytes_max)?;
        let format = format.or_else(|| port::detect(&lines, &beside));
        return Ok(format.map(|format| found(format, Origin::Kept(lines), beside)));
    }
    let head = source::read(path, HEAD_BYTES_MAX, bytes_max)?;
    let format = match format.or_else(|| port::detect(&head, &beside)) {
        Some(format) => Some(format),
        None => port::detect(&source::read(path, bytes_max, bytes_max)?, &beside),
    };
    Ok(format.map(|format| found(format, Origin::File, beside)))
}

/// Reads what stands beside a file and says more about it.
fn beside(path: &Path) -> Beside {
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
