//! Pairing: every call with its result, and no result without its call (L-7).
//!
//! The rules:
//!
//! - Messages of the person, the agent and the host keep their order. Those without any text are left out.
//! - A result goes to the latest message before it with a call of its id, and stands right behind that
//!   call, even if somebody spoke in between: no provider takes it elsewhere. Some models count their
//!   calls from zero in every turn, therefore the latest.
//! - A result without a call, or before it, is left out. So is a second result of one call: the first one
//!   is what the model has worked with.
//! - A call without a result is never dropped, not even where the agent said nothing else. It gets
//!   [`NO_RESULT`]: the model must know that it tried, or it would send the mail twice.
//! - A message that the model failed to answer is left out once the person has said something else: failed turns would pile
//!   up until nothing fits. The last one stays, it may be asked again. So is half an answer, where another one follows it.
//! - What a model thought goes back to that model only. What another one signed is refused everywhere, so it is left out
//!   of the projection; the log keeps it, and it is shown again if the session goes back to its model.

use super::wire::{self, Ids};
use super::{EMPTY_RESULT, NO_RESULT};
use segue_core::message::{Message, Reasoning, ReplyEnd, Role};
use segue_core::pins::Model;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::fmt;

pub use super::wire::Arguments;

/// Messages, with each result at its call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Paired<'a> {
    /// What was said, in order.
    pub turns: Vec<ShapedMessage<'a>>,
    /// What is not among them, in order.
    pub left_out: Vec<LeftOut>,
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShapedMessage<'a> {
    /// Its place among the messages that were given.
    pub at: usize,
    /// What was said.
    pub said: RoleContent<'a>,
}

/// What was said, and by whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RoleContent<'a> {
    /// By the host.
    System(&'a str),
    /// By the person.
    User(&'a str),
    /// By the agent: a text or calls or both.
    Assistant {
        /// The text; none if it is blank.
        text: Option<&'a str>,
        /// The calls.
        calls: Vec<Call<'a>>,
        /// What the model thought before, as far as it is the model that is asked.
        reasoning: Vec<&'a Reasoning>,
    },
}

/// A call and its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call<'a> {
    /// The id in the log.
    pub logged_id: &'a str,
    /// The id for the provider: no other call has it, and every provider takes it.
    pub id: String,
    /// The name of the tool, with letters that every provider takes.
    pub name: String,
    /// The arguments.
    pub arguments: Arguments,
    /// The result.
    pub result: CallResult<'a>,
}

/// The result of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallResult<'a> {
    /// What the tool said.
    Given(&'a str),
    /// The tool said nothing.
    Empty,
    /// There is no result.
    Missing,
}

impl<'a> CallResult<'a> {
    /// Returns the text that the model is given.
    pub fn text(self) -> &'a str {
        match self {
            Self::Given(text) => text,
            Self::Empty => EMPTY_RESULT,
            Self::Missing => NO_RESULT,
        }
    }
}

/// A message that the model is not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LeftOut {
    /// Its place among the messages that were given.
    pub at: usize,
    /// Why.
    pub why: Why,
}

/// Why a message is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// It says nothing.
    Blank,
    /// It is the result of a call that is not there.
    OrphanResult,
    /// It is the result of a call that comes only later.
    EarlyResult,
    /// The call has a result already.
    SecondResult,
    /// The model failed to answer it, and the person went on.
    Unanswered,
    /// It was cut off, and the model was asked again.
    CutOff,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Blank => "it says nothing",
            Self::OrphanResult => "it is the result of a call that is not there",
            Self::EarlyResult => "it is the result of a call that comes only later",
            Self::SecondResult => "its call has a result already",
            Self::Unanswered => "the model failed to answer it",
            Self::CutOff => "it was cut off, and the model was asked again",
        })
    }
}

/// Pairs calls and results; what models thought is left out.
pub fn pair(messages: &[(Role, Message)]) -> Paired<'_> {
    pair_for(messages, None)
}

/// Pairs calls and results, and keeps what the model that is asked thought itself.
pub(crate) fn pair_for<'a>(messages: &'a [(Role, Message)], model: Option<&'a Model>) -> Paired<'a> {
    let mut pairing = Pairing { last_calls: last_calls(messages), model, ..Pairing::default() };
    for (at, (role, message)) in messages.iter().enumerate() {
        if let Some(why) = failed(messages, at) {
            pairing.leave_out(at, why);
            continue;
        }
        match role {
            Role::User => pairing.text(at, RoleContent::User, &message.text),
            Role::System => pairing.text(at, RoleContent::System, &message.text),
            Role::Assistant => pairing.assistant(at, message),
            Role::Tool => pairing.result(at, message),
        }
    }
    pairing.paired
}

