//! The connection that writes, and what is known about the log that it writes.

use super::db::Db;
use super::fault::{DISK, OrFault, fault};
use super::heads::WrittenHeads;
use super::rows::ScopeId;
use super::{append, in_use, search, sweep, watcher};
use crate::commits::Position;
use crate::error::Error;
use crate::types::Append;
use rusqlite::ErrorCode;
use rusqlite::config::DbConfig;
use segue_core::entry::{Bytes, Record, Seq};
use segue_core::scope::Key;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::{oneshot, watch};

/// How many scopes' numbers are kept.
const IDS_MAX: usize = 10_000;

/// About how many pages a step of indexing writes.
const INDEX_PAGES: usize = 1_000;

/// The caller that waits.
pub(super) type ReplySender<T> = oneshot::Sender<Result<T, Error>>;

/// An append, and the caller that waits for it.
pub(super) type QueuedAppend = (Box<Append>, ReplySender<()>);

/// The callers that wait for a commit, and the answer of each.
pub(super) type Answers = Vec<(ReplySender<()>, Result<(), Error>)>;

/// The connection that writes.
#[derive(Debug)]
pub(super) struct WriteConnection {
    pub(super) db: Db,
    /// The numbers of scopes that were written to. A number may be wrong (a commit that failed leaves it to another scope),
    /// so a row is only taken for a scope's if it has its key.
    ids: HashMap<Key, ScopeId>,
    /// About how many pages were written since the last checkpoint.
    pub(super) pages: usize,
    /// The file says that it is in use.
    is_marked: bool,
    /// How many turns shared the commit before, and how long it took.
    pub(super) before: (usize, Duration),
    /// What the open transaction commits: scopes with their new heads, in order.
    commits: Vec<(Key, Seq)>,
    /// The last of these commits.
    position: Option<Position>,
    heads: Arc<WrittenHeads>,
    news: Arc<watch::Sender<Position>>,
}

impl WriteConnection {
    /// Begins with nothing known. Commits are noted in `heads`, and announced to those who watch.
    pub(super) fn new(db: Db, heads: Arc<WrittenHeads>, news: Arc<watch::Sender<Position>>) -> Self {
        Self {
            db,
            ids: HashMap::new(),
            pages: 0,
            is_marked: false,
            before: (0, Duration::ZERO),
            commits: Vec::new(),
            position: None,
            heads,
            news,
        }
    }

    /// Indexes some more messages of a scope for searching, and tells how far the index goes now.
    pub(super) fn index(&mut self, scope: &Key) -> Result<Seq, Error> {
        self.pages += INDEX_PAGES;
        search::step(&self.db, scope)
    }

    /// Writes the turns of one caller in one transaction, up to the first that cannot be.
    ///
    /// Each was decided on the one before. A later one may still expect the head that it finds, if somebody else wrote as
    /// many entries as it misses: it would be appended to a log that it does not know.
    pub(super) fn write_many(&mut self, mut turns: VecDeque<QueuedAppend>) {
        if let Some(first) = turns.pop_front() {
            let is_written = |written: &Answers| written.last().is_none_or(|(_, result)| result.is_ok());
            self.write(first, |written| is_written(written).then(|| turns.pop_front()).flatten());
            // A sync for many says nothing about how many come by themselves.
            self.before.0 = 1;
        }
    }

    /// Writes a turn, and those that come while it is being written, in one transaction; each of them
    /// whole or not at all. All are answered once it is durable.
    pub(super) fn write(&mut self, first: QueuedAppend, next: impl FnMut(&Answers) -> Option<QueuedAppend>) {
        let mut answers = Vec::new();
        (self.commits, self.position) = (Vec::new(), None);
        let done = self.transaction(first, &mut answers, next);
        match (&done, self.position) {
            (Ok(()), Some(position)) => {
                self.heads.add(std::mem::take(&mut self.commits), position);
                watcher::publish(&self.news, position);
            }
            (Ok(()), None) => {}
            (Err(_), _) => drop(self.roll_back()),
        }
        for (answer, result) in answers {
            let _ = answer.send(match &done {
                Ok(()) => result,
                Err(error) => Err(error.for_another()),
            });
        }
    }

    fn transaction(
        &mut self,
        first: QueuedAppend,
        answers: &mut Answers,
        mut next: impl FnMut(&Answers) -> Option<QueuedAppend>,
    ) -> Result<(), Error> {
        let (append, answer) = first;
        self.note(&append);
        answers.push((answer, Ok(())));
        self.execute("BEGIN IMMEDIATE")?;
        // The first one has the transaction to itself: if it is not written, all is taken back.
        let (written, result) = self.append(&append);
        answers[0].1 = result;
        if written == Written::Nothing {
            self.roll_back()?;
            self.execute("BEGIN IMMEDIATE")?;
        }
        while let Some((append, answer)) = next(answers) {
            self.note(&append);
            self.execute("SAVEPOINT turn")?;
            let (written, result) = self.append(&append);
            answers.push((answer, result));
            if written == Written::Nothing {
                self.execute("ROLLBACK TO turn")?;
            }
            self.execute("RELEASE turn")?;
        }
        let begun = Instant::now();
        self.commit()?;
        self.before = (answers.len(), begun.elapsed());
        Ok(())
    }

