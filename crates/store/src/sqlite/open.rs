//! Opening a database: durability, format, migrations.

use super::db::Db;
use super::fault::OrFault;
use super::{in_use, upkeep};
use crate::encryption::{MasterKeys, Vault};
use crate::error::Error;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// `Segu`, in the file's header, so that other programs can tell whose it is.
const APPLICATION_ID: i64 = 0x5365_6775;

/// How long the header of a database file is.
const HEADER_BYTES: u64 = 100;

/// How long to wait for another program that holds the database.
const BUSY_MS_MAX: u64 = 5_000;

/// How often turning the write-ahead log on is tried, where others do so too.
const WAL_TRIES_MAX: usize = 100;

/// The format's steps, first to last. A step that has been released is never changed. What an older program would read
/// wrongly needs a step, be it an empty one, so that the older program refuses the database: a new kind of entry too.
const MIGRATIONS: &[&str] = &[
    include_str!("schema.sql"),
    include_str!("standing.sql"),
    include_str!("search.sql"),
    include_str!("pins.sql"),
    include_str!("memory.sql"),
    include_str!("runs.sql"),
    include_str!("farewells.sql"),
    include_str!("listed.sql"),
    include_str!("impressions.sql"),
    include_str!("commits.sql"),
    include_str!("fts.sql"),
    include_str!("archived.sql"),
    include_str!("purges.sql"),
    include_str!("in_use.sql"),
    include_str!("encryption.sql"),
    include_str!("pages.sql"),
    include_str!("upkeep.sql"),
    include_str!("scope_extras.sql"),
];

/// Opens the database for the one writer, bringing it to the newest format, and its keys.
pub(super) fn for_writing(path: &Path, masters: Option<&MasterKeys>) -> Result<Db, Error> {
    make_private(path)?;
    let misses_its_log = in_use::misses_its_log(path);
    let mut db = connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)?;
    // Before anything is written: a file of another program is left alone.
    check_owner(&db, path)?;
    use_wal(&db)?;
    db.pragma_update(None, "synchronous", "full").or_fault()?;
    // What is erased or dropped is overwritten, not just unlinked.
    db.pragma_update(None, "secure_delete", "on").or_fault()?;
    // The writer checkpoints after it has answered, so that no turn waits for it.
    db.pragma_update(None, "wal_autocheckpoint", 0).or_fault()?;
    migrate(&mut db)?;
    if misses_its_log {
        in_use::note_missed_log(&db)?;
    }
    in_use::warn(&db)?;
    let db = Db::unlock(db, masters)?;
    upkeep::settle(&db)?;
    Ok(db)
}

/// Makes the file, if there is none, for its owner alone. SQLite gives what it keeps beside it the same rights.
fn make_private(path: &Path) -> Result<(), Error> {
    match crate::private::options().write(true).create_new(true).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(Error::unavailable(format!("{} cannot be made", path.display()), error))
        }
        _ => Ok(()),
    }
}

/// Turns the write-ahead log on. It stays on, so only the first to open a new database changes anything.
fn use_wal(db: &Connection) -> Result<(), Error> {
    for _ in 0..WAL_TRIES_MAX {
        match db.pragma_update(None, "journal_mode", "wal") {
            // Of two who do so at once SQLite tells one right away, since they would wait for each other for ever. A
            // transaction waits until the other one is done.
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                db.execute_batch("BEGIN IMMEDIATE; ROLLBACK").or_fault()?;
            }
            done => return done.or_fault(),
        }
    }
    db.pragma_update(None, "journal_mode", "wal").or_fault()
}

/// Opens the database for reading.
pub(super) fn for_reading(path: &Path, vault: &Arc<Vault>) -> Result<Db, Error> {
    Ok(Db::new(connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?, Arc::clone(vault)))
}

/// Opens the database for reading on a thread that must not wait: what is locked is refused at once.
pub(super) fn without_waiting(path: &Path) -> Result<Connection, Error> {
    let db = connect(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    db.busy_timeout(Duration::ZERO).or_fault()?;
    Ok(db)
}

/// Opens the file as it is, without locks and without its log: for a look at what the file alone holds.
pub(super) fn unlocked(path: &Path) -> Result<Connection, Error> {
    let mut url = String::from("file:");
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                url.push(char::from(*byte))
            }
            byte => url.push_str(&format!("%{byte:02x}")),
        }
    }
    url.push_str("?immutable=1");
    connect(Path::new(&url), OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI)
}

/// Makes a new database in memory, to compare with.
pub(super) fn in_memory() -> Result<Connection, Error> {
    let mut db = Connection::open_in_memory().or_fault()?;
    migrate(&mut db)?;
    Ok(db)
}

#[allow(clippy::disallowed_methods, reason = "this is the one place")]
fn connect(path: &Path, flags: OpenFlags) -> Result<Connection, Error> {
    let db = Connection::open_with_flags(path, flags | OpenFlags::SQLITE_OPEN_NO_MUTEX).or_fault()?;
    db.busy_timeout(Duration::from_millis(BUSY_MS_MAX)).or_fault()?;
    db.set_prepared_statement_cache_capacity(64);
    // Plans never depend on the values that are asked for: else SQLite compiles a statement anew for each value.
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).or_fault()?;
    Ok(db)
}

fn pragma(db: &Connection, name: &str) -> Result<i64, Error> {
    db.pragma_query_value(None, name, |row| row.get(0)).or_fault()
}

fn check_owner(db: &Connection, path: &Path) -> Result<(), Error> {
    // One look at all three: another program may be making the same database just now, and its tables must
    // not be seen without its name.
    let look = db.unchecked_transaction().or_fault()?;
    let (owner, format) = (pragma(&look, "application_id")?, pragma(&look, "user_version")?);
    let tables: i64 =
        look.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).or_fault()?;
    drop(look);
    let known = MIGRATIONS.len() as i64;
    match owner {
        APPLICATION_ID if format > known => Err(Error::NewerFormat { found: format, known }),
        APPLICATION_ID => Ok(()),
        0 if tables == 0 => match std::fs::metadata(path).map_or(0, |file| file.len()) {
            // SQLite would take the rest of a file that was cut off for a new one.
            1..HEADER_BYTES => Err(Error::damaged(path.display().to_string(), "it was cut off")),
            _ => Ok(()),
        },
        _ => Err(Error::unavailable(
            format!("{} is another program's database", path.display()),
            "name another file with --store sqlite:PATH",
        )),
    }
}

fn migrate(db: &mut Connection) -> Result<(), Error> {
    if pragma(db, "user_version")? == MIGRATIONS.len() as i64 {
        return Ok(());
    }
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate).or_fault()?;
    apply(&transaction)?;
    transaction.commit().or_fault()
}

fn apply(transaction: &Transaction<'_>) -> Result<(), Error> {
    // Asked again inside the transaction: another program may have been faster.
    let done = usize::try_from(pragma(transaction, "user_version")?).unwrap_or(0);
    for step in MIGRATIONS.iter().skip(done) {
        transaction.execute_batch(step).or_fault()?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID).or_fault()?;
    transaction.pragma_update(None, "user_version", MIGRATIONS.len() as i64).or_fault()
}

#[cfg(test)]
mod tests {
    use super::MIGRATIONS;
    use segue_core::entry::Kind;

    /// An older program folds nothing that it does not know, and would go on without it.
    #[test]
    fn every_new_kind_of_entry_raises_the_format() {
        let (kinds, format) = (Kind::ALL.len(), MIGRATIONS.len());
        assert_eq!(
            (kinds, format),
            (36, 18),
            "a new kind needs a new step in MIGRATIONS; then change both here"
        );
    }
}
