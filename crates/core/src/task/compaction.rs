//! Compaction: folds what was observed in a task into a canonical commit (C-5, C-8).
//!
//! The observations come one by one and are not kept: memory grows with the different files, decisions and open
//! questions of the task, and not with the number of observations. What was not flushed is folded like the rest.

use crate::Timestamp;
use crate::digest::Digest;
use crate::entry::Seq;
use crate::task::canonical::{CanonicalCommit, CommandRun, CommitKind, FileTouched, Remembered, Totals};
use crate::task::commit::CommitId;
use crate::task::identity::TaskId;
use crate::task::node::{Edge, EdgeLabel, NodeId};
use crate::task::observation::{Note, NoteKind, Observation};
use crate::task::path::WorkPath;
use crate::task::text::clip;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The longest text that a canonical commit keeps of a decision, a question, a command or a description, in bytes.
pub(crate) const KEPT_BYTES_MAX: usize = 4 << 10;

/// The most different commands that a canonical commit lists.
pub const COMMANDS_MAX: usize = 256;

/// The most different relations that a canonical commit lists.
pub(crate) const RELATIONS_MAX: usize = 4096;

/// What a task's history is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// An observation, with the number of its entry.
    Observed(Seq, Observation),
    /// A work commit.
    Flushed(CommitId),
}

/// How far a task is, for people who come back to it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Progress {
    /// How much was observed.
    pub totals: Totals,
    /// How many steps were flushed.
    pub steps: u64,
    /// The files that were written, by path; the first ten.
    pub files_written: Vec<WorkPath>,
    /// The last plan.
    pub plan: Option<String>,
    /// The last note of the agent.
    pub note: Option<String>,
    /// The last command and how it ended.
    pub command: Option<(String, Option<i32>)>,
}

/// Folds a task's history.
#[derive(Debug, Clone)]
pub struct Compaction {
    task: TaskId,
    description: String,
    started_at: Timestamp,
    totals: Totals,
    decisions: BTreeMap<Seq, Remembered>,
    open: BTreeMap<Seq, Remembered>,
    files: BTreeMap<WorkPath, FileTouched>,
    commands: BTreeMap<Digest, CommandRun>,
    by_last_run: BTreeMap<Seq, Digest>,
    relations: BTreeMap<(NodeId, NodeId, EdgeLabel), Edge>,
    work_commits: Vec<CommitId>,
    plan: Option<String>,
    note: Option<String>,
    command: Option<(String, Option<i32>)>,
}

impl Compaction {
    /// Begins with nothing observed, for a task that is known by these.
    pub fn new(task: TaskId, description: &str, started_at: Timestamp) -> Self {
        Self {
            task,
            description: clip(description, KEPT_BYTES_MAX),
            started_at,
            totals: Totals::default(),
            decisions: BTreeMap::new(),
            open: BTreeMap::new(),
            files: BTreeMap::new(),
            commands: BTreeMap::new(),
            by_last_run: BTreeMap::new(),
            relations: BTreeMap::new(),
            work_commits: Vec::new(),
            plan: None,
            note: None,
            command: None,
        }
    }

    /// Adds an observation, flushed or not. They come in the order of the log.
    pub fn observe(&mut self, seq: Seq, observation: &Observation) {
        self.totals.observations += 1;
        match observation {
            Observation::Note(note) => self.take_note(seq, note),
            Observation::FileRead { path, content } => {
                self.totals.file_reads += 1;
                self.touch(path, content.hash).reads += 1;
            }
            Observation::FileWrite { path, content } => {
                self.totals.file_writes += 1;
                self.touch(path, content.hash).writes += 1;
            }
            Observation::Command { command, exit_code, .. } => self.run(seq, command, *exit_code),
            Observation::Plan { text } => {
                self.totals.plans += 1;
                self.plan = Some(clip(text, KEPT_BYTES_MAX));
            }
            Observation::Relations { edges } => edges.iter().for_each(|edge| self.relate(edge)),
        }
    }

    /// Adds a work commit.
    pub fn flushed(&mut self, commit: CommitId) {
        self.work_commits.push(commit);
    }

    /// Tells how far the task is.
    pub fn progress(&self) -> Progress {
        let written = self.files.values().filter(|file| file.writes > 0).map(|file| file.path.clone());
        Progress {
            totals: self.totals,
            steps: self.work_commits.len() as u64,
            files_written: written.take(10).collect(),
            plan: self.plan.clone(),
            note: self.note.clone(),
            command: self.command.clone(),
        }
    }

