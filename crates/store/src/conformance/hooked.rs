//! A store that counts, delays or fails the calls of another one.

use crate::commits::{Commit, Position};
use crate::error::Error;
use crate::leases::Leased;
use crate::store::{
    Catalog, Embeddings, Encryption, Leases, Log, Maintenance, Purged, Quarantine, Search, Store, Values,
    Watch,
};
use crate::types::{Append, AppendId, Page, Reading, ScopePage};
use crate::values::Value;
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

/// A call of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "they are the methods of the traits")]
pub enum Call {
    Load,
    Head,
    Append,
    AppendMany,
    Appended,
    Seen,
    Get,
    Read,
    Tail,
    CountBefore,
    Scopes,
    Sweep,
}

/// What happens around calls.
pub trait Hook: Send + Sync {
    /// Runs before a call; an error is its answer, and nothing is done.
    fn before(&self, _call: Call) -> Result<(), Error> {
        Ok(())
    }

    /// Runs behind a call that has succeeded, with how many rows it read or wrote; an error is its answer, although
    /// it is done: an acknowledgement that is lost.
    fn after(&self, _call: Call, _rows: usize) -> Result<(), Error> {
        Ok(())
    }

    /// Tells whether, and how, the next append is lied about.
    fn cheat(&self) -> Option<Cheat> {
        None
    }

    /// Returns how many of many appends are made; the next one fails.
    fn made_of(&self, appends: usize) -> usize {
        appends
    }
}

/// How a store lies, for tests of what is to find it out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cheat {
    /// It acknowledges an append and never writes it.
    AcknowledgesEarly,
    /// It writes an append whatever the head is, as the last one wins.
    DropsTheGuard,
}

/// Puts an append behind a head that it does not know.
fn force(mut append: Append, stored: Option<Arc<State>>) -> Append {
    let Some(stored) = stored else { return append };
    let mut seq = stored.head;
    for record in &mut append.records {
        seq = seq.next();
        record.seq = seq;
    }
    if let Some((_, of)) = &mut append.message_id {
        *of = seq;
    }
    append.next = Arc::new(State { head: seq, ..State::clone(&append.next) });
    append.prior = stored;
    append
}

/// A store with a hook around the calls of its log.
pub struct Hooked<H> {
    store: Arc<dyn Store>,
    /// The hook.
    pub hook: H,
}

impl<H: Hook> Hooked<H> {
    /// Puts a hook around a store.
    pub fn new(store: Arc<dyn Store>, hook: H) -> Self {
        Self { store, hook }
    }

    async fn around<T>(
        &self,
        call: Call,
        rows: impl Fn(&T) -> usize,
        work: impl Future<Output = Result<T, Error>>,
    ) -> Result<T, Error> {
        self.hook.before(call)?;
        let done = work.await?;
        self.hook.after(call, rows(&done))?;
        Ok(done)
    }
}

fn one<T>(_: &T) -> usize {
    1
}

#[async_trait]
impl<H: Hook> Log for Hooked<H> {
    async fn load(&self, scope: &Key) -> Result<Option<Arc<State>>, Error> {
        self.around(Call::Load, one, self.store.load(scope)).await
    }

    async fn head(&self, scope: &Key) -> Result<Option<Seq>, Error> {
        self.around(Call::Head, one, self.store.head(scope)).await
    }

    async fn append(&self, append: Append) -> Result<(), Error> {
        let cheat = self.hook.cheat();
        if cheat == Some(Cheat::AcknowledgesEarly) {
            return Ok(());
        }
        let forced = append.clone();
        match self.around(Call::Append, one, self.store.append(append)).await {
            Err(Error::Conflict { .. }) if cheat == Some(Cheat::DropsTheGuard) => {
                let stored = self.store.load(forced.scope()).await?;
                self.store.append(force(forced, stored)).await
            }
            done => done,
        }
    }

    async fn append_many(&self, mut appends: Vec<Append>) -> (usize, Result<(), Error>) {
        if let Err(error) = self.hook.before(Call::AppendMany) {
            return (0, Err(error));
        }
        let (asked, made) = (appends.len(), self.hook.made_of(appends.len()));
        appends.truncate(made);
        let (written, done) = self.store.append_many(appends).await;
        let done = done.and_then(|()| self.hook.after(Call::AppendMany, written));
        match done {
            Ok(()) if made < asked => (written, Err(Error::unavailable("the disk", "it is gone"))),
            done => (written, done),
        }
    }

    async fn appended(&self, scope: &Key, after: Seq, id: AppendId) -> Result<Option<Seq>, Error> {
        self.around(Call::Appended, one, self.store.appended(scope, after, id)).await
    }

    async fn seen(&self, scope: &Key, id: &MessageId) -> Result<Option<Seq>, Error> {
        self.around(Call::Seen, one, self.store.seen(scope, id)).await
    }

