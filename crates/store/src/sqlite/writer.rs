//! The one writer. A turn that nobody else waits for is written at once, where it is; the turns that come meanwhile go
//! to a thread that lets them share a commit.

use super::desk::{Answer, Answers, Desk, Turn};
use crate::error::Error;
use crate::types::{Append, Impression};
use rusqlite::Connection;
use segue_core::entry::Seq;
use segue_core::scope::Key;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::mpsc::error::TryRecvError;
use tokio::sync::{mpsc, oneshot};

/// How many jobs may wait.
const WAITING_MAX: usize = 1_024;

/// How many turns share a commit at most.
const SHARED_MAX: usize = 128;

/// A commit that takes longer than this is worth waiting for company, for a share of what it takes.
const COMMIT_SLOW: Duration = Duration::from_micros(500);
const COMPANY_SHARE: u32 = 8;

/// How many pages the write-ahead log grows before it is taken into the database when nobody waits, and
/// when somebody always waits.
const WAL_PAGES_IDLE_MAX: usize = 1_000;
const WAL_PAGES_BUSY_MAX: usize = 16_000;

enum Job {
    Append(Box<Append>, Answer<()>),
    /// Those of one who brings many: they have a commit of their own.
    Appends(VecDeque<Turn>),
    Chore(Chore),
}

/// What can wait until a turn is written.
enum Chore {
    Sweep(Answer<usize>),
    Index(Key, Answer<Seq>),
    Keep(Key, Seq, Vec<Impression>, Answer<()>),
    /// Nobody is told when it is done, but what comes after it waits.
    Checkpoint(Waiting),
}

/// A handle to the writing thread, which ends when the handle is dropped.
#[derive(Debug)]
pub(super) struct Writer {
    desk: Arc<Mutex<Desk>>,
    jobs: Option<mpsc::Sender<Job>>,
    /// How many jobs wait for the thread.
    waiting: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    /// Starts the thread.
    pub(super) fn start(connection: Connection) -> Result<Self, Error> {
        let (jobs, inbox) = mpsc::channel(WAITING_MAX);
        let desk = Arc::new(Mutex::new(Desk::new(connection)));
        let clerk = Clerk { desk: Arc::clone(&desk), inbox };
        let thread = std::thread::Builder::new()
            .name("segue-sqlite-writer".to_owned())
            .spawn(move || clerk.run())
            .map_err(|error| Error::unavailable("starting the writer", error))?;
        Ok(Self { desk, jobs: Some(jobs), waiting: Arc::default(), thread: Some(thread) })
    }

    /// Appends; returns once it is durable.
    pub(super) async fn append(&self, append: Append) -> Result<(), Error> {
        let append = Box::new(append);
        let Some(mut desk) = self.free_desk() else {
            return self.ask(|answer| Job::Append(append, answer)).await;
        };
        let (answer, mut answered) = oneshot::channel();
        desk.write((append, answer), |_| None);
        let is_long = desk.pages > WAL_PAGES_IDLE_MAX;
        drop(desk);
        if is_long && let Some(jobs) = &self.jobs {
            // Where there is no room for it, others wait, and it is done after them.
            let _ = jobs.try_send(Job::Chore(Chore::Checkpoint(Waiting::one_more(&self.waiting))));
        }
        answered.try_recv().map_err(|_| gone())?
    }

    /// Appends one after the other, in one commit; tells how many were, and why not all.
    pub(super) async fn append_all(&self, appends: Vec<Append>) -> (usize, Result<(), Error>) {
        let turn = |append| {
            let (answer, answered) = oneshot::channel();
            ((Box::new(append), answer), answered)
        };
        let (turns, answers): (VecDeque<Turn>, Vec<_>) = appends.into_iter().map(turn).unzip();
        let _waiting = Waiting::one_more(&self.waiting);
        let sent = match &self.jobs {
            Some(jobs) => jobs.send(Job::Appends(turns)).await.map_err(|_| gone()),
            None => Err(gone()),
        };
        if let Err(error) = sent {
            return (0, Err(error));
        }
        let mut written = 0;
        for answered in answers {
            // Those behind one that cannot be appended were decided on it, and were not written.
            if let Err(error) = answered.await.unwrap_or_else(|_| Err(gone())) {
                return (written, Err(error));
            }
            written += 1;
        }
        (written, Ok(()))
    }

