//! The contract of a store, kept by SQLite.

use super::db::{self, Db};
use super::{Sqlite, audit, commits, embeddings, inspect, postings, query, rows, search, values};
use crate::commits::{Commit, Position};
use crate::encryption::{Status, Vault};
use crate::error::Error;
use crate::leases::Leased;
use crate::search::{Postings, Term};
use crate::store::{
    Catalog, Embeddings, Encryption, Leases, Log, Maintenance, Purged, Search, Store, Values, Watch,
};
use crate::types::{Append, AppendId, Embedding, Page, Reading, ScopePage, Subject};
use crate::values::Value;
use crate::verify::Report;
use async_trait::async_trait;
use segue_core::Timestamp;
use segue_core::entry::{Record, Seq};
use segue_core::message::MessageId;
use segue_core::scope::Key;
use segue_core::segment;
use segue_core::state::State;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

impl Store for Sqlite {
    fn search(&self) -> Option<&dyn Search> {
        Some(self)
    }

    fn embeddings(&self) -> Option<&dyn Embeddings> {
        Some(self)
    }

    fn encryption(&self) -> Option<&dyn Encryption> {
        Some(self)
    }
}

#[async_trait]
impl Encryption for Sqlite {
    async fn status(&self) -> Result<Status, Error> {
        self.query(|db| Vault::status(db::document(db)?.as_deref())).await
    }

    async fn rotate(&self) -> Result<Status, Error> {
        self.write(|db| db.rotate()).await
    }
}

#[async_trait]
impl Log for Sqlite {
    async fn load(&self, scope: &Key) -> Result<Option<Arc<State>>, Error> {
        let scope = scope.clone();
        self.query(move |db| rows::load(db, &scope)).await
    }

    async fn head(&self, scope: &Key) -> Result<Option<Seq>, Error> {
        if let Some(head) = self.readers.heads.current(scope) {
            return Ok(Some(head));
        }
        let scope = scope.clone();
        self.on_readers(move |readers| readers.head(&scope)).await
    }

    async fn append(&self, append: Append) -> Result<(), Error> {
        self.writer.append(append).await
    }

    async fn append_many(&self, appends: Vec<Append>) -> (usize, Result<(), Error>) {
        self.writer.append_many(appends).await
    }

    async fn appended(&self, scope: &Key, after: Seq, id: AppendId) -> Result<Option<Seq>, Error> {
        let scope = scope.clone();
        self.query(move |db| match rows::find(db, &scope)? {
            Some((scope, _)) => commits::appended(db, scope, after, id),
            None => Ok(None),
        })
        .await
    }

    async fn seen(&self, scope: &Key, id: &MessageId) -> Result<Option<Seq>, Error> {
        let (scope, id) = (scope.clone(), id.clone());
        self.query(move |db| query::seen(db, &scope, &id)).await
    }

    async fn ids(
        &self,
        scope: &Key,
        after: Option<&MessageId>,
        limit: usize,
    ) -> Result<Vec<(MessageId, Seq)>, Error> {
        let (scope, after) = (scope.clone(), after.cloned());
        self.query(move |db| query::ids(db, &scope, after.as_ref(), limit)).await
    }

    async fn keep_ids(&self, scope: &Key, ids: Vec<(MessageId, Seq)>) -> Result<(), Error> {
        let scope = scope.clone();
        self.write(move |db| query::keep_ids(db, &scope, &ids)).await
    }

    async fn get(&self, scope: &Key, seq: Seq) -> Result<Option<Record>, Error> {
        let scope = scope.clone();
        self.query(move |db| query::get(db, &scope, seq)).await
    }

    async fn get_many(&self, scope: &Key, seqs: &[Seq]) -> Result<Vec<Option<Record>>, Error> {
        let (scope, seqs) = (scope.clone(), seqs.to_vec());
        self.query(move |db| seqs.iter().map(|seq| query::get(db, &scope, *seq)).collect()).await
    }

    async fn read(&self, scope: &Key, reading: &Reading) -> Result<Vec<Record>, Error> {
        let (scope, reading) = (scope.clone(), reading.clone());
        self.query(move |db| query::read(db, &scope, &reading)).await
    }

    async fn read_many(&self, scope: &Key, readings: &[Reading]) -> Result<Vec<Vec<Record>>, Error> {
        let (scope, readings) = (scope.clone(), readings.to_vec());
        self.query(move |db| readings.iter().map(|reading| query::read(db, &scope, reading)).collect()).await
    }

    async fn tail(&self, scope: &Key, after: Seq, limit: usize) -> Result<Vec<Record>, Error> {
        let scope = scope.clone();
        self.query(move |db| query::tail(db, &scope, after, limit)).await
    }

    async fn count_before(
        &self,
        scope: &Key,
        seq: Seq,
        segments: &[segment::Number],
    ) -> Result<Vec<(segment::Number, u32)>, Error> {
        let (scope, segments) = (scope.clone(), segments.to_vec());
        self.query(move |db| query::count_before(db, &scope, seq, &segments)).await
    }
}

#[async_trait]
impl Catalog for Sqlite {
    async fn scopes(&self, page: &Page) -> Result<ScopePage, Error> {
        let page = page.clone();
        self.query(move |db| query::scopes(db, &page)).await
    }
}

