//! What a message of the person does to a task (C-9, C-10), as a total table: the first row that covers it decides.
//! The table in `docs/tasks.md` is written from it.

use crate::task::canonical::CommitKind;
use crate::task::state::StateName;
use std::fmt;

words! {
    /// What a message is, for the task.
    MessageIntent {
        /// An answer to the pending question.
        Response = "response",
        /// A change to the task.
        Modification = "modification",
        /// The word that the task is done.
        Confirmation = "confirmation",
        /// Another task.
        NewTask = "new_task",
        /// The end of the task, undone.
        Abandon = "abandon",
        /// It cannot be told.
        Unclear = "unclear",
    }
}

impl MessageIntent {
    /// Reads the letter of 001's prompt; any other text is unclear.
    pub fn lettered(letter: &str) -> Self {
        match letter.trim() {
            "A" => Self::Response,
            "B" => Self::Modification,
            "C" => Self::Confirmation,
            "D" => Self::NewTask,
            "E" => Self::Abandon,
            _ => Self::Unclear,
        }
    }
}

words! {
    /// Whether something was done that must not be thrown away.
    Work {
        /// Yes.
        Meaningful = "meaningful",
        /// No.
        None = "none",
    }
}

impl Work {
    /// Makes it of an answer to `has_meaningful_work`.
    pub fn of(has_meaningful_work: bool) -> Self {
        if has_meaningful_work { Self::Meaningful } else { Self::None }
    }
}

/// What is done with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TaskMove {
    /// It answers the question, and the work goes on (C-3).
    Respond,
    /// It interrupts: it is queued for the agent's next check (C-4).
    Queue,
    /// It is noted as a request, and the work goes on (C-5).
    Continue,
    /// The task is complete; a canonical commit is made (C-5).
    CompleteAndCompact,
    /// A canonical commit is made of the open task, then the message starts another one (C-10).
    CompactAndStart(CommitKind),
    /// The message starts a task. An open one without meaningful work ends without a commit (C-10).
    Start,
    /// The task is given up; a canonical commit is made of what there is.
    AbandonAndCompact,
    /// The person is asked which it is.
    Ask,
    /// The agent acknowledges it, and nothing changes.
    Acknowledge,
    /// There is no open task: the message is none of its business.
    Pass,
}

impl TaskMove {
    /// Returns the word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Respond => "respond",
            Self::Queue => "queue",
            Self::Continue => "continue",
            Self::CompleteAndCompact => "complete_and_compact",
            Self::CompactAndStart(_) => "compact_and_start",
            Self::Start => "start",
            Self::AbandonAndCompact => "abandon_and_compact",
            Self::Ask => "ask",
            Self::Acknowledge => "acknowledge",
            Self::Pass => "pass",
        }
    }

    /// Returns the state in which the open task ends, if this ends it.
    pub fn ends_as(self) -> Option<StateName> {
        match self {
            Self::CompleteAndCompact => Some(StateName::Complete),
            Self::CompactAndStart(_) | Self::Start | Self::AbandonAndCompact => Some(StateName::Aborted),
            Self::Respond | Self::Queue | Self::Continue | Self::Ask | Self::Acknowledge | Self::Pass => None,
        }
    }

    /// Returns the kind of the canonical commit that is made, if one is.
    pub fn commit(self) -> Option<CommitKind> {
        match self {
            Self::CompleteAndCompact => Some(CommitKind::Normal),
            Self::CompactAndStart(kind) => Some(kind),
            Self::AbandonAndCompact => Some(CommitKind::Abandoned),
            Self::Respond | Self::Queue | Self::Continue | Self::Start => None,
            Self::Ask | Self::Acknowledge | Self::Pass => None,
        }
    }

    /// Returns the state after it.
    pub fn after(self, from: StateName) -> StateName {
        match self {
            Self::Respond | Self::Continue | Self::CompactAndStart(_) | Self::Start => StateName::Running,
            Self::Queue => StateName::Interrupted,
            Self::CompleteAndCompact => StateName::Complete,
            Self::AbandonAndCompact => StateName::Aborted,
            Self::Ask | Self::Acknowledge | Self::Pass => from,
        }
    }
}

impl fmt::Display for TaskMove {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CompactAndStart(kind) => write!(f, "{} ({kind})", self.name()),
            _ => f.write_str(self.name()),
        }
    }
}

