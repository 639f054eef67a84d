//! A store in one SQLite file: the default.
//!
//! Durable at each acknowledgement (WAL, `synchronous=FULL`), one writer that lets waiting turns share a
//! commit, many readers. What is sealed is guarded by triggers, so that other programs are refused too.

mod append;
mod audit;
mod audit_search;
mod commits;
mod contract;
mod db;
mod embeddings;
mod extras;
mod fault;
mod heads;
mod in_use;
mod inspect;
mod open;
mod pages;
mod postings;
mod purge;
mod purger;
mod query;
mod rows;
mod search;
mod sweep;
mod upkeep;
mod values;
mod watcher;
mod write_connection;
mod writer;

use crate::encryption::{MasterKeys, Vault};
use crate::error::Error;
use db::Db;
use heads::{Heads, WrittenHeads};
use purger::Purger;
use segue_core::entry::Seq;
use segue_core::scope::Key;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use watcher::Watcher;
use write_connection::WriteConnection;
use writer::Writer;

/// About how many pages a change beside the log writes.
const CHANGE_PAGES: usize = 4;

/// How many idle reading connections are kept.
const READERS_IDLE_MAX: usize = 4;

/// A store in one SQLite file.
#[derive(Debug)]
pub struct Sqlite {
    // Before the writer, so that they are closed first: the last one to leave takes in the write-ahead
    // log, and readers may not.
    readers: Arc<Readers>,
    watcher: Watcher,
    // It has the writer do what is asked of it.
    purger: Purger,
    writer: Writer,
}

/// The connections that read.
#[derive(Debug)]
struct Readers {
    path: PathBuf,
    vault: Arc<Vault>,
    idle: Mutex<Vec<Db>>,
    heads: Heads,
}

impl Readers {
    fn read<T>(&self, query: impl FnOnce(&Db) -> Result<T, Error>) -> Result<T, Error> {
        let idle = self.idle().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => open::for_reading(&self.path, &self.vault)?,
        };
        let answer = query(&connection);
        let mut idle = self.idle();
        if idle.len() < READERS_IDLE_MAX {
            idle.push(connection);
        }
        answer
    }

    /// Reads the head of a scope.
    fn head(&self, scope: &Key) -> Result<Option<Seq>, Error> {
        self.heads.prepare(&self.path)?;
        self.read(|db| Ok(rows::find(db, scope)?.map(|(_, head)| head)))
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Db>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sqlite {
    /// Opens a database, or makes one where there is none.
    ///
    /// ```
    /// # let folder = tempfile::tempdir()?;
    /// let store = segue_store::sqlite::Sqlite::open(&folder.path().join("segue.db"))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::open_with(path, None)
    }

    /// Opens a database that is encrypted, or is from now on, with its master key; without one, a plain database.
    ///
    /// [`Error::Locked`] if the database is encrypted and the right key is not given.
    pub fn open_with(path: &Path, masters: Option<&MasterKeys>) -> Result<Self, Error> {
        let connection = open::for_writing(path, masters)?;
        let vault = Arc::clone(connection.vault());
        let watcher = Watcher::new(path.to_owned(), commits::last(&connection)?);
        let written = Arc::<WrittenHeads>::default();
        let writer = Writer::start(WriteConnection::new(connection, Arc::clone(&written), watcher.news()))?;
        let readers =
            Readers { path: path.to_owned(), vault, idle: Mutex::default(), heads: Heads::new(written) };
        Ok(Self { readers: Arc::new(readers), watcher, purger: Purger::default(), writer })
    }

    /// Lets the file be rewritten as often as anybody asks, for tests that ask thousands of times.
    #[cfg(feature = "conformance")]
    #[must_use]
    pub fn without_pauses(self) -> Self {
        Self { purger: Purger::without_pauses(), ..self }
    }

    /// Runs a query on a reading connection, off the async threads.
    async fn query<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Db) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.on_readers(move |readers| readers.read(query)).await
    }

    /// Reads off the async threads.
    async fn on_readers<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Readers) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let readers = Arc::clone(&self.readers);
        let joined = tokio::task::spawn_blocking(move || read(&readers)).await;
        joined.map_err(|error| Error::unavailable("reading the database", error))?
    }

    /// Writes beside the log, on the writer thread.
    async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Db) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        self.writer
            .run(|connection| {
                connection.pages += CHANGE_PAGES;
                work(&mut connection.db)
            })
            .await
    }

    /// Brings the index of a scope up to an entry.
    async fn index(&self, scope: &Key, head: Seq) -> Result<(), Error> {
        loop {
            let key = scope.clone();
            if self.writer.run(move |connection| connection.index(&key)).await? >= head {
                return Ok(());
            }
        }
    }
}
