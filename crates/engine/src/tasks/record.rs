//! Reading tasks back: the narrative, what is kept for good, and how things hang together.

use crate::engine::Engine;
use crate::error::Error;
use segue_core::Timestamp;
use segue_core::entry::{Body, Change, Record, Seq};
use segue_core::scope;
use segue_core::session::Number;
use segue_core::state::State;
use segue_core::task::canonical::CanonicalCommit;
use segue_core::task::commit::CommitId;
use segue_core::task::graph::Graph;
use segue_core::task::history::Reach;
use segue_core::task::identity::TaskId;
use segue_core::task::narrative::{NarrativeKind, NarrativeLine};
use segue_core::task::observation::{Note, Observation};

/// What is kept of a task for good, with what it was about.
#[derive(Debug, Clone, PartialEq)]
pub struct ArchivedTask {
    /// The entry.
    pub seq: Seq,
    /// When it was written.
    pub at: Timestamp,
    /// The commit.
    pub commit: CanonicalCommit,
    /// What was to be done; nothing if the person erased it.
    pub description: Option<String>,
}

/// A line of a task's narrative.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Narrated {
    /// The entry.
    pub seq: Seq,
    /// The line.
    pub line: NarrativeLine,
    /// What the message says that the line is about, if it is still there.
    pub said: Option<String>,
}

impl Engine {
    /// Finds a canonical commit.
    pub async fn canonical(
        &self,
        scope: &scope::Key,
        id: CommitId,
    ) -> Result<Option<CanonicalCommit>, Error> {
        let kept = self.kept(scope).await?;
        Ok(kept.into_iter().map(|kept| kept.commit).rfind(|commit| commit.id == id))
    }

    /// Returns the last canonical commit, by its number.
    pub(super) async fn last_canonical(&self, state: &State) -> Result<Option<CanonicalCommit>, Error> {
        let Some(step) = state.extras.canonical_at else {
            let Some(id) = state.extras.canonical else { return Ok(None) };
            return self.canonical(&state.scope, id).await;
        };
        Ok(self.kept_at(&state.scope, step).await?.1.map(|kept| kept.commit))
    }

    /// Reads what a step kept, and the number of the step before it.
    async fn kept_at(&self, scope: &scope::Key, step: Seq) -> Result<(Seq, Option<ArchivedTask>), Error> {
        let record = self.store.get(scope, step).await?;
        let Some(Ok(Body::Task(step))) = record.map(|record| record.body()) else {
            return Ok((Seq::ZERO, None));
        };
        let Change::Compacted { kept, before, .. } = step.change else { return Ok((Seq::ZERO, None)) };
        let before = before.unwrap_or(Seq::ZERO);
        let Some(record) = self.store.get(scope, kept.first().copied().unwrap_or(Seq::ZERO)).await? else {
            return Ok((before, None));
        };
        // A person may have erased it since.
        let Ok(Body::Compacted(commit)) = record.body() else { return Ok((before, None)) };
        let copy = match kept.get(1) {
            Some(copy) => self.words_at(scope, *copy).await?,
            None => Some(commit.description.clone()).filter(|text| !text.is_empty()),
        };
        let kept = ArchivedTask { seq: record.seq, at: record.at, commit: *commit, description: copy };
        Ok((before, Some(kept)))
    }

    /// Lists what is kept of a scope's tasks, oldest first: also of sessions that were cleaned up (C-8). Each step
    /// names the one before it, so the log in between is not read.
    pub async fn kept(&self, scope: &scope::Key) -> Result<Vec<ArchivedTask>, Error> {
        let Some(state) = self.find_state(scope).await? else { return Ok(Vec::new()) };
        let (mut kept, mut steps) = (Vec::new(), 0);
        let mut next = state.extras.canonical_at.unwrap_or(Seq::ZERO);
        while next != Seq::ZERO {
            let (before, found) = self.kept_at(scope, next).await?;
            kept.extend(found);
            steps += 1;
            // They lead backwards only; what does not is damage, which `verify` reports.
            next = if before < next { before } else { Seq::ZERO };
        }
        if steps < state.extras.compactions {
            return self.kept_by_reading(scope).await;
        }
        kept.reverse();
        Ok(kept)
    }

    /// The same for logs from before steps named each other.
    async fn kept_by_reading(&self, scope: &scope::Key) -> Result<Vec<ArchivedTask>, Error> {
        let mut kept: Vec<ArchivedTask> = Vec::new();
        self.each_after(scope, Seq::ZERO, |record| match record.body() {
            Ok(Body::Compacted(commit)) => {
                let description = Some(commit.description.clone()).filter(|text| !text.is_empty());
                kept.push(ArchivedTask { seq: record.seq, at: record.at, commit: *commit, description });
            }
            Ok(Body::Copied(copied)) => {
                // It stands right behind its commit.
                if let Some(last) = kept.last_mut().filter(|last| last.seq.next() == record.seq) {
                    last.description = Some(copied.text);
                }
            }
            _ => {}
        })
        .await?;
        Ok(kept)
    }

