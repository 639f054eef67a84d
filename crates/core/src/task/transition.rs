//! Where a task may go (C-1), as a table. The table and the diagram in `docs/tasks.md` are written from it.

use crate::task::state::StateName;
use std::fmt;

words! {
    /// What moves a task.
    Trigger {
        /// A task is given.
        Start = "start",
        /// The agent asks.
        Ask = "ask",
        /// The person answers.
        Respond = "respond",
        /// The person speaks while the agent works.
        Interrupt = "interrupt",
        /// The agent has taken in what was said.
        Incorporate = "incorporate",
        /// The agent thinks that it is done.
        Finish = "finish",
        /// The person says that it is done.
        Confirm = "confirm",
        /// The person wants more.
        Request = "request",
        /// Somebody gives up.
        Abort = "abort",
    }
}

/// A transition that is allowed. What is not in the table is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    /// From where.
    pub from: StateName,
    /// To where.
    pub to: StateName,
    /// What moves it.
    pub trigger: Trigger,
    /// What is stored with it, in the same transaction.
    pub stores: &'static str,
    /// Why it is there.
    pub why: &'static str,
}

const fn row(
    from: StateName,
    to: StateName,
    trigger: Trigger,
    stores: &'static str,
    why: &'static str,
) -> Transition {
    Transition { from, to, trigger, stores, why }
}

const GIVEN_UP: &str = "the reason; a canonical commit, unless nothing was done and another task begins";

/// The transitions.
pub const TRANSITIONS: &[Transition] = &[
    row(
        StateName::None,
        StateName::Running,
        Trigger::Start,
        "the description and the time; an empty staging pointer",
        "a task begins when somebody gives one",
    ),
    row(
        StateName::Running,
        StateName::AwaitingUser,
        Trigger::Ask,
        "a work commit of what was staged; a note with the question; the question and the time",
        "a crash right after it loses neither the question nor the work (C-2)",
    ),
    row(
        StateName::Running,
        StateName::Interrupted,
        Trigger::Interrupt,
        "a work commit of what was staged; a note of the intervention; the message, queued",
        "nothing that is said is dropped; more messages queue behind it in order (C-4)",
    ),
    row(
        StateName::Running,
        StateName::PendingComplete,
        Trigger::Finish,
        "a work commit of what was staged; the summary",
        "the agent thinks that it is done, the person decides",
    ),
    row(
        StateName::Running,
        StateName::Aborted,
        Trigger::Abort,
        GIVEN_UP,
        "work can be given up at any time, and what was done is kept",
    ),
    row(
        StateName::AwaitingUser,
        StateName::Running,
        Trigger::Respond,
        "a note of the response; a relation from the response to the task",
        "the answer is part of the task's history (C-3)",
    ),
    row(
        StateName::AwaitingUser,
        StateName::Aborted,
        Trigger::Abort,
        "the reason; a canonical commit as above, with the question left open",
        "a question that nobody answers must not hold the task for ever",
    ),
    row(
        StateName::Interrupted,
        StateName::Running,
        Trigger::Incorporate,
        "the queue is emptied: each message was given to the agent once",
        "the agent has read what was said and goes on",
    ),
    row(
        StateName::Interrupted,
        StateName::Aborted,
        Trigger::Abort,
        GIVEN_UP,
        "what was said may be that it should stop",
    ),
    row(
        StateName::PendingComplete,
        StateName::Complete,
        Trigger::Confirm,
        "a note that the person confirmed; a canonical commit",
        "only the person's word completes a task (C-5)",
    ),
    row(
        StateName::PendingComplete,
        StateName::Running,
        Trigger::Request,
        "a note of the request",
        "\"not quite, also ...\" is the same task (C-5)",
    ),
    row(
        StateName::PendingComplete,
        StateName::Aborted,
        Trigger::Abort,
        GIVEN_UP,
        "a result that nobody wants can be given up",
    ),
];

/// Finds the transition from one state to another.
pub fn find(from: StateName, to: StateName) -> Option<&'static Transition> {
    TRANSITIONS.iter().find(|row| row.from == from && row.to == to)
}

/// Lists where a task may go from a state, in the order of the table.
pub fn allowed(from: StateName) -> impl Iterator<Item = StateName> {
    TRANSITIONS.iter().filter(move |row| row.from == from).map(|row| row.to)
}

/// Tells whether a task may go from one state to another.
///
/// ```
/// use segue_core::task::{state::StateName, transition};
/// assert!(transition::check(StateName::Running, StateName::AwaitingUser).is_ok());
/// let refused = transition::check(StateName::AwaitingUser, StateName::Complete).unwrap_err();
/// assert_eq!(
///     refused.to_string(),
///     "a task cannot go from awaiting_user to complete: from awaiting_user it can go to running or aborted; \
///      the person's answer to the question makes it running"
/// );
/// ```
pub fn check(from: StateName, to: StateName) -> Result<(), Forbidden> {
    find(from, to).map(drop).ok_or_else(|| Forbidden::new(from, to))
}

/// A transition that is refused. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Forbidden {
    /// From where.
    pub from: StateName,
    /// To where.
    pub to: StateName,
    /// Where it may go instead.
    pub allowed: Vec<StateName>,
}

impl Forbidden {
    /// Makes the refusal of a transition.
    pub fn new(from: StateName, to: StateName) -> Self {
        Self { from, to, allowed: allowed(from).collect() }
    }
}

impl fmt::Display for Forbidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { from, to, allowed } = self;
        write!(f, "a task cannot go from {from} to {to}: ")?;
        let Some((last, others)) = allowed.split_last() else {
            return write!(f, "{from} is final, and nothing is allowed after it; start a new task");
        };
        write!(f, "from {from} it can go to ")?;
        for (n, state) in others.iter().enumerate() {
            write!(f, "{}{state}", if n == 0 { "" } else { ", " })?;
        }
        write!(f, "{}{last}", if others.is_empty() { "" } else { " or " })?;
        f.write_str(match from {
            StateName::AwaitingUser => "; the person's answer to the question makes it running",
            StateName::Interrupted => {
                "; `task incorporate` takes what was said meanwhile and makes it running"
            }
            StateName::PendingComplete => "; the person confirms it, or asks for more",
            StateName::None => "; `task start` begins one",
            StateName::Running | StateName::Complete | StateName::Aborted => "",
        })
    }
}
