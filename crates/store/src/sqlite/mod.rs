//! A store in one SQLite file: the default.
//!
//! Durable at each acknowledgement (WAL, `synchronous=FULL`), one writer that lets waiting turns share a
//! commit, many readers. What is sealed is guarded by triggers, so that other programs are refused too.

mod append;
mod audit;
mod audit_search;
mod desk;
mod fault;
mod impressions;
mod index;
mod open;
mod query;
mod rows;
mod search;
mod sweep;
mod writer;

use crate::error::Error;
use crate::search::{Hit, Query};
use crate::store::Store;
use crate::types::{Append, Impression, Page, Reading, ScopeRow};
use async_trait::async_trait;
use rusqlite::Connection;
use segue_core::entry::{Record, Seq};
use segue_core::message::MessageId;
use segue_core::scope::Key;
use segue_core::segment;
use segue_core::session::Number;
use segue_core::state::State;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many idle reading connections are kept.
const READERS_IDLE_MAX: usize = 4;

/// A store in one SQLite file.
#[derive(Debug)]
pub struct Sqlite {
    // Before the writer, so that they are closed first: the last one to leave takes in the write-ahead
    // log, and readers may not.
    readers: Arc<Readers>,
    writer: writer::Writer,
}

/// The connections that read.
#[derive(Debug)]
struct Readers {
    path: PathBuf,
    idle: Mutex<Vec<Connection>>,
}

impl Readers {
    fn read<T>(&self, query: impl FnOnce(&Connection) -> Result<T, Error>) -> Result<T, Error> {
        let idle = self.idle().pop();
        let connection = match idle {
            Some(connection) => connection,
            None => open::for_reading(&self.path)?,
        };
        let answer = query(&connection);
        let mut idle = self.idle();
        if idle.len() < READERS_IDLE_MAX {
            idle.push(connection);
        }
        answer
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Connection>> {
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
        let connection = open::for_writing(path)?;
        let writer = writer::Writer::start(connection)?;
        let readers = Readers { path: path.to_owned(), idle: Mutex::default() };
        Ok(Self { readers: Arc::new(readers), writer })
    }

    /// Runs a query on a reading connection, off the async threads.
    async fn query<T: Send + 'static>(
        &self,
        query: impl FnOnce(&Connection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let readers = self.readers.clone();
        let joined = tokio::task::spawn_blocking(move || readers.read(query)).await;
        joined.map_err(|error| Error::unavailable("reading the database", error))?
    }

    /// Brings the index of a scope up to an entry.
    async fn index(&self, scope: &Key, head: Seq) -> Result<(), Error> {
        while self.writer.index(scope).await? < head {}
        Ok(())
    }
}

#[async_trait]
impl Store for Sqlite {
    async fn load(&self, scope: &Key) -> Result<Option<Arc<State>>, Error> {
        let scope = scope.clone();
        self.query(move |db| rows::load(db, &scope)).await
    }

    async fn head(&self, scope: &Key) -> Result<Option<Seq>, Error> {
        // One row, which the writer has just had in its hands: going to another thread would cost more than reading it,
        // and another connection would have to read its pages anew.
        match self.writer.head(scope) {
            Some(found) => found,
            None => self.readers.read(|db| Ok(rows::find(db, scope)?.map(|(_, head)| head))),
        }
    }

    async fn append(&self, append: Append) -> Result<(), Error> {
        self.writer.append(append).await
    }

    async fn append_all(&self, appends: Vec<Append>) -> (usize, Result<(), Error>) {
        self.writer.append_all(appends).await
    }

    async fn seen(&self, scope: &Key, id: &MessageId) -> Result<Option<Seq>, Error> {
        let (scope, id) = (scope.clone(), id.clone());
        self.query(move |db| query::seen(db, &scope, &id)).await
    }

    async fn read(&self, scope: &Key, reading: &Reading) -> Result<Vec<Record>, Error> {
        let (scope, reading) = (scope.clone(), reading.clone());
        self.query(move |db| query::read(db, &scope, &reading)).await
    }

    async fn read_all(&self, scope: &Key, readings: &[Reading]) -> Result<Vec<Vec<Record>>, Error> {
        let (scope, readings) = (scope.clone(), readings.to_vec());
        self.query(move |db| readings.iter().map(|reading| query::read(db, &scope, reading)).collect()).await
    }

    async fn get(&self, scope: &Key, seq: Seq) -> Result<Option<Record>, Error> {
        let scope = scope.clone();
        self.query(move |db| query::get(db, &scope, seq)).await
    }

    async fn log(&self, scope: &Key, after: Seq, limit: usize) -> Result<Vec<Record>, Error> {
        let scope = scope.clone();
        self.query(move |db| query::log(db, &scope, after, limit)).await
    }

    async fn before(
        &self,
        scope: &Key,
        seq: Seq,
        segments: &[segment::Number],
    ) -> Result<Vec<(segment::Number, u32)>, Error> {
        let (scope, segments) = (scope.clone(), segments.to_vec());
        self.query(move |db| query::before(db, &scope, seq, &segments)).await
    }

    async fn scopes(&self, page: &Page) -> Result<Vec<ScopeRow>, Error> {
        let page = page.clone();
        self.query(move |db| query::scopes(db, &page)).await
    }

    async fn search(&self, scope: &Key, query: &Query) -> Result<Vec<Hit>, Error> {
        let key = scope.clone();
        if let Some(head) = self.query(move |db| index::behind(db, &key)).await? {
            match self.index(scope, head).await {
                Ok(()) => {}
                // A full disk or another writer is in the way: then the log itself is read.
                Err(Error::Unavailable { .. }) => return crate::search::scan(self, scope, query).await,
                Err(error) => return Err(error),
            }
        }
        let (scope, query) = (scope.clone(), query.clone());
        self.query(move |db| search::search(db, &scope, &query)).await
    }

    async fn impressions(&self, scope: &Key, sessions: &[Number]) -> Result<Vec<Impression>, Error> {
        let (scope, sessions) = (scope.clone(), sessions.to_vec());
        self.query(move |db| impressions::read(db, &scope, &sessions)).await
    }

    async fn keep_impressions(
        &self,
        scope: &Key,
        head: Seq,
        impressions: Vec<Impression>,
    ) -> Result<(), Error> {
        self.writer.keep_impressions(scope, head, impressions).await
    }

    async fn sweep(&self) -> Result<usize, Error> {
        self.writer.sweep().await
    }

    async fn audit(&self, scope: Option<&Key>) -> Result<Vec<String>, Error> {
        let scope = scope.cloned();
        self.query(move |db| audit::audit(db, scope.as_ref())).await
    }
}
