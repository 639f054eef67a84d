//! Messages: what people, agents, tools and systems say.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The person.
    User,
    /// The agent.
    Assistant,
    /// A tool, answering a call of the agent.
    Tool,
    /// The host: heartbeats, cron, instructions.
    System,
}

impl Role {
    /// All roles.
    pub const ALL: [Self; 4] = [Self::User, Self::Assistant, Self::Tool, Self::System];

    /// Returns the role's name, as it stands in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::System => "system",
        }
    }

    /// Finds a role by its name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.name() == name)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The id that a channel gave to a message; a second delivery carries the same one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct MessageId(pub String);

/// A call of a tool by the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The id that the result will carry.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments, as the model wrote them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub arguments: String,
}

/// What a model thought before it spoke. It is no part of what was said: only the model that made it is given it back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reasoning {
    /// Whose interface it comes from.
    pub form: ReasoningForm,
    /// The thoughts, or a summary of them, where the provider shows any.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// What the provider knows its own by: a signature, or the thoughts themselves in a form that only it can read.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub signature: String,
    /// The provider's id of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The model that made it, as its provider calls it.
    pub model: String,
}

/// Whose interface reasoning comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningForm {
    /// A block of Anthropic's, with its text and a signature.
    Thinking,
    /// A block of Anthropic's that nobody else can read.
    Redacted,
    /// An item of OpenAI's responses.
    Item,
}

/// How many tokens a reply took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens that the model read.
    pub tokens_in: u64,
    /// Tokens of them that it had in its cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tokens_cached: u64,
    /// Tokens that it wrote.
    pub tokens_out: u64,
    /// Tokens of them that it thought.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tokens_reasoning: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// How a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplyEnd {
    /// As it should.
    #[default]
    Whole,
    /// Before it was whole: the model broke off, or somebody stopped it.
    CutOff,
    /// Before it began. The reply has no text then: it says that the message before it got no answer.
    Failed,
}

impl ReplyEnd {
    /// Tells whether nothing is missing.
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub fn is_whole(&self) -> bool {
        *self == Self::Whole
    }
}

/// A message, without its role, which is the kind of its entry.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Message {
    /// What was said.
    pub text: String,
    /// The time stamp that it came with, where the scope had seen a later one already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given_at: Option<crate::Timestamp>,
    /// The channel's id of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// Who said it, where several people share a scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<String>,
    /// The person who said it, as `channel:peer`, where the scope's key does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// The call that a tool's message answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The calls that the agent makes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// What the model thought before it said this.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasoning: Vec<Reasoning>,
    /// The model that said this, as its provider calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What it took, if the provider said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// How a reply ended.
    #[serde(default, skip_serializing_if = "ReplyEnd::is_whole")]
    pub end: ReplyEnd,
    /// The session that this is a summary of, carried over from there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carried_from: Option<crate::session::Number>,
}

impl Message {
    /// Makes a message of a text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Makes a reply that says that there is none: the model failed.
    pub fn failed() -> Self {
        Self { end: ReplyEnd::Failed, ..Self::default() }
    }

    /// Returns how many bytes it carries: its text, its calls with their arguments, its reasoning and its ids.
    pub fn bytes(&self) -> usize {
        let of = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let calls = self.tool_calls.iter().map(|call| call.id.len() + call.name.len() + call.arguments.len());
        let reasoning = self.reasoning.iter();
        let reasoning =
            reasoning.map(|one| one.text.len() + one.signature.len() + of(&one.id) + one.model.len());
        let id = self.message_id.as_ref().map_or(0, |id| id.0.len());
        let ids = id + of(&self.sender) + of(&self.author) + of(&self.tool_call_id) + of(&self.model);
        self.text.len() + calls.sum::<usize>() + reasoning.sum::<usize>() + ids
    }
}
