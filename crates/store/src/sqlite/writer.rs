//! The one writer: a thread of its own, so that no runtime thread ever waits for a commit. Turns that come while it is
//! busy share the next commit.

use super::write_connection::{Answers, QueuedAppend, ReplySender, WriteConnection};
use crate::error::Error;
use crate::store::Purged;
use crate::types::Append;
use std::collections::VecDeque;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::{mpsc, oneshot};

/// How many jobs may wait.
const WAITING_MAX: usize = 1_024;

/// How many turns share a commit at most.
const SHARED_MAX: usize = 128;

/// A commit that takes longer than this is worth waiting for company, for a share of what it takes.
const COMMIT_SLOW: Duration = Duration::from_micros(500);
const COMPANY_SHARE: u32 = 8;

/// A thread that has just written stays awake for so long if turns come that fast: to wake it takes about as long as a fifth
/// of a commit.
const AWAKE_MAX: Duration = Duration::from_micros(100);

/// How many pages the write-ahead log grows before it is checkpointed when nobody waits, and when somebody always waits.
const WAL_PAGES_IDLE_MAX: usize = 1_000;
const WAL_PAGES_BUSY_MAX: usize = 16_000;

/// Work on the write connection that can wait until a turn is written.
type Task = Box<dyn FnOnce(&mut WriteConnection) + Send>;

enum Job {
    Append(Box<Append>, ReplySender<()>),
    /// The appends of one caller: they have a commit of their own.
    Appends(VecDeque<QueuedAppend>),
    Task(Task),
}

/// A handle to the writer thread, which ends when the handle is dropped.
#[derive(Debug)]
pub(super) struct Writer {
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread.
    pub(super) fn start(connection: WriteConnection) -> Result<Self, Error> {
        let (jobs, inbox) = mpsc::channel(WAITING_MAX);
        let thread = WriterThread { connection, inbox, pace: Pace::Idle };
        let thread = std::thread::Builder::new()
            .name("segue-sqlite-writer".to_owned())
            .spawn(move || thread.run())
            .map_err(|error| Error::unavailable("starting the writer", error))?;
        Ok(Self { jobs: Some(jobs), thread: Some(thread) })
    }

    /// Appends; returns once it is durable.
    pub(super) async fn append(&self, append: Append) -> Result<(), Error> {
        let (answer, answered) = oneshot::channel();
        self.send(Job::Append(Box::new(append), answer)).await?;
        answered.await.map_err(|_| lost())?
    }

    /// Appends one after the other, in one commit; tells how many were, and why not all.
    pub(super) async fn append_many(&self, appends: Vec<Append>) -> (usize, Result<(), Error>) {
        let turn = |append| {
            let (answer, answered) = oneshot::channel();
            ((Box::new(append), answer), answered)
        };
        let (turns, answers): (VecDeque<QueuedAppend>, Vec<_>) = appends.into_iter().map(turn).unzip();
        if let Err(error) = self.send(Job::Appends(turns)).await {
            return (0, Err(error));
        }
        let mut written = 0;
        for answered in answers {
            // Those behind one that cannot be appended were decided on it, and were not written.
            if let Err(error) = answered.await.unwrap_or_else(|_| Err(lost())) {
                return (written, Err(error));
            }
            written += 1;
        }
        (written, Ok(()))
    }

    /// Runs a piece of work on the writer thread.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut WriteConnection) -> Result<T, Error> + Send + 'static,
    ) -> Result<T, Error> {
        let (answer, answered) = oneshot::channel();
        // A caller that has gone meanwhile need not be told.
        let task = move |connection: &mut WriteConnection| drop(answer.send(work(connection)));
        self.send(Job::Task(Box::new(task))).await?;
        answered.await.map_err(|_| stopped())?
    }

    /// Returns what has the file rewritten from another thread. The writer does not end before it is dropped.
    pub(super) fn purges(&self) -> Option<PurgeJobs> {
        self.jobs.clone().map(PurgeJobs)
    }

    async fn send(&self, job: Job) -> Result<(), Error> {
        let jobs = self.jobs.as_ref().ok_or_else(stopped)?;
        jobs.send(job).await.map_err(|_| stopped())
    }
}

