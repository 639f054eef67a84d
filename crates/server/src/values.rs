//! Small durable values beside the log: tokens, answers to idempotent requests, ids of responses and conversations.

use segue_core::Timestamp;
use segue_store::{Error, Store, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::Arc;

/// How many values are listed at a time.
const PAGE: usize = 500;

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
    /// Ids and kinds of items of the OpenAI-compatible interface, by scope and place in the log.
    Item,
    /// The scopes that each token has begun.
    Begun,
    /// What answers tell that was said in a scope. It is deleted when something of that scope is erased.
    Words,
}

impl Space {
    /// All of them.
    pub const ALL: [Self; 7] =
        [Self::Token, Self::Answer, Self::Response, Self::Conversation, Self::Item, Self::Begun, Self::Words];

    /// Returns the namespace in the store.
    pub fn name(self) -> &'static str {
        match self {
            Self::Token => "serve.token",
            Self::Answer => "serve.answer",
            Self::Response => "serve.response",
            Self::Conversation => "serve.conversation",
            Self::Item => "serve.item",
            Self::Begun => "serve.begun",
            Self::Words => segue_store::values::WORDS,
        }
    }
}

/// The values of a store, as JSON.
pub struct Values(Arc<dyn Store>);

impl Values {
    /// Opens the values of an engine's store.
    pub fn of(engine: &segue_engine::Engine) -> Self {
        Self(Arc::clone(engine.store()))
    }

    /// Reads a value, unless it has expired.
    pub async fn get<T: DeserializeOwned>(
        &self,
        space: Space,
        key: &str,
        now: Timestamp,
    ) -> Result<Option<T>, Error> {
        let found = self.0.value(space.name(), key, now).await?;
        found.map(|value| decode(&value)).transpose()
    }

    /// Writes a value. It is durable on return.
    pub async fn put<T: Serialize>(
        &self,
        space: Space,
        key: &str,
        value: &T,
        expires_at: Option<Timestamp>,
    ) -> Result<(), Error> {
        let bytes = serde_json::to_vec(value);
        let bytes = bytes.map_err(|error| Error::unavailable("a value cannot be written", error))?;
        self.0.put_value(space.name(), Value { key: key.to_owned(), bytes, expires_at }).await
    }

    /// Deletes a value.
    pub async fn delete(&self, space: Space, key: &str) -> Result<(), Error> {
        self.0.delete_value(space.name(), key).await.map(|_| ())
    }

    /// Tells whether there is any value in a space.
    pub async fn any(&self, space: Space, now: Timestamp) -> Result<bool, Error> {
        Ok(!self.0.values(space.name(), "", None, 1, now).await?.is_empty())
    }

    /// Lists all values of a space.
    pub async fn list<T: DeserializeOwned>(
        &self,
        space: Space,
        now: Timestamp,
    ) -> Result<Vec<(String, T)>, Error> {
        self.list_under(space, "", now).await
    }

    /// Lists the values of a space whose key begins with a prefix.
    pub async fn list_under<T: DeserializeOwned>(
        &self,
        space: Space,
        prefix: &str,
        now: Timestamp,
    ) -> Result<Vec<(String, T)>, Error> {
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let page = self.0.values(space.name(), prefix, after.as_deref(), PAGE, now).await?;
            let Some(last) = page.last() else { return Ok(all) };
            after = Some(last.key.clone());
            for value in &page {
                all.push((value.key.clone(), decode(value)?));
            }
        }
    }
}

fn decode<T: DeserializeOwned>(value: &Value) -> Result<T, Error> {
    serde_json::from_slice(&value.bytes)
        .map_err(|error| Error::damaged(format!("the value {}", value.key), error))
}
