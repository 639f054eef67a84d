//! One task, as an agent holds it.

use crate::engine::Engine;
use crate::error::Error;
use crate::scope::Scope;
use crate::words::{self, Language};
use segue_core::decide::{Decided, TaskVerb};
use segue_core::entry::{Body, Seq};
use segue_core::refusal::Refusal;
use segue_core::scope;
use segue_core::session::Number;
use segue_core::task::assignment::{Assignment, Stage};
use segue_core::task::blob::Blob;
use segue_core::task::commit::CommitId;
use segue_core::task::compaction::Progress;
use segue_core::task::history::Reach;
use segue_core::task::identity::TaskId;
use segue_core::task::node::Edge;
use segue_core::task::observation::{Note, NoteKind, Observation};
use segue_core::task::path::{BadPath, WorkPath};
use segue_core::task::refusal::TaskRefusal;
use segue_core::task::state::{StateName, TaskState};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Nothing was looked at yet, so the first check asks the store: somebody may have spoken before a restart.
const NEVER: u64 = u64::MAX;

/// A task of an agent.
pub struct TaskSession {
    engine: Arc<Engine>,
    scope: scope::Key,
    number: Number,
    task: TaskId,
    live: Arc<Scope>,
    heard: AtomicU64,
}

/// What the person said while the agent was working.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Interruption {
    /// The message.
    pub message: Seq,
    /// What it says; nothing if it was erased.
    pub text: Option<String>,
}

impl TaskSession {
    pub(super) fn new(engine: Arc<Engine>, scope: scope::Key, number: Number, task: TaskId) -> Self {
        let live = engine.scopes.get(&scope);
        Self { engine, scope, number, task, live, heard: AtomicU64::new(NEVER) }
    }

    /// Returns the session's number.
    pub fn number(&self) -> Number {
        self.number
    }

    /// Returns the task's id, by which relations name it.
    pub fn task(&self) -> TaskId {
        self.task
    }

    async fn run(&self, verb: TaskVerb) -> Result<Decided, Error> {
        self.engine.do_task(&self.scope, self.engine.now(), Some(self.number), verb).await
    }

    async fn assignment(&self) -> Result<Assignment, Error> {
        let state = self.engine.state(&self.scope).await?;
        let task = state.extras.tasks.get(&self.number).filter(|task| task.id == self.task);
        task.cloned().ok_or(Error::Refused(Refusal::Task(TaskRefusal::Over(self.number))))
    }

    /// Returns where the task stands.
    pub async fn state(&self) -> Result<StateName, Error> {
        Ok(self.assignment().await?.state())
    }

    /// Returns where the task stands, with its words.
    pub async fn full_state(&self) -> Result<TaskState, Error> {
        let task = self.assignment().await?;
        let words = match task.stage.words() {
            Some(seq) => self.engine.words_at(&self.scope, seq).await?,
            None => None,
        };
        Ok(task.stage.worded(&words.unwrap_or_default()))
    }

    /// Returns what is to be done.
    pub async fn task_description(&self) -> Result<String, Error> {
        let task = self.assignment().await?;
        let words = self.engine.words_at(&self.scope, task.described.entry()).await?;
        Ok(words.unwrap_or_else(|| words::tasks::erased(Language::En).to_owned()))
    }

    /// Tells whether something was done that must not be thrown away (C-10).
    pub async fn has_meaningful_work(&self) -> Result<bool, Error> {
        Ok(self.assignment().await?.has_meaningful_work())
    }

    /// Moves the task by the name of the state it shall have. What 001 stores at that transition is stored with it.
    pub async fn set_state(&self, to: TaskState) -> Result<(), Error> {
        let verb = match to {
            TaskState::AwaitingUser { question, .. } => TaskVerb::Ask { question },
            TaskState::PendingComplete { summary } => TaskVerb::Finish { summary },
            TaskState::Complete => TaskVerb::Confirm,
            TaskState::Aborted { reason } => TaskVerb::Abort { reason },
            TaskState::Interrupted { messages } => {
                for message in messages {
                    self.run(TaskVerb::Interrupt { message }).await?;
                }
                return Ok(());
            }
            TaskState::Running => match self.assignment().await?.stage {
                Stage::AwaitingUser { .. } => {
                    TaskVerb::Respond { message: None, text: "(no message)".to_owned() }
                }
                Stage::PendingComplete { .. } => TaskVerb::Request { text: "(no message)".to_owned() },
                _ => TaskVerb::Incorporate { messages: None },
            },
        };
        self.run(verb).await.map(drop)
    }

    /// Asks the person: the work so far, the question and its time are durable with it (C-2).
    pub async fn ask(&self, question: &str) -> Result<(), Error> {
        self.run(TaskVerb::Ask { question: question.to_owned() }).await.map(drop)
    }

    /// Says that it is done; the person decides.
    pub async fn finish(&self, summary: &str) -> Result<(), Error> {
        self.run(TaskVerb::Finish { summary: summary.to_owned() }).await.map(drop)
    }

    /// Gives up.
    pub async fn abort(&self, reason: &str) -> Result<(), Error> {
        self.run(TaskVerb::Abort { reason: reason.to_owned() }).await.map(drop)
    }

    /// Writes an observation and returns its number, by which relations name it.
    pub async fn observe(&self, observation: Observation) -> Result<Seq, Error> {
        let (now, session) = (self.engine.now(), Some(self.number));
        let decided = self.engine.observe_task(&self.scope, now, session, vec![observation]).await?;
        Ok(decided.about.unwrap_or(Seq::ZERO))
    }

