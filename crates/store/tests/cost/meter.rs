//! Counts what SQLite does, in all connections of this program, without the store knowing: SQLite calls
//! [`attach`] for each new connection, and [`count`] for each row and each finished statement.

#![allow(unsafe_code, reason = "SQLite's own counters have no safe door")]

use rusqlite::ffi;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

/// What was done since the meter was last set to nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cost {
    /// Rows that statements gave back.
    pub rows_read: u64,
    /// Rows that were inserted, updated and deleted.
    pub rows_written: i64,
    /// Steps of SQLite's virtual machine: each row that is looked at, wanted or not, is several.
    pub steps: i64,
    /// Rows that were stepped over in a scan of a whole table.
    pub scanned: i64,
    /// The statements, as they were written.
    pub statements: BTreeSet<String>,
}

#[derive(Default)]
struct Meter {
    cost: Cost,
    /// What each connection has written in all.
    written: BTreeMap<usize, i64>,
}

static METER: Mutex<Option<Meter>> = Mutex::new(None);

fn meter() -> MutexGuard<'static, Option<Meter>> {
    METER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Sets the meter to nothing; from the first call on, every new connection is counted.
pub fn reset() {
    static ATTACHED: Once = Once::new();
    ATTACHED.call_once(|| {
        // SAFETY: `attach` has the type that SQLite calls it with, and lives as long as the program.
        let done = unsafe { ffi::sqlite3_auto_extension(Some(attach)) };
        assert_eq!(done, ffi::SQLITE_OK);
    });
    meter().get_or_insert_default().cost = Cost::default();
}

/// Reads the meter.
pub fn read() -> Cost {
    meter().get_or_insert_default().cost.clone()
}

unsafe extern "C" fn attach(
    db: *mut ffi::sqlite3,
    _error: *mut *mut c_char,
    _api: *const ffi::sqlite3_api_routines,
) -> c_int {
    let mask = ffi::SQLITE_TRACE_PROFILE | ffi::SQLITE_TRACE_ROW | ffi::SQLITE_TRACE_CLOSE;
    // SAFETY: the connection is the new one, and `count` has the type that SQLite calls it with.
    unsafe { ffi::sqlite3_trace_v2(db, mask, Some(count), std::ptr::null_mut()) }
}

unsafe extern "C" fn count(event: c_uint, _context: *mut c_void, what: *mut c_void, _: *mut c_void) -> c_int {
    let mut meter = meter();
    let meter = meter.get_or_insert_default();
    if event == ffi::SQLITE_TRACE_CLOSE {
        meter.written.remove(&(what as usize));
        return 0;
    }
    let statement: *mut ffi::sqlite3_stmt = what.cast();
    // SAFETY: for the other events SQLite gives the statement. Its text is there as long as it is; SQLite's
    // own statements, by which it reads the schema, have none.
    let text = unsafe {
        let text = ffi::sqlite3_sql(statement);
        if text.is_null() { "".into() } else { CStr::from_ptr(text).to_string_lossy() }
    };
    // The writer takes in its write-ahead log when nobody waits, behind the answer: that is no turn's cost.
    if text.starts_with("PRAGMA wal_checkpoint") {
        return 0;
    }
    if event == ffi::SQLITE_TRACE_ROW {
        meter.cost.rows_read += 1;
        return 0;
    }
    // SAFETY: as above; the statement has just finished.
    let (steps, scanned, db, written) = unsafe {
        let db = ffi::sqlite3_db_handle(statement);
        (
            ffi::sqlite3_stmt_status(statement, ffi::SQLITE_STMTSTATUS_VM_STEP, 1),
            ffi::sqlite3_stmt_status(statement, ffi::SQLITE_STMTSTATUS_FULLSCAN_STEP, 1),
            db as usize,
            ffi::sqlite3_total_changes64(db),
        )
    };
    meter.cost.steps += i64::from(steps);
    meter.cost.scanned += i64::from(scanned);
    meter.cost.rows_written += written - meter.written.insert(db, written).unwrap_or(0);
    meter.cost.statements.insert(text.into_owned());
    0
}
