//! What is written with, by one at a time: the connection, and what is known about the log that it writes.

use super::fault::{OrFault, fault};
use super::rows::{self, ScopeId};
use super::{append, impressions, index, sweep};
use crate::error::Error;
use crate::types::{Append, Impression};
use rusqlite::Connection;
use segue_core::entry::{Bytes, Record, Seq};
use segue_core::scope::Key;
use std::collections::{HashMap, VecDeque};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// How many scopes' numbers are kept.
const IDS_MAX: usize = 10_000;

/// About how many pages a step of indexing writes.
const INDEX_PAGES: usize = 1_000;

/// Who waits, to be told.
pub(super) type Answer<T> = oneshot::Sender<Result<T, Error>>;

/// An append, and who waits for it.
pub(super) type Turn = (Box<Append>, Answer<()>);

/// Those who wait for a commit, and what each will be told.
pub(super) type Answers = Vec<(Answer<()>, Result<(), Error>)>;

/// What is written with, by one at a time.
#[derive(Debug)]
pub(super) struct Desk {
    db: Connection,
    /// The numbers of scopes that were written to. A number may be wrong (a commit that failed leaves it to another scope),
    /// so a row is only taken for a scope's if it has its key.
    ids: HashMap<Key, ScopeId>,
    /// About how many pages were written since the write-ahead log was last taken in.
    pub(super) pages: usize,
    /// Something was erased or deleted, and the write-ahead log still holds it.
    forget: bool,
    /// How many turns shared the commit before, and how long it took.
    pub(super) before: (usize, Duration),
}

impl Desk {
    /// Begins with nothing known.
    pub(super) fn new(db: Connection) -> Self {
        Self { db, ids: HashMap::new(), pages: 0, forget: false, before: (0, Duration::ZERO) }
    }

    /// Indexes some more messages of a scope for searching, and tells how far the index goes now.
    pub(super) fn index(&mut self, scope: &Key) -> Result<Seq, Error> {
        self.pages += INDEX_PAGES;
        index::step(&mut self.db, scope)
    }

    /// Keeps impressions of a scope that were made at a head.
    pub(super) fn keep(&mut self, scope: &Key, head: Seq, kept: &[Impression]) -> Result<(), Error> {
        self.pages += kept.len();
        impressions::keep(&mut self.db, scope, head, kept)
    }

    /// Writes the turns of one who brings many, in one transaction, up to the first that cannot be.
    ///
    /// Each was decided on the one before. A later one may still expect the head that it finds, if somebody else wrote as
    /// many entries as it misses: it would be appended to a log that it does not know.
    pub(super) fn write_all(&mut self, mut turns: VecDeque<Turn>) {
        if let Some(first) = turns.pop_front() {
            let is_written = |written: &Answers| written.last().is_none_or(|(_, result)| result.is_ok());
            self.write(first, |written| is_written(written).then(|| turns.pop_front()).flatten());
            // A sync for many says nothing about how many come by themselves.
            self.before.0 = 1;
        }
    }

    /// Writes a turn, and those that come while it is being written, in one transaction; each of them
    /// whole or not at all. All are answered once it is durable.
    pub(super) fn write(&mut self, first: Turn, next: impl FnMut(&Answers) -> Option<Turn>) {
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
    pub(super) fn head(&self, scope: &Key) -> Result<Option<Seq>, Error> {
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

    /// Sweeps until nothing is left.
    pub(super) fn sweep(&mut self) -> Result<usize, Error> {
        let swept = self.sweep_all();
        self.forget |= !matches!(swept, Ok(0));
        self.forget();
        swept
    }

    fn sweep_all(&mut self) -> Result<usize, Error> {
        let mut segments = 0;
        while let Some(done) = sweep::step(&mut self.db)? {
            segments += done;
        }
        Ok(segments)
    }

    /// Takes the write-ahead log into the database once it is long, after everybody was answered.
    pub(super) fn checkpoint(&mut self, pages_max: usize) {
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
