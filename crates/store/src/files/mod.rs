//! A store in files that a person can read and grep.
//!
//! ```text
//! DIR/sessions/index.json                 the sessions of every scope, in PicoClaw's shape
//! DIR/sessions/SCOPE/journal.jsonl        the structure of the log: these entries outlive their segments
//! DIR/sessions/SCOPE/000001.jsonl         the messages, commands and decisions of segment 1
//! DIR/sessions/SCOPE/dropped.jsonl        what must be known of segments that were deleted
//! DIR/sessions/SCOPE/*.torn               what a crash left of appends that were never acknowledged
//! DIR/sessions/SCOPE/*.damaged-1          an open segment that was damaged, with every byte
//! DIR/sessions/SCOPE.damaged-1/           a scope whose journal was damaged, with every byte; once that was erased,
//!                                         `left.json` with the numbers that it used
//! DIR/sessions/index.changes.jsonl        what changed since the index was last written as a whole
//! DIR/sessions/index.json.digest          what the index was when it was last written here
//! DIR/sessions/garbage.jsonl              which scopes have segments that are yet to be deleted
//! DIR/sessions/commits.jsonl              the order of all commits, for those who watch
//! DIR/sessions/values.jsonl               small named values
//! DIR/sessions/keys.json                  the data keys of an encrypted store, wrapped by a master key that is never here
//! DIR/sessions/store.lock                 held by the one process that has the store open
//! ```
//!
//! Entries are written before the index. The index, and everything else that is not an entry, is made
//! anew from the entries when it is missing, corrupt or stale. Reading changes nothing: files are mended before they are
//! written to.

mod append;
mod audit;
mod commit_log;
mod disk;
mod erase;
mod fold;
mod framed;
mod index;
mod keys;
mod line;
mod name;
mod open;
mod quarantine;
mod quarantined;
mod recovery;
mod repair;
mod scan;
mod scope;
mod scope_cache;
mod services;
mod sweep;
#[cfg(test)]
mod tests;
mod tombstones;
mod value_log;

use crate::commits::Position;
use crate::encryption::{MasterKeys, Status};
use crate::error::Error;
use crate::leases;
use crate::store::{Catalog, Encryption, Log, Maintenance, Purged, Quarantine, Store};
use crate::types::{Append, AppendId, Page, Quarantined, QuarantinedFile, Reading, ScopePage, ScopeRow};
use crate::verify::Report;
use async_trait::async_trait;
use commit_log::CommitLog;
use disk::Disk;
use index::Index;
use scope::{Scope, Trust};
use scope_cache::ScopeCache;
use segue_core::entry::{Record, Seq};
use segue_core::message::MessageId;
use segue_core::scope::Key;
use segue_core::segment;
use segue_core::state::State;
use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::watch;
use value_log::ValueLog;

/// A store in files.
#[derive(Debug)]
pub struct Files {
    inner: Arc<Inner>,
}

/// The store itself. Locks are taken in the order of the fields, and the cache's own one is never held
/// while another is taken.
#[derive(Debug)]
struct Inner {
    disk: Arc<dyn Disk>,
    sessions: PathBuf,
    /// Held by a sweep: two at a time would take away each other's notes.
    sweeping: Mutex<()>,
    scopes: ScopeCache,
    index: Mutex<Index>,
    rows: Mutex<BTreeMap<Key, ScopeRow>>,
    notes: Mutex<()>,
    /// What was mended at the opening although no crash explains it.
    repairs: Mutex<Vec<String>>,
    commits: Mutex<CommitLog>,
    /// The newest position, which is asked for without that lock.
    news: watch::Sender<Position>,
    leases: Mutex<leases::Table>,
    values: Mutex<ValueLog>,
    /// Whether anything was written since the store was opened.
    is_written: AtomicBool,
    _lock: File,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Whoever panicked left the files in a state that the next reading of them mends.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Tells whether two states share their list of sessions, as they do before and after a message.
fn same_sessions(before: &State, after: &State) -> bool {
    Arc::ptr_eq(&before.sessions, &after.sessions) && before.latest() == after.latest()
}

impl Files {
    /// Opens the store in a folder, which is made if need be, and mends its index.
    ///
    /// [`Error::Unavailable`] if another process has it open.
    pub fn open(dir: &Path) -> Result<Self, Error> {
        Self::open_with(dir, None)
    }

    /// Opens a store that is encrypted, or is from now on, with its master key; without one, a plain store.
    ///
    /// [`Error::Locked`] if the store is encrypted and the right key is not given.
    pub fn open_with(dir: &Path, masters: Option<&MasterKeys>) -> Result<Self, Error> {
        Self::open_on(Arc::new(disk::Machine), dir, masters)
    }

    fn open_on(disk: Arc<dyn Disk>, dir: &Path, masters: Option<&MasterKeys>) -> Result<Self, Error> {
        Ok(Self { inner: Arc::new(open::open(disk, dir, masters)?) })
    }

