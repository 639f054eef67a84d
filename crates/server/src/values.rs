//! Small durable values beside the log: tokens, answers to idempotent requests, ids of responses and conversations.

use segue_core::Timestamp;
use segue_store::Error;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// What a value is for. Names are for good: they stand in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Space {
    /// Tokens, by the hash of their secret.
    Token,
    /// Answers to requests with an idempotency key.
    Answer,
    /// Responses of the OpenAI-compatible interface.
    Response,
    /// Conversations of the OpenAI-compatible interface.
    Conversation,
}

/// The values of a store.
#[derive(Default)]
pub struct Values(Mutex<BTreeMap<(Space, String), (Vec<u8>, Option<Timestamp>)>>);

impl Values {
    /// Opens the values of an engine's store.
    pub fn of(_engine: &segue_engine::Engine) -> Self {
        Self::default()
    }

    /// Reads a value, unless it has expired.
    pub async fn get<T: DeserializeOwned>(
        &self,
        space: Space,
        key: &str,
        now: Timestamp,
    ) -> Result<Option<T>, Error> {
        let values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = values.get(&(space, key.to_owned()));
        let found = found.filter(|(_, expires)| expires.is_none_or(|at| at > now));
        Ok(found.and_then(|(bytes, _)| serde_json::from_slice(bytes).ok()))
    }

    /// Writes a value. It is durable on return.
    pub async fn put<T: Serialize>(
        &self,
        space: Space,
        key: &str,
        value: &T,
        expires: Option<Timestamp>,
    ) -> Result<(), Error> {
        let bytes = encode(value)?;
        let mut values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        values.insert((space, key.to_owned()), (bytes, expires));
        Ok(())
    }

    /// Writes a value if there is none yet, and tells whether it did.
    pub async fn insert<T: Serialize>(
        &self,
        space: Space,
        key: &str,
        value: &T,
        expires: Option<Timestamp>,
    ) -> Result<bool, Error> {
        let bytes = encode(value)?;
        let mut values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (space, key.to_owned());
        let is_new = !values.contains_key(&key);
        if is_new {
            values.insert(key, (bytes, expires));
        }
        Ok(is_new)
    }

    /// Deletes a value.
    pub async fn delete(&self, space: Space, key: &str) -> Result<(), Error> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&(space, key.to_owned()));
        Ok(())
    }

    /// Lists all values of a space whose key begins with a prefix.
    pub async fn list<T: DeserializeOwned>(
        &self,
        space: Space,
        prefix: &str,
    ) -> Result<Vec<(String, T)>, Error> {
        let values = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_space = values.iter().filter(|((s, key), _)| *s == space && key.starts_with(prefix));
        let read = of_space
            .filter_map(|((_, key), (bytes, _))| Some((key.clone(), serde_json::from_slice(bytes).ok()?)));
        Ok(read.collect())
    }
}

fn encode<T: Serialize>(value: &T) -> Result<Vec<u8>, Error> {
    serde_json::to_vec(value).map_err(|error| Error::unavailable("a value cannot be written", error))
}
