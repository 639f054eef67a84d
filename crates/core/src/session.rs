//! Sessions: one conversation or task in a scope, a view over segments.

use crate::Timestamp;
use crate::entry::Seq;
use crate::memory::MemoryEntry;
use crate::pins::Pins;
use crate::scope;
use crate::span::Spans;
use crate::title::Name;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The longest title, in characters.
pub const TITLE_CHARS_MAX: usize = 120;

/// The number of a session in its scope: 1, 2, 3, ..., never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Number(pub u32);

impl Number {
    /// The first session of a scope.
    pub const FIRST: Self = Self(1);

    /// Returns the number after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A globally unique, time-ordered id of a session (UUID version 7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub uuid::Uuid);

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Id {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().map(Self)
    }
}

impl Serialize for Id {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(from)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// The key of a session: the scope key for the first one, `scope#2`, `scope#3`, ... for the others.
///
/// ```
/// use segue_core::session::{Key, Number};
/// let key: Key = "agent:main:cli:direct:me#3".parse()?;
/// assert_eq!(key.number, Number(3));
/// assert_eq!(key.to_string(), "agent:main:cli:direct:me#3");
/// # Ok::<(), segue_core::session::KeyError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// The scope that the session belongs to.
    pub scope: scope::Key,
    /// Its number there.
    pub number: Number,
}

/// Why a text is not a session key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The part before `#` is not a scope key.
    #[error(transparent)]
    Scope(#[from] scope::KeyError),
    /// The part after `#` is not a number from 2 up.
    #[error("'#{0}' does not number a session: it is '#2', '#3', ... or nothing for the first one")]
    Number(String),
}

impl Key {
    /// Makes the key of a session.
    pub fn new(scope: scope::Key, number: Number) -> Self {
        Self { scope, number }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.number {
            Number::FIRST => self.scope.fmt(f),
            Number(n) => write!(f, "{}#{n}", self.scope),
        }
    }
}

impl FromStr for Key {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let Some((scope, number)) = text.rsplit_once('#') else {
            return Ok(Self::new(text.parse()?, Number::FIRST));
        };
        let canonical = !number.starts_with(['0', '+']);
        match number.parse() {
            Ok(n) if n >= 2 && canonical => Ok(Self::new(scope.parse()?, Number(n))),
            _ => Err(KeyError::Number(number.to_owned())),
        }
    }
}

/// A title: one line, without white space at its ends, of at most [`TITLE_CHARS_MAX`] characters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Title(String);

impl Title {
    /// Makes a title of a text, or nothing if no text is left of it.
    pub fn new(text: &str) -> Option<Self> {
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let cut: String = words.chars().filter(|c| !c.is_control()).take(TITLE_CHARS_MAX).collect();
        (!cut.is_empty()).then_some(Self(cut))
    }

    /// Returns the title as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Title {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where a session came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// The first session of its scope.
    First,
    /// Opened by `/new` or by a rotation.
    New,
    /// Forked from its parent.
    Fork,
    /// Split off its parent.
    Split,
    /// Taken over from elsewhere. It is not counted by the backlog (P-8).
    Import,
}

/// Whether a session can still be talked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It is there, and listed.
    Live,
    /// It is there, and not listed: resume and restore bring it back (P-8).
    Archived,
    /// What it held belongs to another session now.
    Merged {
        /// That session.
        into: Number,
    },
}

/// A session, without what is still in the open segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// The globally unique id.
    pub id: Id,
    /// The session that was latest when this one was opened, or that it was forked or split from.
    pub parent: Option<Number>,
    /// Where it came from.
    pub origin: Origin,
    /// Whether it is still there.
    pub status: Status,
    /// The title that someone gave it.
    pub title: Option<Title>,
    /// The entries that hold its titles, so that a delete can erase them.
    pub title_entries: Vec<Seq>,
    /// The sealed part of its view.
    pub spans: Spans,
    /// When it was created.
    pub created_at: Timestamp,
    /// When anything was last written into its sealed part.
    pub updated_at: Timestamp,
    /// What it is pinned to.
    pub pins: Pins,
    /// What upkeep has made of it.
    pub upkeep: Upkeep,
}

/// What upkeep has made of a session: numbers of entries, and no words. It stands with the session, so that a scope of many
/// costs no more than one of a few.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Upkeep {
    /// How far it was looked at for what is worth keeping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extracted: Option<Seq>,
    /// What is remembered of it, and what was and is not any more, in the order of the log.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memories: Vec<MemoryEntry>,
    /// Where the title stands that a model made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
}

impl Session {
    /// Takes in a title that a person gave.
    pub(crate) fn take_title(&mut self, title: &Title, entry: Seq) {
        self.title = Some(title.clone());
        self.title_entries.push(entry);
    }

    /// Tells whether the session holds what it said, listed or not.
    pub fn is_live(&self) -> bool {
        match self.status {
            Status::Live | Status::Archived => true,
            Status::Merged { .. } => false,
        }
    }

    /// Tells whether the session is listed.
    pub fn is_listed(&self) -> bool {
        self.status == Status::Live
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P-3: the first key is the scope key, and each key is read in one way only.
    #[test]
    fn p3_keys_round_trip_and_have_one_spelling() {
        for text in ["agent:main:main", "agent:main:main#2", "agent:main:main#4294967295"] {
            assert_eq!(text.parse::<Key>().map(|k| k.to_string()), Ok(text.to_owned()));
        }
        for text in ["a#1", "a#0", "a#02", "a#+2", "a#", "a#x", "a#2#3", "#2"] {
            assert!(text.parse::<Key>().is_err(), "{text}");
        }
    }

    #[test]
    fn titles_are_one_line() {
        assert_eq!(Title::new("  two\n lines ").map(|t| t.to_string()), Some("two lines".into()));
        assert_eq!(Title::new(" \u{7}\n"), None);
    }
}
