//! What a model is asked, and what it answers.

use segue_core::message;
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// The longest answer, unless another bound is given.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;

/// How an answer is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// How much chance is in the answer; the endpoint's own idea when it is not said.
    pub temperature: Option<f64>,
    /// How many tokens the answer may have; the endpoint's own idea when it is not said.
    pub tokens_max: Option<u32>,
    /// What the answer looks like.
    pub format: Format,
    /// How many bytes the endpoint's answer may have, all around the text included.
    pub bytes_max: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { temperature: None, tokens_max: None, format: Format::Text, bytes_max: ANSWER_BYTES_MAX }
    }
}

/// What an answer looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    /// Like anything.
    #[default]
    Text,
    /// Like a JSON object, as far as the endpoint can promise it.
    JsonObject,
}

/// Who speaks in what a model is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Who gives the instructions.
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
}

impl From<message::Role> for Role {
    /// An endpoint takes a tool's answer only together with the call, which Segue does not keep: it is
    /// given as what the model was told.
    fn from(role: message::Role) -> Self {
        match role {
            message::Role::User | message::Role::Tool => Self::User,
            message::Role::Assistant => Self::Assistant,
            message::Role::System => Self::System,
        }
    }
}

/// A message that a model is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Message {
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub content: String,
}

impl Message {
    /// Makes a message.
    pub fn new(role: impl Into<Role>, content: impl Into<String>) -> Self {
        Self { role: role.into(), content: content.into() }
    }
}

/// How many tokens a model read and wrote, as it says itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens that it read.
    pub tokens_in: u64,
    /// Tokens that it wrote.
    pub tokens_out: u64,
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.tokens_in = self.tokens_in.saturating_add(other.tokens_in);
        self.tokens_out = self.tokens_out.saturating_add(other.tokens_out);
    }
}

/// The answer of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// What it wrote.
    pub text: String,
    /// What that took.
    pub usage: Usage,
}
