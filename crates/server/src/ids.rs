//! Ids of what OpenAI's interface names: completions, responses, items, conversations.

/// Makes an id that nobody has.
#[allow(
    clippy::disallowed_methods,
    reason = "the one place of the server that makes ids; none of them decides anything"
)]
pub(crate) fn fresh() -> uuid::Uuid {
    uuid::Uuid::now_v7()
}
