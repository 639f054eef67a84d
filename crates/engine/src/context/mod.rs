//! Context: what the model is given for one turn. It comes from the latest session only (M-D1).
//!
//! The order is: persona, skills, the agent's instructions, carry-over, rolling summary, messages. A context is
//! a function of the log and the budget: same state, same bytes. It only reads, the newest messages first and
//! no more of them than it can show and sum up, so that a long session costs no more than a short one.

mod assemble;
mod budget;
mod cache;
mod clip;
mod cut;
mod front;
mod last;
mod layout;
mod rolling;
mod tail;

pub use budget::{Budget, Short};
pub(crate) use cache::{ContextCache, Turned};
pub use front::{Front, Part};
pub(crate) use tail::Item;

use crate::error::Error;
use crate::history::StoredMessage;
use crate::shapes::pair::{Why, is_given_up, pair};
use crate::shapes::{self, Shape};
use segue_core::entry::Seq;
use segue_core::message::{Message, Role};
use segue_core::pins::Model;
use segue_core::segment;
use segue_core::session::Key;
use serde_json::Value;
use std::sync::Arc;

/// What the model is given.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Context {
    /// The session that it comes from.
    pub session: Key,
    /// What stands before the messages, in the host's name.
    pub front: Vec<Front>,
    /// The messages, in order; erased ones are left out, and so is the one that stands in front.
    pub messages: Vec<Arc<StoredMessage>>,
    /// How many older messages are not shown.
    pub older: usize,
    /// How many tokens it takes.
    pub tokens: u64,
    /// How many fit into the model's window.
    pub window: u64,
    /// The model that answers: it alone is given back what it thought.
    pub model: Model,
    /// Where everything comes from, and why it is there.
    pub sources: Vec<Source>,
}

/// Where a part of a context comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The part.
    pub part: Part,
    /// The session.
    pub session: Key,
    /// The segment, where it comes from the log.
    pub segment: Option<segment::Number>,
    /// How many messages it is, or stands for.
    pub messages: usize,
    /// Why it is there.
    pub why: String,
}

/// Why there is no context.
#[derive(Debug, thiserror::Error)]
pub enum Unassembled {
    /// The budget is too small.
    #[error(transparent)]
    Short(#[from] Short),
    /// The session could not be read.
    #[error(transparent)]
    Engine(#[from] Error),
}

impl Context {
    fn has(&self, part: Part) -> bool {
        self.front.iter().any(|front| front.part == part)
    }

    /// Returns everything as messages, in the order in which the model is given them. What a model failed to answer, and was
    /// not asked again, is not among them.
    pub fn said(&self) -> Vec<(Role, Message)> {
        let all = self.all();
        let given_up: Vec<bool> = (0..all.len()).map(|at| is_given_up(&all, at)).collect();
        all.into_iter().zip(given_up).filter(|(_, given_up)| !given_up).map(|(said, _)| said).collect()
    }

    fn all(&self) -> Vec<(Role, Message)> {
        let front = self.front.iter().map(|front| (Role::System, Message::text(front.text.clone())));
        let stored = self.messages.iter();
        let messages = stored.filter_map(|stored| Some((stored.role, stored.message.clone()?)));
        front.chain(messages).collect()
    }

    /// Gives the context in a provider's shape, each call with its result (L-7), and with no reasoning but that of the
    /// session's model.
    pub fn project(&self, shape: Shape) -> Value {
        shapes::project_for(shape, &self.all(), &self.model)
    }

    /// Lists the messages that no shape shows, and why.
    pub fn left_out(&self) -> Vec<(Seq, Why)> {
        let said = self.all();
        let left_out = pair(&said).left_out;
        let message = |at: usize| self.messages.get(at.checked_sub(self.front.len())?);
        left_out.iter().filter_map(|left| Some((message(left.at)?.seq, left.why))).collect()
    }
}
