//! A store in PostgreSQL, for many stateless nodes on one database.
//!
//! Every key begins with the scope, and every table is hash-partitioned by it. A turn is one statement and one round trip,
//! guarded by the scope's head: two nodes on one scope never both succeed. Sealed segments are guarded by triggers, also
//! against other programs.

mod append;
mod audit;
mod connect;
mod embeddings;
mod fault;
mod hosts;
mod inspect;
mod migrate;
mod named;
mod pool;
mod purge;
mod query;
mod replicated;
mod rows;
mod search;
mod settings;
mod sweep;
mod target;
#[cfg(test)]
mod tests;
mod tls;
mod upkeep;
mod watch;

use crate::commits::{Commit, Position};
use crate::error::Error;
use crate::leases::Leased;
use crate::search::{Postings, Term, TokenKey};
use crate::store::{Catalog, Embeddings, Leases, Log, Maintenance, Purged, Search, Store, Values, Watch};
use crate::types::{Append, AppendId, Embedding, Page, Reading, ScopePage, Subject};
use crate::values::Value;
use crate::verify::Report;
use async_trait::async_trait;
use connect::Connection;
use fault::OrFault;
use pool::{Identity, Pool};
use segue_core::Timestamp;
use segue_core::entry::{Record, Seq};
use segue_core::message::MessageId;
use segue_core::scope::Key;
use segue_core::segment;
use segue_core::state::State;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use target::Target;
use tokio::sync::{Notify, OnceCell, RwLock, watch as channel};

/// A store in a PostgreSQL database.
pub struct Postgres {
    shared: Arc<Shared>,
    target: Arc<Target>,
    committed: Arc<Notify>,
    /// Told separately, so that neither of the two tasks takes the other's news.
    announced: Arc<Notify>,
}

/// What the store's tasks use, too.
struct Shared {
    pool: Pool,
    target: Arc<Target>,
    ready: Arc<RwLock<Option<Ready>>>,
    key: OnceCell<TokenKey>,
    following: AtomicBool,
    poll: Duration,
    news: channel::Sender<Position>,
    /// The last commit of this store that is known.
    ours: AtomicU64,
}

/// A database whose schema is the newest one.
#[derive(Debug, Clone, Copy)]
struct Ready {
    identity: Identity,
    position_base: i64,
}

/// Takes a connection. The first one to a database brings it to the newest schema; that may be another one than before, if
/// somebody has restored it elsewhere.
async fn connection(shared: &Shared) -> Result<Connection, Error> {
    let mut db = Connection::new(shared.pool.get().await.or_fault()?, &shared.target);
    let is_same = |ready: &Ready| ready.identity == db.identity();
    if let Some(ready) = shared.ready.read().await.filter(is_same) {
        db.position_base = ready.position_base;
        return Ok(db);
    }
    let mut ready = Arc::clone(&shared.ready).write_owned().await;
    if let Some(ready) = ready.filter(is_same) {
        db.position_base = ready.position_base;
        return Ok(db);
    }
    // The lock goes along: who comes meanwhile waits for this one, and does not begin another.
    detached(async move {
        db.position_base = migrate::prepare(&db).await?;
        for risk in settings::risks(&db).await? {
            tracing::warn!("{risk}");
        }
        *ready = Some(Ready { identity: db.identity(), position_base: db.position_base });
        Ok(db)
    })
    .await?
}

impl Postgres {
    /// Opens a store by its URL, `postgres://user:password@host:port/database`. It connects when it is first used.
    pub fn open(url: &str) -> Result<Self, Error> {
        Self::polling(url, watch::POLL)
    }

    /// Opens a store that asks for commits of other nodes in this interval, whether it hears of any or not.
    fn polling(url: &str, poll: Duration) -> Result<Self, Error> {
        let target = Arc::new(Target::parse(url)?);
        let shared = Arc::new(Shared {
            pool: pool::pool(&target)?,
            target: Arc::clone(&target),
            ready: Arc::default(),
            key: OnceCell::new(),
            following: AtomicBool::new(false),
            poll,
            news: channel::Sender::new(Position::START),
            ours: AtomicU64::new(0),
        });
        Ok(Self { shared, target, committed: Arc::default(), announced: Arc::default() })
    }

