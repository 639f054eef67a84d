//! Small named values beside the log, and a table of them in memory.

use crate::error::Error;
use crate::store::Store;
use segue_core::Timestamp;
use segue_core::digest::Digest;
use segue_core::entry::{Bytes, Seq};
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

/// The namespace of values that tell what was said in a scope. [`forget`] deletes them when something of that scope is erased.
pub const WORDS: &str = "words";

/// How an erasure reaches the values of a namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Erased {
    /// By [`forget`] and [`forget_labels`]: their keys begin with the scope.
    WithScope,
    /// They hold no words: ids, numbers, digests, names that an operator gave.
    HoldsNoWords,
}

/// All namespaces, and how an erasure reaches each. A new one fails a test until it stands here.
pub const NAMESPACES: [(&str, Erased); 12] = [
    (WORDS, Erased::WithScope),
    ("serve.token", Erased::HoldsNoWords),
    ("serve.answer", Erased::HoldsNoWords),
    ("serve.response", Erased::HoldsNoWords),
    ("serve.conversation", Erased::HoldsNoWords),
    ("serve.item", Erased::HoldsNoWords),
    ("serve.begun", Erased::HoldsNoWords),
    ("serve.workers", Erased::HoldsNoWords),
    ("segue.move", Erased::HoldsNoWords),
    ("segue.copied", Erased::HoldsNoWords),
    ("memory-file", Erased::HoldsNoWords),
    ("import.repository", Erased::HoldsNoWords),
];

/// How many values are read at a time.
const FORGOTTEN_AT_ONCE: usize = 100;

/// What the name of a value begins with that tells of one message: it goes when that does.
const OF_MESSAGE: &str = "item:";

/// What the name of a value begins with that a host labels a conversation with: it goes when a person or a session does.
const LABEL: &str = "label:";

/// Makes the key of a value that tells what was said in a scope. It goes when anything there is erased.
pub fn words_key(scope: &Key, name: &str) -> String {
    format!("{}/{name}", Digest::of_body(scope.as_str().as_bytes()))
}

/// Makes the key of a value that tells more of one message.
pub fn message_key(scope: &Key, seq: Seq) -> String {
    words_key(scope, &format!("{OF_MESSAGE}{:020}", seq.0))
}

/// Makes what the keys of all values begin with that tell more of one message.
pub fn message_keys(scope: &Key) -> String {
    words_key(scope, OF_MESSAGE)
}

/// Makes the key of a label of a conversation.
pub fn label_key(scope: &Key, name: &str) -> String {
    words_key(scope, &format!("{LABEL}{name}"))
}

/// Deletes the values that tell what was said in a scope, after something there was erased. What tells of one message that is
/// still there stays, and so do labels.
pub async fn forget(store: &dyn Store, scope: &Key) -> Result<(), Error> {
    let (prefix, mut after) = (words_key(scope, ""), None);
    loop {
        // Also those whose time is over: they may still be there.
        let found = store.values(WORDS, &prefix, after.as_deref(), FORGOTTEN_AT_ONCE, Timestamp::MIN).await?;
        let Some(last) = found.last() else { return Ok(()) };
        after = Some(last.key.clone());
        for value in &found {
            let name = value.key.strip_prefix(&prefix).unwrap_or_default();
            let stays = match name.strip_prefix(OF_MESSAGE).map(str::parse) {
                Some(Ok(seq)) => is_kept(store, scope, Seq(seq)).await?,
                Some(Err(_)) => false,
                None => name.starts_with(LABEL),
            };
            if !stays {
                store.delete_value(WORDS, &value.key).await?;
            }
        }
    }
}

/// Deletes the labels of the conversations of a scope.
pub async fn forget_labels(store: &dyn Store, scope: &Key) -> Result<(), Error> {
    let prefix = label_key(scope, "");
    loop {
        let found = store.values(WORDS, &prefix, None, FORGOTTEN_AT_ONCE, Timestamp::MIN).await?;
        if found.is_empty() {
            return Ok(());
        }
        for value in found {
            store.delete_value(WORDS, &value.key).await?;
        }
    }
}

async fn is_kept(store: &dyn Store, scope: &Key, seq: Seq) -> Result<bool, Error> {
    let record = store.get(scope, seq).await?;
    Ok(record.is_some_and(|record| matches!(record.bytes, Bytes::Kept(_))))
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