    async fn ids(
        &self,
        scope: &Key,
        after: Option<&MessageId>,
        limit: usize,
    ) -> Result<Vec<(MessageId, Seq)>, Error> {
        self.store.ids(scope, after, limit).await
    }

    async fn keep_ids(&self, scope: &Key, ids: Vec<(MessageId, Seq)>) -> Result<(), Error> {
        self.store.keep_ids(scope, ids).await
    }

    async fn get(&self, scope: &Key, seq: Seq) -> Result<Option<Record>, Error> {
        self.around(Call::Get, one, self.store.get(scope, seq)).await
    }

    async fn read(&self, scope: &Key, reading: &Reading) -> Result<Vec<Record>, Error> {
        self.around(Call::Read, Vec::len, self.store.read(scope, reading)).await
    }

    async fn read_many(&self, scope: &Key, readings: &[Reading]) -> Result<Vec<Vec<Record>>, Error> {
        let rows = |all: &Vec<Vec<Record>>| all.iter().map(Vec::len).sum();
        self.around(Call::Read, rows, self.store.read_many(scope, readings)).await
    }

    async fn tail(&self, scope: &Key, after: Seq, limit: usize) -> Result<Vec<Record>, Error> {
        self.around(Call::Tail, Vec::len, self.store.tail(scope, after, limit)).await
    }

    async fn count_before(
        &self,
        scope: &Key,
        seq: Seq,
        segments: &[segment::Number],
    ) -> Result<Vec<(segment::Number, u32)>, Error> {
        self.around(Call::CountBefore, Vec::len, self.store.count_before(scope, seq, segments)).await
    }
}

impl<H: Hook> Store for Hooked<H> {
    fn search(&self) -> Option<&dyn Search> {
        self.store.search()
    }

    fn embeddings(&self) -> Option<&dyn Embeddings> {
        self.store.embeddings()
    }

    fn quarantine(&self) -> Option<&dyn Quarantine> {
        self.store.quarantine()
    }

    fn encryption(&self) -> Option<&dyn Encryption> {
        self.store.encryption()
    }
}

#[async_trait]
impl<H: Hook> Catalog for Hooked<H> {
    async fn scopes(&self, page: &Page) -> Result<ScopePage, Error> {
        self.around(Call::Scopes, |page: &ScopePage| page.rows.len(), self.store.scopes(page)).await
    }
}

#[async_trait]
impl<H: Hook> Maintenance for Hooked<H> {
    async fn sweep(&self) -> Result<usize, Error> {
        self.around(Call::Sweep, |swept: &usize| *swept, self.store.sweep()).await
    }

    async fn purge(&self) -> Result<Purged, Error> {
        self.store.purge().await
    }

    async fn audit(&self, scope: Option<&Key>) -> Result<Vec<String>, Error> {
        self.store.audit(scope).await
    }

    async fn risks(&self) -> Result<Vec<String>, Error> {
        self.store.risks().await
    }

    async fn backup(&self, to: &Path) -> Result<(), Error> {
        self.store.backup(to).await
    }
}

#[async_trait]
impl<H: Hook> Watch for Hooked<H> {
    async fn position(&self) -> Result<Position, Error> {
        self.store.position().await
    }

    async fn commits(&self, after: Position, limit: usize) -> Result<Vec<Commit>, Error> {
        self.store.commits(after, limit).await
    }

    fn subscribe(&self) -> watch::Receiver<Position> {
        self.store.subscribe()
    }
}

#[async_trait]
impl<H: Hook> Leases for Hooked<H> {
    async fn lease(&self, name: &str, holder: &str, ttl: Duration, now: Timestamp) -> Result<Leased, Error> {
        self.store.lease(name, holder, ttl, now).await
    }

    async fn release(&self, name: &str, holder: &str) -> Result<(), Error> {
        self.store.release(name, holder).await
    }
}

#[async_trait]
impl<H: Hook> Values for Hooked<H> {
    async fn value(&self, namespace: &str, key: &str, now: Timestamp) -> Result<Option<Value>, Error> {
        self.store.value(namespace, key, now).await
    }

    async fn put_value(&self, namespace: &str, value: Value) -> Result<(), Error> {
        self.store.put_value(namespace, value).await
    }

    async fn insert_value(
        &self,
        namespace: &str,
        value: Value,
        now: Timestamp,
    ) -> Result<Option<Value>, Error> {
        self.store.insert_value(namespace, value, now).await
    }

    async fn delete_value(&self, namespace: &str, key: &str) -> Result<bool, Error> {
        self.store.delete_value(namespace, key).await
    }

    async fn values(
        &self,
        namespace: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<Value>, Error> {
        self.store.values(namespace, prefix, after, limit, now).await
    }
}
