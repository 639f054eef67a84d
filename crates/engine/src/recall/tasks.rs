//! What is kept of tasks is recalled too: their summaries, decisions, open questions and files (M-D2, C-8).

use crate::engine::Engine;
use crate::error::Error;
use crate::recall::{Fragment, Recall};
use crate::tasks::record::ArchivedTask;
use segue_core::entry::Body;
use segue_core::message::Role;
use segue_core::session::{Key, Number};
use segue_core::state::State;
use segue_store::search::share;

/// A line must have so much of the query: each is short, and one common word would find too many.
const SHARE_MIN: f64 = 0.5;
/// What was said counts more than what was kept of it, if both have all of the query.
const WEIGHT: f64 = 0.9;

impl Engine {
    /// Finds lines of compacted tasks that have what is looked for, the best first.
    pub(crate) async fn recall_tasks(&self, state: &State, recall: &Recall) -> Result<Vec<Fragment>, Error> {
        let mut found = Vec::new();
        if state.extras.compactions == 0 {
            return Ok(found);
        }
        for kept in self.kept(&state.scope).await? {
            let best = lines(&kept).into_iter().map(|line| (share(&line, &recall.query), line));
            let best = best.filter(|(share, _)| *share >= SHARE_MIN).max_by(|a, b| a.0.total_cmp(&b.0));
            let Some((share, text)) = best else { continue };
            let Some(record) = self.store.get(&state.scope, kept.seq).await? else { continue };
            let Some(session) = self.session_of_task(state, &kept).await? else { continue };
            found.push(Fragment {
                session: Key::new(state.scope.clone(), session),
                segment: record.segment,
                seq: kept.seq,
                sender: None,
                role: Role::System,
                at: kept.at,
                text,
                score: (share * WEIGHT * 1e3).round() / 1e3,
                rationale: recall.why.trim().to_owned(),
                before: None,
                after: None,
            });
        }
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.at.cmp(&a.at)));
        Ok(found)
    }

    /// The entry that started a task outlives its session.
    async fn session_of_task(&self, state: &State, kept: &ArchivedTask) -> Result<Option<Number>, Error> {
        let started = self.store.get(&state.scope, kept.commit.task.0).await?;
        Ok(started.and_then(|record| match record.body() {
            Ok(Body::Task(step)) => Some(step.session),
            _ => None,
        }))
    }
}

fn lines(kept: &ArchivedTask) -> Vec<String> {
    let commit = &kept.commit;
    let task = kept.description.as_deref().unwrap_or_default();
    let line = |what: &str, text: &str| format!("{what} of the task \"{task}\": {text}");
    let mut lines = vec![line("Summary", &commit.summary)];
    lines.extend(commit.decisions.iter().map(|decision| line("Decision", &decision.text)));
    lines.extend(commit.open_questions.iter().map(|question| line("Open question", &question.text)));
    lines.extend(commit.files.iter().map(|file| line("File", &file.path.to_string())));
    lines
}