    /// Returns the URL without its password.
    pub fn shown(&self) -> &str {
        &self.target.shown
    }

    async fn connection(&self) -> Result<Connection, Error> {
        self.follow();
        connection(&self.shared).await
    }

    /// Starts the tasks that watch, once. They run as long as the store is open.
    fn follow(&self) {
        if self.shared.following.load(Ordering::Relaxed) {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        if self.shared.following.swap(true, Ordering::Relaxed) {
            return;
        }
        let heard = Arc::new(Notify::new());
        let weak = Arc::downgrade(&self.shared);
        let (committed, poll) = (Arc::clone(&self.committed), self.shared.poll);
        runtime.spawn(watch::follow(weak.clone(), committed, Arc::clone(&heard), poll));
        runtime.spawn(watch::announce(weak.clone(), Arc::clone(&self.announced)));
        runtime.spawn(watch::listen(weak, Arc::clone(&self.target), heard));
    }

    /// Brings the index of a scope up to an entry, step by step, as far as the database lets it.
    async fn index(&self, key: TokenKey, scope: &Key, head: Seq) -> Result<search::Step, Error> {
        loop {
            let (db, of) = (self.connection().await?, scope.clone());
            match detached(async move { search::step(&db, &key, &of).await }).await?? {
                search::Step::Through(through) if through < head && through > Seq::ZERO => {}
                done => return Ok(done),
            }
        }
    }

    /// Lets everybody know that there is a commit.
    fn tell(&self, position: Option<Position>) {
        if let Some(Position(position)) = position {
            self.shared.ours.fetch_max(position, Ordering::Relaxed);
        }
        self.committed.notify_one();
        self.announced.notify_one();
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        // The tasks wait for news; they find that there is nothing left to watch.
        self.tell(None);
    }
}

/// Runs in a task of its own: a caller that goes away must not leave a connection in the middle of a transaction.
async fn detached<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Result<T, Error> {
    tokio::spawn(work).await.map_err(append::unknown)
}

#[async_trait]
impl Log for Postgres {
    async fn load(&self, scope: &Key) -> Result<Option<Arc<State>>, Error> {
        rows::load(&self.connection().await?, scope).await
    }

    async fn head(&self, scope: &Key) -> Result<Option<Seq>, Error> {
        query::head(&self.connection().await?, scope).await
    }

    async fn append(&self, append: Append) -> Result<(), Error> {
        let db = self.connection().await?;
        let position = detached(async move { append::append(&db, &append).await }).await??;
        self.tell(position);
        Ok(())
    }

    async fn append_many(&self, appends: Vec<Append>) -> (usize, Result<(), Error>) {
        let mut written = 0;
        let mut rest = appends.into_iter().peekable();
        while rest.peek().is_some() {
            let batch: Vec<Append> = rest.by_ref().take(append::BATCH_MAX).collect();
            let db = match self.connection().await {
                Ok(db) => db,
                Err(error) => return (written, Err(error)),
            };
            let task = detached(async move {
                let done = append::together(&db, &batch).await;
                (done, batch)
            });
            let (done, batch) = match task.await {
                Ok(done) => done,
                Err(error) => return (written, Err(error)),
            };
            let lost = match done {
                Ok(append::Together::Written(position)) => {
                    written += batch.len();
                    self.tell(position);
                    continue;
                }
                Ok(append::Together::Not) => None,
                Ok(append::Together::Unknown(lost)) => Some(lost),
                Err(error) => return (written, Err(error)),
            };
            for append in batch {
                if let Err(error) = self.append(append).await {
                    let told = match (error, lost) {
                        // What cannot be asked for now may be there all the same.
                        (Error::Unavailable { .. }, Some(lost)) => lost,
                        (error, _) => error,
                    };
                    return (written, Err(told));
                }
                written += 1;
            }
        }
        (written, Ok(()))
    }

