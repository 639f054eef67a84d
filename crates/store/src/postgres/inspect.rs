//! Checking a scope in one transaction.

use super::connect::Connection;
use super::fault::OrFault;
use super::{audit, query, rows};
use crate::error::Error;
use crate::verify::{self, Report, Snapshot};
use segue_core::entry::{Record, Seq};
use segue_core::message::MessageId;
use segue_core::scope::Key;
use segue_core::state::State;
use std::sync::Arc;
use tokio::runtime::Handle;

/// A scope in a transaction. The check is not asynchronous, so it runs on a thread that may wait.
struct Moment<'a> {
    runtime: Handle,
    db: &'a Connection,
    scope: &'a Key,
}

/// Checks a scope: state, log and rows are of one moment.
pub(super) async fn inspect(db: Connection, scope: Key) -> Result<Report, Error> {
    let runtime = Handle::current();
    let check = move || {
        runtime.block_on(db.begin_to_read()).or_fault()?;
        let report =
            verify::inspect(&mut Moment { runtime: runtime.clone(), db: &db, scope: &scope }, &scope);
        runtime.block_on(db.roll_back());
        report
    };
    let done = tokio::task::spawn_blocking(check).await;
    done.map_err(|error| Error::unavailable("checking a scope", error))?
}

impl Snapshot for Moment<'_> {
    fn tail(&mut self, after: Seq, limit: usize) -> Result<Vec<Record>, Error> {
        self.runtime.block_on(query::tail(self.db, self.scope, after, limit))
    }

    fn seen(&mut self, id: &MessageId) -> Result<Option<Seq>, Error> {
        self.runtime.block_on(query::seen(self.db, self.scope, id))
    }

    fn state(&mut self) -> Result<Option<Arc<State>>, Error> {
        self.runtime.block_on(rows::load(self.db, self.scope))
    }

    fn audit(&mut self) -> Result<Vec<String>, Error> {
        self.runtime.block_on(audit::audit(self.db, Some(self.scope)))
    }
}