    /// Works on the files on a thread that may wait for the disk.
    async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inner) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let inner = Arc::clone(&self.inner);
        match tokio::task::spawn_blocking(move || work(&inner)).await {
            Ok(done) => done,
            Err(error) => Err(Error::unavailable("the files store", error)),
        }
    }

    async fn with<T: Send + 'static>(
        &self,
        key: &Key,
        work: impl FnOnce(&mut Scope) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let key = key.clone();
        self.work(move |inner| inner.with(&key, work)).await
    }
}

impl Inner {
    /// Works on a scope, which is read first if it is not in use.
    fn with<T>(&self, key: &Key, work: impl FnOnce(&mut Scope) -> Result<T, Error>) -> Result<T, Error> {
        let slot = self.scopes.slot(key);
        let mut slot = lock(&slot);
        let scope = match &mut *slot {
            Some(scope) => scope,
            empty => {
                let folder = self.sessions.join(name::folder(key));
                let scope = Scope::load(self.disk.as_ref(), &folder, key)?;
                if !scope.is_behind_damage()
                    && let Some(state) = &scope.state
                {
                    lock(&self.index).compare(state);
                    self.note_row(state);
                    lock(&self.commits).catch_up(key, state.head);
                }
                empty.insert(scope)
            }
        };
        let done = work(scope);
        if scope.trust == Trust::Spoiled {
            *slot = None;
        }
        done
    }

    /// Mends the files of a scope where they need it, so that they can be written to.
    fn repair(&self, key: &Key) -> Result<(), Error> {
        self.with(key, |scope| scope.repair(self.disk.as_ref()))
    }

    /// Notes in the index and in the listing that the sessions of a scope have changed.
    fn note(&self, state: &Arc<State>) {
        // The entries are durable, and the index is made from them: it must not fail what is done.
        if let Err(error) = lock(&self.index).change(state) {
            tracing::warn!(%error, "the index could not be written; it is written at the next chance");
        }
        self.note_row(state);
    }

    fn note_row(&self, state: &State) {
        lock(&self.rows).insert(state.scope.clone(), ScopeRow::of(state));
    }

    fn append(&self, append: Append) -> Result<(), Error> {
        let key = append.scope().clone();
        let (after, head, id) = (append.prior.head, append.next.head, append.id);
        self.is_written.store(true, Ordering::Relaxed);
        self.repair(&key)?;
        self.with(&key, |scope| {
            if let Err(refused) = scope.admit(self.disk.as_ref(), &append) {
                return match lock(&self.commits).feed.appended(&key, after, id) {
                    // To be told so is to be told that it is durable.
                    Some(_) => scope.settle(self.disk.as_ref()),
                    None => Err(refused),
                };
            }
            lock(&self.commits).begin(&append);
            if !append.garbage.is_empty() {
                let _guard = lock(&self.notes);
                sweep::note(self.disk.as_ref(), &self.sessions, &key, &append.garbage)?;
            }
            let before = scope.state.clone();
            let erases = !append.erase.is_empty();
            scope.write(self.disk.as_ref(), append)?;
            if erases && scope.trust == Trust::Spoiled {
                // Bodies are still there: reading the scope again erases them.
                let _guard = lock(&self.notes);
                sweep::note(self.disk.as_ref(), &self.sessions, &key, &[])?;
            }
            match &scope.state {
                // Neither does an ordinary message write the index, nor is it compared with it.
                Some(state) if before.is_some_and(|before| same_sessions(&before, state)) => {
                    self.note_row(state)
                }
                Some(state) => self.note(state),
                None => {}
            }
            lock(&self.commits).push(&key, after, head, id);
            Ok(())
        })
    }

    fn scopes(&self, page: &Page) -> Result<ScopePage, Error> {
        let keys: Vec<Key> = lock(&self.index).keys().collect();
        for key in keys {
            if lock(&self.rows).contains_key(&key) {
                continue;
            }
            if let Err(error) = self.with(&key, |_| Ok(())) {
                tracing::warn!(scope = %key, %error, "a scope that cannot be read is not listed");
            }
        }
        let rows = lock(&self.rows).values().cloned().collect();
        crate::types::page(rows, page)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Who has only read changes nothing.
        if !self.is_written.load(Ordering::Relaxed) {
            return;
        }
        if let Err(error) = lock(&self.index).fold() {
            tracing::warn!(%error, "the index could not be written; it is made anew when the store is opened");
        }
    }
}

#[async_trait]
impl Log for Files {
    async fn load(&self, scope: &Key) -> Result<Option<Arc<State>>, Error> {
        self.with(scope, |scope| Ok(scope.state.clone())).await
    }

    async fn append(&self, append: Append) -> Result<(), Error> {
        self.work(|inner| inner.append(append)).await
    }

