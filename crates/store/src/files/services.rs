//! What a files store has beside the logs: watching commits, leases and values.

use super::{Files, lock};
use crate::commits::{Commit, Position};
use crate::error::Error;
use crate::leases::Leased;
use crate::store::{Leases, Values, Watch};
use crate::values::Value;
use async_trait::async_trait;
use segue_core::Timestamp;
use std::time::Duration;
use tokio::sync::watch;

#[async_trait]
impl Watch for Files {
    async fn position(&self) -> Result<Position, Error> {
        self.work(|inner| Ok(lock(&inner.commits).feed.last())).await
    }

    async fn commits(&self, after: Position, limit: usize) -> Result<Vec<Commit>, Error> {
        // Whoever writes holds the list while its file is written. Mostly nobody does, and who need not wait keeps no store open.
        if let Ok(commits) = self.inner.commits.try_lock() {
            return commits.feed.read(after, limit);
        }
        self.work(move |inner| lock(&inner.commits).feed.read(after, limit)).await
    }

    fn subscribe(&self) -> watch::Receiver<Position> {
        self.inner.news.subscribe()
    }
}

/// In memory: one process has the store open.
#[async_trait]
impl Leases for Files {
    async fn lease(&self, name: &str, holder: &str, ttl: Duration, now: Timestamp) -> Result<Leased, Error> {
        Ok(lock(&self.inner.leases).lease(name, holder, ttl, now))
    }

    async fn release(&self, name: &str, holder: &str) -> Result<(), Error> {
        lock(&self.inner.leases).release(name, holder);
        Ok(())
    }
}

#[async_trait]
impl Values for Files {
    async fn value(&self, namespace: &str, key: &str, now: Timestamp) -> Result<Option<Value>, Error> {
        let (namespace, key) = (namespace.to_owned(), key.to_owned());
        self.work(move |inner| Ok(lock(&inner.values).table.get(&namespace, &key, now).cloned())).await
    }

    async fn put_value(&self, namespace: &str, value: Value) -> Result<(), Error> {
        value.check(namespace)?;
        let namespace = namespace.to_owned();
        self.work(move |inner| lock(&inner.values).put(inner.disk.as_ref(), &namespace, value)).await
    }

    async fn insert_value(
        &self,
        namespace: &str,
        value: Value,
        now: Timestamp,
    ) -> Result<Option<Value>, Error> {
        value.check(namespace)?;
        let namespace = namespace.to_owned();
        self.work(move |inner| {
            let mut values = lock(&inner.values);
            if let Some(found) = values.table.get(&namespace, &value.key, now) {
                return Ok(Some(found.clone()));
            }
            values.put(inner.disk.as_ref(), &namespace, value).map(|()| None)
        })
        .await
    }

    async fn delete_value(&self, namespace: &str, key: &str) -> Result<bool, Error> {
        let (namespace, key) = (namespace.to_owned(), key.to_owned());
        self.work(move |inner| lock(&inner.values).delete(inner.disk.as_ref(), &namespace, &key)).await
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
        self.work(move |inner| {
            Ok(lock(&inner.values).table.list(&namespace, &prefix, after.as_deref(), limit, now))
        })
        .await
    }
}
