//! Reading a task's past where a decision needs it. The log is read in parts and folded as it comes: memory does
//! not grow with the number of observations.

use crate::engine::Engine;
use crate::error::Error;
use segue_core::decide::{Circumstances, Command, Decided, decide};
use segue_core::entry::{Body, Record, Seq};
use segue_core::policy::Policy;
use segue_core::refusal::Refusal;
use segue_core::scope;
use segue_core::session::Number;
use segue_core::state::State;
use segue_core::task::assignment::Assignment;
use segue_core::task::history::{Reach, TaskHistory};
use segue_core::task::refusal::TaskRefusal;

/// How many entries are read at a time.
const ENTRIES_MAX: usize = 256;

impl Engine {
    /// Decides, and reads the past of the task if the decision asks for it.
    pub(crate) async fn decide(
        &self,
        prior: &State,
        policy: &Policy,
        command: Command,
        at: &Circumstances,
    ) -> Result<Result<Decided, Refusal>, Error> {
        let wanted = match decide(prior, policy, &command, at) {
            Err(Refusal::Task(TaskRefusal::Unread(wanted))) => wanted,
            Ok(decided) => return self.keeping(prior, policy, command, at, decided).await,
            refused => return Ok(refused),
        };
        let Some(session) = session_of(prior, &command) else { return Ok(Err(Refusal::NothingSaid)) };
        let Some(task) = prior.extras.tasks.get(&session) else {
            return Ok(Err(Refusal::Task(TaskRefusal::NoTask(session))));
        };
        let past = Box::new(self.past(&prior.scope, task, wanted).await?);
        let command = Command::Knowing { past, command: Box::new(command) };
        match decide(prior, policy, &command, at) {
            Ok(decided) => self.keeping(prior, policy, command, at, decided).await,
            refused => Ok(refused),
        }
    }

    /// Decides again, if sessions would go from which nothing was kept yet (P-11).
    async fn keeping(
        &self,
        prior: &State,
        policy: &Policy,
        command: Command,
        at: &Circumstances,
        decided: Decided,
    ) -> Result<Result<Decided, Refusal>, Error> {
        // Who asks for a session to be deleted does not want it to be remembered.
        if decided.dropped.is_empty() || matches!(command, Command::Delete { .. }) {
            return Ok(Ok(decided));
        }
        let kept = self.left_behind(prior, &decided.dropped).await?;
        if kept.is_empty() {
            return Ok(Ok(decided));
        }
        Ok(decide(prior, policy, &Command::Keeping { kept, command: Box::new(command) }, at))
    }

    /// Reads back what is wanted of a task.
    pub(crate) async fn past(
        &self,
        scope: &scope::Key,
        task: &Assignment,
        wanted: Reach,
    ) -> Result<TaskHistory, Error> {
        let description = self.words_at(scope, task.described.entry()).await?.unwrap_or_default();
        let words = match task.stage.words() {
            Some(seq) => self.words_at(scope, seq).await?.unwrap_or_default(),
            None => String::new(),
        };
        let mut past = TaskHistory::new(task, wanted, description, words);
        if wanted == Reach::Staged && task.first_staged().is_none() {
            return Ok(past);
        }
        self.each_after(scope, past.after(), |record| past.read(record)).await?;
        Ok(past)
    }

    /// Goes through the log from behind an entry.
    pub(crate) async fn each_after(
        &self,
        scope: &scope::Key,
        mut after: Seq,
        mut each: impl FnMut(&Record),
    ) -> Result<(), Error> {
        loop {
            let records = self.store.log(scope, after, ENTRIES_MAX).await?;
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

/// Finds the session whose task a command is about.
fn session_of(state: &State, command: &Command) -> Option<Number> {
    match command {
        Command::Task(task) => task.session.or(state.latest()),
        _ => state.latest(),
    }
}
