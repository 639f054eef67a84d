//! Copies: what was set aside because it cannot be read, or was never acknowledged. It may hold what people said, and
//! nobody can edit it safely, so whoever has a right to be forgotten is forgotten by deleting it.
//!
//! ```text
//! DIR/sessions/SCOPE.damaged-1/           as a whole; `left.json` stays, which says what must never be used again
//! DIR/sessions/SCOPE/000001.jsonl         a sealed segment that cannot be read: it stands where it stood
//! DIR/sessions/SCOPE/*.damaged-1, *.torn
//! ```

use super::aside;
use super::disk::{sync_parent, unavailable};
use super::line::Line;
use super::mend;
use super::name::{self, Sheet};
use super::scan::{Scans, read_key};
use super::{Inner, lock};
use crate::error::Error;
use crate::types::SetAside;
use segue_core::entry::Body;
use segue_core::scope::Key;
use std::fs;
use std::path::{Path, PathBuf};

/// Lists all copies of the store.
pub(super) fn list(inner: &Inner) -> Result<Vec<SetAside>, Error> {
    let mut found = Vec::new();
    for entry in
        fs::read_dir(&inner.sessions).map_err(|error| unavailable(&inner.sessions, &error))?.flatten()
    {
        let path = entry.path();
        let Some(folder) = entry.file_name().to_str().map(str::to_owned).filter(|_| path.is_dir()) else {
            continue;
        };
        match folder.split_once(aside::DAMAGED) {
            Some((folder, _)) => found.extend(as_a_whole(&path, folder)),
            None if !folder.contains('.') => found.extend(inside(inner, &path, &folder)?),
            None => {}
        }
    }
    found.sort_by(|a, b| a.place.cmp(&b.place));
    Ok(found)
}

fn key_of(path: &Path, folder: &str) -> Option<Key> {
    read_key(path).ok().filter(|key| name::folder(key) == folder).or_else(|| name::key(folder))
}

/// A scope that was moved out of the way.
fn as_a_whole(path: &Path, folder: &str) -> Option<SetAside> {
    let files = aside::content(path);
    let mut copy = SetAside::at(path, key_of(path, folder));
    files.iter().for_each(|file| look_into(&mut copy, file));
    (!files.is_empty()).then_some(copy)
}

/// The files of a scope that is in use.
fn inside(inner: &Inner, path: &Path, folder: &str) -> Result<Vec<SetAside>, Error> {
    let key = key_of(path, folder);
    let read = match &key {
        Some(key) => inner.with(key, |_| Scans::read(path)),
        None => Scans::read(path),
    };
    let broken = match read {
        Ok(scans) => scans.broken,
        // It will be moved away when it is used next. Who only looks moves nothing.
        Err(Error::Damaged { .. }) => return Ok(as_a_whole(path, folder).into_iter().collect()),
        Err(error) => return Err(error),
    };
    let broken = broken.into_keys().map(|number| path.join(Sheet::Segment(number).file_name()));
    let of_file = |file: PathBuf| {
        let mut copy = SetAside::at(&file, key.clone());
        let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        copy.segment =
            name.split_once(".jsonl").and_then(|(n, _)| Sheet::segment_named(&format!("{n}.jsonl")));
        look_into(&mut copy, &file);
        copy
    };
    Ok(broken.chain(mend::moved(path)).chain(mend::torn(path)).map(of_file).collect())
}

/// Finds out who can still be told to speak in a file.
fn look_into(copy: &mut SetAside, file: &Path) {
    let bytes = fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let header = usize::from(file.ends_with(Sheet::Journal.file_name()));
    for line in text.lines().skip(header).filter(|line| !line.is_empty()) {
        match Line::decode(line).map(|line| line.record.body()) {
            Ok(Ok(Body::Message(_, message))) => copy.senders.extend(message.sender),
            Ok(Ok(_)) => {}
            _ => copy.unreadable += 1,
        }
    }
}

/// Deletes copies for good. What was used in them is never used again.
pub(super) fn discard(inner: &Inner, copies: &[SetAside]) -> Result<(), Error> {
    for copy in copies {
        match &copy.scope {
            // A scope that cannot be read is moved away first, as it would be by anybody who uses it.
            Some(key) if copy.place == inner.sessions.join(name::folder(key)) => {
                inner.with_or_aside(key, |_| Ok(()))?;
                if let Some(aside) = aside::list(&copy.place).pop() {
                    discard(inner, &[SetAside { place: aside, ..copy.clone() }])?;
                }
            }
            Some(key) => {
                let place = inner.shelf.place(key);
                let mut place = lock(&place);
                remove(inner, &copy.place)?;
                // What is known of the scope tells of the copy: it is read again.
                *place = None;
            }
            None => remove(inner, &copy.place)?,
        }
    }
    Ok(())
}

fn remove(inner: &Inner, path: &Path) -> Result<(), Error> {
    let disk = inner.disk.as_ref();
    let files = match path.is_dir() {
        true => {
            aside::keep_numbers(disk, path)?;
            aside::content(path)
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
