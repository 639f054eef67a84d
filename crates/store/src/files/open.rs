//! Opening: takes the lock, reads the index and the names of the folders, and mends the index where the
//! two do not fit. The scopes themselves are read when they are used.

use super::commit_log::CommitLog;
use super::disk::{Disk, Keyed, sync_parent, unavailable};
use super::index::{Found, Index};
use super::keys;
use super::name::{self, LogFile};
use super::quarantine;
use super::scan::read_key;
use super::scope_cache::ScopeCache;
use super::value_log::ValueLog;
use super::{Inner, lock};
use crate::encryption::MasterKeys;
use crate::error::Error;
use crate::private;
use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, SystemTime};

pub(super) fn open(disk: Arc<dyn Disk>, dir: &Path, masters: Option<&MasterKeys>) -> Result<Inner, Error> {
    let sessions = dir.join("sessions");
    make_folders(disk.as_ref(), &sessions)?;
    let held = hold(&sessions)?;
    let vault = keys::open(disk.as_ref(), &sessions, masters)?;
    let disk: Arc<dyn Disk> = if vault.is_on() { Arc::new(Keyed { disk, vault }) } else { disk };
    let (index, found) = Index::open(Arc::clone(&disk), &sessions)?;
    let values = ValueLog::open(disk.as_ref(), &sessions)?;
    let commits = CommitLog::open(&sessions);
    let inner = Inner {
        disk,
        sessions,
        sweeping: Mutex::default(),
        scopes: ScopeCache::default(),
        index: Mutex::new(index),
        rows: Mutex::default(),
        notes: Mutex::default(),
        repairs: Mutex::default(),
        news: commits.feed.news(),
        commits: Mutex::new(commits),
        leases: Mutex::default(),
        values: Mutex::new(values),
        is_written: AtomicBool::new(false),
        _lock: held,
    };
    inner.mend_index(found)?;
    Ok(inner)
}

fn make_folders(disk: &dyn Disk, path: &Path) -> Result<(), Error> {
    if path.as_os_str().is_empty() || path.is_dir() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        make_folders(disk, parent)?;
    }
    match disk.create_dir(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists || !path.is_dir() => {
            return Err(unavailable(path, &error));
        }
        _ => {}
    }
    sync_parent(disk, path)
}

/// How often the lock is asked for. Where another thread of this program starts a program, that one has the lock for a moment,
/// too, until it has closed what it was not given.
const TRIES: u32 = 20;

/// Takes the lock of the store; it is given back when the file is closed, also by a crash.
#[allow(clippy::disallowed_methods, reason = "nobody tells when a lock is free")]
fn hold(sessions: &Path) -> Result<File, Error> {
    let path = sessions.join("store.lock");
    let file = private::options().create(true).truncate(false).write(true).open(&path);
    let file = file.map_err(|error| unavailable(&path, &error))?;
    let mut tried = file.try_lock();
    for _ in 1..TRIES {
        if !matches!(tried, Err(TryLockError::WouldBlock)) {
            break;
        }
        thread::sleep(Duration::from_millis(10));
        tried = file.try_lock();
    }
    match tried {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(Error::unavailable(
            sessions.display().to_string(),
            "another process has this files store open: stop it, or use it through that process",
        )),
        Err(TryLockError::Error(error)) => Err(unavailable(&path, &error)),
    }
}

impl Inner {
    /// Lists the names of the scopes' folders.
    pub(super) fn folders(&self) -> Result<BTreeSet<String>, Error> {
        let failed = |error: io::Error| unavailable(&self.sessions, &error);
        let mut folders = BTreeSet::new();
        for entry in fs::read_dir(&self.sessions).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            // No scope's folder has a dot in its name; the files of the store and unfinished folders have.
            let name = entry.file_name().into_string().ok().filter(|name| !name.contains('.'));
            if entry.path().is_dir() {
                folders.extend(name);
            }
        }
        Ok(folders)
    }

    /// Mends the index in memory. The file follows when the store is written to.
    fn mend_index(&self, found: Found) -> Result<(), Error> {
        let written_at = match found {
            Found::Whole(written_at) => written_at,
            Found::Nothing | Found::Foreign | Found::Corrupt => None,
        };
        let folders = self.folders()?;
        let forgotten = lock(&self.index)
            .forget(|key| !key.parse().is_ok_and(|key| folders.contains(&name::folder(&key))));
        // Where a scope was set aside, that is what is told of it.
        let is_aside = |key: &String| {
            key.parse().is_ok_and(|key| !quarantine::list(&self.sessions.join(name::folder(&key))).is_empty())
        };
        for key in forgotten.into_iter().filter(|key| !is_aside(key)) {
            let repair = format!("scope {key} is not listed any more, because its folder is missing");
            tracing::warn!("{repair}");
            lock(&self.repairs).push(repair);
        }
        let listed: BTreeSet<String> = lock(&self.index).trusted().map(|key| name::folder(&key)).collect();
        for folder in folders.iter().filter(|folder| self.may_be_stale(folder, &listed, written_at)) {
            let path = self.sessions.join(folder);
            // One scope that cannot be read must not keep the others from being used.
            if let Err(error) = read_key(&path).and_then(|key| self.with(&key, |_| Ok(()))) {
                tracing::warn!(folder = %path.display(), %error, "a scope cannot be read");
            }
        }
        Ok(())
    }

    /// Tells whether the index may not know the last thing that happened in a scope: the index is always
    /// written after the journal.
    fn may_be_stale(&self, folder: &str, listed: &BTreeSet<String>, written_at: Option<SystemTime>) -> bool {
        if !listed.contains(folder) {
            return true;
        }
        let journal = self.sessions.join(folder).join(LogFile::Journal.file_name());
        let journal_at = fs::metadata(journal).and_then(|meta| meta.modified());
        match (journal_at, written_at) {
            (Ok(journal_at), Some(written_at)) => journal_at >= written_at,
            _ => true,
        }
    }
}
