//! Moves what upkeep has made of sessions from the extras of their scopes to their own rows, in databases of format 16 and
//! before. It is done with the keys of the database, so not by a migration in SQL.

use super::db::Db;
use super::fault::OrFault;
use super::rows::{self, ScopeId, json};
use crate::encryption::Bound;
use crate::error::Error;
use crate::older_extras::split;
use rusqlite::{OptionalExtension, params};
use segue_core::session::Number;
use std::collections::BTreeSet;

/// Does so if it is due, in one transaction.
pub(super) fn settle(db: &Db) -> Result<(), Error> {
    let is_due =
        || db.query_row("SELECT 1 FROM upkeep_due WHERE id = 1", [], |_| Ok(())).optional().or_fault();
    if is_due()?.is_none() {
        return Ok(());
    }
    let transaction = db.begin()?;
    // Asked again inside the transaction: another program may have been faster.
    if is_due()?.is_some() {
        let mut scopes = db.prepare("SELECT scope FROM scope_extras").or_fault()?;
        let scopes = scopes.query_map([], |row| row.get(0).map(ScopeId)).or_fault()?;
        for scope in scopes.collect::<Result<Vec<ScopeId>, _>>().or_fault()? {
            settle_scope(db, scope)?;
        }
        db.execute("DELETE FROM upkeep_due WHERE id = 1", []).or_fault()?;
    }
    transaction.commit().or_fault()
}

fn settle_scope(db: &Db, scope: ScopeId) -> Result<(), Error> {
    let key = rows::key(db, scope)?;
    let mut query = db.prepare_cached("SELECT extras FROM scope_extras WHERE scope = ?1").or_fault()?;
    let mut found = query.query([scope.0]).or_fault()?;
    let Some(row) = found.next().or_fault()? else { return Ok(()) };
    let mind = match db.unseal(Bound::Extras(&key), row.get_ref(0).or_fault()?) {
        Ok(Some(mind)) => mind,
        // A row that cannot be read is read from the log instead, and told by `segue verify`.
        Ok(None) | Err(Error::Damaged { .. }) => return Ok(()),
        Err(error) => return Err(error),
    };
    let mut query = db.prepare_cached("SELECT number FROM sessions WHERE scope = ?1").or_fault()?;
    let there = query.query_map([scope.0], |row| row.get(0).map(Number)).or_fault()?;
    let there = there.collect::<Result<BTreeSet<Number>, _>>().or_fault()?;
    let split = match split(&mind, |number| there.contains(&number)) {
        Ok(Some(split)) => split,
        Ok(None) | Err(Error::Damaged { .. }) => return Ok(()),
        Err(error) => return Err(error),
    };
    let (extras, sessions) = split;
    for (number, upkeep) in sessions {
        let upkeep = json(&upkeep)?;
        db.prepare_cached("UPDATE sessions SET upkeep = ?3 WHERE scope = ?1 AND number = ?2")
            .and_then(|mut update| update.execute(params![scope.0, number.0, upkeep]))
            .or_fault()?;
    }
    let extras = db.seal(Bound::Extras(&key), &extras)?;
    db.prepare_cached("UPDATE scope_extras SET extras = ?2 WHERE scope = ?1")
        .and_then(|mut update| update.execute(params![scope.0, extras]))
        .or_fault()
        .map(drop)
}
