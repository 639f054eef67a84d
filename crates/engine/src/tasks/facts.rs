//! Reading the facts that a decision needs. The log is read in parts and folded as it comes: memory does not grow with
//! the number of observations.

use crate::engine::Engine;
use crate::error::Error;
use segue_core::decide::{Circumstances, Command, Decided, decide, needs};
use segue_core::entry::{Body, Record, Seq};
use segue_core::erasure::{Sources, Trace};
use segue_core::facts::{BOUNDARY_ENTRIES_MAX, Facts, Need, pruned_by};
use segue_core::policy::Policy;
use segue_core::refusal::Refusal;
use segue_core::scope;
use segue_core::state::State;
use segue_core::task::assignment::Assignment;
use segue_core::task::history::{Reach, TaskHistory};

/// How many entries are read at a time.
const ENTRIES_MAX: usize = 256;

impl Engine {
    /// Reads what a decision needs, and decides.
    pub(crate) async fn decide(
        &self,
        prior: &State,
        policy: &Policy,
        command: Command,
        at: &Circumstances,
    ) -> Result<Result<Decided, Refusal>, Error> {
        let mut facts = Facts::default();
        for need in needs(prior, policy, &command, at) {
            match need {
                Need::TaskHistory { session, reach } => {
                    let Some(task) = prior.extras.tasks.get(&session) else { continue };
                    facts.task = Some(Box::new(self.task_history(&prior.scope, task, reach).await?));
                }
                Need::Derived { sources } => facts.derived = self.derived_from(&prior.scope, sources).await?,
                Need::Pruned { boundary } => {
                    let behind = self.store.tail(&prior.scope, boundary, BOUNDARY_ENTRIES_MAX).await?;
                    facts.pruned = pruned_by(&behind);
                }
                Need::Memories { sessions } => facts.memories = self.left_behind(prior, &sessions).await?,
            }
        }
        Ok(decide(prior, policy, &command, &facts, at))
    }

    /// Reads the history of a task.
    pub(crate) async fn task_history(
        &self,
        scope: &scope::Key,
        task: &Assignment,
        reach: Reach,
    ) -> Result<TaskHistory, Error> {
        let description = self.words_at(scope, task.described.entry()).await?.unwrap_or_default();
        let words = match task.stage.words() {
            Some(seq) => self.words_at(scope, seq).await?.unwrap_or_default(),
            None => String::new(),
        };
        let mut history = TaskHistory::new(task, reach, description, words);
        if reach == Reach::Staged && task.first_staged().is_none() {
            return Ok(history);
        }
        self.each_after(scope, history.after(), |record| history.read(record)).await?;
        Ok(history)
    }

    /// Finds what was made of entries that are to go.
    async fn derived_from(&self, scope: &scope::Key, sources: Sources) -> Result<Vec<Seq>, Error> {
        if sources == Sources::default() {
            return Ok(Vec::new());
        }
        let mut trace = Trace::new(scope.clone(), sources);
        self.each_after(scope, Seq::ZERO, |record| trace.read(record)).await?;
        let (mut derived, repeats) = trace.finish();
        if let Some(mut repeats) = repeats {
            self.each_after(scope, Seq::ZERO, |record| repeats.read(record)).await?;
            derived.extend(repeats.finish());
        }
        Ok(derived)
    }

    /// Goes through the log from behind an entry.
    pub(crate) async fn each_after(
        &self,
        scope: &scope::Key,
        mut after: Seq,
        mut each: impl FnMut(&Record),
    ) -> Result<(), Error> {
        loop {
            let records = self.store.tail(scope, after, ENTRIES_MAX).await?;
            let Some(last) = records.last() else { return Ok(()) };
            after = last.seq;
            records.iter().for_each(&mut each);
        }
    }

    /// Reads words that stand in an entry; nothing if they were erased or dropped.
    pub(crate) async fn words_at(&self, scope: &scope::Key, seq: Seq) -> Result<Option<String>, Error> {
        let record = self.store.get(scope, seq).await?;
        Ok(record.and_then(|record| match record.body().ok()? {
            Body::Message(_, message) => Some(message.text),
            Body::Worded(worded) => Some(worded.text),
            Body::Copied(copied) => Some(copied.text),
            Body::Observation(observing) => match observing.observation {
                segue_core::task::observation::Observation::Note(note) => Some(note.text),
                _ => None,
            },
            _ => None,
        }))
    }
}
