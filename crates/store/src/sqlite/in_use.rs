//! Notices a database that was copied or moved while it was written, without its write-ahead log.
//!
//! In WAL mode the database file changes at checkpoints only. Before the first write of a process, a random number (the
//! session) is written to the file and checkpointed; who closes the database writes 0, and the last one to close it takes in
//! the log and deletes it. So a file that holds a session and has no log beside it lost that log. No turn pays for this: the
//! number is written once a process, and looked at before a checkpoint.

use super::fault::OrFault;
use super::open;
use crate::error::Error;
use rusqlite::Connection;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What is said of a file that lost its log.
pub(super) const LOG_MISSED: &str = "the database was copied or moved without its write-ahead log (the file that ends in -wal), while \
     a program was writing to it: what was written last may be missing. Copy both files together, or better use `segue backup`, \
     which is safe at any time; `segue backup` of this copy makes one that is taken as it is";

/// Tells whether the file holds a session that its log is missing of. It must be asked before the database is opened, which makes
/// a new log.
///
/// Another process may open or close the database meanwhile. The same session before and after the look at the log proves that
/// it lasted all the time, and a log lasts longer than its session.
pub(super) fn misses_its_log(path: &Path) -> bool {
    let log = log_of(path);
    if log.exists() {
        return false;
    }
    let session = session_in_file(path);
    session.is_some() && !log.exists() && session_in_file(path) == session
}

fn log_of(path: &Path) -> PathBuf {
    let mut name = OsString::from(path);
    name.push("-wal");
    name.into()
}

/// Reads the session from the file itself, without locks and without a log. What cannot be read has none: the file is new, of an
/// older format or of another program, or is just being written.
fn session_in_file(path: &Path) -> Option<i64> {
    let db = open::unlocked(path).ok()?;
    let session = db.query_row("SELECT session FROM in_use WHERE id = 1", [], |row| row.get(0)).ok()?;
    (session != 0).then_some(session)
}

/// Keeps in mind that the log was missing. It stays so, whoever opens the file next.
pub(super) fn note_missed_log(db: &Connection) -> Result<(), Error> {
    db.execute("UPDATE in_use SET session = 0, log_missed = 1 WHERE id = 1", []).or_fault().map(drop)
}

/// Warns whoever opens a file that lost its log once: what it does not hold looks as if it had never been.
pub(super) fn warn(db: &Connection) -> Result<(), Error> {
    if has_missed_log(db)? {
        tracing::warn!("{LOG_MISSED}");
    }
    Ok(())
}

/// Tells whether the log was missing once.
pub(super) fn has_missed_log(db: &Connection) -> Result<bool, Error> {
    db.query_row("SELECT count(*) > 0 FROM in_use WHERE id = 1 AND log_missed", [], |row| row.get(0))
        .or_fault()
}

/// Begins a session, unless there is one.
pub(super) fn begin(db: &Connection) -> Result<(), Error> {
    // An odd number is never 0.
    let begin = "UPDATE in_use SET session = random() | 1 WHERE id = 1 AND session = 0";
    db.prepare_cached(begin).and_then(|mut begin| begin.execute([])).or_fault().map(drop)
}

/// Ends the session. If another process still has the database open, it begins a new one before the next checkpoint.
pub(super) fn end(db: &Connection) -> Result<(), Error> {
    db.execute("UPDATE in_use SET session = 0 WHERE id = 1 AND session <> 0", []).or_fault().map(drop)
}
