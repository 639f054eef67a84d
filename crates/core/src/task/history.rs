//! The history of a task, as far as it has to be read before the task can move: what is staged, and for a
//! compaction all of it.
//!
//! The rules read nothing: [`needs`](crate::decide::needs) says how far back ([`Reach`]) a command needs it.

use crate::Timestamp;
use crate::digest::Digest;
use crate::entry::{Body, Record, Seq};
use crate::task::assignment::Assignment;
use crate::task::commit::CommitId;
use crate::task::compaction::Compaction;
use crate::task::narrative::NarrativeLine;
use crate::task::observation::Observation;

/// How far back a history reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// What is in no work commit yet.
    Staged,
    /// Everything since the task was started.
    Whole,
}

/// What was read back of a task.
#[derive(Debug, Clone)]
pub struct TaskHistory {
    task: Assignment,
    reach: Reach,
    /// What is to be done, in words.
    pub description: String,
    /// The words that belong to the state: the question, the summary or the reason.
    pub words: String,
    staged: Vec<Staged>,
    compaction: Compaction,
}

/// Two histories are the same if they are of the same task and reach as far.
impl PartialEq for TaskHistory {
    fn eq(&self, other: &Self) -> bool {
        (&self.task, self.reach, &self.staged) == (&other.task, other.reach, &other.staged)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Staged {
    seq: Seq,
    line: NarrativeLine,
    digest: Digest,
}

impl TaskHistory {
    /// Begins with nothing read.
    pub fn new(task: &Assignment, reach: Reach, description: String, words: String) -> Self {
        // What the person said is kept apart from the commit, so that it can be erased.
        let kept = if task.described.message().is_some() { "" } else { &description };
        let compaction = Compaction::new(task.id, kept, task.started_at);
        Self { task: task.clone(), reach, staged: Vec::new(), compaction, description, words }
    }

    /// Returns the entry behind which reading begins.
    pub fn after(&self) -> Seq {
        match self.reach {
            Reach::Whole => self.task.id.0,
            Reach::Staged => self.task.first_staged().map_or(Seq(u64::MAX), Seq::previous),
        }
    }

    /// Takes in an entry of the log; what is not the task's own is passed over.
    pub fn read(&mut self, record: &Record) {
        match record.body() {
            Ok(Body::Observation(observing)) if observing.task == self.task.id => {
                self.observe(record.seq, record.at, &observing.observation);
                if self.task.first_staged().is_none_or(|first| record.seq < first) {
                    self.staged.clear();
                }
            }
            Ok(Body::WorkCommit(commit)) if commit.task == self.task.id => {
                self.compaction.flushed(commit.id);
            }
            _ => {}
        }
    }

    pub(crate) fn reaches(&self, task: &Assignment, reach: Reach) -> bool {
        self.task.id == task.id && self.reach >= reach
    }

    pub(crate) fn observe(&mut self, seq: Seq, at: Timestamp, observation: &Observation) {
        self.compaction.observe(seq, observation);
        let line = NarrativeLine::of(at, observation);
        self.staged.push(Staged { seq, line, digest: observation.digest() });
    }

    /// Hands out what was staged, for a work commit.
    pub(crate) fn take_staged(&mut self) -> (Vec<NarrativeLine>, Vec<Digest>) {
        let staged = std::mem::take(&mut self.staged);
        staged.into_iter().map(|staged| (staged.line, staged.digest)).unzip()
    }

    pub(crate) fn flushed(&mut self, commit: CommitId) {
        self.compaction.flushed(commit);
    }

    /// Returns what was folded so far.
    pub fn compaction(&self) -> &Compaction {
        &self.compaction
    }
}
