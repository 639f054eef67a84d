//! What a task is called: its id and its description.

use crate::entry::Seq;
use crate::task::text::headline;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// The longest description, in bytes. It is kept whole, because it is what the task is.
pub const DESCRIPTION_BYTES_MAX: usize = 1 << 20;

/// The longest headline, in characters.
pub(crate) const HEADLINE_CHARS_MAX: usize = 120;

/// The id of a task in its scope: the entry that started it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TaskId(pub Seq);

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What is to be done, in the words of who asked for it. Cloning is cheap.
///
/// ```
/// use segue_core::task::identity::Description;
/// let description = Description::new(" Add retry logic\nto the connect function ")?;
/// assert_eq!(description.as_str(), "Add retry logic\nto the connect function");
/// assert_eq!(description.headline(), "Add retry logic to the connect function");
/// # Ok::<(), segue_core::task::identity::NotADescription>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Description(Arc<str>);

/// Why a text does not describe a task.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotADescription {
    /// Nothing but white space.
    #[error("a task needs a description: say what is to be done")]
    Empty,
    /// Longer than [`DESCRIPTION_BYTES_MAX`].
    #[error(
        "a task's description has at most {DESCRIPTION_BYTES_MAX} bytes, this one has {0}: \
         put the rest in a file or a message"
    )]
    TooLong(usize),
}

impl Description {
    /// Makes a description; white space at its ends is dropped.
    pub fn new(text: &str) -> Result<Self, NotADescription> {
        match text.trim() {
            "" => Err(NotADescription::Empty),
            text if text.len() > DESCRIPTION_BYTES_MAX => Err(NotADescription::TooLong(text.len())),
            text => Ok(Self(text.into())),
        }
    }

    /// Returns the whole text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns one line of at most [`HEADLINE_CHARS_MAX`] characters, for questions and lists.
    pub fn headline(&self) -> String {
        headline(&self.0, HEADLINE_CHARS_MAX)
    }
}

impl fmt::Display for Description {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for Description {
    type Error = NotADescription;

    fn try_from(text: String) -> Result<Self, NotADescription> {
        Self::new(&text)
    }
}

impl From<Description> for String {
    fn from(description: Description) -> Self {
        description.as_str().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One character and one megabyte are fine; nothing and more are not, and the refusal says what to do.
    #[test]
    fn descriptions_of_any_sane_length() {
        assert_eq!(Description::new("x").map(|d| d.headline()), Ok("x".into()));
        let whole = "é".repeat(DESCRIPTION_BYTES_MAX / 2);
        let description = Description::new(&whole).unwrap();
        assert_eq!(description.as_str(), whole);
        assert_eq!(description.headline().chars().count(), HEADLINE_CHARS_MAX);
        assert!(description.headline().ends_with("é…"));
        assert_eq!(Description::new(" \n"), Err(NotADescription::Empty));
        let more = "x".repeat(DESCRIPTION_BYTES_MAX + 1);
        assert_eq!(Description::new(&more), Err(NotADescription::TooLong(more.len())));
    }
}