    async fn appended(&self, scope: &Key, after: Seq, id: AppendId) -> Result<Option<Seq>, Error> {
        let (db, scope) = (self.connection().await?, scope.clone());
        detached(async move {
            let head = query::appended(&db, &scope, after, id).await?;
            if head.is_some() {
                replicated::confirm(&db).await?;
            }
            Ok(head)
        })
        .await?
    }

    async fn seen(&self, scope: &Key, id: &MessageId) -> Result<Option<Seq>, Error> {
        let (db, scope, id) = (self.connection().await?, scope.clone(), id.clone());
        detached(async move {
            let seq = query::seen(&db, &scope, &id).await?;
            if seq.is_some() {
                replicated::confirm(&db).await?;
            }
            Ok(seq)
        })
        .await?
    }

    async fn ids(
        &self,
        scope: &Key,
        after: Option<&MessageId>,
        limit: usize,
    ) -> Result<Vec<(MessageId, Seq)>, Error> {
        query::ids(&self.connection().await?, scope, after, limit).await
    }

    async fn keep_ids(&self, scope: &Key, ids: Vec<(MessageId, Seq)>) -> Result<(), Error> {
        let (db, scope) = (self.connection().await?, scope.clone());
        detached(async move { query::keep_ids(&db, &scope, &ids).await }).await?
    }

    async fn get(&self, scope: &Key, seq: Seq) -> Result<Option<Record>, Error> {
        query::get(&self.connection().await?, scope, seq).await
    }

    async fn get_many(&self, scope: &Key, seqs: &[Seq]) -> Result<Vec<Option<Record>>, Error> {
        query::get_many(&self.connection().await?, scope, seqs).await
    }

    async fn read(&self, scope: &Key, reading: &Reading) -> Result<Vec<Record>, Error> {
        query::read(&self.connection().await?, scope, reading).await
    }

    async fn read_many(&self, scope: &Key, readings: &[Reading]) -> Result<Vec<Vec<Record>>, Error> {
        let db = self.connection().await?;
        let mut all = Vec::with_capacity(readings.len());
        for reading in readings {
            all.push(query::read(&db, scope, reading).await?);
        }
        Ok(all)
    }

    async fn tail(&self, scope: &Key, after: Seq, limit: usize) -> Result<Vec<Record>, Error> {
        query::tail(&self.connection().await?, scope, after, limit).await
    }

    async fn count_before(
        &self,
        scope: &Key,
        seq: Seq,
        segments: &[segment::Number],
    ) -> Result<Vec<(segment::Number, u32)>, Error> {
        query::count_before(&self.connection().await?, scope, seq, segments).await
    }
}

#[async_trait]
impl Catalog for Postgres {
    async fn scopes(&self, page: &Page) -> Result<ScopePage, Error> {
        query::scopes(&self.connection().await?, page).await
    }
}

#[async_trait]
impl Search for Postgres {
    async fn postings(&self, scope: &Key, terms: &[Term]) -> Result<Postings, Error> {
        let db = self.connection().await?;
        let key = *self.shared.key.get_or_try_init(|| search::key(&db)).await?;
        let Some(head) = search::behind(&db, scope).await? else {
            return search::postings(&db, &key, scope, terms).await;
        };
        // Nobody waits for a connection while it holds one: all of them might.
        drop(db);
        match self.index(key, scope, head).await? {
            search::Step::Through(_) => search::postings(&self.connection().await?, &key, scope, terms).await,
            // The database only answers reads: then the log itself is read.
            search::Step::ReadOnly => crate::search::scan(self, scope, terms).await,
        }
    }
}

#[async_trait]
impl Embeddings for Postgres {
    async fn get(&self, scope: &Key, subjects: &[Subject]) -> Result<Vec<Embedding>, Error> {
        embeddings::get(&self.connection().await?, scope, subjects).await
    }