/// Has the writer thread rewrite the file.
#[derive(Debug)]
pub(super) struct PurgeJobs(mpsc::Sender<Job>);

impl PurgeJobs {
    /// Waits until that is done. It must not be called on a thread of a runtime.
    pub(super) fn purge(&self) -> Result<Purged, Error> {
        let (answer, answered) = oneshot::channel();
        let task = move |connection: &mut WriteConnection| drop(answer.send(connection.purge()));
        self.0.blocking_send(Job::Task(Box::new(task))).map_err(|_| stopped())?;
        answered.blocking_recv().map_err(|_| stopped())?
    }
}

fn stopped() -> Error {
    Error::unavailable("the writer has stopped", "open the store again")
}

/// The thread ended while it had the append.
fn lost() -> Error {
    Error::Unknown { what: "an append".into(), why: "the writer has stopped".into() }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // The thread only fails by panicking, and then there is nobody left to tell.
            let _ = thread.join();
        }
    }
}

/// The thread that writes.
struct WriterThread {
    connection: WriteConnection,
    inbox: mpsc::Receiver<Job>,
    pace: Pace,
}

/// How soon the last job came behind the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pace {
    Busy,
    Idle,
}

impl WriterThread {
    /// Waits for the next job: awake if the one before came at once, else asleep.
    fn next_job(&mut self) -> Option<Job> {
        let begun = Instant::now();
        while self.pace == Pace::Busy && begun.elapsed() < AWAKE_MAX {
            match self.inbox.try_recv() {
                Ok(job) => return Some(job),
                Err(TryRecvError::Empty) => std::thread::yield_now(),
                Err(TryRecvError::Disconnected) => return None,
            }
        }
        let job = self.inbox.blocking_recv();
        self.pace = if begun.elapsed() < AWAKE_MAX { Pace::Busy } else { Pace::Idle };
        job
    }

    fn run(mut self) {
        while let Some(job) = self.next_job() {
            let (mut tasks, mut brought) = (Vec::new(), Vec::new());
            let Self { connection, inbox, .. } = &mut self;
            connection.mark();
            match job {
                Job::Append(append, answer) => {
                    let before = connection.before;
                    let next =
                        |shared: &Answers| next_turn(inbox, shared.len(), before, &mut tasks, &mut brought);
                    connection.write((append, answer), next);
                }
                Job::Appends(turns) => connection.write_many(turns),
                Job::Task(task) => tasks.push(task),
            }
            for turns in brought {
                connection.write_many(turns);
            }
            for task in tasks {
                task(connection);
            }
            let limit = if inbox.is_empty() { WAL_PAGES_IDLE_MAX } else { WAL_PAGES_BUSY_MAX };
            connection.checkpoint(limit);
        }
        self.connection.close();
    }
}

/// Takes the next turn that has come meanwhile, if there is one and the commit has room for it.
fn next_turn(
    inbox: &mut mpsc::Receiver<Job>,
    shared: usize,
    before: (usize, Duration),
    tasks: &mut Vec<Task>,
    brought: &mut Vec<VecDeque<QueuedAppend>>,
) -> Option<QueuedAppend> {
    if shared >= SHARED_MAX {
        return None;
    }
    loop {
        match next_job(inbox, shared, before)? {
            Job::Append(append, answer) => return Some((append, answer)),
            Job::Appends(turns) => brought.push(turns),
            Job::Task(task) => tasks.push(task),
        }
    }
}

/// Takes the next job, if there is one.
///
/// Where syncs are slow and the commit before was shared by more turns than this one is so far, it is worth a moment to
/// let them come: who misses this sync waits for the next.
fn next_job(inbox: &mut mpsc::Receiver<Job>, shared: usize, (turns, took): (usize, Duration)) -> Option<Job> {
    let begun = Instant::now();
    loop {
        match inbox.try_recv() {
            Ok(job) => return Some(job),
            Err(TryRecvError::Empty)
                if shared < turns && took > COMMIT_SLOW && begun.elapsed() < took / COMPANY_SHARE =>
            {
                std::thread::yield_now();
            }
            Err(_) => return None,
        }
    }
}
