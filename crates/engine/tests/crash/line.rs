//! What the child tells its parent, one line each.

use segue_core::entry::Seq;
use segue_core::scope::Key;
use segue_core::session::Number;
use serde::{Deserialize, Serialize};

/// Stands before each line, because the test harness writes to the same pipe.
const MARK: &str = "crash: ";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Line {
    /// The child is about to open the store.
    Opening,
    /// It sends a message.
    Sent {
        #[serde(with = "key")]
        scope: Key,
        id: String,
        text: String,
    },
    /// The message was taken.
    Acknowledged {
        #[serde(with = "key")]
        scope: Key,
        id: String,
        text: String,
        seq: Seq,
        session: Number,
        dropped: Vec<Number>,
    },
    /// A command was refused, which writes nothing.
    Refused {
        #[serde(with = "key")]
        scope: Key,
        id: String,
    },
    /// A request that carries no id dropped sessions.
    Dropped {
        #[serde(with = "key")]
        scope: Key,
        dropped: Vec<Number>,
    },
    /// Something is not as it must be.
    Wrong(String),
}

impl Line {
    pub fn write(&self) -> String {
        format!("{MARK}{}\n", serde_json::to_string(self).unwrap())
    }

    pub fn read(line: &str) -> Option<Self> {
        // A killed writer may leave half a line, which acknowledges nothing.
        serde_json::from_str(line.split_once(MARK)?.1).ok()
    }
}

/// A scope's key as text.
mod key {
    use segue_core::scope::Key;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub fn serialize<S: Serializer>(key: &Key, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(key.as_str())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Key, D::Error> {
        String::deserialize(from)?.parse().map_err(|_| D::Error::custom("not a scope's key"))
    }
}
