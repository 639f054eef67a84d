//! Canonical commits: what is kept of a task for good (C-8).
//!
//! They form a chain in each scope. A canonical commit holds the texts of decisions and open questions itself, so
//! that a later clean-up cannot put them out of reach.

use crate::Timestamp;
use crate::digest::Digest;
use crate::entry::Seq;
use crate::task::commit::CommitId;
use crate::task::encoder::Encoder;
use crate::task::graph::Graph;
use crate::task::identity::TaskId;
use crate::task::node::{Edge, EdgeLabel, NodeId};
use crate::task::observation::{NoteKind, encode_edge};
use crate::task::path::WorkPath;
use crate::task::state::StateName;
use serde::{Deserialize, Serialize};

words! {
    /// How a task came to its canonical commit.
    CommitKind {
        /// The person said that it is done.
        Normal = "normal",
        /// Somebody gave it up.
        Abandoned = "abandoned",
        /// It was left alone for too long.
        Stale = "stale",
        /// Another task was given.
        InterruptedByNewTask = "interrupted_by_new_task",
        /// The person came back and chose to start fresh.
        UserChoseFresh = "user_chose_fresh",
    }
}

impl CommitKind {
    /// Returns the words of 001 for it; a task that was completed has its own summary.
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Self::Normal => None,
            Self::Abandoned => Some("Abandoned by user"),
            Self::Stale => Some("Session expired"),
            Self::InterruptedByNewTask => Some("Interrupted by new task"),
            Self::UserChoseFresh => Some("User chose not to continue"),
        }
    }

    /// Returns the state in which the task ends.
    pub fn ends_as(self) -> StateName {
        match self {
            Self::Normal => StateName::Complete,
            Self::Abandoned | Self::Stale | Self::InterruptedByNewTask | Self::UserChoseFresh => {
                StateName::Aborted
            }
        }
    }
}

/// A decision or a question that is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Remembered {
    /// The entry of its note.
    pub seq: Seq,
    /// What it was noted as: a decision, or a question.
    pub kind: NoteKind,
    /// What was decided or asked.
    pub text: String,
    /// The answer, where a question was settled by one and its note holds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The message that holds the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Seq>,
}

/// A file that was touched.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileTouched {
    /// Which one.
    pub path: WorkPath,
    /// How often it was read.
    pub reads: u64,
    /// How often it was written.
    pub writes: u64,
    /// The hash of what was last seen in it.
    pub last: Digest,
}

/// A command that was run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandRun {
    /// The command line; a very long one is clipped.
    pub command: String,
    /// How often it was run.
    pub runs: u64,
    /// How often it did not end with 0.
    pub failures: u64,
    /// How it ended the last time; nothing if it was killed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The entry of the last run.
    pub seq: Seq,
}

/// How much was observed, and how much of that is too much for one commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Totals {
    /// All observations.
    pub observations: u64,
    /// Notes.
    pub notes: u64,
    /// Plans.
    pub plans: u64,
    /// Reads of files.
    pub file_reads: u64,
    /// Writes of files.
    pub file_writes: u64,
    /// Runs of commands.
    pub commands: u64,
    /// Relations.
    pub relations: u64,
    /// Runs of commands that are not listed: only the latest different ones are.
    pub commands_left_out: u64,
    /// Relations that are not listed.
    pub relations_left_out: u64,
}

/// What is kept of a task for good.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CanonicalCommit {
    /// The hash of everything below.
    pub id: CommitId,
    /// The canonical commit before it in its scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<CommitId>,
    /// How it came about.
    pub kind: CommitKind,
    /// The task.
    pub task: TaskId,
    /// What was to be done; a very long description is clipped.
    pub description: String,
    /// When the task was started.
    pub started_at: Timestamp,
    /// What was done.
    pub summary: String,
    /// What was decided, in order: decisions that were noted, and questions that were answered.
    pub decisions: Vec<Remembered>,
    /// What nobody answered.
    pub open_questions: Vec<Remembered>,
    /// The files that were touched, by path.
    pub files: Vec<FileTouched>,
    /// The commands that were run, by their last run.
    pub commands: Vec<CommandRun>,
    /// The relations.
    pub relations: Vec<Edge>,
    /// The work commits, in order.
    pub work_commits: Vec<CommitId>,
    /// How much was observed.
    pub totals: Totals,
}

impl CanonicalCommit {
    /// Returns the commit with the id that its content has.
    #[must_use]
    pub fn sealed(self) -> Self {
        Self { id: self.hash(), ..self }
    }

    /// Computes the id that the content has.
    pub fn hash(&self) -> CommitId {
        let t = &self.totals;
        let encoder = Encoder::new("segue canonical commit 1")
            .maybe(self.parent, |e, parent| e.digest(parent.0))
            .text(self.kind.name())
            .number(self.task.0.0)
            .text(&self.description)
            .signed(self.started_at.as_microsecond())
            .text(&self.summary)
            .list(&self.decisions, encode_remembered)
            .list(&self.open_questions, encode_remembered)
            .list(&self.files, |e, file| {
                e.text(file.path.as_str()).number(file.reads).number(file.writes).digest(file.last)
            })
            .list(&self.commands, |e, run| {
                e.text(&run.command)
                    .number(run.runs)
                    .number(run.failures)
                    .maybe(run.exit_code, |e, code| e.signed(i64::from(code)))
                    .number(run.seq.0)
            })
            .list(&self.relations, encode_edge)
            .list(&self.work_commits, |e, id| e.digest(id.0));
        let totals = [t.observations, t.notes, t.plans, t.file_reads, t.file_writes, t.commands, t.relations];
        let left_out = [t.commands_left_out, t.relations_left_out];
        CommitId(encoder.list(&totals, |e, n| e.number(*n)).list(&left_out, |e, n| e.number(*n)).finish())
    }

    /// Tells whether the content is what the id says.
    pub fn is_intact(&self) -> bool {
        self.id == self.hash()
    }

    /// Draws the task: the relations that were observed, and what the task itself read, wrote, ran and decided.
    pub fn graph(&self) -> Graph {
        let task = NodeId::Task(self.task);
        let mut graph = Graph::of(&self.relations);
        graph.label(task.clone(), &self.description);
        let implied = |to: NodeId, label| Edge::new(task.clone(), to, label, "");
        for file in &self.files {
            for (times, label) in [(file.reads, EdgeLabel::Reads), (file.writes, EdgeLabel::Writes)] {
                if times > 0 {
                    graph.add(&implied(NodeId::File(file.path.clone()), label));
                }
            }
        }
        for run in &self.commands {
            graph.label(NodeId::Command(run.seq), &run.command);
            graph.add(&implied(NodeId::Command(run.seq), EdgeLabel::Runs));
        }
        for kept in self.decisions.iter().chain(&self.open_questions) {
            let node = match kept.kind {
                NoteKind::Decision => NodeId::Decision(kept.seq),
                _ => NodeId::Note(kept.seq),
            };
            graph.label(node.clone(), &kept.text);
            graph.add(&implied(node, EdgeLabel::Relates));
        }
        graph
    }
}

fn encode_remembered(encoder: Encoder, kept: &Remembered) -> Encoder {
    encoder
        .number(kept.seq.0)
        .text(kept.kind.name())
        .text(&kept.text)
        .maybe(kept.answer.as_deref(), Encoder::text)
        .maybe(kept.message, |e, seq| e.number(seq.0))
}
