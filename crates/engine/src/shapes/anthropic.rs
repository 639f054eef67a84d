//! Anthropic's messages: the system apart, and the person and the agent in turns.
//!
//! - What the host says before anybody else becomes `system`. What it says later stays in its place, in the
//!   person's turn behind [`HOST_SAYS`]: at the top it would change the beginning of the context, and every
//!   turn would cost as much as the first.
//! - Neighbours of one role become one message with several blocks. Results are the first blocks of the
//!   message after their calls.
//! - The first and the last message are the person's, as the interface asks; newer models refuse to go on
//!   from an agent's message. Where the person did not speak, a mark in brackets stands there.

use super::NOTHING_SAID;
use super::pair::{Call, CallResult, Paired, RoleContent};
use segue_core::message::{Reasoning, ReasoningForm};
use serde_json::{Map, Value, json};

/// Stands before what the host says in the middle of a conversation.
pub const HOST_SAYS: &str = "[from the system, not from the user]\n";

/// Stands for the person at the beginning, where the agent spoke first.
pub const BEGINNING: &str = "[earlier messages are not shown]";

/// Stands for the person at the end, where the agent spoke last.
pub const END: &str = "[no new message]";

#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaker {
    User,
    Assistant,
}

impl Speaker {
    fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// Messages in which the speakers take turns.
#[derive(Default)]
struct Dialogue(Vec<(Speaker, Vec<Value>)>);

impl Dialogue {
    fn say(&mut self, speaker: Speaker, block: Value) {
        if self.0.is_empty() && speaker == Speaker::Assistant {
            self.0.push((Speaker::User, vec![text(BEGINNING)]));
        }
        match self.0.last_mut() {
            Some((last, blocks)) if *last == speaker => blocks.push(block),
            Some(_) | None => self.0.push((speaker, vec![block])),
        }
    }

    fn ends_with(&self, speaker: Speaker) -> bool {
        self.0.last().is_some_and(|(last, _)| *last == speaker)
    }
}

/// Gives messages as `{"system": [...], "messages": [...]}`; without `system` where the host said nothing.
pub fn project(paired: &Paired<'_>) -> Value {
    let mut system = Vec::new();
    let mut dialogue = Dialogue::default();
    for turn in &paired.turns {
        match &turn.said {
            RoleContent::System(said) if dialogue.0.is_empty() => system.push(text(said)),
            RoleContent::System(said) => dialogue.say(Speaker::User, text(&format!("{HOST_SAYS}{said}"))),
            RoleContent::User(said) => dialogue.say(Speaker::User, text(said)),
            RoleContent::Assistant { text: said, calls, reasoning } => {
                // Thoughts stand at the beginning of the agent's turn or nowhere.
                if !dialogue.ends_with(Speaker::Assistant) {
                    let thoughts = reasoning.iter().filter_map(|one| thought(one));
                    thoughts.for_each(|one| dialogue.say(Speaker::Assistant, one));
                }
                said.iter().for_each(|said| dialogue.say(Speaker::Assistant, text(said)));
                calls.iter().for_each(|one| dialogue.say(Speaker::Assistant, call(one)));
                calls.iter().for_each(|one| dialogue.say(Speaker::User, result(one)));
            }
        }
    }
    if dialogue.0.is_empty() {
        dialogue.say(Speaker::User, text(NOTHING_SAID));
    } else if dialogue.ends_with(Speaker::Assistant) {
        dialogue.say(Speaker::User, text(END));
    }
    let message =
        |(speaker, blocks): (Speaker, Vec<Value>)| json!({"role": speaker.name(), "content": blocks});
    let messages: Vec<Value> = dialogue.0.into_iter().map(message).collect();
    let mut request = Map::new();
    if !system.is_empty() {
        request.insert("system".to_owned(), Value::Array(system));
    }
    request.insert("messages".to_owned(), Value::Array(messages));
    Value::Object(request)
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn thought(one: &Reasoning) -> Option<Value> {
    match one.form {
        ReasoningForm::Thinking => {
            Some(json!({"type": "thinking", "thinking": one.text, "signature": one.signature}))
        }
        ReasoningForm::Redacted => Some(json!({"type": "redacted_thinking", "data": one.signature})),
        ReasoningForm::Item => None,
    }
}

fn call(call: &Call<'_>) -> Value {
    json!({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments.object()})
}

fn result(call: &Call<'_>) -> Value {
    let said = call.result.text();
    match call.result {
        CallResult::Given(_) | CallResult::Empty => {
            json!({"type": "tool_result", "tool_use_id": call.id, "content": said})
        }
        CallResult::Missing => {
            json!({"type": "tool_result", "tool_use_id": call.id, "content": said, "is_error": true})
        }
    }
}
