//! Scopes: the routing bucket that a message falls into.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The longest scope key, in bytes. Routing shortens longer ids before they get here.
pub const KEY_BYTES_MAX: usize = 1024;

/// The key of a scope, such as `agent:main:telegram:direct:user123`.
///
/// A key never holds `#` (which numbers the sessions of a scope), white space or control characters,
/// so that `scope#2` can be read in one way only.
///
/// ```
/// use segue_core::scope::Key;
/// assert!("agent:main:cli:direct:me".parse::<Key>().is_ok());
/// assert!("agent:main#2".parse::<Key>().is_err());
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Arc<str>);

/// Why a text is not a scope key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The text is empty.
    #[error("a scope key must not be empty")]
    Empty,
    /// The text is longer than [`KEY_BYTES_MAX`].
    #[error("a scope key has at most {KEY_BYTES_MAX} bytes, this one has {0}")]
    TooLong(usize),
    /// The text holds a character that a key cannot hold.
    #[error("a scope key cannot hold {0:?}")]
    Character(char),
}

impl Key {
    /// Returns the key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Key {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        if text.is_empty() {
            return Err(KeyError::Empty);
        }
        if text.len() > KEY_BYTES_MAX {
            return Err(KeyError::TooLong(text.len()));
        }
        let odd = |c: &char| *c == '#' || c.is_whitespace() || c.is_control();
        match text.chars().find(odd) {
            Some(c) => Err(KeyError::Character(c)),
            None => Ok(Self(text.into())),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "scope {}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_what_could_be_read_two_ways() {
        for (text, error) in [
            ("", KeyError::Empty),
            ("a#2", KeyError::Character('#')),
            ("a b", KeyError::Character(' ')),
            ("a\n", KeyError::Character('\n')),
        ] {
            assert_eq!(text.parse::<Key>(), Err(error));
        }
        let long = "x".repeat(KEY_BYTES_MAX + 1);
        assert_eq!(long.parse::<Key>(), Err(KeyError::TooLong(long.len())));
    }
}
