//! A store in memory: for tests, for `segue replay`, and as the plainest reading of the trait.

use crate::commits::{Commit, Feed, Position};
use crate::error::Error;
use crate::leases::{self, Leased};
use crate::store::{Catalog, Leases, Log, Maintenance, Purged, Store, Values, Watch};
use crate::types::{Append, AppendId, Page, Reading, ScopePage, ScopeRow, Take};
use crate::values::{self, Value};
use async_trait::async_trait;
use segue_core::Timestamp;
use segue_core::entry::{Bytes, Record, Seq};
use segue_core::message::MessageId;
use segue_core::scope::Key;
use segue_core::segment;
use segue_core::state::State;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// A store that forgets everything when it is dropped.
#[derive(Debug, Default)]
pub struct Memory(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    scopes: BTreeMap<Key, Scope>,
    feed: Feed,
    leases: leases::Table,
    values: values::Table,
}

#[derive(Debug, Default)]
struct Scope {
    state: Option<Arc<State>>,
    log: BTreeMap<Seq, Record>,
    seen: BTreeMap<MessageId, Seq>,
    garbage: BTreeSet<segment::Number>,
}

impl Memory {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        // Nothing panics while the lock is held with a half-made change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Scope {
    /// Refuses an append that cannot be made.
    fn admit(&self, append: &Append) -> Result<(), Error> {
        if let Some((id, _)) = &append.message_id
            && let Some(seq) = self.seen.get(id)
        {
            return Err(Error::Duplicate { seq: *seq });
        }
        let (expected, found) = (append.prior.head, self.state.as_ref().map_or(Seq::ZERO, |s| s.head));
        if expected != found {
            return Err(Error::Conflict { expected, found });
        }
        match self.state.as_ref().and_then(|stored| append.writes_to_sealed(stored)) {
            Some(segment) => Err(Error::Sealed { segment }),
            None => Ok(()),
        }
    }

    fn write(&mut self, append: Append) {
        self.seen.extend(append.message_id);
        self.garbage.extend(append.garbage);
        self.log.extend(append.records.into_iter().map(|record| (record.seq, record)));
        for seq in append.erase {
            if let Some(record) = self.log.get_mut(&seq) {
                record.bytes = Bytes::Erased(record.body_hash());
            }
        }
        self.state = Some(append.next);
    }
}

/// Picks entries of a view out of a log, in order.
pub(crate) fn pick<'a>(log: impl DoubleEndedIterator<Item = &'a Record>, reading: &Reading) -> Vec<Record> {
    let seen = |r: &&Record| reading.filter.takes(r.kind) && reading.view.hold(r.segment, r.seq);
    match reading.take {
        Take::Oldest(n) => log.filter(seen).take(n).cloned().collect(),
        Take::Newest(n) => {
            let mut newest: Vec<Record> = log.rev().filter(seen).take(n).cloned().collect();
            newest.reverse();
            newest
        }
    }
}

#[async_trait]
impl Log for Memory {
    async fn load(&self, scope: &Key) -> Result<Option<Arc<State>>, Error> {
        Ok(self.lock().scopes.get(scope).and_then(|scope| scope.state.clone()))
    }

    async fn append(&self, append: Append) -> Result<(), Error> {
        let inner = &mut *self.lock();
        let (key, after, head, id) = (append.scope().clone(), append.prior.head, append.next.head, append.id);
        let scope = inner.scopes.entry(key.clone()).or_default();
        if let Err(refused) = scope.admit(&append) {
            return match inner.feed.appended(&key, after, id) {
                Some(_) => Ok(()),
                None => Err(refused),
            };
        }
        scope.write(append);
        inner.feed.push(key, after, head, id);
        Ok(())
    }

    async fn appended(&self, scope: &Key, after: Seq, id: AppendId) -> Result<Option<Seq>, Error> {
        Ok(self.lock().feed.appended(scope, after, id))
    }

    async fn seen(&self, scope: &Key, id: &MessageId) -> Result<Option<Seq>, Error> {
        Ok(self.lock().scopes.get(scope).and_then(|scope| scope.seen.get(id).copied()))
    }

    async fn ids(
        &self,
        scope: &Key,
        after: Option<&MessageId>,
        limit: usize,
    ) -> Result<Vec<(MessageId, Seq)>, Error> {
        let inner = self.lock();
        let Some(scope) = inner.scopes.get(scope) else { return Ok(Vec::new()) };
        let behind = scope.seen.iter().skip_while(|(id, _)| after.is_some_and(|after| *id <= after));
        Ok(behind.take(limit).map(|(id, seq)| (id.clone(), *seq)).collect())
    }

    async fn keep_ids(&self, scope: &Key, ids: Vec<(MessageId, Seq)>) -> Result<(), Error> {
        let inner = &mut *self.lock();
        let scope = inner.scopes.entry(scope.clone()).or_default();
        for (id, seq) in ids {
            scope.seen.entry(id).or_insert(seq);
        }
        Ok(())
    }