    /// Tells the story of a task, line by line, in the order of the log.
    pub async fn narrative(&self, scope: &scope::Key, task: TaskId) -> Result<Vec<Narrated>, Error> {
        let mut lines: Vec<(Seq, NarrativeLine)> = Vec::new();
        let mut session: Option<Number> = None;
        let mut open = true;
        self.each_after(scope, task.0.previous(), |record| {
            let line = line_of(record, task, &mut session, &mut open);
            lines.extend(line.map(|line| (record.seq, line)));
        })
        .await?;
        let mut narrated = Vec::new();
        for (seq, line) in lines {
            let said = match line.message {
                Some(message) => self.words_at(scope, message).await?,
                None => None,
            };
            narrated.push(Narrated { seq, line, said });
        }
        Ok(narrated)
    }

    /// Returns what was last kept of a task: one that was opened again may be kept more than once.
    pub async fn kept_of(&self, scope: &scope::Key, task: TaskId) -> Result<Option<ArchivedTask>, Error> {
        Ok(self.kept(scope).await?.into_iter().rfind(|kept| kept.commit.task == task))
    }

    /// Draws how things hang together in a task: one that is open, or one that is kept.
    pub async fn graph(&self, scope: &scope::Key, task: TaskId) -> Result<Option<Graph>, Error> {
        let state = self.state(scope).await?;
        let known = state.extras.tasks.values().find(|known| known.id == task);
        if known.is_none_or(|known| !known.is_open())
            && let Some(mut kept) = self.kept_of(scope, task).await?
        {
            kept.commit.description = kept.description.unwrap_or(kept.commit.description);
            return self.labelled(scope, kept.commit.graph()).await.map(Some);
        }
        let Some(open) = known else { return Ok(None) };
        let past = self.task_history(scope, open, Reach::Whole).await?;
        let kind = segue_core::task::canonical::CommitKind::Normal;
        let mut draft = past.compaction().clone().finish(kind, "", None);
        draft.description = past.description.clone();
        self.labelled(scope, draft.graph()).await.map(Some)
    }

    /// Gives nodes the words of their entries, as far as those are still there.
    async fn labelled(&self, scope: &scope::Key, mut graph: Graph) -> Result<Graph, Error> {
        for node in graph.unlabelled() {
            let Some(seq) = node.entry() else { continue };
            let words = match self.store.get(scope, seq).await?.and_then(|record| record.body().ok()) {
                Some(Body::Observation(observing)) => match observing.observation {
                    // What the person said stands in their message only.
                    Observation::Note(Note { message: Some(message), text, .. }) if text.is_empty() => {
                        self.words_at(scope, message).await?
                    }
                    Observation::Note(note) => Some(note.text),
                    Observation::Command { command, .. } => Some(command),
                    _ => None,
                },
                Some(Body::Message(_, message)) => Some(message.text),
                _ => None,
            };
            graph.label(node, &words.unwrap_or_default());
        }
        Ok(graph)
    }

    /// Finds the task that is meant if none is named: the latest session's, or else the last that is kept.
    pub async fn last_task(&self, scope: &scope::Key) -> Result<Option<TaskId>, Error> {
        let state = self.state(scope).await?;
        let latest = state.latest().and_then(|latest| state.extras.tasks.get(&latest));
        if let Some(task) = latest {
            return Ok(Some(task.id));
        }
        let open = state.extras.tasks.values().map(|task| task.id).max();
        let kept = self.kept(scope).await?.last().map(|kept| kept.commit.task);
        Ok(open.max(kept))
    }
}

fn line_of(
    record: &Record,
    task: TaskId,
    session: &mut Option<Number>,
    open: &mut bool,
) -> Option<NarrativeLine> {
    let at = record.at;
    match record.body().ok()? {
        Body::Observation(observing) if observing.task == task => {
            Some(NarrativeLine::of(at, &observing.observation))
        }
        Body::WorkCommit(commit) if commit.task == task => {
            Some(NarrativeLine::new(at, NarrativeKind::Step, &commit.id.short()))
        }
        Body::Compacted(commit) if commit.task == task => {
            let text = format!("{} {}: {}", commit.id.short(), commit.kind, commit.summary);
            Some(NarrativeLine::new(at, NarrativeKind::Compacted, &text))
        }
        Body::Task(step) => match &step.change {
            Change::Started { described } if record.seq == task.0 => {
                *session = Some(step.session);
                let message = Some(described.entry());
                Some(NarrativeLine { message, ..NarrativeLine::new(at, NarrativeKind::Started, "") })
            }
            // Another task in the same session: what follows is not about this one.
            Change::Started { .. } if *session == Some(step.session) => {
                *open = false;
                None
            }
            Change::CameFrom { from } if *session == Some(*from) => {
                *session = Some(step.session);
                None
            }
            Change::Went { to } | Change::Compacted { to, .. } | Change::Reopened { to }
                if *open && *session == Some(step.session) =>
            {
                Some(NarrativeLine::new(at, NarrativeKind::State, to.name().name()))
            }
            _ => None,
        },
        _ => None,
    }
}
