//! What is in quarantine: what was set aside because it is damaged, or was never acknowledged. It may hold what people said, and
//! nobody can edit it safely, so whoever has a right to be forgotten is forgotten by deleting it.
//!
//! ```text
//! DIR/sessions/SCOPE.damaged-1/           as a whole; `left.json` stays, which says what must never be used again
//! DIR/sessions/SCOPE/                     the same before the scope was written to again
//! DIR/sessions/SCOPE/000001.jsonl         a damaged segment that is sealed, or was not written to since
//! DIR/sessions/SCOPE/*.damaged-1, *.torn
//! ```

use super::disk::{sync_parent, unavailable, with_suffix};
use super::fold;
use super::line::{Bodies, Line};
use super::name::{self, LogFile};
use super::quarantine;
use super::repair::{self, Repair};
use super::scan::{Scans, read_key};
use super::tombstones;
use super::{Inner, lock};
use crate::encryption::Vault;
use crate::error::Error;
use crate::types::{QuarantineCause, Quarantined, QuarantinedFile};
use segue_core::digest::Digest;
use segue_core::entry::Body;
use segue_core::scope::Key;
use segue_core::segment;
use segue_core::session::Number;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Lists the copies of the store, or of one scope.
pub(super) fn list(inner: &Inner, scope: Option<&Key>) -> Result<Quarantined, Error> {
    let failed = |error: io::Error| unavailable(&inner.sessions, &error);
    let only = scope.map(name::folder);
    let mut copies = Quarantined::default();
    for entry in fs::read_dir(&inner.sessions).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = entry.path();
        let Some(name) = entry.file_name().to_str().map(str::to_owned).filter(|_| path.is_dir()) else {
            continue;
        };
        let (folder, is_moved) =
            name.split_once(quarantine::DAMAGED).map_or((name.as_str(), false), |(folder, _)| (folder, true));
        if folder.contains('.') || only.as_ref().is_some_and(|only| only != folder) {
            continue;
        }
        let key = key_of(&path, folder);
        let found = match (&key, is_moved) {
            (Some(key), false) => inside(inner, &path, key),
            _ => as_a_whole(inner, &path, key.clone()),
        };
        match found {
            Ok(found) => copies.found.extend(found),
            // One that cannot be looked into must not keep the others from being found.
            Err(error) => {
                let name = key.map_or_else(|| path.display().to_string(), |key| key.to_string());
                copies.unseen.push(format!("{name}: {error}"));
            }
        }
    }
    copies.found.sort_by(|a, b| a.place.cmp(&b.place));
    copies.unseen.sort();
    Ok(copies)
}

/// Tells whose a folder is. Where its journal names another scope than its name does, nobody can tell.
fn key_of(path: &Path, folder: &str) -> Option<Key> {
    match read_key(path) {
        Ok(key) => Some(key).filter(|key| name::folder(key) == folder),
        Err(_) => name::key(folder),
    }
}

/// A scope that was moved out of the way, or will be.
fn as_a_whole(inner: &Inner, path: &Path, key: Option<Key>) -> Result<Vec<QuarantinedFile>, Error> {
    let files = quarantine::content(path);
    let mut copy = QuarantinedFile::at(path, key);
    let vault = inner.disk.vault();
    for file in &files {
        look_into(&vault, &mut copy, file)?;
    }
    Ok(if files.is_empty() { Vec::new() } else { vec![copy] })
}

/// The files of a scope that is in use.
fn inside(inner: &Inner, path: &Path, key: &Key) -> Result<Vec<QuarantinedFile>, Error> {
    let disk = inner.disk.as_ref();
    let read = inner.with(key, |scope| {
        if scope.is_behind_damage() {
            return Ok(None);
        }
        let mut scans = Scans::read(disk, path)?;
        let tombstones = tombstones::read(disk, path)?;
        let repairs = scans.recover(&tombstones)?;
        let state = fold::fold(key, &scans, &tombstones)?;
        Ok(Some((scans.broken, repairs, state)))
    });
    let Some((broken, repairs, state)) = read? else { return as_a_whole(inner, path, Some(key.clone())) };
    let broken = broken.into_keys().map(|number| path.join(LogFile::Segment(number).file_name()));
    let vault = disk.vault();
    let described = |file: &Path| {
        let mut copy = QuarantinedFile::at(file, Some(key.clone()));
        copy.segment = segment_of(file);
        // Of the log as it is, before the sessions are left out that cannot be read.
        let sees =
            |number: &Number| state.view(*number).iter().any(|span| Some(span.segment) == copy.segment);
        copy.sessions = state.all().map(|(number, _)| number).filter(sees).collect();
        copy
    };
    let damaged = broken.chain(repair::moved(path)).map(|file| {
        let mut copy = described(&file);
        let bytes = fs::read(&file).map_err(|error| unavailable(&file, &error))?;
        copy.digest = Some(Digest::of_body(&bytes));
        if copy.segment.is_some() {
            look_at(&vault, &mut copy, &bytes);
        }
        Ok(copy)
    });
    // What is yet to be cut off is listed as what it will be.
    let mut cuts: BTreeMap<PathBuf, Vec<u8>> = BTreeMap::new();
    for file in repair::torn(path) {
        let bytes = fs::read(&file).map_err(|error| unavailable(&file, &error))?;
        cuts.insert(file, bytes);
    }
    for repair in repairs {
        if let Repair::Cut { path, bytes, .. } = repair {
            cuts.entry(repair::torn_of(&path)).or_default().extend(bytes);
        }
    }
    let torn = cuts.into_iter().map(|(file, bytes)| {
        let mut copy = QuarantinedFile { cause: QuarantineCause::Unacknowledged, ..described(&file) };
        look_at(&vault, &mut copy, &bytes);
        Ok(copy)
    });
    damaged.chain(torn).collect()
}

