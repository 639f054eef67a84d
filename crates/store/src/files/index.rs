//! The index: `sessions/index.json`, in the shape of 004. Other programs read it; Segue itself can make
//! it anew from the scopes' folders at any time.
//!
//! It is not written as a whole at each change. A change is one line in `index.changes.jsonl`:
//!
//! ```json
//! {"scope":"agent:main:cli:direct:me","active_session_key":"agent:main:cli:direct:me#2","sessions":2,"updated_at":"..."}
//! ```
//!
//! The changes are folded into the index once they take as many bytes as the index itself, when the store is closed, and
//! when it is opened after a crash. So a change costs the same however many scopes and sessions there are.

use super::disk::{Disk, append_durably, replace, sync_parent, unavailable, with_suffix};
use crate::error::Error;
use crate::private;
use segue_core::digest::Digest;
use segue_core::scope::Key;
use segue_core::state::State;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// The name of the file.
pub(super) const FILE_NAME: &str = "index.json";
/// The end of the name of the file that tells what the index was when it was last written.
const DIGEST_SUFFIX: &str = ".digest";
/// The name of the file of changes.
const CHANGES_NAME: &str = "index.changes.jsonl";
/// How many bytes of changes are kept at least before they are folded into the index.
const CHANGES_BYTES_MIN: u64 = 4096;
/// The version of its shape.
const VERSION: i64 = 1;

/// What the index says of a scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    active_session_key: String,
    ordered_sessions: Vec<String>,
    updated_at: String,
}

impl Entry {
    /// Makes the entry of a scope.
    pub(super) fn of(state: &State) -> Option<Self> {
        let active = state.latest()?;
        Some(Self {
            active_session_key: state.key(active).to_string(),
            ordered_sessions: state.list().map(|(number, _)| state.key(number).to_string()).collect(),
            updated_at: state.clock.to_string(),
        })
    }

    fn same_sessions(&self, other: &Self) -> bool {
        self.active_session_key == other.active_session_key && self.ordered_sessions == other.ordered_sessions
    }
}

#[derive(Serialize, Deserialize)]
struct Shape {
    version: i64,
    scopes: BTreeMap<String, Entry>,
}

/// What was found at the index's place.
#[derive(Debug)]
pub(super) enum Found {
    /// An index, as it was last written here, and when that was.
    Whole(Option<SystemTime>),
    /// An index that another program wrote, or that was put back.
    Foreign,
    /// None.
    Nothing,
    /// Something that is no index. It is set aside when the index is written.
    Corrupt,
}

/// What a scope's entry in the file is to become.
#[derive(Debug)]
enum Pending {
    /// The one in memory.
    Known,
    /// The one of this state.
    Of(Arc<State>),
}

/// What stands in the place of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileState {
    /// The index, or nothing.
    Sound,
    /// Something that is no index.
    Corrupt,
}

/// A line of the file of changes.
#[derive(Serialize, Deserialize)]
struct Change<'a> {
    scope: Cow<'a, str>,
    active_session_key: String,
    sessions: usize,
    updated_at: String,
}

/// The index, and the files that it is kept in.
#[derive(Debug)]
pub(super) struct Index {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    changes: PathBuf,
    /// The entries, but for those that are pending.
    scopes: BTreeMap<String, Entry>,
    /// The scopes whose entries in the file are not what they should be.
    pending: BTreeMap<String, Pending>,
    file: FileState,
    /// How long the files are.
    index_bytes: u64,
    changes_bytes: u64,
}