    /// Makes the canonical commit. The same history makes the same commit, however often it is made.
    ///
    /// Without a summary the reason of 001 stands for it.
    pub fn finish(self, kind: CommitKind, summary: &str, parent: Option<CommitId>) -> CanonicalCommit {
        let reason = kind.reason().unwrap_or_default();
        let summary = if summary.trim().is_empty() { reason } else { summary.trim() };
        let mut commands: Vec<_> = self.commands.into_values().collect();
        commands.sort_by_key(|run| run.seq);
        CanonicalCommit {
            id: CommitId(Digest::NONE),
            parent,
            kind,
            task: self.task,
            description: self.description,
            started_at: self.started_at,
            summary: summary.to_owned(),
            decisions: self.decisions.into_values().collect(),
            open_questions: self.open.into_values().collect(),
            files: self.files.into_values().collect(),
            commands,
            relations: self.relations.into_values().collect(),
            work_commits: self.work_commits,
            totals: self.totals,
        }
        .sealed()
    }

    fn take_note(&mut self, seq: Seq, note: &Note) {
        self.totals.notes += 1;
        let text = || clip(&note.text, KEPT_BYTES_MAX);
        let remembered =
            || Remembered { seq, kind: note.kind, text: text(), answer: None, message: note.message };
        if note.kind.is_by_agent() {
            self.note = Some(text());
        }
        match note.kind {
            NoteKind::Decision => drop(self.decisions.insert(seq, remembered())),
            NoteKind::Question => drop(self.open.insert(seq, remembered())),
            NoteKind::Response => {
                let last = self.open.last_key_value().map(|(seq, _)| *seq);
                let answer = (!note.text.is_empty()).then(text);
                if let Some(question) = note.answers.or(last) {
                    self.settle(question, answer, note.message);
                }
            }
            NoteKind::Note | NoteKind::Diagnostic => {}
            NoteKind::Intervention | NoteKind::Request | NoteKind::Confirmation => {}
        }
    }

    /// A question that is answered is a decision: what was asked, and what the person chose.
    fn settle(&mut self, question: Seq, answer: Option<String>, message: Option<Seq>) {
        if let Some(asked) = self.open.remove(&question) {
            let message = message.or(asked.message);
            self.decisions.insert(question, Remembered { answer, message, ..asked });
        }
    }

    fn touch(&mut self, path: &WorkPath, last: Digest) -> &mut FileTouched {
        let fresh = || FileTouched { path: path.clone(), reads: 0, writes: 0, last };
        let file = self.files.entry(path.clone()).or_insert_with(fresh);
        file.last = last;
        file
    }

    fn run(&mut self, seq: Seq, command: &str, exit_code: Option<i32>) {
        self.totals.commands += 1;
        let kept = clip(command, KEPT_BYTES_MAX);
        self.command = Some((kept.clone(), exit_code));
        let key = Digest::of_body(command.as_bytes());
        let fresh = || CommandRun { command: kept, runs: 0, failures: 0, exit_code, seq };
        let run = self.commands.entry(key).or_insert_with(fresh);
        self.by_last_run.remove(&run.seq);
        run.runs += 1;
        run.failures += u64::from(exit_code != Some(0));
        (run.exit_code, run.seq) = (exit_code, seq);
        self.by_last_run.insert(seq, key);
        if self.commands.len() > COMMANDS_MAX
            && let Some((_, oldest)) = self.by_last_run.pop_first()
            && let Some(left_out) = self.commands.remove(&oldest)
        {
            self.totals.commands_left_out += left_out.runs;
        }
    }

    fn relate(&mut self, edge: &Edge) {
        self.totals.relations += 1;
        if let (EdgeLabel::Answers, NodeId::Note(question)) = (edge.label, &edge.to) {
            let message = match edge.from {
                NodeId::Message(seq) => Some(seq),
                _ => None,
            };
            self.settle(*question, None, message);
        }
        let full = self.relations.len() >= RELATIONS_MAX;
        match self.relations.entry((edge.from.clone(), edge.to.clone(), edge.label)) {
            Entry::Occupied(mut known) if edge.weight > known.get().weight => {
                drop(known.insert(edge.clone()))
            }
            Entry::Occupied(_) => {}
            Entry::Vacant(_) if full => self.totals.relations_left_out += 1,
            Entry::Vacant(place) => drop(place.insert(edge.clone())),
        }
    }
}

impl Extend<Event> for Compaction {
    fn extend<I: IntoIterator<Item = Event>>(&mut self, events: I) {
        for event in events {
            match event {
                Event::Observed(seq, observation) => self.observe(seq, &observation),
                Event::Flushed(commit) => self.flushed(commit),
            }
        }
    }
}

#[cfg(test)]
mod tests;