    /// Notes something.
    pub async fn observe_note(&self, text: &str) -> Result<Seq, Error> {
        self.observe(Observation::Note(Note::text(NoteKind::Note, text))).await
    }

    /// Notes a decision; compaction keeps it.
    pub async fn observe_decision(&self, text: &str) -> Result<Seq, Error> {
        self.observe(Observation::Note(Note::text(NoteKind::Decision, text))).await
    }

    /// Notes something that went wrong.
    pub async fn observe_diagnostic(&self, text: &str) -> Result<Seq, Error> {
        self.observe(Observation::Note(Note::text(NoteKind::Diagnostic, text))).await
    }

    /// A file was read.
    pub async fn observe_file_read(&self, path: &str, content: &[u8]) -> Result<Seq, Error> {
        let path = path_in(path)?;
        self.observe(Observation::FileRead { path, content: Blob::of(content) }).await
    }

    /// A file was written.
    pub async fn observe_file_write(&self, path: &str, content: &[u8]) -> Result<Seq, Error> {
        let path = path_in(path)?;
        self.observe(Observation::FileWrite { path, content: Blob::of(content) }).await
    }

    /// A command was run.
    pub async fn observe_command(
        &self,
        command: &str,
        exit_code: Option<i32>,
        output: &[u8],
    ) -> Result<Seq, Error> {
        let output = Blob::of(output);
        self.observe(Observation::Command { command: command.to_owned(), exit_code, output }).await
    }

    /// What is going to be done.
    pub async fn observe_plan(&self, text: &str) -> Result<Seq, Error> {
        self.observe(Observation::Plan { text: text.to_owned() }).await
    }

    /// How things hang together.
    pub async fn observe_relations(&self, edges: Vec<Edge>) -> Result<Seq, Error> {
        self.observe(Observation::Relations { edges }).await
    }

    /// Makes a work commit of what was observed (C-7); nothing if nothing was.
    pub async fn flush_step(&self) -> Result<Option<CommitId>, Error> {
        let before = self.assignment().await?.head;
        let decided = self.run(TaskVerb::Flush).await?;
        let head = decided.state.extras.tasks.get(&decided.session).and_then(|task| task.head);
        Ok(head.filter(|head| before != Some(*head)))
    }

    /// Tells how far the task is.
    pub async fn progress(&self) -> Result<Progress, Error> {
        let task = self.assignment().await?;
        let past = self.engine.task_history(&self.scope, &task, Reach::Whole).await?;
        Ok(past.compaction().progress())
    }

    /// Tells how far the task is, in words.
    pub async fn progress_summary(&self) -> Result<String, Error> {
        let turn = self.engine.turn(self.scope.clone(), None, self.engine.now(), "");
        Ok(words::tasks::progress(turn.language, &self.progress().await?))
    }

    /// Returns what the person said since the last check, in order, each message once (C-4); the work goes on with
    /// it. When nothing was said it costs one atomic load, so call it between any two steps.
    ///
    /// What another process wrote is heard as soon as the store tells of it: on SQLite within a second.
    /// [`TaskSession::look_for_interrupts`] asks the store at once.
    pub async fn check_interrupts(&self) -> Result<Vec<Interruption>, Error> {
        if self.is_quiet() {
            return Ok(Vec::new());
        }
        self.look_for_interrupts().await
    }

    /// Tells whether nobody spoke since the last check.
    pub fn is_quiet(&self) -> bool {
        self.live.interrupts.count() == self.heard.load(Ordering::Relaxed)
    }

    /// Waits until somebody speaks, and returns what was said.
    pub async fn wait_for_interrupts(&self) -> Result<Vec<Interruption>, Error> {
        loop {
            let said = self.check_interrupts().await?;
            if !said.is_empty() {
                return Ok(said);
            }
            self.live.interrupts.wait(self.heard.load(Ordering::Relaxed)).await;
        }
    }

    /// Asks the store what was said, whoever wrote it.
    pub async fn look_for_interrupts(&self) -> Result<Vec<Interruption>, Error> {
        // Read before the store is: who wakes us while it is read is heard the next time.
        let count = self.live.interrupts.count();
        loop {
            let Stage::Interrupted { messages } = self.assignment().await?.stage else { break };
            let verb = TaskVerb::Incorporate { messages: Some(messages.clone()) };
            match self.run(verb).await {
                Ok(_) => {
                    self.heard.store(count, Ordering::Relaxed);
                    return self.said(messages).await;
                }
                // More was said meanwhile, or another check was faster.
                Err(Error::Refused(Refusal::Task(TaskRefusal::QueueChanged | TaskRefusal::Forbidden(_)))) => {
                }
                Err(error) => return Err(error),
            }
        }
        self.heard.store(count, Ordering::Relaxed);
        Ok(Vec::new())
    }

    /// Tells what was said and waits to be taken in. It goes on waiting.
    pub async fn waiting_interrupts(&self) -> Result<Vec<Interruption>, Error> {
        match self.assignment().await?.stage {
            Stage::Interrupted { messages } => self.said(messages).await,
            _ => Ok(Vec::new()),
        }
    }

    async fn said(&self, messages: Vec<Seq>) -> Result<Vec<Interruption>, Error> {
        let mut said = Vec::new();
        for message in messages {
            let record = self.engine.store().get(&self.scope, message).await?;
            let text = record.and_then(|record| match record.body() {
                Ok(Body::Message(_, message)) => Some(message.text),
                _ => None,
            });
            said.push(Interruption { message, text });
        }
        Ok(said)
    }
}

fn path_in(path: &str) -> Result<WorkPath, Error> {
    WorkPath::new(path).map_err(|why: BadPath| Error::Refused(Refusal::Task(why.into())))
}
