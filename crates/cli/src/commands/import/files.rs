//! The files of an import: one that was named, or all transcripts below a folder, in the order in which they were had.

use super::database::{self, Database, Rows};
use super::source::{self, Metered};
use crate::{input, out};
use anyhow::Context as _;
use indicatif::ProgressBar;
use segue_core::Timestamp;
use segue_engine::port::{self, FileContext, Format, InMemory, Line, Source};
use serde_json::Value;
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How much of a file is read to tell what it is.
const HEAD_BYTES_MAX: u64 = 256 << 10;

/// How deep folders are looked into. Claude Code and Codex have four levels at most.
const DEPTH_MAX: usize = 8;

/// How many bytes a `NAME.meta.json` may have.
const META_BYTES_MAX: u64 = 1 << 20;

/// Where the lines of a transcript are.
pub enum Origin {
    /// In the file.
    File,
    /// In the rows of one session of a database.
    Session(Arc<Database>, String),
    /// Here: they came by standard input.
    Kept(Vec<Line>),
}

/// A transcript that was found: a file, or a session of a database.
pub struct Found {
    pub path: PathBuf,
    pub format: Format,
    pub bytes: u64,
    pub origin: Origin,
    began: Option<Timestamp>,
    /// How many bytes of it are in memory at once.
    bytes_max: u64,
    /// What `sessions.json` says about all transcripts of its folder.
    index: Option<Arc<Value>>,
}

impl Found {
    /// Opens it for reading; the bar moves while it is read.
    pub fn open(&self, bar: &ProgressBar) -> anyhow::Result<Box<dyn Source + Send>> {
        let source: Box<dyn Source + Send> = match &self.origin {
            Origin::File => source::open(&self.path, self.bytes_max)?,
            Origin::Session(database, session) => {
                Box::new(Rows::new(Arc::clone(database), session, self.bytes_max))
            }
            Origin::Kept(lines) => Box::new(InMemory::from(lines.clone())),
        };
        Ok(Box::new(Metered::new(source, bar.clone(), self.bytes)))
    }

    /// Reads what stands beside it and says more about it.
    pub fn context(&self) -> anyhow::Result<FileContext> {
        match &self.origin {
            Origin::Session(database, session) => database.context(session),
            Origin::File | Origin::Kept(_) => Ok(context(&self.path, self.index.clone())),
        }
    }

    fn session(&self) -> Option<&str> {
        match &self.origin {
            Origin::Session(_, session) => Some(session),
            Origin::File | Origin::Kept(_) => None,
        }
    }

    /// What it is called in reports.
    pub fn shown(&self, folder: &Path) -> String {
        let path = shown(&self.path, folder);
        match self.session() {
            Some(session) => format!("{path}, session {session}"),
            None => path,
        }
    }
}

/// What a file is called in reports.
pub fn shown(path: &Path, folder: &Path) -> String {
    let below = path.strip_prefix(folder).ok().filter(|path| !path.as_os_str().is_empty());
    below.or(path.file_name().map(Path::new)).unwrap_or(path).display().to_string()
}

/// What there is besides transcripts.
#[derive(Debug, Default)]
pub struct Others {
    pub files: usize,
    /// Files with nothing in them.
    pub empty: usize,
    /// Files that would be transcripts and cannot be read, and why.
    pub unreadable: Vec<(PathBuf, String)>,
    /// Sessions of databases that have nothing in them.
    pub empty_sessions: usize,
    /// Messages in databases whose sessions are not there.
    pub orphans: usize,
}

/// Finds the transcripts below a folder. Links are not followed; what is no transcript is counted.
pub fn below(folder: &Path, format: Option<Format>, bytes_max: u64) -> anyhow::Result<(Vec<Found>, Others)> {
    let mut search = Search { format, bytes_max, indexes: HashMap::new(), others: Others::default() };
    let mut found = Vec::new();
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
                match search.look_at(&path) {
                    Ok(one) if one.is_empty() => {
                        let is_empty = entry.metadata().is_ok_and(|about| about.len() == 0);
                        let others = &mut search.others;
                        *(if is_empty { &mut others.empty } else { &mut others.files }) += 1;
                    }
                    Ok(one) => found.extend(one),
                    Err(error) => search.others.unreadable.push((path, crate::sentence(&error))),
                }
            }
        }
    }
    found.sort_by(|a, b| (a.began, &a.path, a.session()).cmp(&(b.began, &b.path, b.session())));
    search.others.unreadable.sort();
    Ok((found, search.others))
}

/// Lists the sessions of a database; nothing if it is none that is known.
pub fn of_database(
    path: &Path,
    format: Option<Format>,
    bytes_max: u64,
    others: &mut Others,
) -> anyhow::Result<Option<Vec<Found>>> {
    let database = Database::open(path)?;
    let database = database.filter(|found| format.is_none_or(|format| format == found.format));
    let Some(database) = database.map(Arc::new) else { return Ok(None) };
    let contents = database.contents()?;
    others.empty_sessions += contents.empty;
    others.orphans += contents.orphans;
    let found = |session: database::Session| Found {
        path: path.to_owned(),
        format: database.format,
        bytes: session.bytes,
        origin: Origin::Session(Arc::clone(&database), session.id),
        began: session.began,
        bytes_max,
        index: None,
    };
    Ok(Some(contents.sessions.into_iter().map(found).collect()))
}

