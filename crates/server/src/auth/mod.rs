//! Who may: tokens, what they see, and what they may do.

mod admission;
mod guard;
mod rate;
mod tokens;

pub(crate) use admission::{Admission, Ended, look};
pub(crate) use guard::{Access, TokensKnown, guard};
pub(crate) use rate::Rates;
pub use tokens::{NewToken, Token, TokenError, Tokens};

use crate::problem::{Problem, no_scope};
use segue_core::scope;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What a token may do. Each right includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Right {
    /// Look.
    Read,
    /// Speak, and move sessions.
    Write,
    /// Erase.
    Admin,
}

impl Right {
    /// All rights.
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Admin];

    /// Returns the right's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Admin => "admin",
        }
    }
}

/// Who asks.
#[derive(Debug, Clone)]
pub enum Caller {
    /// Nobody has made a token, and the server listens on loopback only.
    Local,
    /// The holder of a token.
    Holder(Arc<Token>),
}

impl Caller {
    /// Tells whether a scope may be known of.
    pub fn sees(&self, scope: &str) -> bool {
        match self {
            Self::Local => true,
            Self::Holder(token) => token.covers(scope),
        }
    }

    /// Refuses with "not there" what the caller may not know of.
    pub fn check(&self, scope: &scope::Key) -> Result<(), Problem> {
        if self.sees(scope.as_str()) { Ok(()) } else { Err(no_scope(scope)) }
    }

    /// Refuses what the caller's token does not allow.
    pub fn may(&self, right: Right) -> Result<(), Problem> {
        match self {
            Self::Holder(token) if token.rights < right => {
                let detail = format!("the token may {}, this needs {}", token.rights.name(), right.name());
                Err(Problem::forbidden(detail))
            }
            Self::Local | Self::Holder(_) => Ok(()),
        }
    }

    /// Returns the token's id, for limits, or nothing without one.
    pub fn id(&self) -> &str {
        match self {
            Self::Local => "",
            Self::Holder(token) => &token.id,
        }
    }

    /// Returns what is put in front of a scope that a client did not choose as such, so that two tenants with a user
    /// of the same name never share one.
    pub fn home(&self) -> &str {
        match self {
            Self::Local => "",
            Self::Holder(token) => token.scopes.first().map_or("", String::as_str),
        }
    }
}