/// Finds the segment that a file is of, whatever was added to its name.
fn segment_of(file: &Path) -> Option<segment::Number> {
    let (number, _) = file.file_name()?.to_str()?.split_once(".jsonl")?;
    LogFile::segment_named(&format!("{number}.jsonl"))
}

/// Finds out who can still be told to speak in a file. Only segments hold what people said.
fn look_into(vault: &Vault, copy: &mut QuarantinedFile, file: &Path) -> Result<(), Error> {
    if segment_of(file).is_none() {
        return Ok(());
    }
    let bytes = fs::read(file).map_err(|error| unavailable(file, &error))?;
    look_at(vault, copy, &bytes);
    Ok(())
}

fn look_at(vault: &Vault, copy: &mut QuarantinedFile, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let scope = copy.scope.clone();
    let bodies = Bodies { vault, scope: scope.as_ref() };
    for line in text.lines().filter(|line| !line.is_empty()) {
        let Ok(line) = Line::decode(line, bodies) else {
            copy.unreadable += 1;
            continue;
        };
        copy.entries.insert(line.record.seq);
        match line.record.body() {
            Ok(Body::Message(_, message)) => copy.senders.extend(message.sender),
            Ok(_) => {}
            Err(_) => copy.unreadable += 1,
        }
    }
}

/// Deletes a copy for good. What was used in a scope that goes as a whole is never used again.
pub(super) fn discard(inner: &Inner, copy: &QuarantinedFile) -> Result<(), Error> {
    match &copy.scope {
        // A scope that is damaged is moved away first, as it would be by anybody who writes to it.
        Some(key) if copy.place == inner.sessions.join(name::folder(key)) => {
            let before = quarantine::list(&copy.place);
            inner.repair(key)?;
            // Only what was listed goes, and not what was set aside earlier.
            let moved = quarantine::list(&copy.place).into_iter().find(|path| !before.contains(path));
            let Some(place) = moved else {
                return Err(changed(copy));
            };
            discard(inner, &QuarantinedFile { place, ..copy.clone() })
        }
        Some(key) => {
            let is_inside = copy.digest.is_some() || copy.cause == QuarantineCause::Unacknowledged;
            if is_inside {
                // Whoever writes to the scope moves it away, or cuts it off.
                inner.repair(key)?;
            }
            let slot = inner.scopes.slot(key);
            let mut slot = lock(&slot);
            // What is known of the scope tells of the copy: it is read again.
            *slot = None;
            match copy.digest {
                None => remove(inner, Some(key), &copy.place),
                Some(digest) => {
                    let is_it =
                        |path: &PathBuf| fs::read(path).is_ok_and(|bytes| Digest::of_body(&bytes) == digest);
                    match moved(&copy.place).into_iter().chain([copy.place.clone()]).find(is_it) {
                        Some(place) => remove(inner, Some(key), &place),
                        None if copy.place.exists() => Err(changed(copy)),
                        None => Ok(()),
                    }
                }
            }
        }
        None => remove(inner, None, &copy.place),
    }
}

/// Lists where a damaged file of a scope in use may have been moved to. There are gaps in the numbers where others were deleted.
fn moved(path: &Path) -> Vec<PathBuf> {
    let (folder, begin) = (path.parent().unwrap_or(path), with_suffix(path, quarantine::DAMAGED));
    let is_of_it = |file: &PathBuf| file.to_string_lossy().starts_with(&*begin.to_string_lossy());
    repair::moved(folder).into_iter().filter(is_of_it).collect()
}

fn changed(copy: &QuarantinedFile) -> Error {
    let why = "it is not what it was when it was looked at, and was not deleted: try again";
    Error::unavailable(copy.place.display().to_string(), why)
}

fn remove(inner: &Inner, scope: Option<&Key>, path: &Path) -> Result<(), Error> {
    let disk = inner.disk.as_ref();
    let files = match path.is_dir() {
        true => {
            quarantine::keep_numbers(disk, scope, path)?;
            quarantine::content(path)
        }
        false => vec![path.to_owned()],
    };
    for file in files {
        if let Err(error) = disk.remove(&file)
            && file.exists()
        {
            return Err(unavailable(&file, &error));
        }
        sync_parent(disk, &file)?;
    }
    Ok(())
}
