//! Shapes: the same messages, as each provider's interface takes them.
//!
//! A shape is a projection. It reads messages and gives JSON, and it changes nothing: the log stays as it
//! is whichever model is asked. Same messages, same bytes.
//!
//! [`pair`] comes first and settles which result belongs to which call (L-7). The shapes then cannot show
//! one without the other.

pub mod anthropic;
pub mod openai_chat;
pub mod openai_responses;
pub mod pair;
mod wire;

use pair::Paired;
use segue_core::message::{Message, Role};
use segue_core::pins::Model;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// Stands for a conversation in which nothing was said, since no provider takes an empty one.
pub const NOTHING_SAID: &str = "[no message yet]";

/// Stands for the result of a call that has none.
pub const NO_RESULT: &str = "[no result: interrupted]";

/// Stands for a result that says nothing.
pub const EMPTY_RESULT: &str = "[empty result]";

/// A provider's interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Shape {
    /// OpenAI's chat completions, and the many servers that speak like it.
    #[serde(rename = "openai_chat")]
    OpenAiChat,
    /// OpenAI's responses.
    #[serde(rename = "openai_responses")]
    OpenAiResponses,
    /// Anthropic's messages.
    Anthropic,
}

impl Shape {
    /// All shapes.
    pub const ALL: [Self; 3] = [Self::OpenAiChat, Self::OpenAiResponses, Self::Anthropic];

    /// Returns the shape's name, as it stands in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai_chat",
            Self::OpenAiResponses => "openai_responses",
            Self::Anthropic => "anthropic",
        }
    }

    /// Finds a shape by its name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|shape| shape.name() == name)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Gives messages in a provider's shape: an object with the fields of the request that hold them. What models thought is
/// left out; [`project_for`] shows a model its own.
pub fn project(shape: Shape, messages: &[(Role, Message)]) -> Value {
    of_paired(shape, &pair::pair(messages))
}

/// The same for the model that is asked: reasoning of its own is shown to it, in the shape that it came in. What another
/// model signed is left out, since providers refuse it.
pub fn project_for(shape: Shape, messages: &[(Role, Message)], model: &Model) -> Value {
    of_paired(shape, &pair::pair_for(messages, Some(model)))
}

/// Gives paired messages in a provider's shape.
pub fn of_paired(shape: Shape, paired: &Paired<'_>) -> Value {
    match shape {
        Shape::OpenAiChat => openai_chat::project(paired),
        Shape::OpenAiResponses => openai_responses::project(paired),
        Shape::Anthropic => anthropic::project(paired),
    }
}
