//! Reading: the only place of the skills that touches files.

use super::{FILE_NAME, Problem, Root, Source};
use crate::persona::{LINKED_OUT, is_linked_out, leaves};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

/// The largest `SKILL.md` that is read, in bytes.
pub const FILE_BYTES_MAX: u64 = 256 * 1024;

/// The most folders that are read under one root.
pub const FOLDERS_MAX: usize = 1000;

/// The folders in which skills are looked for; one that is not given or not there has none.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Roots {
    /// The folder of the project.
    pub workspace: Option<PathBuf>,
    /// The folder of the person.
    pub user: Option<PathBuf>,
    /// The folder that comes with the program.
    pub bundled: Option<PathBuf>,
}

impl Roots {
    /// Returns the folder of a root.
    pub fn folder(&self, root: Root) -> Option<&Path> {
        match root {
            Root::Workspace => self.workspace.as_deref(),
            Root::User => self.user.as_deref(),
            Root::Bundled => self.bundled.as_deref(),
        }
    }
}

/// A folder under a root, and the text in its `SKILL.md` or what kept it from being read.
pub(super) struct Found {
    /// The `SKILL.md`.
    pub(super) source: Source,
    /// The folder's name; none if the root itself is meant.
    pub(super) folder: Option<String>,
    pub(super) text: Result<String, Problem>,
}

/// Reads all folders of a root, in the order of their names.
pub(super) fn root(root: Root, folder: &Path) -> Vec<Found> {
    let broken = |problem| {
        let source = Source { root, path: ".".to_owned() };
        vec![Found { source, folder: None, text: Err(problem) }]
    };
    if root == Root::Workspace && is_linked_out(folder) {
        return broken(Problem::Unreadable { why: LINKED_OUT.to_owned() });
    }
    let mut names = match names(folder) {
        Ok(names) => names,
        Err(error) if error.kind() == ErrorKind::NotFound && !folder.is_symlink() => return Vec::new(),
        Err(error) => return broken(problem(folder, &error)),
    };
    names.sort();
    let too_many = names.len() > FOLDERS_MAX;
    names.truncate(FOLDERS_MAX + usize::from(too_many));
    let last = if too_many { names.pop() } else { None };
    let mut found: Vec<Found> = names.iter().filter_map(|name| skill(root, folder, name)).collect();
    found.extend(last.map(|name| Found {
        source: source(root, &name),
        folder: Some(name.to_string_lossy().into_owned()),
        text: Err(Problem::TooMany { folders_max: FOLDERS_MAX }),
    }));
    found
}

/// Files beside the skills (a README) and hidden folders (`.git`) are no skills.
fn names(folder: &Path) -> io::Result<Vec<std::ffi::OsString>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name();
        if !entry.file_type()?.is_file() && !name.to_string_lossy().starts_with('.') {
            names.push(name);
        }
    }
    Ok(names)
}

fn source(root: Root, name: &std::ffi::OsStr) -> Source {
    Source { root, path: format!("{}/{FILE_NAME}", name.to_string_lossy()) }
}

fn skill(root: Root, parent: &Path, name: &std::ffi::OsStr) -> Option<Found> {
    let folder = parent.join(name);
    let text = match fs::metadata(&folder) {
        Ok(metadata) if !metadata.is_dir() => return None,
        Ok(_) if leads_back(parent, &folder) => Err(Problem::LinkLoop {}),
        // A person may link skills from anywhere; what came with a project may not.
        Ok(_) if root == Root::Workspace && leaves(parent, &folder.join(FILE_NAME)) => {
            Err(Problem::Unreadable { why: "it is a link that leaves the folder".to_owned() })
        }
        Ok(_) => text(&folder.join(FILE_NAME)),
        Err(error) => Err(problem(&folder, &error)),
    };
    Some(Found { source: source(root, name), folder: Some(name.to_string_lossy().into_owned()), text })
}

/// A link to the root or to a folder above it holds itself, and so on without end.
fn leads_back(parent: &Path, folder: &Path) -> bool {
    if !folder.is_symlink() {
        return false;
    }
    match (fs::canonicalize(parent), fs::canonicalize(folder)) {
        (Ok(parent), Ok(folder)) => parent.starts_with(folder),
        (Err(_), _) | (_, Err(_)) => false,
    }
}

fn text(file: &Path) -> Result<String, Problem> {
    let metadata = fs::metadata(file).map_err(|error| problem(file, &error))?;
    // A pipe would be waited for without end.
    if !metadata.is_file() {
        return Err(Problem::Unreadable { why: "it is not a file".to_owned() });
    }
    let too_large = Problem::TooLarge { bytes_max: FILE_BYTES_MAX };
    if metadata.len() > FILE_BYTES_MAX {
        return Err(too_large);
    }
    let mut bytes = Vec::new();
    let opened = File::open(file).map_err(|error| problem(file, &error))?;
    opened.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|error| problem(file, &error))?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Err(too_large);
    }
    String::from_utf8(bytes).map_err(|_| Problem::Unreadable { why: "it is not UTF-8".to_owned() })
}

/// The kind of an error is said, not the system's own words, which differ from machine to machine.
fn problem(path: &Path, error: &io::Error) -> Problem {
    match error.kind() {
        ErrorKind::NotFound => Problem::MissingFile {},
        ErrorKind::PermissionDenied => Problem::Unreadable { why: ErrorKind::PermissionDenied.to_string() },
        // A link that can neither be followed nor lacks its end turns in a circle.
        _ if path.is_symlink() => Problem::LinkLoop {},
        kind => Problem::Unreadable { why: kind.to_string() },
    }
}