impl Index {
    /// Reads the index; nothing is written. One that cannot be read is as none: it is made anew in memory, and set aside when
    /// it is written.
    pub(super) fn open(disk: Arc<dyn Disk>, sessions: &Path) -> Result<(Self, Found), Error> {
        let mut index = Self {
            disk,
            path: sessions.join(FILE_NAME),
            changes: sessions.join(CHANGES_NAME),
            scopes: BTreeMap::new(),
            pending: BTreeMap::new(),
            file: FileState::Sound,
            index_bytes: 0,
            changes_bytes: 0,
        };
        index.read_changes()?;
        let Some(bytes) = index.read()? else { return Ok((index, Found::Nothing)) };
        match parse(&bytes) {
            Ok(scopes) => {
                index.scopes = scopes;
                index.index_bytes = bytes.len() as u64;
                let written_at = fs::metadata(&index.path).and_then(|meta| meta.modified()).ok();
                let noted = fs::read_to_string(with_suffix(&index.path, DIGEST_SUFFIX)).unwrap_or_default();
                let is_own = noted == Digest::of_body(&bytes).to_string();
                Ok((index, if is_own { Found::Whole(written_at) } else { Found::Foreign }))
            }
            Err(Unreadable::Newer(found)) => Err(Error::NewerFormat { found, known: VERSION }),
            Err(Unreadable::Corrupt) => {
                index.file = FileState::Corrupt;
                Ok((index, Found::Corrupt))
            }
        }
    }

    /// Reads which scopes have changed since the index was written. Their entries are made anew from their folders; a line
    /// that cannot be read is passed over, because a journal that is newer than the index tells the same.
    fn read_changes(&mut self) -> Result<(), Error> {
        let bytes = match fs::read(&self.changes) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(unavailable(&self.changes, &error)),
        };
        self.changes_bytes = bytes.len() as u64;
        let lines = bytes.split(|byte| *byte == b'\n');
        let changes = lines.filter_map(|line| serde_json::from_slice::<Change<'_>>(line).ok());
        self.pending.extend(changes.map(|change| (change.scope.into_owned(), Pending::Known)));
        Ok(())
    }

