//! Quarantine (L-10): a scope whose journal is damaged is moved out of the way, with every byte, before it is written to again,
//! and goes on.
//!
//! ```text
//! DIR/sessions/SCOPE.damaged-1/           what the scope was when it could not be read any more
//! ```
//!
//! What can still be read in there is used for one thing only: no number of a session or an entry is used again, and a
//! message that was accepted is not accepted a second time.

use super::disk::{Disk, replace, unavailable, with_suffix};
use super::line::{Bodies, Line};
use super::name::LogFile;
use super::tombstones;
use crate::error::Error;
use segue_core::entry::{Body, Seq};
use segue_core::message::MessageId;
use segue_core::scope::Key;
use segue_core::session::Number;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// What is added to the name of what was set aside, before a number.
pub(super) const DAMAGED: &str = ".damaged-";

/// The file that stays of a scope that was set aside and then erased.
const LEFT: &str = "left.json";

/// How far behind the last entry that can still be read a scope goes on. Entries may be lost behind it, and who has decided
/// on the last one of those must not be taken for someone who knows the scope as it is now.
const HEAD_GAP: u64 = 1_000_000;

/// What is known of what was set aside.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Left {
    /// The highest number that a session can have had.
    pub session: u32,
    /// The last entry.
    pub head: Seq,
    /// The messages that were accepted.
    pub ids: Vec<(MessageId, Seq)>,
    unreadable: u32,
}

impl Left {
    /// Returns the number of the next session: no line that cannot be read has opened more than one.
    pub(super) fn next_session(&self) -> Number {
        Number(self.session.saturating_add(self.unreadable)).next()
    }

    /// Returns the entry behind which the scope goes on.
    pub(super) fn next_head(&self) -> Seq {
        Seq(self.head.0.saturating_add(HEAD_GAP))
    }

    fn take(&mut self, text: &str, bodies: Bodies<'_>) {
        let Ok(line) = Line::decode(text, bodies) else {
            self.unreadable = self.unreadable.saturating_add(1);
            return;
        };
        self.head = self.head.max(line.batch.last).max(line.record.seq);
        self.ids.extend(line.message);
        let session = match line.record.body() {
            Ok(Body::Opened(opened)) => opened.session,
            Ok(Body::Forked(branch) | Body::Split(branch)) => branch.session,
            _ => return,
        };
        self.session = self.session.max(session.0);
    }
}

/// Lists what was set aside of a scope.
pub(super) fn list(folder: &Path) -> Vec<PathBuf> {
    names(folder).take_while(|path| path.exists()).collect()
}

/// Returns the name that a file or a folder gets when it is set aside.
pub(super) fn free_name(path: &Path) -> PathBuf {
    names(path).find(|path| !path.exists()).unwrap_or_else(|| with_suffix(path, DAMAGED))
}

fn names(path: &Path) -> impl Iterator<Item = PathBuf> {
    (1..=u32::MAX).map(|n| with_suffix(path, &format!("{DAMAGED}{n}")))
}

/// Reads what is left in what was set aside.
///
/// What cannot be read here stops its scope, and does not count as nothing: numbers would be used again. It is not called
/// damage, because the scope itself is well and must not be moved away for it.
pub(super) fn read(disk: &dyn Disk, scope: Option<&Key>, folders: &[PathBuf]) -> Result<Left, Error> {
    let vault = disk.vault();
    let bodies = Bodies { vault: &vault, scope };
    let mut left = Left { session: 0, head: Seq::ZERO, ids: Vec::new(), unreadable: 0 };
    for folder in folders {
        if let Some(kept) = read_kept(&folder.join(LEFT))? {
            left.session = left.session.max(kept.session.saturating_add(kept.unreadable));
            left.head = left.head.max(kept.head);
            left.ids.extend(kept.ids);
        }
        let is_log = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "jsonl");
        for path in content(folder).into_iter().filter(is_log) {
            // The journal may be gone as a whole. No session opens without a segment of its own.
            let name = path.file_name().and_then(|name| name.to_str());
            let segment = name.and_then(LogFile::segment_named).map_or(0, |number| number.0);
            left.session = left.session.max(segment);
            let header = usize::from(path.ends_with(LogFile::Journal.file_name()));
            let bytes = disk.read(&path).map_err(|error| unavailable(&path, &error))?;
            let text = String::from_utf8_lossy(&bytes);
            if path.ends_with(tombstones::FILE_NAME) {
                // Messages that were deleted were accepted, too.
                left.ids.extend(tombstones::readable_ids(&text));
            } else {
                text.lines().skip(header).for_each(|line| left.take(line, bodies));
            }
        }
    }
    Ok(left)
}

/// Reads what is left in damaged files of a scope that is in use.
pub(super) fn read_segments(disk: &dyn Disk, scope: &Key, files: &[PathBuf]) -> Result<Left, Error> {
    let vault = disk.vault();
    let bodies = Bodies::of(&vault, scope);
    let mut left = Left { session: 0, head: Seq::ZERO, ids: Vec::new(), unreadable: 0 };
    for path in files {
        let bytes = disk.read(path).map_err(|error| unavailable(path, &error))?;
        String::from_utf8_lossy(&bytes).lines().for_each(|line| left.take(line, bodies));
    }
    // Each line that cannot be read was an entry, and its number is not used again either.
    left.head = Seq(left.head.0.saturating_add(left.unreadable.into()));
    Ok(left)
}

fn read_kept(path: &Path) -> Result<Option<Left>, Error> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unavailable(path, &error)),
    };
    let why = |error| {
        format!("it says which numbers were used, and cannot be read ({error}): put a backup of it back")
    };
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|error| Error::unavailable(path.display().to_string(), why(error)))
}

/// Lists the files of something that was set aside; none once it was erased.
pub(super) fn content(folder: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = files.filter(|file| file.file_name().to_str() != Some(LEFT));
    let mut files: Vec<PathBuf> = files.map(|file| file.path()).filter(|path| !path.is_dir()).collect();
    files.sort();
    files
}

/// Writes down what must be known of something that was set aside once its files are deleted.
pub(super) fn keep_numbers(disk: &dyn Disk, scope: Option<&Key>, folder: &Path) -> Result<(), Error> {
    if content(folder).is_empty() {
        return Ok(());
    }
    let path = folder.join(LEFT);
    let left = read(disk, scope, &[folder.to_owned()])?;
    let text = serde_json::to_string(&left).map_err(|error| Error::damaged(LEFT, error))?;
    replace(disk, &path, text.as_bytes())
}

/// Tells of what was set aside and not talked to since: nobody who looks at scopes would see it.
pub(super) fn forsaken(sessions: &Path) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    for entry in fs::read_dir(sessions).map_err(|error| unavailable(sessions, &error))?.flatten() {
        let name = entry.file_name();
        let Some((scope, _)) = name.to_str().and_then(|name| name.split_once(DAMAGED)) else { continue };
        let is_forsaken = entry.path().is_dir() && !sessions.join(scope).exists();
        if is_forsaken && !content(&entry.path()).is_empty() {
            found.push(format!("{} holds a scope that could not be read", entry.path().display()));
        }
    }
    found.sort();
    Ok(found)
}
