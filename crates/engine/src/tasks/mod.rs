//! Tasks for agents, in the words of 001.
//!
//! [`Tasks`] is what 001 calls `ctx`: a scope in which an agent works. [`TaskSession`] is one task in it. Everything
//! that it says is durable when the call returns, and a crash loses nothing of it: [`Tasks::active_session`] finds
//! the task again, and [`Tasks::resume`] says how it stood.
//!
//! ```
//! use segue_engine::{Engine, config::Config, tasks::Tasks};
//! use segue_core::task::state::StateName;
//! use segue_store::memory::Memory;
//! use std::sync::Arc;
//! # let runtime = tokio::runtime::Builder::new_current_thread().build()?;
//! # runtime.block_on(async {
//! let config = Config::load(vec![], &jiff::tz::TimeZone::UTC)?;
//! let engine = Arc::new(Engine::open(Arc::new(Memory::default()), config).await?);
//! let tasks = Tasks::new(engine, "agent:main:cli:direct:me".parse()?);
//! let session = tasks.start_session("Add retry logic to the connect function").await?;
//! session.observe_file_read("src/net.rs", b"fn connect() {}").await?;
//! session.observe_plan("1. backoff 2. tests").await?;
//! session.ask("Fixed delay, or exponential backoff?").await?;
//! assert_eq!(session.state().await?, StateName::AwaitingUser);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod contents;
mod facts;
pub(crate) mod intent;
pub mod op;
pub mod record;
pub(crate) mod resolve;
mod resume;
mod session;
mod stated_intent;
mod task_notices;

pub use session::{Interruption, TaskSession};

use crate::engine::Engine;
use crate::error::Error;
use crate::outcome::Outcome;
use crate::request::{Refused, Request};
use crate::turn::commit::Committed;
use segue_core::Timestamp;
use segue_core::decide::{Decided, TaskCommand, TaskVerb};
use segue_core::refusal::Refusal;
use segue_core::scope;
use segue_core::session::Number;
use segue_core::task::canonical::{CanonicalCommit, CommitKind};
use segue_core::task::identity::Description;
use segue_core::task::observation::Observation;
use segue_core::task::refusal::TaskRefusal;
use std::sync::Arc;

/// From how many observations on a step is flushed by itself, so that no work commit grows without end.
pub(crate) const STAGED_MAX: u32 = 1000;

/// A scope in which an agent works on tasks.
#[derive(Clone)]
pub struct Tasks {
    engine: Arc<Engine>,
    scope: scope::Key,
}

impl Tasks {
    /// Works in a scope.
    pub fn new(engine: Arc<Engine>, scope: scope::Key) -> Self {
        Self { engine, scope }
    }

    /// Returns the scope.
    pub fn scope(&self) -> &scope::Key {
        &self.scope
    }

    /// Starts a task. One that is open is kept first, if something was done in it (C-10).
    pub async fn start_session(&self, task: &str) -> Result<TaskSession, Error> {
        let description = Description::new(task).map_err(|why| Refusal::Task(why.into()))?;
        let verb = TaskVerb::Start { description: Some(description), message: None, cut: None };
        let decided = self.engine.do_task(&self.scope, self.engine.now(), None, verb).await?;
        self.session(decided.session).await
    }

    /// Returns the open task of the latest session, if there is one: also after a crash.
    pub async fn active_session(&self) -> Result<Option<TaskSession>, Error> {
        let Some(state) = self.engine.find_state(&self.scope).await? else { return Ok(None) };
        match state.latest().filter(|latest| state.extras.open_task(*latest).is_some()) {
            Some(latest) => self.session(latest).await.map(Some),
            None => Ok(None),
        }
    }