    fn read(&self) -> Result<Option<Vec<u8>>, Error> {
        match fs::read(&self.path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unavailable(&self.path, &error)),
        }
    }

    fn set_aside(&mut self) -> Result<(), Error> {
        let aside = (1..).map(|n: u32| with_suffix(&self.path, &format!(".corrupt-{n}")));
        let Some(aside) = aside.into_iter().find(|path| !path.exists()) else {
            return Err(Error::unavailable(self.path.display().to_string(), "it cannot be set aside"));
        };
        self.disk.rename(&self.path, &aside).map_err(|error| unavailable(&aside, &error))?;
        // Nothing is left to be set aside, also if the new name is not durable yet.
        self.file = FileState::Sound;
        tracing::warn!(aside = %aside.display(), "the index was corrupt and is made anew");
        sync_parent(self.disk.as_ref(), &aside)
    }

    /// Lists the scopes.
    pub(super) fn keys(&self) -> impl Iterator<Item = Key> {
        let all: BTreeSet<&String> = self.scopes.keys().chain(self.pending.keys()).collect();
        all.into_iter().filter_map(|key| key.parse().ok())
    }

    /// Lists the scopes whose entries no change is known of.
    pub(super) fn trusted(&self) -> impl Iterator<Item = Key> {
        let trusted = self.scopes.keys().filter(|key| !self.pending.contains_key(*key));
        trusted.filter_map(|key| key.parse().ok())
    }

    /// Tells whether a scope is listed.
    pub(super) fn has(&self, key: &Key) -> bool {
        self.scopes.contains_key(key.as_str()) || self.pending.contains_key(key.as_str())
    }

    /// Notes what a scope was read as. Only a change of its sessions is a change.
    pub(super) fn compare(&mut self, state: &State) {
        let (key, Some(entry)) = (state.scope.as_str(), Entry::of(state)) else { return };
        let same = self.scopes.get(key).is_some_and(|noted| noted.same_sessions(&entry));
        if !same || self.pending.contains_key(key) {
            self.pending.insert(key.to_owned(), Pending::Known);
            self.scopes.insert(key.to_owned(), entry);
        }
    }

    /// Notes that the sessions of a scope have changed, and writes that down.
    pub(super) fn change(&mut self, state: &Arc<State>) -> Result<(), Error> {
        let Some(active) = state.latest() else { return Ok(()) };
        self.pending.insert(state.scope.as_str().to_owned(), Pending::Of(Arc::clone(state)));
        let change = Change {
            scope: state.scope.as_str().into(),
            active_session_key: state.key(active).to_string(),
            sessions: state.sessions.len(),
            updated_at: state.clock.to_string(),
        };
        let text = serde_json::to_string(&change).map_err(|error| Error::damaged(CHANGES_NAME, error))?;
        // What a crash cut off is ended first, so that this line stands by itself.
        let line = if self.changes_bytes == 0 { text + "\n" } else { format!("\n{text}\n") };
        append_durably(self.disk.as_ref(), &self.changes, line.as_bytes())?;
        self.changes_bytes += line.len() as u64;
        let is_long = self.changes_bytes > self.index_bytes.max(CHANGES_BYTES_MIN);
        let is_missing = self.index_bytes == 0;
        if is_long || is_missing { self.fold() } else { Ok(()) }
    }

    /// Forgets the scopes that something is true for, and tells which.
    pub(super) fn forget(&mut self, gone: impl Fn(&str) -> bool) -> Vec<String> {
        let forgotten: Vec<String> = self.scopes.keys().filter(|key| gone(key)).cloned().collect();
        self.pending.retain(|key, _| !gone(key));
        for key in &forgotten {
            self.scopes.remove(key);
            self.pending.insert(key.clone(), Pending::Known);
        }
        forgotten
    }

    /// Writes the index as a whole if the file does not say the same already.
    pub(super) fn fold(&mut self) -> Result<(), Error> {
        if self.pending.is_empty() && self.index_bytes > 0 && self.changes_bytes == 0 {
            return Ok(());
        }
        for (key, pending) in &mut self.pending {
            if let Pending::Of(state) = std::mem::replace(pending, Pending::Known)
                && let Some(entry) = Entry::of(&state)
            {
                self.scopes.insert(key.clone(), entry);
            }
        }
        if self.file == FileState::Corrupt {
            self.set_aside()?;
        }
        let shape = Shape { version: VERSION, scopes: std::mem::take(&mut self.scopes) };
        let text = serde_json::to_string_pretty(&shape);
        self.scopes = shape.scopes;
        let text = text.map_err(|error| Error::damaged(FILE_NAME, error))? + "\n";
        replace(self.disk.as_ref(), &self.path, text.as_bytes())?;
        self.index_bytes = text.len() as u64;
        self.pending.clear();
        // A hint only, and never synced: without it all scopes are looked at when the store is opened.
        let digest = Digest::of_body(text.as_bytes()).to_string();
        if let Err(error) = private::write(&with_suffix(&self.path, DIGEST_SUFFIX), digest) {
            tracing::debug!(%error, "the digest of the index could not be noted");
        }
        if self.changes_bytes > 0 {
            // Changes that the index knows already do no harm.
            self.disk.remove(&self.changes).map_err(|error| unavailable(&self.changes, &error))?;
            self.changes_bytes = 0;
        }
        Ok(())
    }

    /// Says in what the file differs from the index, as it does when another program wrote it.
    pub(super) fn audit(&self) -> Result<Vec<String>, Error> {
        let name = self.path.display();
        let found = match self.read()?.map(|bytes| parse(&bytes)) {
            Some(Ok(found)) => found,
            Some(Err(_)) => {
                return Ok(vec![format!(
                    "{name} cannot be read; it is made anew when the store is written to"
                )]);
            }
            None => BTreeMap::new(),
        };
        let keys = found.keys().chain(self.scopes.keys()).collect::<BTreeSet<_>>();
        let settled = keys.into_iter().filter(|key| !self.pending.contains_key(*key));
        let differ = settled.filter(|key| found.get(*key) != self.scopes.get(*key));
        Ok(differ.map(|key| format!("{name} is not what the log says of scope {key}")).collect())
    }
}

enum Unreadable {
    Newer(i64),
    Corrupt,
}

fn parse(bytes: &[u8]) -> Result<BTreeMap<String, Entry>, Unreadable> {
    #[derive(Deserialize)]
    struct Version {
        version: i64,
    }
    match serde_json::from_slice::<Version>(bytes) {
        Ok(Version { version }) if version > VERSION => return Err(Unreadable::Newer(version)),
        Ok(Version { version: VERSION }) => {}
        _ => return Err(Unreadable::Corrupt),
    }
    let shape: Shape = serde_json::from_slice(bytes).map_err(|_| Unreadable::Corrupt)?;
    Ok(shape.scopes)
}
