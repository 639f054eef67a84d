//! What a scope keeps in mind of a task: numbers and states, and no words.
//!
//! Words stand in entries of their own and are named here by number. So a dropped session takes them along, an
//! erased message leaves no copy, and a task of one megabyte costs a transition no more than one of a character.

use crate::Timestamp;
use crate::entry::Seq;
use crate::segment;
use crate::session::Number;
use crate::task::commit::CommitId;
use crate::task::identity::TaskId;
use crate::task::intent::Work;
use crate::task::observation::Observation;
use crate::task::state::{StateName, TaskState};
use crate::task::transition::{self, Forbidden};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Where the description of a task stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Described {
    /// In a message of the person.
    Message(Seq),
    /// In words that the host gave.
    Words(Seq),
}

impl Described {
    /// Returns the entry.
    pub fn entry(self) -> Seq {
        match self {
            Self::Message(seq) | Self::Words(seq) => seq,
        }
    }

    /// Returns the message, if it is one.
    pub fn message(self) -> Option<Seq> {
        match self {
            Self::Message(seq) => Some(seq),
            Self::Words(_) => None,
        }
    }
}

/// Where a task stands; a [`TaskState`] whose words are named by their entries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The agent is working.
    Running,
    /// The agent has asked and waits for the person.
    AwaitingUser {
        /// The note that holds the question.
        question: Seq,
        /// When it asked.
        asked_at: Timestamp,
    },
    /// The person said something while the agent was working.
    Interrupted {
        /// The messages that the agent has not taken in yet, in order.
        messages: Vec<Seq>,
    },
    /// The agent thinks that it is done.
    PendingComplete {
        /// The words that say what it has done.
        summary: Seq,
    },
    /// The person said that it is done.
    Complete,
    /// Given up.
    Aborted {
        /// The words that say why, if somebody said why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Seq>,
    },
}

impl Stage {
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

    /// Returns the entry that holds the words of the state, if it has words.
    pub fn words(&self) -> Option<Seq> {
        match self {
            Self::AwaitingUser { question: seq, .. } | Self::PendingComplete { summary: seq } => Some(*seq),
            Self::Aborted { reason } => *reason,
            Self::Running | Self::Interrupted { .. } | Self::Complete => None,
        }
    }

    /// Returns the state with its words.
    pub fn worded(&self, words: &str) -> TaskState {
        let words = || words.to_owned();
        match self {
            Self::Running => TaskState::Running,
            Self::AwaitingUser { asked_at, .. } => {
                TaskState::AwaitingUser { question: words(), asked_at: *asked_at }
            }
            Self::Interrupted { messages } => TaskState::Interrupted { messages: messages.clone() },
            Self::PendingComplete { .. } => TaskState::PendingComplete { summary: words() },
            Self::Complete => TaskState::Complete,
            Self::Aborted { .. } => TaskState::Aborted { reason: words() },
        }
    }
}

/// What was observed in a segment and is in no work commit yet.
///
/// It is counted by segment, so that a fold of a log whose segments were dropped comes to the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StagedIn {
    /// The first observation.
    pub first: Seq,
    /// How many.
    pub count: u32,
    /// How many of those are meaningful work.
    pub meaningful: u32,
}

/// A task, as a scope keeps it in mind: small, whatever was observed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assignment {
    /// Its id.
    pub id: TaskId,
    /// The segment in which it was started.
    pub segment: segment::Number,
    /// Where its description stands.
    pub described: Described,
    /// When it was started.
    pub started_at: Timestamp,
    /// Where it stands.
    pub stage: Stage,
    /// The entry by which it came to stand there.
    pub since: Seq,
    /// The last work commit; nothing before the first flush.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<CommitId>,
    /// How many steps were flushed.
    #[serde(default)]
    pub steps: u32,
    /// The staging pointer: what is in no work commit yet.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub staged: BTreeMap<segment::Number, StagedIn>,
    /// The sessions that it was in before, because their windows were full. What it was made of is there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub came_from: Vec<Number>,
    /// The canonical commit, once there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canonical: Option<CommitId>,
    /// Where it stood, if it ended because a session began: who takes that back opens it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<Stage>,
}

