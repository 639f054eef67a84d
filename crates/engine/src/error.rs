//! What can go wrong on the road of a message, by what the host can do about it.

use crate::words::Trouble;
use segue_core::scope;

/// Why a message was not taken. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The message is longer than allowed.
    #[error("the message has {bytes} bytes, at most {max} are taken; nothing was stored")]
    TooLong {
        /// How long it is.
        bytes: usize,
        /// How long it may be (`limits.message_bytes_max`).
        max: usize,
    },
    /// The channel's id of the message is longer than allowed.
    #[error("the message id has {bytes} bytes, at most {max} are taken; nothing was stored")]
    IdTooLong {
        /// How long it is.
        bytes: usize,
        /// How long it may be (`limits.message_id_bytes_max`).
        max: usize,
    },
    /// There is nothing in the message.
    #[error("the message is empty; nothing was stored")]
    Empty,
    /// The channel gave the person a blank id.
    #[error(
        "the id of the peer on {channel} is blank, and two people with blank ids would share a conversation; nothing was \
         stored. `session.blank_peer = \"main\"` takes such messages into the main conversation"
    )]
    BlankPeer {
        /// The channel.
        channel: String,
    },
    /// A recall without a query.
    #[error("there is nothing to look for: a recall needs a query")]
    NoQuery,
    /// A recall without a reason.
    #[error("a recall needs a rationale: say why earlier sessions are looked into")]
    NoRationale,
    /// Others keep writing to the scope. Try again.
    #[error("{scope} is written to by others all the time; nothing was stored, try again")]
    Busy {
        /// The scope.
        scope: scope::Key,
    },
    /// There is no such scope.
    #[error("there is no scope {scope}; `segue scopes` lists them")]
    NoScope {
        /// The scope.
        scope: scope::Key,
    },
    /// What a session is pinned to cannot be read.
    #[error("{what} of session {session} cannot be read: {why}; {anew} takes it in anew", what = what)]
    Pins {
        /// The session.
        session: segue_core::session::Key,
        /// What.
        what: &'static str,
        /// Why.
        why: String,
        /// The command that takes it in anew.
        anew: &'static str,
    },
    /// The rules refuse it.
    #[error(transparent)]
    Refused(#[from] segue_core::refusal::Refusal),
    /// The store did not do what it was asked.
    #[error(transparent)]
    Store(#[from] segue_store::Error),
}

impl Error {
    /// Returns what to tell the user about it, to be told in any language.
    pub fn trouble(&self) -> Trouble {
        match self {
            Self::TooLong { bytes, max } => Trouble::TooLong { bytes: *bytes, bytes_max: *max },
            Self::Empty => Trouble::Empty,
            Self::Busy { .. } => Trouble::Busy,
            Self::Store(segue_store::Error::Unknown { .. }) => Trouble::Unknown,
            Self::NoQuery
            | Self::NoRationale
            | Self::IdTooLong { .. }
            | Self::BlankPeer { .. }
            | Self::NoScope { .. }
            | Self::Pins { .. }
            | Self::Refused(_)
            | Self::Store(_) => Trouble::Failed,
        }
    }
}
