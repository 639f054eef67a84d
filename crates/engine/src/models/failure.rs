//! Why a model gave no answer.
//!
//! Failures go on record and into logs. So they are words of ours only: what an endpoint sends back may
//! repeat what a person said, and an address may hold a password.

use serde::{Deserialize, Serialize};

/// Why a model gave no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// It took longer than allowed.
    #[error("the model took too long")]
    Timeout,
    /// There was no connection.
    #[error("the endpoint cannot be reached")]
    Unreachable,
    /// The connection ended before the answer did.
    #[error("the connection broke off")]
    BrokenOff,
    /// The endpoint refused, with this HTTP status.
    #[error("the endpoint answered with the HTTP status {0}")]
    Status(u16),
    /// The answer is longer than allowed.
    #[error("the answer is too long")]
    TooLong,
    /// The answer is not what such an endpoint sends.
    #[error("the answer cannot be read: {0}")]
    Malformed(Flaw),
    /// The settings of the model make no client.
    #[error("the model cannot be used: {0}")]
    Unusable(Unusable),
}

/// A failure, and what the endpoint itself says about it. That is for whoever asked, and for no record or log: it may
/// repeat what a person said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// What went wrong.
    pub failure: Failure,
    /// What the endpoint says, in one line.
    pub said: Option<String>,
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Self { failure, said: None }
    }
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.said {
            Some(said) => write!(f, "{}: {said}", self.failure),
            None => write!(f, "{}", self.failure),
        }
    }
}

impl std::error::Error for Trouble {}

impl Failure {
    /// Tells whether to try again makes sense at once.
    pub(crate) fn is_passing(self) -> bool {
        match self {
            Self::Timeout | Self::Unreachable | Self::BrokenOff | Self::TooLong | Self::Malformed(_) => true,
            Self::Status(status) => status >= 500 || status == 408,
            Self::Unusable(_) => false,
        }
    }
}

/// What is wrong with an endpoint's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Flaw {
    /// It is not the JSON of a chat completion.
    #[error("it is no chat completion")]
    NotACompletion,
    /// It is a chat completion without text.
    #[error("it has no text")]
    NoText,
    /// It is the report of an error, in the midst of an answer.
    #[error("it reports an error")]
    Error,
}

/// What is wrong with a model's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Unusable {
    /// `base_url` is no URL.
    #[error("its base_url is no URL")]
    Address,
    /// The variable that `api_key_env` names is not set.
    #[error("the environment variable that its api_key_env names is not set")]
    KeyMissing,
    /// The key holds what a header cannot hold.
    #[error("its key holds characters that cannot be sent")]
    Key,
    /// There are no certificates to trust on this machine.
    #[error("this machine has no certificates to check the endpoint's with")]
    Tls,
    /// This build has no clients.
    #[error("this build has no clients of models: its feature `models` is off")]
    NotBuiltIn,
}

#[cfg(feature = "models")]
impl From<reqwest::Error> for Failure {
    fn from(error: reqwest::Error) -> Self {
        let error = error.without_url();
        tracing::debug!(%error, "a call to a model failed");
        if error.is_timeout() {
            Self::Timeout
        } else if error.is_connect() {
            Self::Unreachable
        } else {
            Self::BrokenOff
        }
    }
}
