//! Work commits: what a flushed step is (C-7).

use crate::digest::{Digest, NotADigest};
use crate::task::encoder::Encoder;
use crate::task::identity::TaskId;
use crate::task::narrative::NarrativeLine;
use crate::task::state::TaskState;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The id of a work commit or a canonical commit: the hash of what it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommitId(pub Digest);

impl CommitId {
    /// Returns the first digits, for people.
    pub fn short(self) -> String {
        self.0.to_string().chars().take(12).collect()
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for CommitId {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, NotADigest> {
        text.parse().map(Self)
    }
}

/// A flushed step of a task. The same content has the same id, and the order of observations is content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkCommit {
    /// The hash of everything below.
    pub id: CommitId,
    /// The task.
    pub task: TaskId,
    /// The work commits before it: none for the first step, one for the next ones.
    pub parents: Vec<CommitId>,
    /// Where the task stood.
    pub state: TaskState,
    /// What happened, for people.
    pub narrative: Vec<NarrativeLine>,
    /// What was observed, by the digests of the observations, in order.
    pub observations: Vec<Digest>,
}

impl WorkCommit {
    /// Makes a work commit and its id.
    pub fn new(
        task: TaskId,
        parents: Vec<CommitId>,
        state: TaskState,
        narrative: Vec<NarrativeLine>,
        observations: Vec<Digest>,
    ) -> Self {
        let mut commit = Self { id: CommitId(Digest::NONE), task, parents, state, narrative, observations };
        commit.id = commit.hash();
        commit
    }

    /// Computes the id that the content has.
    pub fn hash(&self) -> CommitId {
        let Self { id: _, task, parents, state, narrative, observations } = self;
        let encoder = Encoder::new("segue work commit 1")
            .number(task.0.0)
            .list(parents, |e, parent| e.digest(parent.0))
            .text(state.name().name());
        let encoder = match state {
            TaskState::Running | TaskState::Complete => encoder,
            TaskState::AwaitingUser { question, asked_at } => {
                encoder.text(question).signed(asked_at.as_microsecond())
            }
            TaskState::Interrupted { messages } => encoder.list(messages, |e, seq| e.number(seq.0)),
            TaskState::PendingComplete { summary: text } | TaskState::Aborted { reason: text } => {
                encoder.text(text)
            }
        };
        let encoder = encoder.list(narrative, |e, line| {
            e.signed(line.at.as_microsecond())
                .text(line.kind.name())
                .text(&line.text)
                .maybe(line.message, |e, seq| e.number(seq.0))
        });
        CommitId(encoder.list(observations, |e, digest| e.digest(*digest)).finish())
    }

    /// Tells whether the content is what the id says.
    pub fn is_intact(&self) -> bool {
        self.id == self.hash()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Timestamp;
    use crate::entry::Seq;
    use crate::task::narrative::NarrativeKind;

    fn line(text: &str) -> NarrativeLine {
        NarrativeLine {
            at: Timestamp::UNIX_EPOCH,
            kind: NarrativeKind::Note,
            text: text.into(),
            message: None,
        }
    }

    fn commit(parents: &[u8], state: TaskState, lines: &[&str], observations: &[u8]) -> WorkCommit {
        let parents = parents.iter().map(|n| CommitId(Digest([*n; 32]))).collect();
        let observations = observations.iter().map(|n| Digest([*n; 32])).collect();
        let narrative = lines.iter().map(|text| line(text)).collect();
        WorkCommit::new(TaskId(Seq(1)), parents, state, narrative, observations)
    }

    #[test]
    fn c7_same_content_same_id_and_order_matters() {
        let running = || TaskState::Running;
        let one = commit(&[1], running(), &["a", "b"], &[2, 3]);
        assert_eq!(one, commit(&[1], running(), &["a", "b"], &[2, 3]));
        let asked_at = Timestamp::UNIX_EPOCH;
        let asks = |question: &str| TaskState::AwaitingUser { question: question.into(), asked_at };
        let others = [
            commit(&[], running(), &["a", "b"], &[2, 3]),
            commit(&[1], running(), &["b", "a"], &[2, 3]),
            commit(&[1], running(), &["ab"], &[2, 3]),
            commit(&[1], running(), &["a", "b"], &[3, 2]),
            commit(&[1, 2], running(), &["a", "b"], &[3]),
            commit(&[1], TaskState::Complete, &["a", "b"], &[2, 3]),
            commit(&[1], asks("q"), &["a", "b"], &[2, 3]),
            commit(&[1], asks("r"), &["a", "b"], &[2, 3]),
            commit(&[1], TaskState::Interrupted { messages: vec![Seq(1)] }, &["a", "b"], &[2, 3]),
        ];
        let ids: std::collections::BTreeSet<_> =
            others.iter().chain([&one]).map(|commit| commit.id).collect();
        assert_eq!(ids.len(), others.len() + 1);
    }

    #[test]
    fn c7_a_changed_commit_is_found_out() {
        let commit = commit(&[1], TaskState::Running, &["a"], &[2]);
        let json = serde_json::to_string(&commit).unwrap();
        let mut back: WorkCommit = serde_json::from_str(&json).unwrap();
        assert!(back.is_intact());
        assert_eq!(back.id.to_string().parse(), Ok(commit.id));
        back.narrative[0].text.push('!');
        assert!(!back.is_intact());
    }

    /// The encoding is for good: ids stand on disk.
    #[test]
    fn c7_the_encoding_never_changes() {
        let commit = commit(&[1], TaskState::Running, &["a"], &[2]);
        assert_eq!(commit.id.short(), "f3236f996267");
    }
}