/// Tells by its name whether a file may be a transcript. OpenClaw keeps what was reset under `ID.jsonl.reset.TIME`.
fn may_be_one(name: &str) -> bool {
    let ends = |end: &str| name.ends_with(end);
    let is_index = ends(".meta.json") || name == "sessions.json" || name == "index.json";
    let is_kept = name.contains(".jsonl.reset.") || name.contains(".jsonl.deleted.");
    !is_index && (ends(".jsonl") || ends(".json") || ends(".segue") || is_kept)
}

/// A search through a folder.
struct Search {
    format: Option<Format>,
    bytes_max: u64,
    /// What `sessions.json` says in each folder that was looked into: read once, for all transcripts there.
    indexes: HashMap<PathBuf, Option<Arc<Value>>>,
    others: Others,
}

impl Search {
    fn look_at(&mut self, path: &Path) -> anyhow::Result<Vec<Found>> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
        let is_database = database::is_one(path);
        if is_database && ends(&[".sqlite", ".db", ".sqlite3"]) {
            let found = of_database(path, self.format, self.bytes_max, &mut self.others)?;
            return Ok(found.unwrap_or_default());
        }
        let bytes = fs::metadata(path).map_or(0, |about| about.len());
        if ends(&[".sqlite", ".sqlite3"]) && !is_database && bytes > 0 {
            anyhow::bail!("it does not begin as a database does: it is damaged, or encrypted");
        }
        if !may_be_one(&name) {
            return Ok(Vec::new());
        }
        // One object over many lines has to be read as a whole.
        let is_whole = name.ends_with(".json");
        if is_whole && bytes > self.bytes_max {
            anyhow::bail!("it has {bytes} bytes, and limits.import_bytes_max is {}", self.bytes_max);
        }
        let head_bytes = if is_whole { self.bytes_max } else { HEAD_BYTES_MAX };
        let index = self.index(path);
        let (lines, context) =
            (source::read(path, head_bytes, self.bytes_max)?, context(path, index.clone()));
        let detected = port::detect(&lines, &context);
        let Some(format) = detected.filter(|found| self.format.is_none_or(|format| format == *found)) else {
            return Ok(Vec::new());
        };
        let began = port::began(&lines, &context);
        let (path, origin) = (path.to_owned(), Origin::File);
        Ok(vec![Found { path, format, bytes, origin, began, bytes_max: self.bytes_max, index }])
    }

    fn index(&mut self, path: &Path) -> Option<Arc<Value>> {
        let folder = path.parent()?;
        if let Some(known) = self.indexes.get(folder) {
            return known.clone();
        }
        let index = index_in(folder, self.bytes_max);
        self.indexes.insert(folder.to_owned(), index.clone());
        index
    }
}

/// Finds out what a file is that was named: by its head, and where that does not tell, by all of it.
pub fn named(path: &Path, format: Option<Format>, bytes_max: u64) -> anyhow::Result<Option<Found>> {
    let index = path.parent().and_then(|folder| index_in(folder, bytes_max));
    let context = context(path, index.clone());
    let found = |format, origin| {
        let bytes = fs::metadata(path).map_or(0, |about| about.len());
        Found { path: path.to_owned(), format, bytes, origin, began: None, bytes_max, index }
    };
    if path == Path::new("-") {
        let lines = source::read_input(bytes_max)?;
        let format = format.or_else(|| port::detect(&lines, &context));
        return Ok(format.map(|format| found(format, Origin::Kept(lines))));
    }
    let head = source::read(path, HEAD_BYTES_MAX, bytes_max)?;
    let format = match format.or_else(|| port::detect(&head, &context)) {
        Some(format) => Some(format),
        None => port::detect(&source::read(path, bytes_max, bytes_max)?, &context),
    };
    Ok(format.map(|format| found(format, Origin::File)))
}

/// Reads what stands beside a file and says more about it.
fn context(path: &Path, index: Option<Arc<Value>>) -> FileContext {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = name.split_once(".json").map_or(&*name, |(stem, _)| stem);
    // OpenClaw: agents/AGENT/sessions/ID.jsonl
    let names: Vec<_> = path.iter().rev().take(4).map(|part| part.to_string_lossy()).collect();
    let agent = match names.as_slice() {
        [_, sessions, agent, agents] if sessions == "sessions" && agents == "agents" => {
            Some(agent.to_string())
        }
        _ => None,
    };
    let meta =
        path.parent().and_then(|folder| json(&folder.join(format!("{stem}.meta.json")), META_BYTES_MAX));
    FileContext { name: stem.to_owned(), agent, meta, index }
}

/// Reads the `sessions.json` of a folder.
fn index_in(folder: &Path, bytes_max: u64) -> Option<Arc<Value>> {
    json(&folder.join("sessions.json"), bytes_max).map(Arc::new)
}

/// Reads a file that need not be there.
fn json(path: &Path, bytes_max: u64) -> Option<Value> {
    match input::bounded(path, bytes_max) {
        Ok(text) => serde_json::from_str(&text).ok(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => {
            out::warning(format!("{} is not looked at: {error}", path.display()));
            None
        }
    }
}
