//! The index: `sessions/index.json`, in the shape of 004. Other programs read it; Segue itself can make
//! it anew from the scopes' folders at any time.

use super::disk::{Disk, beside, replace, sync_parent, unavailable};
use crate::error::Error;
use segue_core::digest::Digest;
use segue_core::scope::Key;
use segue_core::state::State;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// The name of the file.
pub(super) const FILE_NAME: &str = "index.json";
/// The end of the name of the file that tells what the index was when it was last written.
const DIGEST_SUFFIX: &str = ".digest";
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

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    /// Something that is no index. It was set aside there.
    Corrupt(PathBuf),
}

/// Whether the file says what the index says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    Yes,
    NotYet,
}

/// When the file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pace {
    /// At each change.
    AtOnce,
    /// Later, because many changes come together.
    Later,
}

/// The index, and the file that it is kept in.
#[derive(Debug)]
pub(super) struct Index {
    disk: Arc<dyn Disk>,
    path: PathBuf,
    scopes: BTreeMap<String, Entry>,
    written: Written,
    pace: Pace,
}

impl Index {
    /// Opens the index. One that cannot be read is set aside.
    pub(super) fn open(disk: Arc<dyn Disk>, sessions: &Path) -> Result<(Self, Found), Error> {
        let path = sessions.join(FILE_NAME);
        let mut index =
            Self { disk, path, scopes: BTreeMap::new(), written: Written::NotYet, pace: Pace::Later };
        let Some(bytes) = index.read()? else { return Ok((index, Found::Nothing)) };
        match parse(&bytes) {
            Ok(scopes) => {
                index.scopes = scopes;
                index.written = Written::Yes;
                let written_at = fs::metadata(&index.path).and_then(|meta| meta.modified()).ok();
                let noted = fs::read_to_string(beside(&index.path, DIGEST_SUFFIX)).unwrap_or_default();
                let is_own = noted == Digest::of_body(&bytes).to_string();
                Ok((index, if is_own { Found::Whole(written_at) } else { Found::Foreign }))
            }
            Err(Unreadable::Newer(found)) => Err(Error::NewerFormat { found, known: VERSION }),
            Err(Unreadable::Corrupt) => {
                let aside = index.set_aside()?;
                Ok((index, Found::Corrupt(aside)))
            }
        }
    }

    fn read(&self) -> Result<Option<Vec<u8>>, Error> {
        match fs::read(&self.path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(unavailable(&self.path, &error)),
        }
    }

    fn set_aside(&self) -> Result<PathBuf, Error> {
        let aside = (1..).map(|n: u32| beside(&self.path, &format!(".corrupt-{n}")));
        let Some(aside) = aside.into_iter().find(|path| !path.exists()) else {
            return Err(Error::unavailable(self.path.display().to_string(), "it cannot be set aside"));
        };
        self.disk.rename(&self.path, &aside).map_err(|error| unavailable(&aside, &error))?;
        sync_parent(self.disk.as_ref(), &aside)?;
        Ok(aside)
    }

    /// Lists the scopes.
    pub(super) fn keys(&self) -> impl Iterator<Item = Key> {
        self.scopes.keys().filter_map(|key| key.parse().ok())
    }

    /// Tells whether a scope is listed.
    pub(super) fn has(&self, key: &Key) -> bool {
        self.scopes.contains_key(key.as_str())
    }

    /// Notes a scope. Only a change of its sessions is a change: an ordinary message costs nothing here.
    pub(super) fn note(&mut self, state: &State) {
        let Some(entry) = Entry::of(state) else { return };
        let noted = self.scopes.get(state.scope.as_str());
        if noted.is_none_or(|noted| !noted.same_sessions(&entry)) {
            self.scopes.insert(state.scope.as_str().to_owned(), entry);
            self.written = Written::NotYet;
        }
    }

    /// Forgets the scopes that something is true for, and tells which.
    pub(super) fn forget(&mut self, gone: impl Fn(&str) -> bool) -> Vec<String> {
        let forgotten: Vec<String> = self.scopes.keys().filter(|key| gone(key)).cloned().collect();
        for key in &forgotten {
            self.scopes.remove(key);
            self.written = Written::NotYet;
        }
        forgotten
    }

    /// Sets when the file is written. It is not written before this is called.
    pub(super) fn set_pace(&mut self, pace: Pace) {
        self.pace = pace;
    }

    /// Writes the index if the file does not say the same already.
    pub(super) fn flush(&mut self) -> Result<(), Error> {
        if self.written == Written::Yes || self.pace == Pace::Later {
            return Ok(());
        }
        let shape = Shape { version: VERSION, scopes: std::mem::take(&mut self.scopes) };
        let text = serde_json::to_string_pretty(&shape);
        self.scopes = shape.scopes;
        let text = text.map_err(|error| Error::damaged(FILE_NAME, error))? + "\n";
        replace(self.disk.as_ref(), &self.path, text.as_bytes())?;
        self.written = Written::Yes;
        // A hint only, and never synced: without it all scopes are looked at when the store is opened.
        let digest = Digest::of_body(text.as_bytes()).to_string();
        if let Err(error) = fs::write(beside(&self.path, DIGEST_SUFFIX), digest) {
            tracing::debug!(%error, "the digest of the index could not be noted");
        }
        Ok(())
    }

    /// Says in what the file differs from the index, as it does when another program wrote it.
    pub(super) fn audit(&self) -> Result<Vec<String>, Error> {
        let name = self.path.display();
        let found = self.read()?.map(|bytes| parse(&bytes));
        let Some(Ok(found)) = found else { return Ok(vec![format!("{name} is missing or cannot be read")]) };
        let keys = found.keys().chain(self.scopes.keys()).collect::<std::collections::BTreeSet<_>>();
        let differ = keys.into_iter().filter(|key| found.get(*key) != self.scopes.get(*key));
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
