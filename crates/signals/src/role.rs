//! Who speaks.

/// Who wrote a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The person.
    User,
    /// The agent.
    Assistant,
    /// The host; not part of the conversation's topic.
    System,
    /// A tool's result; not part of the conversation's topic.
    Tool,
}
