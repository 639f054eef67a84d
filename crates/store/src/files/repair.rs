//! Repairs: what is changed in the files of a scope before it is written to again. Who only reads changes nothing.

use super::disk::{Disk, append_durably, replace, sync_parent, truncate_durably, unavailable, with_suffix};
use super::name::LogFile;
use super::quarantine::{self, DAMAGED};
use super::scan::{self, Scan, Scans};
use crate::error::Error;
use segue_core::scope::Key;
use segue_core::segment;
use std::fs;
use std::path::{Path, PathBuf};

/// What is added to the name of a file for what a crash left of an append to it.
const TORN: &str = ".torn";

/// What is added to the name of a file for one that is to take its place.
const STAGED: &str = ".tmp";

/// A change that brings the files to what the scope is used as.
#[derive(Debug)]
pub(super) enum Repair {
    /// Cuts off what a crash left of an append. It was never acknowledged, but its bytes are kept all the same: somebody
    /// may want to know what it was.
    Cut { path: PathBuf, at: u64, bytes: Vec<u8> },
    /// Ends the last line.
    End { path: PathBuf },
    /// Moves what is damaged out of the way, with every byte, so that the scope can go on (L-10).
    Quarantine { path: PathBuf },
    /// Deletes what no entry needs.
    Remove { path: PathBuf },
    /// Writes a newer format into the journal, before lines are written that older ones do not know.
    Upgrade { folder: PathBuf, key: Key, format: i64 },
}

impl Repair {
    /// Makes the change.
    pub(super) fn apply(&self, disk: &dyn Disk) -> Result<(), Error> {
        match self {
            Self::Cut { path, at, bytes } => cut(disk, path, *at, bytes),
            Self::End { path } => append_durably(disk, path, b"\n"),
            Self::Quarantine { path } => {
                let to = quarantine::free_name(path);
                disk.rename(path, &to).map_err(|error| unavailable(&to, &error))?;
                sync_parent(disk, &to)?;
                tracing::warn!(file = %path.display(), to = %to.display(), "what is damaged was moved out of the way");
                Ok(())
            }
            Self::Remove { path } => {
                if let Err(error) = disk.remove(path) {
                    tracing::warn!(file = %path.display(), %error, "a leftover file could not be deleted");
                }
                Ok(())
            }
            Self::Upgrade { folder, key, format } => upgrade(disk, folder, key, *format),
        }
    }
}

fn cut(disk: &dyn Disk, path: &Path, at: u64, bytes: &[u8]) -> Result<(), Error> {
    let torn = torn_of(path);
    append_durably(disk, &torn, &[bytes, b"\n"].concat())?;
    sync_parent(disk, &torn)?;
    truncate_durably(disk, path, at)?;
    tracing::warn!(
        file = %path.display(), to = %torn.display(),
        "moved the rest of an append out of the way that was cut off before it was acknowledged"
    );
    Ok(())
}

fn upgrade(disk: &dyn Disk, folder: &Path, key: &Key, format: i64) -> Result<(), Error> {
    let path = folder.join(LogFile::Journal.file_name());
    let bytes = disk.read(&path).map_err(|error| unavailable(&path, &error))?;
    let header = scan::header(key, format)?;
    let end = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
    replace(disk, &path, &[header.as_bytes(), &bytes[end..]].concat())
}

/// Finds what no entry needs: files of segments that were never opened, and files that were to take the place of others.
pub(super) fn leftovers(folder: &Path, scans: &mut Scans, next: segment::Number) -> Vec<Repair> {
    let is_unopened = |number: &segment::Number, scan: &Scan| *number >= next && scan.bytes.is_empty();
    let staged = named(folder, |name| name.ends_with(STAGED));
    let unopened = scans.segments.iter().filter(|(number, scan)| is_unopened(number, scan));
    let paths: Vec<PathBuf> = unopened.map(|(_, scan)| scan.path.clone()).chain(staged).collect();
    scans.segments.retain(|number, scan| !is_unopened(number, scan));
    paths.into_iter().map(|path| Repair::Remove { path }).collect()
}

/// Deletes what may hold words that are about to be erased and that no entry needs: what crashes left of appends that were
/// never acknowledged, which may have been sent again, and files that were to take the place of others.
pub(super) fn remove_unacknowledged(disk: &dyn Disk, folder: &Path) -> Result<(), Error> {
    let staged = named(folder, |name| name.ends_with(STAGED));
    for path in torn(folder).into_iter().chain(staged) {
        disk.remove(&path).map_err(|error| unavailable(&path, &error))?;
        sync_parent(disk, &path)?;
    }
    Ok(())
}

/// Returns the name of the file that is to keep what a crash left of an append to a file.
pub(super) fn torn_of(path: &Path) -> PathBuf {
    with_suffix(path, TORN)
}

/// Lists the files that were moved out of the way.
pub(super) fn moved(folder: &Path) -> Vec<PathBuf> {
    named(folder, |name| name.contains(DAMAGED))
}

/// Lists what crashes left of appends.
pub(super) fn torn(folder: &Path) -> Vec<PathBuf> {
    named(folder, |name| name.ends_with(TORN))
}

fn named(folder: &Path, is_meant: impl Fn(&str) -> bool) -> Vec<PathBuf> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = files.filter(|file| file.file_name().to_str().is_some_and(&is_meant));
    let mut found: Vec<PathBuf> = files.map(|file| file.path()).collect();
    found.sort();
    found
}
