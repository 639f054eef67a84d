//! A store in memory: for tests, for `segue replay`, and as the plainest reading of the trait.

use crate::error::Error;
use crate::store::Store;
use crate::types::{Append, Page, Reading, ScopeRow, Take};
use async_trait::async_trait;
use segue_core::entry::{Bytes, Record, Seq};
use segue_core::message::MessageId;
use segue_core::scope::Key;
use segue_core::segment;
use segue_core::state::State;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A store that forgets everything when it is dropped.
#[derive(Debug, Default)]
pub struct Memory {
    scopes: Mutex<BTreeMap<Key, Scope>>,
}

#[derive(Debug, Default)]
struct Scope {
    state: Option<Arc<State>>,
    log: BTreeMap<Seq, Record>,
    seen: BTreeMap<MessageId, Seq>,
    garbage: BTreeSet<segment::Number>,
}

impl Memory {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<Key, Scope>> {
        // Nothing panics while the lock is held with a half-made change.
        self.scopes.lock().unwrap_or_else(PoisonError::into_inner)
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
impl Store for Memory {
    async fn load(&self, scope: &Key) -> Result<Option<Arc<State>>, Error> {
        Ok(self.lock().get(scope).and_then(|scope| scope.state.clone()))
    }

    async fn append(&self, append: Append) -> Result<(), Error> {
        let mut scopes = self.lock();
        let scope = scopes.entry(append.scope().clone()).or_default();
        if let Some((id, _)) = &append.message_id
            && let Some(seq) = scope.seen.get(id)
        {
            return Err(Error::Duplicate { seq: *seq });
        }
        let (expected, found) = (append.prior.head, scope.state.as_ref().map_or(Seq::ZERO, |s| s.head));
        if expected != found {
            return Err(Error::Conflict { expected, found });
        }
        let sealed = scope.state.as_ref().and_then(|stored| append.writes_to_sealed(stored));
        if let Some(segment) = sealed {
            return Err(Error::Sealed { segment });
        }
        scope.seen.extend(append.message_id);
        scope.garbage.extend(append.garbage);
        scope.log.extend(append.records.into_iter().map(|record| (record.seq, record)));
        for seq in append.erase {
            if let Some(record) = scope.log.get_mut(&seq) {
                record.bytes = Bytes::Erased(record.body_hash());
            }
        }
        scope.state = Some(append.next);
        Ok(())
    }

    async fn seen(&self, scope: &Key, id: &MessageId) -> Result<Option<Seq>, Error> {
        Ok(self.lock().get(scope).and_then(|scope| scope.seen.get(id).copied()))
    }

    async fn read(&self, scope: &Key, reading: &Reading) -> Result<Vec<Record>, Error> {
        let scopes = self.lock();
        let Some(scope) = scopes.get(scope) else { return Ok(Vec::new()) };
        Ok(pick(scope.log.values(), reading))
    }

    async fn get(&self, scope: &Key, seq: Seq) -> Result<Option<Record>, Error> {
        Ok(self.lock().get(scope).and_then(|scope| scope.log.get(&seq).cloned()))
    }

    async fn log(&self, scope: &Key, after: Seq, limit: usize) -> Result<Vec<Record>, Error> {
        let scopes = self.lock();
        let Some(scope) = scopes.get(scope) else { return Ok(Vec::new()) };
        Ok(scope.log.range(after.next()..).map(|(_, record)| record).take(limit).cloned().collect())
    }

    async fn before(
        &self,
        scope: &Key,
        seq: Seq,
        segments: &[segment::Number],
    ) -> Result<Vec<(segment::Number, u32)>, Error> {
        let scopes = self.lock();
        let Some(scope) = scopes.get(scope) else { return Ok(Vec::new()) };
        let count = |segment: &segment::Number| {
            let earlier = scope.log.range(..seq).rev().map(|(_, record)| record);
            let last = earlier.into_iter().find(|record| record.segment == *segment);
            (*segment, last.map_or(0, |record| record.nth))
        };
        Ok(segments.iter().map(count).collect())
    }

    async fn scopes(&self, page: &Page) -> Result<Vec<ScopeRow>, Error> {
        let scopes = self.lock();
        let mut rows: Vec<ScopeRow> =
            scopes.values().filter_map(|scope| scope.state.as_deref()).map(ScopeRow::of).collect();
        rows.sort_by_key(|row| (Reverse(row.updated_at), row.scope.clone()));
        Ok(crate::types::page(rows, page))
    }

    async fn sweep(&self) -> Result<usize, Error> {
        let mut swept = 0;
        for scope in self.lock().values_mut() {
            let garbage = std::mem::take(&mut scope.garbage);
            scope.log.retain(|_, r| r.kind.is_bone() || !garbage.contains(&r.segment));
            swept += garbage.len();
        }
        Ok(swept)
    }

    async fn audit(&self, _: Option<&Key>) -> Result<Vec<String>, Error> {
        Ok(Vec::new())
    }
}