    async fn appended(&self, scope: &Key, after: Seq, id: AppendId) -> Result<Option<Seq>, Error> {
        let key = scope.clone();
        // The scope is read first: what a crash has left of its commits is made whole then, and durable.
        self.work(move |inner| {
            inner.with(&key, |scope| scope.settle(inner.disk.as_ref()))?;
            Ok(lock(&inner.commits).feed.appended(&key, after, id))
        })
        .await
    }

    async fn seen(&self, scope: &Key, id: &MessageId) -> Result<Option<Seq>, Error> {
        let (key, id) = (scope.clone(), id.clone());
        self.work(move |inner| inner.with(&key, |scope| scope.seen(inner.disk.as_ref(), &id))).await
    }

    async fn ids(
        &self,
        scope: &Key,
        after: Option<&MessageId>,
        limit: usize,
    ) -> Result<Vec<(MessageId, Seq)>, Error> {
        let after = after.cloned();
        self.with(scope, move |scope| Ok(scope.ids(after.as_ref(), limit))).await
    }

    async fn keep_ids(&self, scope: &Key, ids: Vec<(MessageId, Seq)>) -> Result<(), Error> {
        let key = scope.clone();
        self.work(move |inner| inner.with(&key, |scope| scope.keep_ids(inner.disk.as_ref(), ids))).await
    }

    async fn read(&self, scope: &Key, reading: &Reading) -> Result<Vec<Record>, Error> {
        let reading = reading.clone();
        self.with(scope, move |scope| scope.read(&reading)).await
    }

    async fn get(&self, scope: &Key, seq: Seq) -> Result<Option<Record>, Error> {
        self.with(scope, move |scope| scope.get(seq)).await
    }

    async fn tail(&self, scope: &Key, after: Seq, limit: usize) -> Result<Vec<Record>, Error> {
        self.with(scope, move |scope| scope.log(after, limit)).await
    }

    async fn count_before(
        &self,
        scope: &Key,
        seq: Seq,
        segments: &[segment::Number],
    ) -> Result<Vec<(segment::Number, u32)>, Error> {
        let segments = segments.to_vec();
        let count = move |scope: &mut Scope| {
            Ok(segments.iter().map(|segment| (*segment, scope.before(seq, *segment))).collect())
        };
        self.with(scope, count).await
    }
}

impl Store for Files {
    fn quarantine(&self) -> Option<&dyn Quarantine> {
        Some(self)
    }

    fn encryption(&self) -> Option<&dyn Encryption> {
        Some(self)
    }
}

#[async_trait]
impl Encryption for Files {
    async fn status(&self) -> Result<Status, Error> {
        self.work(|inner| keys::status(&inner.sessions)).await
    }

    async fn rotate(&self) -> Result<Status, Error> {
        self.work(|inner| keys::rotate(inner.disk.as_ref(), &inner.sessions)).await
    }
}

#[async_trait]
impl Catalog for Files {
    async fn scopes(&self, page: &Page) -> Result<ScopePage, Error> {
        let page = page.clone();
        self.work(move |inner| inner.scopes(&page)).await
    }
}

#[async_trait]
impl Maintenance for Files {
    async fn sweep(&self) -> Result<usize, Error> {
        self.work(sweep::sweep).await
    }

    async fn purge(&self) -> Result<Purged, Error> {
        self.work(sweep::purge).await
    }

    async fn inspect(&self, scope: &Key) -> Result<Option<Report>, Error> {
        let key = scope.clone();
        self.work(move |inner| match audit::inspect(inner, &key) {
            // A scope that cannot be read as a whole is damage, too.
            Err(error @ (Error::Damaged { .. } | Error::NewerEntry { .. })) => {
                Ok(Some(Report { problems: vec![error.to_string()], ..Report::default() }))
            }
            inspected => inspected.map(Some),
        })
        .await
    }

    async fn audit(&self, scope: Option<&Key>) -> Result<Vec<String>, Error> {
        let scope = scope.cloned();
        self.work(move |inner| match scope {
            Some(key) => audit::scope(inner, &key),
            None => audit::store(inner),
        })
        .await
    }

    async fn backup(&self, _: &Path) -> Result<(), Error> {
        // The folder is read by other programs as it is; a copy of it while it is written would be none.
        Err(Error::Unsupported {
            store: "the files store".into(),
            what: "make a backup while it is open".into(),
        })
    }
}

#[async_trait]
impl Quarantine for Files {
    async fn problems(&self, scope: &Key) -> Result<Vec<String>, Error> {
        self.with(scope, |scope| Ok(scope.problems.clone())).await
    }

    async fn list(&self, scope: Option<&Key>) -> Result<Quarantined, Error> {
        let scope = scope.cloned();
        self.work(move |inner| quarantined::list(inner, scope.as_ref())).await
    }

    async fn discard(&self, copy: &QuarantinedFile) -> Result<(), Error> {
        let copy = copy.clone();
        self.work(move |inner| quarantined::discard(inner, &copy)).await
    }
}
