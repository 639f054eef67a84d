//! What a set's labels say about each of the two questions.

use super::data::{Meaning, Turn};
use crate::boundary::Output;

/// The right answer for a turn, or nothing where the set does not know it.
#[must_use]
pub fn label(output: Output, meaning: Meaning, turn: &Turn) -> Option<bool> {
    let begins = turn.boundary == 1;
    match (output, meaning) {
        (Output::Session, Meaning::Session) => Some(begins),
        // Another task or topic inside one conversation is no new conversation.
        (Output::Session, Meaning::Task | Meaning::Topic) => Some(false),
        (Output::Task, Meaning::Task) => Some(begins),
        // A set that labels both questions knows; an unrelated conversation is another task too.
        (Output::Task, Meaning::Session) => turn.task_switch.map(|switch| switch == 1 || begins),
        (Output::Task, Meaning::Topic) => None,
    }
}
