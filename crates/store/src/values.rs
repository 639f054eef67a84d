//! Small named values beside the log, and a table of them in memory.

use crate::error::Error;
use crate::store::Store;
use segue_core::Timestamp;
use segue_core::digest::Digest;
use segue_core::scope::Key;
use std::collections::BTreeMap;
use std::ops::Bound;

/// The longest namespace and the longest key, in bytes.
pub const KEY_BYTES_MAX: usize = 1_024;

/// The longest value, in bytes.
pub const VALUE_BYTES_MAX: usize = 16 * 1_024 * 1_024;

/// A named value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    /// Its name, unique in its namespace.
    pub key: String,
    /// The value; the store does not read it.
    pub bytes: Vec<u8>,
    /// When its time is over; it is there before that, and not at it.
    pub expires_at: Option<Timestamp>,
}

impl Value {
    /// Makes a value that never expires.
    pub fn new(key: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        Self { key: key.into(), bytes: bytes.into(), expires_at: None }
    }

    /// Tells whether the value is there at a time.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.expires_at.is_none_or(|at| now < at)
    }

    /// Checks the limits; every store does so before it writes.
    pub fn check(&self, namespace: &str) -> Result<(), Error> {
        let within = |what: &str, bytes: usize, bytes_max: usize| match bytes <= bytes_max {
            true => Ok(()),
            false => Err(Error::TooLarge { what: what.to_owned(), bytes, bytes_max }),
        };
        within("a namespace", namespace.len(), KEY_BYTES_MAX)?;
        within("a key", self.key.len(), KEY_BYTES_MAX)?;
        within("a value", self.bytes.len(), VALUE_BYTES_MAX)
    }
}

/// The namespace of values that tell what was said in a scope. They are deleted when something of that scope is erased.
pub const WORDS: &str = "words";

/// How many values are deleted at a time.
const FORGOTTEN_AT_ONCE: usize = 100;

/// Makes the key of a value that tells what was said in a scope.
pub fn words_key(scope: &Key, name: &str) -> String {
    format!("{}/{name}", Digest::of_body(scope.as_str().as_bytes()))
}

/// Deletes all values that tell what was said in a scope.
pub async fn forget(store: &dyn Store, scope: &Key) -> Result<(), Error> {
    let prefix = words_key(scope, "");
    loop {
        // Also those whose time is over: they may still be there.
        let found = store.values(WORDS, &prefix, None, FORGOTTEN_AT_ONCE, Timestamp::MIN).await?;
        if found.is_empty() {
            return Ok(());
        }
        for value in found {
            store.delete_value(WORDS, &value.key).await?;
        }
    }
}

/// Values in memory.
#[derive(Debug, Default)]
pub(crate) struct Table(BTreeMap<(String, String), Value>);

impl Table {
    pub(crate) fn get(&self, namespace: &str, key: &str, now: Timestamp) -> Option<&Value> {
        self.0.get(&(namespace.to_owned(), key.to_owned())).filter(|value| value.is_live(now))
    }

    pub(crate) fn has(&self, namespace: &str, key: &str) -> bool {
        self.0.contains_key(&(namespace.to_owned(), key.to_owned()))
    }

    pub(crate) fn put(&mut self, namespace: &str, value: Value) {
        self.0.insert((namespace.to_owned(), value.key.clone()), value);
    }

    pub(crate) fn delete(&mut self, namespace: &str, key: &str) -> bool {
        self.0.remove(&(namespace.to_owned(), key.to_owned())).is_some()
    }

    pub(crate) fn list(
        &self,
        namespace: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
        now: Timestamp,
    ) -> Vec<Value> {
        let begin = (namespace.to_owned(), after.unwrap_or(prefix).max(prefix).to_owned());
        let begin = if after.is_some_and(|after| after >= prefix) {
            Bound::Excluded(begin)
        } else {
            Bound::Included(begin)
        };
        self.0
            .range((begin, Bound::Unbounded))
            .take_while(|((space, key), _)| space == namespace && key.starts_with(prefix))
            .map(|(_, value)| value)
            .filter(|value| value.is_live(now))
            .take(limit)
            .cloned()
            .collect()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().map(|((namespace, _), value)| (namespace.as_str(), value))
    }
}