    fn append(&mut self, append: &Append) -> (Written, Result<(), Error>) {
        let known = self.ids.get(append.scope()).copied();
        let appended = match append::append(&self.db, known, append) {
            Ok(appended) => appended,
            Err(error) => return (Written::Nothing, Err(error)),
        };
        if known != Some(appended.scope) {
            if self.ids.len() >= IDS_MAX {
                self.ids.clear();
            }
            self.ids.insert(append.scope().clone(), appended.scope);
        }
        match appended.position {
            Some(position) => {
                self.position = Some(position);
                self.commits.push((append.scope().clone(), append.next.head));
                (Written::Everything, Ok(()))
            }
            // It was committed before.
            None => (Written::Nothing, Ok(())),
        }
    }

    fn execute(&self, sql: &str) -> Result<(), Error> {
        self.db.prepare_cached(sql).and_then(|mut statement| statement.execute([])).or_fault().map(drop)
    }

    /// Commits. If the disk fails while the commit is written or synced, nobody knows whether it will be found there.
    fn commit(&self) -> Result<(), Error> {
        let done = self.db.prepare_cached("COMMIT").and_then(|mut statement| statement.execute([]));
        done.map(drop).map_err(commit_fault)
    }

    fn roll_back(&self) -> Result<(), Error> {
        // On a full disk SQLite may have done so by itself.
        if self.db.is_autocommit() { Ok(()) } else { self.execute("ROLLBACK") }
    }

    /// Notes what an append means for the write-ahead log.
    fn note(&mut self, append: &Append) {
        self.pages += pages(append);
    }

    /// Sweeps until nothing is left.
    pub(super) fn sweep(&mut self) -> Result<usize, Error> {
        let mut segments = 0;
        while let Some(done) = sweep::step(&self.db)? {
            segments += done;
        }
        Ok(segments)
    }

    /// Lets the file say that it is in use, before the first write.
    pub(super) fn mark(&mut self) {
        if !self.is_marked {
            self.take_in_log();
        }
    }

    /// Checkpoints the write-ahead log once it is long, after every caller was answered.
    pub(super) fn checkpoint(&mut self, pages_max: usize) {
        if self.pages > pages_max {
            self.take_in_log();
        }
    }

    /// Checkpoints, so that the file says that it is in use.
    fn take_in_log(&mut self) {
        self.pages = 0;
        match in_use::begin(&self.db) {
            Ok(()) => self.is_marked = true,
            // A disk that is full, say: what is to be written is refused for the same reason.
            Err(error) => tracing::warn!(%error, "the database could not be marked as being in use"),
        }
        if let Err(error) = self.db.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(())) {
            tracing::warn!(error = %fault(error), "the write-ahead log could not be checkpointed");
        }
    }

    /// Closes the database. Who is the last to do so takes in the write-ahead log and deletes it.
    pub(super) fn close(self) {
        let ended = in_use::end(&self.db);
        if ended.is_err() {
            // The log has to stay beside a file that says it is in use. If this fails too, nobody is left to be told.
            let _ = self.db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        }
    }
}

/// What of an append is in the open transaction to stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    Everything,
    Nothing,
}

/// Guesses how many pages an append writes: of the log, the scopes, their list, the commits, and its bodies.
fn pages(append: &Append) -> usize {
    let body = |record: &Record| match &record.bytes {
        Bytes::Kept(text) => text.len(),
        Bytes::Erased(_) => 0,
    };
    4 + append.records.iter().map(body).sum::<usize>() / 4_096
}

/// Tells what a commit that failed means. Other errors than those of the disk come before the commit is written.
fn commit_fault(error: rusqlite::Error) -> Error {
    match error.sqlite_error_code() {
        Some(ErrorCode::SystemIoFailure) => {
            Error::Unknown { what: "the database".into(), why: format!("{error}: {DISK}") }
        }
        _ => fault(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::ffi;

    /// Issue 15: the frames of a commit may be on the disk although their sync failed.
    #[test]
    fn a_commit_that_the_disk_failed_is_unknown_and_any_other_was_not_made() {
        let failed = |code| commit_fault(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None));
        for code in [ffi::SQLITE_IOERR, ffi::SQLITE_IOERR_FSYNC, ffi::SQLITE_IOERR_WRITE] {
            assert!(matches!(failed(code), Error::Unknown { .. }));
        }
        for code in [ffi::SQLITE_BUSY, ffi::SQLITE_FULL, ffi::SQLITE_READONLY] {
            assert!(matches!(failed(code), Error::Unavailable { .. }));
        }
    }
}
