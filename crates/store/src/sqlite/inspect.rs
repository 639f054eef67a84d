//! Checking a scope in one transaction.

use super::db::Db;
use super::{audit, query, rows};
use crate::error::Error;
use crate::verify::{self, Report, Snapshot};
use segue_core::entry::{Record, Seq};
use segue_core::message::MessageId;
use segue_core::scope::Key;
use segue_core::state::State;
use std::sync::Arc;

/// A scope in a transaction.
struct Moment<'a> {
    db: &'a Db,
    scope: &'a Key,
}

/// Checks a scope: state, log and rows are of one moment.
pub(super) fn inspect(db: &Db, scope: &Key) -> Result<Report, Error> {
    let _moment = rows::at_one_moment(db)?;
    verify::inspect(&mut Moment { db, scope }, scope)
}

impl Snapshot for Moment<'_> {
    fn tail(&mut self, after: Seq, limit: usize) -> Result<Vec<Record>, Error> {
        query::tail(self.db, self.scope, after, limit)
    }

    fn seen(&mut self, id: &MessageId) -> Result<Option<Seq>, Error> {
        query::seen(self.db, self.scope, id)
    }

    fn state(&mut self) -> Result<Option<Arc<State>>, Error> {
        rows::load(self.db, self.scope)
    }

    fn audit(&mut self) -> Result<Vec<String>, Error> {
        audit::audit(self.db, Some(self.scope))
    }
}
