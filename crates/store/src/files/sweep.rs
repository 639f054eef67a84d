//! Sweeping: deletes the files of dropped segments, now or at a later try.

use super::disk::{Disk, append_durably, replace, sync_parent, unavailable};
use super::name::LogFile;
use super::repair;
use super::scan::list_segments;
use super::scope::Scope;
use super::{Inner, lock, tombstones};
use crate::error::Error;
use crate::store::Purged;
use segue_core::scope::Key;
use segue_core::segment;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The name of the file that tells which scopes have something to be deleted, so that a sweep need not
/// look into all of them.
const FILE_NAME: &str = "garbage.jsonl";

#[derive(Serialize, Deserialize)]
struct Note {
    scope: String,
    segments: Vec<segment::Number>,
}

/// Notes that segments of a scope are about to be dropped. A note too many does no harm: the scope's
/// journal says what is dropped.
pub(super) fn note(
    disk: &dyn Disk,
    sessions: &Path,
    key: &Key,
    segments: &[segment::Number],
) -> Result<(), Error> {
    let path = sessions.join(FILE_NAME);
    let is_new = !path.exists();
    let text = encode(&Note { scope: key.as_str().to_owned(), segments: segments.to_vec() })?;
    // A note that a crash cut off is ended first, so that this one stands by itself.
    append_durably(disk, &path, format!("\n{text}\n").as_bytes())?;
    if is_new { sync_parent(disk, &path) } else { Ok(()) }
}

fn encode(note: &Note) -> Result<String, Error> {
    serde_json::to_string(note).map_err(|error| Error::damaged(FILE_NAME, error))
}

fn read_notes(path: &Path) -> Result<(String, usize), Error> {
    match fs::read(path) {
        Ok(bytes) => Ok((String::from_utf8_lossy(&bytes).into_owned(), bytes.len())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok((String::new(), 0)),
        Err(error) => Err(unavailable(path, &error)),
    }
}

fn keys_of(notes: &str) -> impl Iterator<Item = Key> {
    let notes = notes.lines().filter_map(|line| serde_json::from_str::<Note>(line).ok());
    notes.filter_map(|note| note.scope.parse().ok())
}

/// Deletes what can be deleted in all scopes and tells how many segments that were.
pub(super) fn sweep(inner: &Inner) -> Result<usize, Error> {
    sweep_all(inner).map(|(swept, _)| swept)
}

/// Finishes what was erased or deleted: a scope whose files could not be changed then is read again, which does it.
pub(super) fn purge(inner: &Inner) -> Result<Purged, Error> {
    let (_, left) = sweep_all(inner)?;
    lock(&inner.values).purge(inner.disk.as_ref())?;
    match left.first() {
        None => Ok(Purged::Complete),
        Some(_) => {
            let why = format!("files of {} scopes cannot be changed now", left.len());
            Ok(Purged::Unfinished { why })
        }
    }
}

/// Returns how many segments were deleted, and the notes of what is left.
fn sweep_all(inner: &Inner) -> Result<(usize, BTreeSet<String>), Error> {
    let _alone = lock(&inner.sweeping);
    let path = inner.sessions.join(FILE_NAME);
    let (notes, read) = read_notes(&path)?;
    let mut keys: BTreeSet<Key> = keys_of(&notes).collect();
    keys.extend(inner.scopes.keys());
    let (mut swept, mut left) = (0, BTreeSet::new());
    for key in keys {
        let done = inner.with(&key, |scope| {
            let swept = scope.sweep(inner.disk.as_ref());
            Ok((swept, scope.garbage.iter().copied().collect::<Vec<_>>()))
        });
        match done {
            Ok((count, garbage)) => {
                swept += count;
                if !garbage.is_empty() {
                    left.insert(encode(&Note { scope: key.as_str().to_owned(), segments: garbage })?);
                }
            }
            Err(error) => {
                tracing::warn!(scope = %key, %error, "what was dropped in this scope is not deleted yet");
                left.insert(encode(&Note { scope: key.as_str().to_owned(), segments: Vec::new() })?);
            }
        }
    }
    if read > 0 || !left.is_empty() {
        keep_notes(inner, path, read, left.clone())?;
    }
    lock(&inner.index).fold()?;
    Ok((swept, left))
}

/// Keeps the notes of what could not be deleted, and those that came in the meantime.
fn keep_notes(inner: &Inner, path: PathBuf, read: usize, left: BTreeSet<String>) -> Result<(), Error> {
    let _guard = lock(&inner.notes);
    let bytes = fs::read(&path).unwrap_or_default();
    let mut notes: String = left.into_iter().map(|note| note + "\n").collect();
    notes.push_str(&String::from_utf8_lossy(bytes.get(read..).unwrap_or_default()));
    if notes.is_empty() {
        inner.disk.remove(&path).map_err(|error| unavailable(&path, &error))
    } else if notes.as_bytes() != bytes {
        replace(inner.disk.as_ref(), &path, notes.as_bytes())
    } else {
        Ok(())
    }
}

impl Scope {
    /// Deletes the files of dropped segments and tells how many. What cannot be deleted stays garbage.
    fn sweep(&mut self, disk: &dyn Disk) -> usize {
        if self.garbage.is_empty() {
            return 0;
        }
        let mut swept = BTreeSet::new();
        for segment in self.garbage.clone() {
            match self.delete(disk, segment) {
                Ok(()) => {
                    swept.insert(segment);
                }
                Err(error) => tracing::warn!(%segment, %error, "a dropped segment is not deleted yet"),
            }
        }
        if let Err(error) = disk.sync_dir(&self.folder) {
            // The names may come back after a power failure; then they are garbage again.
            tracing::warn!(%error, folder = %self.folder.display(), "a sweep may not be durable yet");
        }
        self.garbage.retain(|segment| !swept.contains(segment));
        self.slots.retain(|slot| slot.kind.is_structural() || !swept.contains(&slot.segment));
        swept.len()
    }

    fn delete(&mut self, disk: &dyn Disk, segment: segment::Number) -> Result<(), Error> {
        let path = self.folder.join(LogFile::Segment(segment).file_name());
        let there = list_segments(&self.folder)?.contains(&segment);
        if there && self.noted.contains(&segment) {
            // A process that died before it deleted the file may have left the note in the cache of the machine only.
            tombstones::make_durable(disk, &self.folder)?;
        } else if there {
            tombstones::note_dropped(disk, &self.folder, &self.key, segment)?;
            self.noted.insert(segment);
        }
        let moved = repair::moved(&self.folder).into_iter();
        let moved = moved.filter(|file| file.to_string_lossy().starts_with(&*path.to_string_lossy()));
        for path in moved.chain([repair::torn_of(&path), path.clone()]) {
            if let Err(error) = disk.remove(&path)
                && path.exists()
            {
                return Err(unavailable(&path, &error));
            }
        }
        self.lens.remove(&LogFile::Segment(segment));
        self.tips.remove(&LogFile::Segment(segment));
        Ok(())
    }
}