/// Tells whether a message is of an exchange that failed, and not one that may be asked for again.
pub(crate) fn is_given_up(messages: &[(Role, Message)], at: usize) -> bool {
    let is_none = messages.get(at).is_some_and(|(_, message)| message.end == ReplyEnd::Failed);
    is_none || failed(messages, at).is_some()
}

fn failed(messages: &[(Role, Message)], at: usize) -> Option<Why> {
    let (role, message) = messages.get(at)?;
    let mut behind = messages.iter().skip(at + 1).peekable();
    match role {
        Role::Assistant if message.end == ReplyEnd::CutOff => {
            let is_again = |(role, _): &&(Role, Message)| *role == Role::Assistant;
            behind.peek().copied().filter(is_again).map(|_| Why::CutOff)
        }
        Role::User => {
            let is_failure = |(_, message): &&(Role, Message)| message.end == ReplyEnd::Failed;
            behind.peek().filter(|next| is_failure(next))?;
            let (next, _) = behind.find(|said| !is_failure(said))?;
            (*next == Role::User).then_some(Why::Unanswered)
        }
        Role::Assistant | Role::Tool | Role::System => None,
    }
}

/// Finds for every id the place of the last call with it.
fn last_calls(messages: &[(Role, Message)]) -> HashMap<&str, usize> {
    let spoken = messages.iter().enumerate().filter(|(_, (role, _))| *role == Role::Assistant);
    spoken.flat_map(|(at, (_, message))| message.tool_calls.iter().map(move |call| (&*call.id, at))).collect()
}

#[derive(Default)]
struct Pairing<'a> {
    paired: Paired<'a>,
    ids: Ids,
    /// The latest turn so far with a call of an id.
    latest: HashMap<&'a str, usize>,
    last_calls: HashMap<&'a str, usize>,
    model: Option<&'a Model>,
    /// What the model thought, where that is a message of its own: it belongs to what the model says next.
    thought: Vec<&'a Reasoning>,
}

impl<'a> Pairing<'a> {
    fn leave_out(&mut self, at: usize, why: Why) {
        self.paired.left_out.push(LeftOut { at, why });
    }

    fn text(&mut self, at: usize, said: fn(&'a str) -> RoleContent<'a>, text: &'a str) {
        if wire::is_blank(text) {
            self.leave_out(at, Why::Blank);
        } else {
            self.thought.clear();
            self.paired.turns.push(ShapedMessage { at, said: said(text) });
        }
    }

    fn assistant(&mut self, at: usize, message: &'a Message) {
        let text = Some(message.text.as_str()).filter(|text| !wire::is_blank(text));
        let own = |one: &&Reasoning| self.model.is_some_and(|model| model.takes_back(one));
        let mut reasoning = std::mem::take(&mut self.thought);
        reasoning.extend(message.reasoning.iter().filter(own));
        if text.is_none() && message.tool_calls.is_empty() {
            self.thought = reasoning;
            return self.leave_out(at, Why::Blank);
        }
        let mut calls = Vec::with_capacity(message.tool_calls.len());
        for call in &message.tool_calls {
            self.latest.insert(&call.id, self.paired.turns.len());
            calls.push(Call {
                logged_id: &call.id,
                id: self.ids.next(&call.id),
                name: wire::name(&call.name),
                arguments: Arguments::of(&call.arguments),
                result: CallResult::Missing,
            });
        }
        self.paired.turns.push(ShapedMessage { at, said: RoleContent::Assistant { text, calls, reasoning } });
    }

    fn result(&mut self, at: usize, message: &'a Message) {
        // Hosts of models without ids leave them out on both sides.
        let id = message.tool_call_id.as_deref().unwrap_or_default();
        let why = match self.latest.get(id).and_then(|turn| self.paired.turns.get_mut(*turn)) {
            Some(ShapedMessage { said: RoleContent::Assistant { calls, .. }, .. }) => {
                let open = |call: &&mut Call<'_>| call.logged_id == id && call.result == CallResult::Missing;
                if let Some(call) = calls.iter_mut().find(open) {
                    let text = message.text.as_str();
                    call.result =
                        if wire::is_blank(text) { CallResult::Empty } else { CallResult::Given(text) };
                    return;
                }
                Why::SecondResult
            }
            Some(ShapedMessage { said: RoleContent::System(_) | RoleContent::User(_), .. }) | None => {
                let later = self.last_calls.get(id).is_some_and(|call| *call > at);
                if later { Why::EarlyResult } else { Why::OrphanResult }
            }
        };
        self.leave_out(at, why);
    }
}