    /// Returns the task of a session.
    pub async fn session(&self, number: Number) -> Result<TaskSession, Error> {
        let state = self.engine.state(&self.scope).await?;
        let task = state.extras.tasks.get(&number);
        let task = task.ok_or(Refusal::Task(TaskRefusal::NoTask(number)))?;
        self.engine.watch.begin(&self.engine.scopes, self.engine.store()).await?;
        Ok(TaskSession::new(self.engine.clone(), self.scope.clone(), number, task.id))
    }

    /// Makes a canonical commit of the latest session's task and returns it. A second time it is the same one.
    pub async fn compact_session(&self, summary: &str) -> Result<CanonicalCommit, Error> {
        self.compact_as(summary, None).await
    }

    /// The same, of a kind that the host says.
    pub(crate) async fn compact_as(
        &self,
        summary: &str,
        kind: Option<CommitKind>,
    ) -> Result<CanonicalCommit, Error> {
        let verb = TaskVerb::Compact { summary: summary.to_owned(), kind };
        let decided = self.engine.do_task(&self.scope, self.engine.now(), None, verb).await?;
        let task = decided.state.extras.tasks.get(&decided.session);
        let found = match task.and_then(|task| task.canonical) {
            // It was just made, or was the last one made: then it is found by its number.
            Some(id) if decided.state.extras.canonical == Some(id) => {
                self.engine.last_canonical(&decided.state).await?
            }
            Some(id) => self.engine.canonical(&self.scope, id).await?,
            None => None,
        };
        found.ok_or(Error::Refused(Refusal::Task(TaskRefusal::NoTask(decided.session))))
    }

    /// The person has come back: past a week the task is compacted, past a day they are asked, else it is shown as it
    /// stands (C-11, C-12). The outcome's notice is what to tell them.
    pub async fn resume(&self) -> Result<Outcome, Error> {
        self.engine.come_back(&self.scope, self.engine.now()).await
    }
}

impl Engine {
    /// Does something with a task, or refuses with the rule that says why.
    pub async fn do_task(
        &self,
        scope: &scope::Key,
        at: Timestamp,
        session: Option<Number>,
        verb: TaskVerb,
    ) -> Result<Decided, Error> {
        let turn = self.turn(scope.clone(), None, at, "");
        let request = Request::Task(TaskCommand { session, verb });
        match self.commit(&turn, &request).await? {
            Committed::Doubtful(_) => Err(Error::Busy { scope: turn.scope.clone() }),
            Committed::Done(decided) => Ok(*decided),
            Committed::Refused(Refused::Rule(refusal), _) => Err(Error::Refused(refusal)),
            Committed::Refused(..) | Committed::Again(_) => Err(Error::Refused(Refusal::NothingSaid)),
        }
    }

    /// Writes observations to the task of a session, all or none of them (C-6). Contents that the task holds already
    /// are not stored again.
    pub async fn observe_task(
        &self,
        scope: &scope::Key,
        at: Timestamp,
        session: Option<Number>,
        observations: Vec<Observation>,
    ) -> Result<Decided, Error> {
        let command = TaskCommand { session, verb: TaskVerb::Observe { observations } };
        let TaskCommand { session, verb } = self.prepared(scope, at, &command).await?;
        self.do_task(scope, at, session, verb).await
    }

    /// Prepares observations: a step that is full is flushed, and contents that the task holds are left out.
    pub(crate) async fn prepared(
        &self,
        scope: &scope::Key,
        at: Timestamp,
        command: &TaskCommand,
    ) -> Result<TaskCommand, Error> {
        let mut command = command.clone();
        let TaskVerb::Observe { observations } = &mut command.verb else { return Ok(command) };
        let Some(state) = self.find_state(scope).await? else { return Ok(command) };
        let task = command.session.or(state.latest()).and_then(|number| state.extras.open_task(number));
        // What has no task is refused by the rules.
        let Some(task) = task else { return Ok(command) };
        if task.staged() >= STAGED_MAX {
            self.do_task(scope, at, command.session, TaskVerb::Flush).await?;
        }
        self.leave_out_known(scope, task, observations).await?;
        Ok(command)
    }
}
