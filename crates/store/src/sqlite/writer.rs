//! The one writer. A turn that nobody else waits for is written at once, where it is; the turns that come meanwhile go
//! to a thread that lets them share a commit.

use super::fault::{OrFault, fault};
use super::rows::{self, ScopeId};
use super::{append, impressions, index, sweep};
use crate::error::Error;
use crate::types::{Append, Impression};
use rusqlite::Connection;
use segue_core::entry::{Bytes, Record, Seq};
use segue_core::scope::Key;
use std::collections::{HashMap, VecDeque};
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

/// How many scopes' numbers are kept.
const IDS_MAX: usize = 10_000;

/// About how many pages a step of indexing writes.
const INDEX_PAGES: usize = 1_000;

type Answer<T> = oneshot::Sender<Result<T, Error>>;

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

/// An append, and who waits for it.
type Turn = (Box<Append>, Answer<()>);

/// Those who wait for a commit, and what each will be told.
type Answers = Vec<(Answer<()>, Result<(), Error>)>;

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
        let ids = HashMap::new();
        let desk = Desk { db: connection, ids, pages: 0, forget: false, before: (0, Duration::ZERO) };
        let desk = Arc::new(Mutex::new(desk));
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
                desk.run_chore(chore);
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

/// What is written with, by one at a time.
#[derive(Debug)]
struct Desk {
    db: Connection,
    /// The numbers of scopes that were written to. A number may be wrong (a commit that failed leaves it to another scope),
    /// so a row is only taken for a scope's if it has its key.
    ids: HashMap<Key, ScopeId>,
    /// About how many pages were written since the write-ahead log was last taken in.
    pages: usize,
    /// Something was erased or deleted, and the write-ahead log still holds it.
    forget: bool,
    /// How many turns shared the commit before, and how long it took.
    before: (usize, Duration),
}

impl Desk {
    fn run_chore(&mut self, chore: Chore) {
        match chore {
            Chore::Sweep(answer) => {
                let swept = self.sweep();
                self.forget |= !matches!(swept, Ok(0));
                self.forget();
                let _ = answer.send(swept);
            }
            Chore::Index(scope, answer) => {
                self.pages += INDEX_PAGES;
                let _ = answer.send(index::step(&mut self.db, &scope));
            }
            Chore::Keep(scope, head, kept, answer) => {
                self.pages += kept.len();
                let _ = answer.send(impressions::keep(&mut self.db, &scope, head, &kept));
            }
            // It is looked at after every job.
            Chore::Checkpoint(_waiting) => {}
        }
    }

    /// Writes the turns of one who brings many, in one transaction, up to the first that cannot be.
    ///
    /// Each was decided on the one before. A later one may still expect the head that it finds, if somebody else wrote as
    /// many entries as it misses: it would be appended to a log that it does not know.
    fn write_all(&mut self, mut turns: VecDeque<Turn>) {
        if let Some(first) = turns.pop_front() {
            let is_written = |written: &Answers| written.last().is_none_or(|(_, result)| result.is_ok());
            self.write(first, |written| is_written(written).then(|| turns.pop_front()).flatten());
            // A sync for many says nothing about how many come by themselves.
            self.before.0 = 1;
        }
    }

    /// Writes a turn, and those that come while it is being written, in one transaction; each of them
    /// whole or not at all. All are answered once it is durable.
    fn write(&mut self, first: Turn, next: impl FnMut(&Answers) -> Option<Turn>) {
        let mut answers = Vec::new();
        let done = self.transaction(first, &mut answers, next);
        if done.is_err() {
            let _ = self.roll_back();
        }
        self.forget();
        for (answer, result) in answers {
            let _ = answer.send(match &done {
                Ok(()) => result,
                Err(error) => Err(error.for_another()),
            });
        }
    }

    fn transaction(
        &mut self,
        first: Turn,
        answers: &mut Answers,
        mut next: impl FnMut(&Answers) -> Option<Turn>,
    ) -> Result<(), Error> {
        let (append, answer) = first;
        self.note(&append);
        answers.push((answer, Ok(())));
        self.execute("BEGIN IMMEDIATE")?;
        // The first one has the transaction to itself: if it fails, all is taken back.
        if let Err(error) = self.append(&append) {
            answers[0].1 = Err(error);
            self.roll_back()?;
            self.execute("BEGIN IMMEDIATE")?;
        }
        while let Some((append, answer)) = next(answers) {
            self.note(&append);
            answers.push((answer, Ok(())));
            self.execute("SAVEPOINT turn")?;
            if let Err(error) = self.append(&append) {
                self.execute("ROLLBACK TO turn")?;
                if let Some((_, result)) = answers.last_mut() {
                    *result = Err(error);
                }
            }
            self.execute("RELEASE turn")?;
        }
        let begun = Instant::now();
        self.execute("COMMIT")?;
        self.before = (answers.len(), begun.elapsed());
        Ok(())
    }

    fn append(&mut self, append: &Append) -> Result<(), Error> {
        let known = self.ids.get(append.scope()).copied();
        let id = append::append(&self.db, known, append)?;
        if known != Some(id) {
            if self.ids.len() >= IDS_MAX {
                self.ids.clear();
            }
            self.ids.insert(append.scope().clone(), id);
        }
        Ok(())
    }

    /// Finds the head of a scope.
    fn head(&self, scope: &Key) -> Result<Option<Seq>, Error> {
        if let Some(id) = self.ids.get(scope)
            && let Some(head) = rows::head(&self.db, *id, scope)?
        {
            return Ok(Some(head));
        }
        Ok(rows::find(&self.db, scope)?.map(|(_, head)| head))
    }

    fn execute(&self, sql: &str) -> Result<(), Error> {
        self.db.prepare_cached(sql).and_then(|mut statement| statement.execute([])).or_fault().map(drop)
    }

    fn roll_back(&self) -> Result<(), Error> {
        // On a full disk SQLite may have done so by itself.
        if self.db.is_autocommit() { Ok(()) } else { self.execute("ROLLBACK") }
    }

    /// Takes the write-ahead log in and empties it, if it holds what was erased or deleted: who is told that
    /// something is gone must find it gone.
    fn forget(&mut self) {
        if self.forget {
            // Another reader may be in the way: then it is tried again with the next turn.
            let done = self.db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
            self.forget = !matches!(done, Ok(0));
        }
    }

    /// Notes what an append means for the write-ahead log.
    fn note(&mut self, append: &Append) {
        self.pages += pages(append);
        self.forget |= !append.erase.is_empty();
    }

    fn sweep(&mut self) -> Result<usize, Error> {
        let mut segments = 0;
        while let Some(done) = sweep::step(&mut self.db)? {
            segments += done;
        }
        Ok(segments)
    }

    /// Takes the write-ahead log into the database once it is long, after everybody was answered.
    fn checkpoint(&mut self, pages_max: usize) {
        if self.pages <= pages_max {
            return;
        }
        self.pages = 0;
        if let Err(error) = self.db.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())) {
            tracing::warn!(error = %fault(error), "the write-ahead log could not be taken in");
        }
    }
}

/// Guesses how many pages an append writes: those of the log, of the scopes and often of their list, and its bodies.
fn pages(append: &Append) -> usize {
    let body = |record: &Record| match &record.bytes {
        Bytes::Kept(text) => text.len(),
        Bytes::Erased(_) => 0,
    };
    3 + append.records.iter().map(body).sum::<usize>() / 4_096
}
