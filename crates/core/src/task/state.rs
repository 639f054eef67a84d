//! Where a task stands (C-1).

use crate::Timestamp;
use crate::entry::Seq;
use crate::task::transition::{self, Forbidden};
use serde::{Deserialize, Serialize};

words! {
    /// The name of a state, as replays and decisions tell it.
    StateName {
        /// There is no task.
        None = "none",
        /// The agent is working.
        Running = "running",
        /// The agent has asked and waits for the person.
        AwaitingUser = "awaiting_user",
        /// The person said something while the agent was working.
        Interrupted = "interrupted",
        /// The agent thinks that it is done, and the person has not said so yet.
        PendingComplete = "pending_complete",
        /// Done.
        Complete = "complete",
        /// Given up.
        Aborted = "aborted",
    }
}

impl StateName {
    /// Tells whether there is a task that can still go on.
    pub fn is_open(self) -> bool {
        match self {
            Self::Running | Self::AwaitingUser | Self::Interrupted | Self::PendingComplete => true,
            Self::None | Self::Complete | Self::Aborted => false,
        }
    }
}

/// The state of a task, with what belongs to it.
///
/// ```
/// use segue_core::entry::Seq;
/// use segue_core::task::state::TaskState;
/// let mut state = TaskState::Running;
/// state.interrupt(Seq(7))?;
/// state.interrupt(Seq(9))?;
/// assert_eq!(state, TaskState::Interrupted { messages: vec![Seq(7), Seq(9)] });
/// # Ok::<(), segue_core::task::transition::Forbidden>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskState {
    /// The agent is working.
    Running,
    /// The agent has asked and waits for the person.
    AwaitingUser {
        /// What it asked.
        question: String,
        /// When it asked.
        asked_at: Timestamp,
    },
    /// The person said something while the agent was working.
    Interrupted {
        /// The messages that the agent has not taken in yet, in order: their entries, no copies of their text.
        messages: Vec<Seq>,
    },
    /// The agent thinks that it is done.
    PendingComplete {
        /// What it says it has done.
        summary: String,
    },
    /// The person said that it is done.
    Complete,
    /// Given up.
    Aborted {
        /// Why.
        reason: String,
    },
}

impl TaskState {
    /// Returns the name of the state.
    pub fn name(&self) -> StateName {
        match self {
            Self::Running => StateName::Running,
            Self::AwaitingUser { .. } => StateName::AwaitingUser,
            Self::Interrupted { .. } => StateName::Interrupted,
            Self::PendingComplete { .. } => StateName::PendingComplete,
            Self::Complete => StateName::Complete,
            Self::Aborted { .. } => StateName::Aborted,
        }
    }

    /// Moves to another state and returns the one that was left, or refuses and stays.
    pub fn go(&mut self, to: Self) -> Result<Self, Forbidden> {
        transition::check(self.name(), to.name())?;
        Ok(std::mem::replace(self, to))
    }

    /// Adds a message that came while the agent was working. The first one is a transition; the next ones
    /// queue behind it.
    pub fn interrupt(&mut self, message: Seq) -> Result<(), Forbidden> {
        if let Self::Interrupted { messages } = self {
            messages.push(message);
            return Ok(());
        }
        self.go(Self::Interrupted { messages: vec![message] }).map(drop)
    }

    /// Goes on with the messages that interrupted, in order. They are given once: after it the queue is gone.
    pub fn incorporate(&mut self) -> Result<Vec<Seq>, Forbidden> {
        if let Self::Interrupted { messages } = self {
            let messages = std::mem::take(messages);
            *self = Self::Running;
            return Ok(messages);
        }
        Err(Forbidden::new(self.name(), StateName::Running))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c1_names_are_those_of_the_replay() {
        let names: Vec<_> = StateName::ALL.iter().map(|state| state.name()).collect();
        assert_eq!(
            names,
            ["none", "running", "awaiting_user", "interrupted", "pending_complete", "complete", "aborted"]
        );
        for state in StateName::ALL {
            assert_eq!(serde_json::to_value(state).unwrap(), state.name());
            assert_eq!(StateName::named(state.name()), Some(*state));
        }
    }

    #[test]
    fn c2_a_question_comes_back_from_json_with_its_time() {
        let asked_at = Timestamp::from_second(1_772_000_000).unwrap();
        let state = TaskState::AwaitingUser { question: "Which?".into(), asked_at };
        let json = serde_json::to_string(&state).unwrap();
        assert_eq!(json, r#"{"awaiting_user":{"question":"Which?","asked_at":"2026-02-25T06:13:20Z"}}"#);
        assert_eq!(serde_json::from_str::<TaskState>(&json).unwrap(), state);
        assert_eq!(serde_json::to_string(&TaskState::Running).unwrap(), r#""running""#);
    }

    #[test]
    fn c4_messages_queue_in_order_and_are_given_once() {
        let mut state = TaskState::Running;
        for seq in [3, 4, 9] {
            state.interrupt(Seq(seq)).unwrap();
        }
        assert_eq!(state.incorporate(), Ok(vec![Seq(3), Seq(4), Seq(9)]));
        assert_eq!(state, TaskState::Running);
        assert!(state.incorporate().is_err());
        let mut done = TaskState::Complete;
        assert!(done.interrupt(Seq(1)).is_err());
        assert_eq!(done, TaskState::Complete);
    }

    #[test]
    fn c1_a_refused_move_changes_nothing() {
        let mut state = TaskState::PendingComplete { summary: "done".into() };
        let before = state.clone();
        assert!(state.go(TaskState::Interrupted { messages: vec![] }).is_err());
        assert_eq!(state, before);
        assert_eq!(state.go(TaskState::Complete), Ok(before));
    }
}
