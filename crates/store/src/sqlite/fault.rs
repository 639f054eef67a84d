//! SQLite's errors in the store's words.

use crate::error::Error;
use rusqlite::ErrorCode;

/// What to do about a disk that fails.
pub(super) const DISK: &str =
    "it may be full, or cannot be written: look at it and try again; nothing that was kept is lost";

/// Tells what an error of SQLite means for the caller.
pub(super) fn fault(error: rusqlite::Error) -> Error {
    let code = error.sqlite_error_code();
    let what = "the database";
    match code {
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Error::damaged(what, error),
        Some(ErrorCode::DiskFull) => Error::unavailable(
            "the disk is full, nothing was written",
            "free some space and send the message again",
        ),
        // SQLite says "disk I/O error", also where the disk is full.
        Some(ErrorCode::SystemIoFailure) => Error::unavailable(format!("the disk failed: {error}"), DISK),
        Some(ErrorCode::ReadOnly) => {
            Error::unavailable("the database cannot be written", "check the rights of its file and folder")
        }
        Some(ErrorCode::CannotOpen) => {
            Error::unavailable("the database cannot be opened", "check that its folder exists and is yours")
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            Error::unavailable("another program holds the database", "try again when it is done")
        }
        _ => match error {
            rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::InvalidColumnType(..)
            | rusqlite::Error::IntegralValueOutOfRange(..) => Error::damaged(what, error),
            // A trigger of ours: another program has turned encryption on meanwhile.
            other if other.to_string().contains("segue: the store is encrypted") => Error::Locked {
                what: "the store".into(),
                why: "it was encrypted after this program had opened it: give this program the key and restart it".into(),
            },
            other => Error::unavailable(what, other),
        },
    }
}

/// Turns the error of a result.
pub(super) trait OrFault<T> {
    /// Turns SQLite's error into the store's.
    fn or_fault(self) -> Result<T, Error>;
}

impl<T> OrFault<T> for rusqlite::Result<T> {
    fn or_fault(self) -> Result<T, Error> {
        self.map_err(fault)
    }
}
