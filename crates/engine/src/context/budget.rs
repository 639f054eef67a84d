//! The budget: how many tokens a context may take, and how they are counted.

use segue_core::message::{Message, Reasoning};
use segue_core::pins::Model;
use segue_signals::context::TokenCounter;
use std::fmt;

/// What a message or a call costs besides its texts, in tokens: its role, its marks and their limits.
const FRAME_TOKENS: u64 = 4;

/// The room that is left for the answer is this part of the window.
const ANSWER_PART: u64 = 8;

/// More than this is not left for the answer, however large the window is.
const ANSWER_TOKENS_MAX: u64 = 32_000;

/// The room that is kept for the rolling summary is this part of what is left for messages.
const SUMMARY_PART: u64 = 8;

/// More than this is not kept for the rolling summary.
const SUMMARY_TOKENS_MAX: u64 = 1_500;

/// How many tokens a context may take.
#[derive(Clone, Copy)]
pub struct Budget<'a> {
    /// How many fit into the model's window.
    pub window: u64,
    /// How many of them are left for the answer.
    pub answer: u64,
    /// Who counts.
    pub counter: &'a dyn TokenCounter,
    /// The model that answers, once that is known: what it thought is shown to it, and takes room.
    pub model: Option<&'a Model>,
}

impl fmt::Debug for Budget<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { window, answer, counter: _, model: _ } = self;
        f.debug_struct("Budget").field("window", window).field("answer", answer).finish_non_exhaustive()
    }
}

impl<'a> Budget<'a> {
    /// Makes the budget of a window; an eighth of it is left for the answer.
    ///
    /// ```
    /// use segue_engine::context::Budget;
    /// use segue_signals::context::EstimatedTokens;
    /// let budget = Budget::of_window(8_000, &EstimatedTokens);
    /// assert_eq!((budget.answer, budget.room()), (1_000, 7_000));
    /// ```
    pub fn of_window(window: u64, counter: &'a dyn TokenCounter) -> Self {
        Self { window, answer: (window / ANSWER_PART).min(ANSWER_TOKENS_MAX), counter, model: None }
    }

    /// Returns how many tokens the context may take.
    pub fn room(&self) -> u64 {
        self.window.saturating_sub(self.answer)
    }

    /// Says that something does not fit.
    pub(super) fn short(&self, what: String, needed: u64) -> Short {
        Short { what, needed, room: self.room(), window: self.window }
    }

    /// Counts a text that is a message of its own.
    pub(crate) fn text(&self, text: &str) -> u64 {
        self.counter.count(text) + FRAME_TOKENS
    }

    /// Counts a message with its calls.
    pub(crate) fn message(&self, message: &Message) -> u64 {
        let count = |text: &str| self.counter.count(text);
        let calls = message.tool_calls.iter();
        let calls = calls.map(|call| {
            // The id stands at the call and once more at its result, which may have to be made up.
            2 * count(&call.id) + count(&call.name) + count(&call.arguments) + 2 * FRAME_TOKENS
        });
        self.text(&message.text) + calls.sum::<u64>() + self.reasoning(message)
    }

    /// Counts what the model is given back of its reasoning in a message.
    pub(super) fn reasoning(&self, message: &Message) -> u64 {
        let count = |text: &str| self.counter.count(text);
        let shown = message.reasoning.iter().filter(|one| self.gives_back(one));
        shown.map(|one| count(&one.text) + count(&one.signature) + FRAME_TOKENS).sum()
    }

    /// Tells whether the model is given a block of reasoning back.
    pub(super) fn gives_back(&self, one: &Reasoning) -> bool {
        self.model.is_some_and(|model| model.takes_back(one))
    }
}

/// How the room behind the fixed parts is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Room {
    /// For messages.
    pub(super) messages: u64,
    /// For the rolling summary. It is kept free also where there is none: else the first summary would
    /// push messages out.
    pub(super) summary: u64,
}

impl Room {
    pub(super) fn of(left: u64) -> Self {
        let summary = (left / SUMMARY_PART).min(SUMMARY_TOKENS_MAX);
        Self { messages: left - summary, summary }
    }
}

/// The budget is smaller than what must be in the context.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the context does not fit: it needs {needed} tokens for {what}, {over} more than the {room} that a window of \
     {window} leaves beside the answer; use a larger window or shorten what is there",
    over = needed.saturating_sub(*room)
)]
pub struct Short {
    /// What must be there.
    pub what: String,
    /// How many tokens that takes.
    pub needed: u64,
    /// How many there are.
    pub room: u64,
    /// The window.
    pub window: u64,
}

impl Short {
    /// Returns how many tokens are missing.
    pub fn over(&self) -> u64 {
        self.needed.saturating_sub(self.room)
    }
}