    async fn tail(&self, scope: &Key, after: Seq, limit: usize) -> Result<Vec<Embedding>, Error> {
        embeddings::tail(&self.connection().await?, scope, after, limit).await
    }

    async fn put(&self, scope: &Key, head: Seq, embeddings: Vec<Embedding>) -> Result<(), Error> {
        let (db, scope) = (self.connection().await?, scope.clone());
        detached(async move { embeddings::put(&db, &scope, head, &embeddings).await }).await?
    }
}

#[async_trait]
impl Maintenance for Postgres {
    async fn sweep(&self) -> Result<usize, Error> {
        let db = self.connection().await?;
        detached(async move { sweep::sweep(&db).await }).await?
    }

    async fn purge(&self) -> Result<Purged, Error> {
        let db = self.connection().await?;
        detached(async move { purge::purge(&db).await }).await?
    }

    async fn inspect(&self, scope: &Key) -> Result<Option<Report>, Error> {
        inspect::inspect(self.connection().await?, scope.clone()).await.map(Some)
    }

    async fn audit(&self, scope: Option<&Key>) -> Result<Vec<String>, Error> {
        audit::audit(&self.connection().await?, scope).await
    }

    async fn risks(&self) -> Result<Vec<String>, Error> {
        settings::risks(&self.connection().await?).await
    }

    async fn backup(&self, _: &Path) -> Result<(), Error> {
        Err(Error::Unsupported {
            store: "PostgreSQL".to_owned(),
            what: "write a backup to a file: use pg_dump, or `segue move --to sqlite:FILE`".to_owned(),
        })
    }
}

#[async_trait]
impl Watch for Postgres {
    async fn position(&self) -> Result<Position, Error> {
        watch::position(&self.shared).await
    }

    async fn commits(&self, after: Position, limit: usize) -> Result<Vec<Commit>, Error> {
        watch::commits(&self.shared, after, limit).await
    }

    fn subscribe(&self) -> channel::Receiver<Position> {
        self.follow();
        self.shared.news.subscribe()
    }
}

#[async_trait]
impl Leases for Postgres {
    async fn lease(&self, name: &str, holder: &str, ttl: Duration, _: Timestamp) -> Result<Leased, Error> {
        let (db, name, holder) = (self.connection().await?, name.to_owned(), holder.to_owned());
        detached(async move { named::lease(&db, &name, &holder, ttl).await }).await?
    }

    async fn release(&self, name: &str, holder: &str) -> Result<(), Error> {
        named::release(&self.connection().await?, name, holder).await
    }
}

#[async_trait]
impl Values for Postgres {
    async fn value(&self, namespace: &str, key: &str, now: Timestamp) -> Result<Option<Value>, Error> {
        named::get(&self.connection().await?, namespace, key, now).await
    }

    async fn put_value(&self, namespace: &str, value: Value) -> Result<(), Error> {
        let (db, namespace) = (self.connection().await?, namespace.to_owned());
        detached(async move { named::put(&db, &namespace, &value).await }).await?
    }

    async fn insert_value(
        &self,
        namespace: &str,
        value: Value,
        now: Timestamp,
    ) -> Result<Option<Value>, Error> {
        let (db, namespace) = (self.connection().await?, namespace.to_owned());
        detached(async move { named::insert(&db, &namespace, &value, now).await }).await?
    }

    async fn delete_value(&self, namespace: &str, key: &str) -> Result<bool, Error> {
        let (db, namespace, key) = (self.connection().await?, namespace.to_owned(), key.to_owned());
        detached(async move { named::delete(&db, &namespace, &key).await }).await?
    }

    async fn values(
        &self,
        namespace: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<Value>, Error> {
        named::list(&self.connection().await?, namespace, prefix, after, limit, now).await
    }
}

impl Store for Postgres {
    fn search(&self) -> Option<&dyn Search> {
        Some(self)
    }

    fn embeddings(&self) -> Option<&dyn Embeddings> {
        Some(self)
    }
}