    /// Returns the desk, if a turn can be written right here and keeps nobody waiting. The way to another thread and
    /// back takes about as long as a fast commit does, and only where commits are fast the thread stands still for one.
    fn free_desk(&self) -> Option<MutexGuard<'_, Desk>> {
        // Only there others go on meanwhile. (`block_in_place` would say so, and panic in a `LocalSet`.)
        let flavor = Handle::try_current().ok()?.runtime_flavor();
        if flavor != RuntimeFlavor::MultiThread || self.waiting.load(Ordering::Acquire) > 0 {
            return None;
        }
        let desk = self.desk.try_lock().ok()?;
        // Where syncs are slow, it is better to share one than to come one by one.
        let (_, took) = desk.before;
        (took <= COMMIT_SLOW).then_some(desk)
    }

    /// Finds the head of a scope with the writing connection, if nobody writes.
    pub(super) fn head(&self, scope: &Key) -> Option<Result<Option<Seq>, Error>> {
        self.desk.try_lock().ok().map(|desk| desk.head(scope))
    }

    /// Sweeps until nothing is left.
    pub(super) async fn sweep(&self) -> Result<usize, Error> {
        self.ask(|answer| Job::Chore(Chore::Sweep(answer))).await
    }

    /// Indexes some more messages of a scope for searching, and tells how far the index goes now.
    pub(super) async fn index(&self, scope: &Key) -> Result<Seq, Error> {
        self.ask(|answer| Job::Chore(Chore::Index(scope.clone(), answer))).await
    }

    /// Keeps impressions of a scope that were made at a head.
    pub(super) async fn keep_impressions(
        &self,
        scope: &Key,
        head: Seq,
        impressions: Vec<Impression>,
    ) -> Result<(), Error> {
        self.ask(|answer| Job::Chore(Chore::Keep(scope.clone(), head, impressions, answer))).await
    }

    async fn ask<T>(&self, job: impl FnOnce(Answer<T>) -> Job) -> Result<T, Error> {
        let (answer, answered) = oneshot::channel();
        let jobs = self.jobs.as_ref().ok_or_else(gone)?;
        let _waiting = Waiting::one_more(&self.waiting);
        jobs.send(job(answer)).await.map_err(|_| gone())?;
        answered.await.map_err(|_| gone())?
    }
}

fn gone() -> Error {
    Error::unavailable("the writer has stopped", "open the store again")
}

/// One job that waits, until it is answered or nobody asks any more.
struct Waiting(Arc<AtomicUsize>);

impl Waiting {
    fn one_more(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(count))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
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

/// The thread that writes for those who wait.
struct Clerk {
    desk: Arc<Mutex<Desk>>,
    inbox: mpsc::Receiver<Job>,
}

impl Clerk {
    fn run(mut self) {
        let desk = Arc::clone(&self.desk);
        while let Some(job) = self.inbox.blocking_recv() {
            let mut desk = desk.lock().unwrap_or_else(PoisonError::into_inner);
            let (mut chores, mut brought) = (Vec::new(), Vec::new());
            match job {
                Job::Append(append, answer) => {
                    let before = desk.before;
                    let next =
                        |shared: &Answers| self.next_turn(shared.len(), before, &mut chores, &mut brought);
                    desk.write((append, answer), next);
                }
                Job::Appends(turns) => desk.write_all(turns),
                Job::Chore(chore) => chores.push(chore),
            }
            for turns in brought {
                desk.write_all(turns);
            }
            for chore in chores {
                run(&mut desk, chore);
            }
            let limit = if self.inbox.is_empty() { WAL_PAGES_IDLE_MAX } else { WAL_PAGES_BUSY_MAX };
            desk.checkpoint(limit);
        }
    }

    /// Takes the next turn that has come meanwhile, if there is one and the commit has room for it.
    fn next_turn(
        &mut self,
        shared: usize,
        before: (usize, Duration),
        chores: &mut Vec<Chore>,
        brought: &mut Vec<VecDeque<Turn>>,
    ) -> Option<Turn> {
        if shared >= SHARED_MAX {
            return None;
        }
        loop {
            match self.next_job(shared, before)? {
                Job::Append(append, answer) => return Some((append, answer)),
                Job::Appends(turns) => brought.push(turns),
                Job::Chore(chore) => chores.push(chore),
            }
        }
    }

    /// Takes the next job, if there is one.
    ///
    /// Where syncs are slow and the commit before was shared by more turns than this one is so far, it is
    /// worth a moment to let them come: who misses this sync waits for the next.
    fn next_job(&mut self, shared: usize, (turns, took): (usize, Duration)) -> Option<Job> {
        let begun = Instant::now();
        loop {
            match self.inbox.try_recv() {
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
}

fn run(desk: &mut Desk, chore: Chore) {
    // Who has gone meanwhile need not be told.
    match chore {
        Chore::Sweep(answer) => drop(answer.send(desk.sweep())),
        Chore::Index(scope, answer) => drop(answer.send(desk.index(&scope))),
        Chore::Keep(scope, head, kept, answer) => drop(answer.send(desk.keep(&scope, head, &kept))),
        // It is looked at after every job.
        Chore::Checkpoint(_waiting) => {}
    }
}