#[async_trait]
impl Search for Sqlite {
    async fn postings(&self, scope: &Key, terms: &[Term]) -> Result<Postings, Error> {
        let key = scope.clone();
        if let Some(head) = self.query(move |db| search::behind(db, &key)).await? {
            match self.index(scope, head).await {
                Ok(()) => {}
                // A full disk or another writer is in the way: then the log itself is read.
                Err(Error::Unavailable { .. }) => return crate::search::scan(self, scope, terms).await,
                Err(error) => return Err(error),
            }
        }
        let (scope, terms) = (scope.clone(), terms.to_vec());
        self.query(move |db| postings::postings(db, &scope, &terms)).await
    }
}

#[async_trait]
impl Embeddings for Sqlite {
    async fn get(&self, scope: &Key, subjects: &[Subject]) -> Result<Vec<Embedding>, Error> {
        let (scope, subjects) = (scope.clone(), subjects.to_vec());
        self.query(move |db| embeddings::get(db, &scope, &subjects)).await
    }

    async fn tail(&self, scope: &Key, after: Seq, limit: usize) -> Result<Vec<Embedding>, Error> {
        let scope = scope.clone();
        self.query(move |db| embeddings::tail(db, &scope, after, limit)).await
    }

    async fn put(&self, scope: &Key, head: Seq, embeddings: Vec<Embedding>) -> Result<(), Error> {
        let scope = scope.clone();
        let put = move |db: &mut Db| embeddings::put(db, &scope, head, &embeddings);
        self.write(put).await
    }
}

#[async_trait]
impl Maintenance for Sqlite {
    async fn sweep(&self) -> Result<usize, Error> {
        self.writer.run(|connection| connection.sweep()).await
    }

    async fn purge(&self) -> Result<Purged, Error> {
        match self.writer.run(|connection| connection.is_purge_due()).await {
            Ok(false) => Ok(Purged::Complete),
            // Readers that rest hold no snapshot; one that reads is waited for.
            Ok(true) => self.purger.purge(|| self.writer.purges()).await,
            Err(Error::Unavailable { what, why }) => Ok(Purged::Unfinished { why: format!("{what}: {why}") }),
            Err(error) => Err(error),
        }
    }

    async fn inspect(&self, scope: &Key) -> Result<Option<Report>, Error> {
        let scope = scope.clone();
        self.query(move |db| inspect::inspect(db, &scope).map(Some)).await
    }

    async fn audit(&self, scope: Option<&Key>) -> Result<Vec<String>, Error> {
        let scope = scope.cloned();
        self.query(move |db| audit::audit(db, scope.as_ref())).await
    }

    async fn backup(&self, to: &Path) -> Result<(), Error> {
        let to = to.to_owned();
        self.query(move |db| query::backup(db, &to)).await
    }
}

#[async_trait]
impl Watch for Sqlite {
    async fn position(&self) -> Result<Position, Error> {
        self.query(|db| commits::last(db)).await
    }

    async fn commits(&self, after: Position, limit: usize) -> Result<Vec<Commit>, Error> {
        self.query(move |db| commits::read(db, after, limit)).await
    }

    fn subscribe(&self) -> watch::Receiver<Position> {
        self.watcher.subscribe()
    }
}

#[async_trait]
impl Leases for Sqlite {
    async fn lease(&self, name: &str, holder: &str, ttl: Duration, now: Timestamp) -> Result<Leased, Error> {
        let (name, holder) = (name.to_owned(), holder.to_owned());
        self.write(move |db| values::lease(db, &name, &holder, ttl, now)).await
    }

    async fn release(&self, name: &str, holder: &str) -> Result<(), Error> {
        let (name, holder) = (name.to_owned(), holder.to_owned());
        self.write(move |db| values::release(db, &name, &holder)).await
    }
}

#[async_trait]
impl Values for Sqlite {
    async fn value(&self, namespace: &str, key: &str, now: Timestamp) -> Result<Option<Value>, Error> {
        let (namespace, key) = (namespace.to_owned(), key.to_owned());
        self.query(move |db| values::get(db, &namespace, &key, now)).await
    }

    async fn put_value(&self, namespace: &str, value: Value) -> Result<(), Error> {
        value.check(namespace)?;
        let namespace = namespace.to_owned();
        self.write(move |db| values::put(db, &namespace, &value)).await
    }

    async fn insert_value(
        &self,
        namespace: &str,
        value: Value,
        now: Timestamp,
    ) -> Result<Option<Value>, Error> {
        value.check(namespace)?;
        let namespace = namespace.to_owned();
        self.write(move |db| values::insert(db, &namespace, &value, now)).await
    }

    async fn delete_value(&self, namespace: &str, key: &str) -> Result<bool, Error> {
        let (namespace, key) = (namespace.to_owned(), key.to_owned());
        self.write(move |db| values::delete(db, &namespace, &key)).await
    }

    async fn values(
        &self,
        namespace: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<Value>, Error> {
        let (namespace, prefix, after) = (namespace.to_owned(), prefix.to_owned(), after.map(str::to_owned));
        self.query(move |db| values::list(db, &namespace, &prefix, after.as_deref(), limit, now)).await
    }
}
