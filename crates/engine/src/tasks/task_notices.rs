//! Notices that name a task: the words stand in the log, so a notice that was recorded holds none and is given them
//! when it is told.

use crate::engine::{Engine, Turn};
use crate::error::Error;
use crate::outcome::Outcome;
use crate::words::{self, tasks};
use segue_core::entry::{Body, Change, TaskStep};
use segue_core::notice::{Notice, QuestionTopic};
use segue_core::scope;
use segue_core::session::Number;
use segue_core::state::State;
use segue_core::task::assignment::{Described, Stage};
use segue_core::task::history::Reach;
use segue_core::task::identity::TaskId;
use segue_core::task::notice::TaskNotice;

impl Engine {
    /// Puts the words of the task into what the person is told (C-11, C-12).
    pub(crate) async fn with_task_words(&self, turn: &Turn, mut outcome: Outcome) -> Result<Outcome, Error> {
        let text = match &outcome.announces {
            Some(Notice::Question { stake: QuestionTopic::Unfinished { task, started_at }, .. }) => {
                let zone = self.config.time_zone_for(&turn.scope, None);
                match self.described(&turn.scope, *task).await? {
                    Some(described) => {
                        let name = self.description(turn, described).await?;
                        Some(tasks::unfinished(turn.language, &name, *started_at, &zone))
                    }
                    None => None,
                }
            }
            Some(Notice::Task(TaskNotice::Back { session, .. })) => {
                let state = self.state(&turn.scope).await?;
                self.presented(turn, &state, *session).await?
            }
            Some(Notice::Task(TaskNotice::Lapsed { session, .. })) => {
                let state = self.state(&turn.scope).await?;
                match state.extras.tasks.get(session) {
                    Some(task) => {
                        Some(tasks::lapsed(turn.language, &self.description(turn, task.described).await?))
                    }
                    None => None,
                }
            }
            _ => None,
        };
        match text {
            Some(text) => {
                let also = outcome.also.as_ref();
                let also = also.map(|also| words::notice(turn.language, &turn.scope, also));
                outcome.notice =
                    Some([Some(text), also].into_iter().flatten().collect::<Vec<_>>().join("\n"));
            }
            None => self.name_in(turn, &mut outcome).await,
        }
        Ok(outcome)
    }

    /// Finds where the description of a task stands: the entry that started it says so, whatever became of it since.
    async fn described(&self, scope: &scope::Key, task: TaskId) -> Result<Option<Described>, Error> {
        let started = self.store.get(scope, task.0).await?;
        Ok(started.and_then(|record| match record.body().ok()? {
            Body::Task(TaskStep { change: Change::Started { described }, .. }) => Some(described),
            _ => None,
        }))
    }

    async fn description(&self, turn: &Turn, described: Described) -> Result<String, Error> {
        let words = self.words_at(&turn.scope, described.entry()).await?;
        Ok(words.unwrap_or_else(|| tasks::erased(turn.language).to_owned()))
    }

    /// Shows a task as it stands, for a person who comes back to it (C-12).
    pub(crate) async fn presented(
        &self,
        turn: &Turn,
        state: &State,
        session: Number,
    ) -> Result<Option<String>, Error> {
        let Some(task) = state.extras.tasks.get(&session) else { return Ok(None) };
        let words = async |scope: &scope::Key, seq| -> Result<String, Error> {
            let words = self.words_at(scope, seq).await?;
            Ok(words.unwrap_or_else(|| tasks::erased(turn.language).to_owned()))
        };
        Ok(match &task.stage {
            Stage::AwaitingUser { question, .. } => {
                Some(tasks::asked(turn.language, &words(&turn.scope, *question).await?))
            }
            Stage::PendingComplete { summary } => {
                Some(tasks::finished(turn.language, &words(&turn.scope, *summary).await?))
            }
            Stage::Interrupted { messages } => {
                let mut said = Vec::new();
                for seq in messages {
                    said.push(words(&turn.scope, *seq).await?);
                }
                Some(tasks::interrupted(turn.language, &said))
            }
            Stage::Running => {
                let past = self.task_history(&turn.scope, task, Reach::Whole).await?;
                let progress = words::tasks::progress(turn.language, &past.compaction().progress());
                Some(tasks::cut_off(turn.language, &progress))
            }
            Stage::Complete | Stage::Aborted { .. } => None,
        })
    }
}