impl Assignment {
    /// Starts a task: from nothing to running.
    pub fn start(id: TaskId, segment: segment::Number, described: Described, started_at: Timestamp) -> Self {
        Self {
            id,
            segment,
            described,
            started_at,
            stage: Stage::Running,
            since: id.0,
            head: None,
            steps: 0,
            staged: BTreeMap::new(),
            came_from: Vec::new(),
            canonical: None,
            was: None,
        }
    }

    /// Returns the name of its state.
    pub fn state(&self) -> StateName {
        self.stage.name()
    }

    /// Tells whether the task can still go on.
    pub fn is_open(&self) -> bool {
        self.state().is_open()
    }

    /// Refuses what the table does not allow.
    pub fn check(&self, to: StateName) -> Result<(), Forbidden> {
        transition::check(self.state(), to)
    }

    /// Returns where it stood, if the boundary at an entry ended it. The seal stands between the two.
    pub(crate) fn ended_by(&self, boundary: Seq) -> Option<&Stage> {
        self.was.as_ref().filter(|_| !self.is_open() && self.since.next().next() == boundary)
    }

    /// Adds an observation that was written to the log.
    pub fn stage(&mut self, seq: Seq, segment: segment::Number, observation: &Observation) {
        let new = StagedIn { first: seq, count: 0, meaningful: 0 };
        let staged = self.staged.entry(segment).or_insert(new);
        staged.count = staged.count.saturating_add(1);
        staged.meaningful = staged.meaningful.saturating_add(u32::from(observation.is_meaningful()));
    }

    /// Adds an observation whose words were erased.
    pub(crate) fn stage_gone(&mut self, seq: Seq, segment: segment::Number) {
        let new = StagedIn { first: seq, count: 0, meaningful: 0 };
        let staged = self.staged.entry(segment).or_insert(new);
        staged.count = staged.count.saturating_add(1);
    }

    /// Notes that everything that was staged is in a work commit now.
    pub fn flush(&mut self, commit: CommitId) {
        self.staged.clear();
        self.head = Some(commit);
        self.steps = self.steps.saturating_add(1);
    }

    /// Counts what is in no work commit.
    pub fn staged(&self) -> u32 {
        self.staged.values().map(|staged| staged.count).fold(0, u32::saturating_add)
    }

    /// Returns the first observation that is in no work commit.
    pub fn first_staged(&self) -> Option<Seq> {
        self.staged.values().map(|staged| staged.first).min()
    }

    /// Tells whether something was done that must not be thrown away when another task begins (C-10).
    pub fn has_meaningful_work(&self) -> bool {
        self.steps > 0 || self.staged.values().any(|staged| staged.meaningful > 0)
    }

    /// The same, as the table of intents knows it.
    pub fn work(&self) -> Work {
        Work::of(self.has_meaningful_work())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::observation::{Note, NoteKind};

    #[test]
    fn c7_the_pointer_counts_by_segment_and_a_flush_empties_it() {
        let at = Timestamp::UNIX_EPOCH;
        let mut task = Assignment::start(TaskId(Seq(2)), segment::Number(1), Described::Message(Seq(1)), at);
        let note = |kind| Observation::Note(Note::of_message(kind, Seq(1)));
        task.stage(Seq(5), segment::Number(1), &note(NoteKind::Response));
        assert!(!task.has_meaningful_work());
        task.stage(Seq(9), segment::Number(2), &note(NoteKind::Note));
        assert_eq!((task.staged(), task.first_staged()), (2, Some(Seq(5))));
        assert!(task.has_meaningful_work());
        let json = serde_json::to_string(&task).unwrap();
        assert_eq!(serde_json::from_str::<Assignment>(&json).unwrap(), task);
        task.flush(CommitId(crate::digest::Digest::NONE));
        assert_eq!((task.staged(), task.first_staged(), task.steps), (0, None, 1));
        assert!(task.has_meaningful_work());
    }

    #[test]
    fn c1_a_stage_and_its_state_have_one_name() {
        let at = Timestamp::UNIX_EPOCH;
        for stage in [
            Stage::Running,
            Stage::AwaitingUser { question: Seq(3), asked_at: at },
            Stage::Interrupted { messages: vec![Seq(4)] },
            Stage::PendingComplete { summary: Seq(5) },
            Stage::Complete,
            Stage::Aborted { reason: None },
        ] {
            assert_eq!(stage.worded("words").name(), stage.name());
        }
    }
}