    async fn get(&self, scope: &Key, seq: Seq) -> Result<Option<Record>, Error> {
        Ok(self.lock().scopes.get(scope).and_then(|scope| scope.log.get(&seq).cloned()))
    }

    async fn read(&self, scope: &Key, reading: &Reading) -> Result<Vec<Record>, Error> {
        let inner = self.lock();
        let Some(scope) = inner.scopes.get(scope) else { return Ok(Vec::new()) };
        Ok(pick(scope.log.values(), reading))
    }

    async fn tail(&self, scope: &Key, after: Seq, limit: usize) -> Result<Vec<Record>, Error> {
        let inner = self.lock();
        let Some(scope) = inner.scopes.get(scope) else { return Ok(Vec::new()) };
        Ok(scope.log.range(after.next()..).map(|(_, record)| record).take(limit).cloned().collect())
    }

    async fn count_before(
        &self,
        scope: &Key,
        seq: Seq,
        segments: &[segment::Number],
    ) -> Result<Vec<(segment::Number, u32)>, Error> {
        let inner = self.lock();
        let Some(scope) = inner.scopes.get(scope) else { return Ok(Vec::new()) };
        let count = |segment: &segment::Number| {
            let earlier = scope.log.range(..seq).rev().map(|(_, record)| record);
            let last = earlier.into_iter().find(|record| record.segment == *segment);
            (*segment, last.map_or(0, |record| record.nth))
        };
        Ok(segments.iter().map(count).collect())
    }
}

impl Store for Memory {}

#[async_trait]
impl Catalog for Memory {
    async fn scopes(&self, page: &Page) -> Result<ScopePage, Error> {
        let states: Vec<Arc<State>> =
            self.lock().scopes.values().filter_map(|scope| scope.state.clone()).collect();
        crate::types::page(states.iter().map(|state| ScopeRow::of(state)).collect(), page)
    }
}

#[async_trait]
impl Maintenance for Memory {
    async fn sweep(&self) -> Result<usize, Error> {
        let mut swept = 0;
        for scope in self.lock().scopes.values_mut() {
            let garbage = std::mem::take(&mut scope.garbage);
            scope.log.retain(|_, r| r.kind.is_structural() || !garbage.contains(&r.segment));
            swept += garbage.len();
        }
        Ok(swept)
    }

    async fn purge(&self) -> Result<Purged, Error> {
        Ok(Purged::Complete)
    }

    async fn audit(&self, _: Option<&Key>) -> Result<Vec<String>, Error> {
        Ok(Vec::new())
    }

    async fn backup(&self, _: &Path) -> Result<(), Error> {
        Err(Error::Unsupported { store: "the memory store".into(), what: "make a backup".into() })
    }
}

#[async_trait]
impl Watch for Memory {
    async fn position(&self) -> Result<Position, Error> {
        Ok(self.lock().feed.last())
    }

    async fn commits(&self, after: Position, limit: usize) -> Result<Vec<Commit>, Error> {
        self.lock().feed.read(after, limit)
    }

    fn subscribe(&self) -> watch::Receiver<Position> {
        self.lock().feed.subscribe()
    }
}

#[async_trait]
impl Leases for Memory {
    async fn lease(&self, name: &str, holder: &str, ttl: Duration, now: Timestamp) -> Result<Leased, Error> {
        Ok(self.lock().leases.lease(name, holder, ttl, now))
    }

    async fn release(&self, name: &str, holder: &str) -> Result<(), Error> {
        self.lock().leases.release(name, holder);
        Ok(())
    }
}

#[async_trait]
impl Values for Memory {
    async fn value(&self, namespace: &str, key: &str, now: Timestamp) -> Result<Option<Value>, Error> {
        Ok(self.lock().values.get(namespace, key, now).cloned())
    }

    async fn put_value(&self, namespace: &str, value: Value) -> Result<(), Error> {
        value.check(namespace)?;
        self.lock().values.put(namespace, value);
        Ok(())
    }

    async fn insert_value(
        &self,
        namespace: &str,
        value: Value,
        now: Timestamp,
    ) -> Result<Option<Value>, Error> {
        value.check(namespace)?;
        let values = &mut self.lock().values;
        if let Some(found) = values.get(namespace, &value.key, now) {
            return Ok(Some(found.clone()));
        }
        values.put(namespace, value);
        Ok(None)
    }

    async fn delete_value(&self, namespace: &str, key: &str) -> Result<bool, Error> {
        Ok(self.lock().values.delete(namespace, key))
    }

    async fn values(
        &self,
        namespace: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<Value>, Error> {
        Ok(self.lock().values.list(namespace, prefix, after, limit, now))
    }
}
