//! What PostgreSQL says went wrong, by what the caller can do about it.

use super::tls;
use crate::error::Error;
use deadpool::managed::PoolError;
use segue_core::segment;
use tokio_postgres::error::{Severity, SqlState};

/// What to do about a pooler that was not named.
pub(super) const POOLER: &str = "is it a pooler that gives each transaction another connection? Add statements=unnamed to the store's URL";

/// Says that the database is in the way.
pub(super) fn unavailable(what: impl Into<String>, why: impl ToString) -> Error {
    Error::unavailable(what, why)
}

/// Why a statement failed.
#[derive(Debug)]
pub(super) enum Failure {
    /// The driver says why.
    Driver(tokio_postgres::Error),
    /// What was to be written cannot be.
    Ours(Error),
    /// No answer came in time, and the connection was given up.
    Late,
    /// The server warned: it may have stopped waiting for its standby.
    Unconfirmed,
}

impl Failure {
    /// Tells whether what failed may have been committed all the same.
    pub(super) fn is_lost(&self) -> bool {
        match self {
            Self::Driver(error) => is_lost(error),
            Self::Ours(_) => false,
            Self::Late | Self::Unconfirmed => true,
        }
    }

    /// Returns what the server says by a code.
    pub(super) fn code(&self) -> Option<&SqlState> {
        match self {
            Self::Driver(error) => error.code(),
            _ => None,
        }
    }
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Driver(error)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Ours(error)
    }
}

impl From<Failure> for Error {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Driver(error) => fault(&error),
            Failure::Ours(error) => error,
            Failure::Late => {
                unavailable("PostgreSQL does not answer", "is the server overloaded, or stopped?")
            }
            Failure::Unconfirmed => unavailable(
                "PostgreSQL warned while it committed",
                "somebody may have cancelled its wait for a standby: try again",
            ),
        }
    }
}

impl<T> OrFault<T> for Result<T, Failure> {
    fn or_fault(self) -> Result<T, Error> {
        self.map_err(Error::from)
    }
}

/// Turns the errors of the driver into ours.
pub(super) trait OrFault<T> {
    fn or_fault(self) -> Result<T, Error>;
}

impl<T> OrFault<T> for Result<T, PoolError<Error>> {
    fn or_fault(self) -> Result<T, Error> {
        self.map_err(|error| match error {
            PoolError::Timeout(_) => unavailable(
                "all connections to PostgreSQL are in use",
                "wait, or raise pool=N in the store's URL",
            ),
            PoolError::Backend(error) => error,
            other => unavailable("PostgreSQL cannot be reached", other),
        })
    }
}

/// Says why a server cannot be connected to.
pub(super) fn fault_at(place: &str, error: &tokio_postgres::Error) -> Error {
    if error.as_db_error().is_some() {
        return fault(error);
    }
    let (what, why) = (format!("PostgreSQL cannot be reached at {place}"), reason(error));
    let refused = || is_refused(error).then_some("is the server running, and are host and port right?");
    match tls::hint(error).or_else(refused) {
        Some(hint) => unavailable(format!("{what}: {why}"), hint),
        None => unavailable(what, why),
    }
}

/// Tells whether nobody listens where a connection was wanted.
fn is_refused(error: &tokio_postgres::Error) -> bool {
    use std::io::ErrorKind::{ConnectionRefused, NotFound};
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(one) = cause {
        let kind = one.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
        // A path has no socket.
        if matches!(kind, Some(ConnectionRefused | NotFound)) {
            return true;
        }
        cause = one.source();
    }
    false
}

/// Turns an error of the driver into ours, with a hint where one helps.
fn fault(error: &tokio_postgres::Error) -> Error {
    let Some(said) = error.as_db_error() else {
        return unavailable("PostgreSQL cannot be reached", reason(error));
    };
    let message = said.message();
    let code = said.code();
    if code.code() == "SG001" {
        let segment = said.detail().and_then(|detail| detail.parse().ok()).unwrap_or(0);
        return Error::Sealed { segment: segment::Number(segment) };
    }
    let hint = match *code {
        SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
            "check user and password in the store's URL"
        }
        SqlState::INVALID_CATALOG_NAME => "create the database first: createdb NAME",
        SqlState::INSUFFICIENT_PRIVILEGE => {
            "the user needs CREATE on the schema and all rights on Segue's tables"
        }
        SqlState::READ_ONLY_SQL_TRANSACTION => {
            "this server only answers reads: name the primary, or add target_session_attrs=read-write to the URL"
        }
        SqlState::DISK_FULL => "the database's disk is full: free some space; nothing was changed",
        SqlState::TOO_MANY_CONNECTIONS => "lower pool=N in the store's URL, or use a connection pooler",
        SqlState::ADMIN_SHUTDOWN | SqlState::CRASH_SHUTDOWN | SqlState::CANNOT_CONNECT_NOW => {
            "the server is stopping or starting: try again"
        }
        SqlState::QUERY_CANCELED => "somebody cancelled the statement",
        SqlState::INVALID_SQL_STATEMENT_NAME | SqlState::DUPLICATE_PSTATEMENT => POOLER,
        SqlState::PROTOCOL_VIOLATION if message.contains("startup parameter") => POOLER,
        SqlState::UNDEFINED_TABLE => "a table of Segue's is missing: was the schema changed by hand?",
        _ => "",
    };
    match hint {
        "" => unavailable("PostgreSQL refused", format!("{message} ({})", code.code())),
        hint => unavailable(format!("PostgreSQL says: {message}"), hint),
    }
}

/// Tells whether an append may have been committed although it failed: the connection broke on the way.
fn is_lost(error: &tokio_postgres::Error) -> bool {
    let Some(said) = error.as_db_error() else { return true };
    // Whoever ends the connection may do so while it commits: the server, or a pooler that has lost the server (class 08).
    matches!(said.parsed_severity(), Some(Severity::Fatal | Severity::Panic))
        || said.code().code().starts_with("08")
        || [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN].contains(said.code())
}

/// Says why, with what is behind it: the driver's own words often end before the reason.
fn reason(error: &tokio_postgres::Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(inner) = source {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text = format!("{text}: {inner_text}");
        }
        source = inner.source();
    }
    text
}
