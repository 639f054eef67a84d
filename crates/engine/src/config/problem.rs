//! What is wrong with a configuration, one sentence each, with what to do next.

use super::origin::Place;
use super::schema::Hint;
use crate::route::LinkError;
use segue_core::scope;
use std::fmt;

/// An error in a configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// A file is not TOML.
    #[error("{place} is not valid TOML ({message}): correct the line.")]
    Syntax {
        /// Where.
        place: Place,
        /// What the parser says.
        message: String,
    },
    /// There is no such key.
    #[error("`{key}` ({place}) is not a setting: {}", next(hint))]
    UnknownKey {
        /// The key.
        key: String,
        /// Where it stands.
        place: Place,
        /// What was probably meant.
        hint: Hint,
    },
    /// A value stands where a table must stand.
    #[error("`{key}` ({place}) is a table of settings: write it as [{key}] with its settings below.")]
    NotATable {
        /// The key.
        key: String,
        /// Where it stands.
        place: Place,
    },
    /// A value that the key cannot have.
    #[error("`{key}` ({place}) cannot be {given}: {allowed}.")]
    Value {
        /// The key.
        key: String,
        /// Where it stands.
        place: Place,
        /// The value, as TOML.
        given: String,
        /// What to write instead.
        allowed: String,
    },
    /// A time zone that does not exist, but nearly.
    #[error("`{key}` ({place}) cannot be {given}: there is no such time zone; did you mean \"{near}\"?")]
    TimeZone {
        /// The key.
        key: String,
        /// Where it stands.
        place: Place,
        /// The value, as TOML.
        given: String,
        /// The time zone that was probably meant.
        near: String,
    },
    /// Two settings that cannot both be.
    #[error("`{key}` is {value} ({place}) and `{other}` is {other_value}: {rule}.")]
    Contradiction {
        /// The one.
        key: String,
        /// Its value, as TOML.
        value: String,
        /// Where it stands.
        place: Place,
        /// The other one.
        other: String,
        /// Its value, as TOML.
        other_value: String,
        /// What must hold.
        rule: String,
    },
    /// A key that its neighbours need.
    #[error("`{key}` is missing, and {because} ({place}): add it.")]
    Missing {
        /// The key.
        key: String,
        /// What needs it.
        because: String,
        /// Where that stands.
        place: Place,
    },
    /// Settings for something that is not a scope.
    #[error("`{key}` ({place}) names no scope: {why}; `segue scopes` lists the scopes there are.")]
    Scope {
        /// The key.
        key: String,
        /// Where it stands.
        place: Place,
        /// Why not.
        why: scope::KeyError,
    },
    /// Settings for nobody.
    #[error("`{key}` ({place}) names nobody: use the name of an identity link, or \"channel:peer\".")]
    User {
        /// The key.
        key: String,
        /// Where it stands.
        place: Place,
    },
    /// Settings for one person under two names.
    #[error("`{key}` ({place}) and `{other}` are the same person: put the settings into one table.")]
    SameUser {
        /// The key.
        key: String,
        /// Where it stands.
        place: Place,
        /// The other key.
        other: String,
    },
    /// An identity link that cannot be.
    #[error("`session.identity_links` ({place}): {why}.")]
    Link {
        /// Where it stands.
        place: Place,
        /// Why not.
        why: LinkError,
    },
}

impl Problem {
    /// Tells where the problem is.
    pub fn place(&self) -> &Place {
        match self {
            Self::Syntax { place, .. }
            | Self::UnknownKey { place, .. }
            | Self::NotATable { place, .. }
            | Self::Value { place, .. }
            | Self::TimeZone { place, .. }
            | Self::Contradiction { place, .. }
            | Self::Missing { place, .. }
            | Self::Scope { place, .. }
            | Self::User { place, .. }
            | Self::SameUser { place, .. }
            | Self::Link { place, .. } => place,
        }
    }
}

fn next(hint: &Hint) -> String {
    match hint {
        Hint::DidYouMean(key) => format!("did you mean `{key}`?"),
        Hint::ForEveryone(key) => {
            format!("one scope or person cannot have its own `{key}`; set it for everyone.")
        }
        Hint::None => "remove it, or see `segue config show` for all there are.".to_owned(),
    }
}

/// All that is wrong with a configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problems(pub Vec<Problem>);

impl Problems {
    /// Puts the problems into the order in which a reader of the files meets them.
    pub(super) fn new(mut problems: Vec<Problem>) -> Self {
        problems.sort_by_key(|problem| problem.place().order());
        Self(problems)
    }
}

impl fmt::Display for Problems {
    /// Writes one problem a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, problem) in self.0.iter().enumerate() {
            let line_end = if i == 0 { "" } else { "\n" };
            write!(f, "{line_end}{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}

/// Something odd in a configuration that does not stop anything.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Warning {
    /// A backlog limit that is not one (P-8).
    #[error("`{key}` ({place}) cannot be {given}: 20 is used instead; write a whole number from 1 up.")]
    Backlog {
        /// The key.
        key: String,
        /// Where it stands.
        place: Place,
        /// The value, as TOML.
        given: String,
    },
    /// A variable that begins like ours and is none of ours.
    #[error("{0} is not a setting of Segue and does nothing: unset it, or see `segue config show`.")]
    Variable(String),
    /// Settings that a folder may not decide before it is trusted.
    #[error("{place} may not set {}: `segue trust DIR` lets the file of a folder decide.", .keys.join(", "))]
    Untrusted {
        /// The keys.
        keys: Vec<String>,
        /// The file.
        place: Place,
    },
    /// A model that is not configured.
    #[error("`{key}` ({place}) names the model `{name}`, which is not there: add [models.{name}].")]
    Model {
        /// The key.
        key: String,
        /// Where it stands.
        place: Place,
        /// The model.
        name: String,
    },
}