/// A row: what it covers, what is done, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The states that it covers.
    pub states: &'static [StateName],
    /// The intents that it covers.
    pub intents: &'static [MessageIntent],
    /// Whether there is meaningful work; none stands for any.
    pub work: &'static [Work],
    /// What is done.
    pub then: TaskMove,
    /// Why.
    pub why: &'static str,
}

impl Row {
    /// Tells whether the row covers a message.
    pub fn covers(&self, state: StateName, intent: MessageIntent, work: Work) -> bool {
        let fits = self.work.is_empty() || self.work.contains(&work);
        fits && self.states.contains(&state) && self.intents.contains(&intent)
    }
}

/// Decides what is done with a message.
///
/// ```
/// use segue_core::task::intent::{MessageIntent, TaskMove, Work, decide};
/// use segue_core::task::state::StateName;
/// let then = decide(StateName::Running, MessageIntent::Modification, Work::None);
/// assert_eq!(then, TaskMove::Queue);
/// ```
pub fn decide(state: StateName, intent: MessageIntent, work: Work) -> TaskMove {
    // The table is total, so the last word is never needed; a test says so.
    ROWS.iter().find(|row| row.covers(state, intent, work)).map_or(TaskMove::Ask, |row| row.then)
}

const OPEN: &[StateName] =
    &[StateName::Running, StateName::AwaitingUser, StateName::Interrupted, StateName::PendingComplete];
const ENDED: &[StateName] = &[StateName::Complete, StateName::Aborted];
const NOT_OPEN: &[StateName] = &[StateName::None, StateName::Complete, StateName::Aborted];
const WORKING: &[StateName] = &[StateName::Running, StateName::Interrupted];

const fn row(
    states: &'static [StateName],
    intents: &'static [MessageIntent],
    work: &'static [Work],
    then: TaskMove,
    why: &'static str,
) -> Row {
    Row { states, intents, work, then, why }
}

/// The table.
pub const ROWS: &[Row] = &[
    row(NOT_OPEN, &[MessageIntent::NewTask], &[], TaskMove::Start, "nothing is open: the task begins"),
    row(
        ENDED,
        &[MessageIntent::Confirmation],
        &[],
        TaskMove::Acknowledge,
        "nothing is pending: a thank-you changes nothing (C-9)",
    ),
    row(
        NOT_OPEN,
        MessageIntent::ALL,
        &[],
        TaskMove::Pass,
        "there is no open task to answer, change or give up; a conversation without tasks is not bothered",
    ),
    row(
        OPEN,
        &[MessageIntent::NewTask],
        &[Work::Meaningful],
        TaskMove::CompactAndStart(CommitKind::InterruptedByNewTask),
        "what was done is kept first (C-10)",
    ),
    row(
        OPEN,
        &[MessageIntent::NewTask],
        &[Work::None],
        TaskMove::Start,
        "nothing was done yet: there is nothing to keep (C-10)",
    ),
    row(
        OPEN,
        &[MessageIntent::Abandon],
        &[],
        TaskMove::AbandonAndCompact,
        "the person's word ends a task at any time; what there is of it is kept",
    ),
    row(
        OPEN,
        &[MessageIntent::Unclear],
        &[],
        TaskMove::Ask,
        "the person knows whether it continues the task or starts something new",
    ),
    row(
        &[StateName::AwaitingUser],
        &[MessageIntent::Response, MessageIntent::Modification],
        &[],
        TaskMove::Respond,
        "the agent waits for what the person says next; wanting something else is an answer too",
    ),
    row(
        &[StateName::AwaitingUser],
        &[MessageIntent::Confirmation],
        &[],
        TaskMove::Respond,
        "a question is pending, and a yes is its answer; the task itself is not done",
    ),
    row(
        &[StateName::PendingComplete],
        &[MessageIntent::Confirmation],
        &[],
        TaskMove::CompleteAndCompact,
        "the person says that it is done",
    ),
    row(
        &[StateName::PendingComplete],
        &[MessageIntent::Modification, MessageIntent::Response],
        &[],
        TaskMove::Continue,
        "\"also add ...\" is the same task; a response when nothing was asked is a modification (C-9)",
    ),
    row(
        WORKING,
        &[MessageIntent::Modification, MessageIntent::Response],
        &[],
        TaskMove::Queue,
        "the agent takes it in at its next check; a response when nothing was asked is a modification (C-9)",
    ),
    row(
        WORKING,
        &[MessageIntent::Confirmation],
        &[],
        TaskMove::Acknowledge,
        "nothing is pending: it is acknowledged and changes nothing (C-9)",
    ),
];
