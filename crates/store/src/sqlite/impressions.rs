//! Impressions: what was found out about sessions, kept beside the index for searching. Triggers let them go.

use super::fault::OrFault;
use super::rows::{self, ScopeId, entry_id, seq_of};
use crate::error::Error;
use crate::types::Impression;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use segue_core::entry::{Kind, Seq};
use segue_core::scope::Key;
use segue_core::session::Number;

/// Reads the impressions of some sessions.
pub(super) fn read(db: &Connection, scope: &Key, sessions: &[Number]) -> Result<Vec<Impression>, Error> {
    let Some((scope, _)) = rows::find(db, scope)? else { return Ok(Vec::new()) };
    let sql = "SELECT first, last, bytes FROM impressions WHERE scope = ?1 AND session = ?2";
    let mut query = db.prepare_cached(sql).or_fault()?;
    let mut found = Vec::new();
    for &session in sessions {
        let row = query.query_row(params![scope.0, session.0], |row| {
            let (first, last) = (seq_of(row.get(0)?), seq_of(row.get(1)?));
            Ok(Impression { session, first, last, bytes: row.get(2)? })
        });
        found.extend(row.optional().or_fault()?);
    }
    Ok(found)
}

/// Keeps impressions, unless anything was erased since the messages were read: it may be one of them.
pub(super) fn keep(
    db: &mut Connection,
    scope: &Key,
    head: Seq,
    impressions: &[Impression],
) -> Result<(), Error> {
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate).or_fault()?;
    let Some((scope, now)) = rows::find(&transaction, scope)? else { return Ok(()) };
    if is_erased(&transaction, scope, head, now)? {
        return Ok(());
    }
    let sql =
        "INSERT OR REPLACE INTO impressions (scope, session, first, last, bytes) VALUES (?1, ?2, ?3, ?4, ?5)";
    let mut put = transaction.prepare_cached(sql).or_fault()?;
    for Impression { session, first, last, bytes } in impressions {
        put.execute(params![scope.0, session.0, first.0 as i64, last.0 as i64, bytes]).or_fault()?;
    }
    drop(put);
    transaction.commit().or_fault()
}

/// Tells whether anything was erased behind an entry and up to another.
fn is_erased(db: &Connection, scope: ScopeId, after: Seq, through: Seq) -> Result<bool, Error> {
    let mut query = db.prepare_cached("SELECT kind FROM entries WHERE id > ?1 AND id <= ?2").or_fault()?;
    let mut kinds = query.query(params![entry_id(scope, after), entry_id(scope, through)]).or_fault()?;
    while let Some(row) = kinds.next().or_fault()? {
        if Kind::coded(row.get(0).or_fault()?).is_none_or(Kind::erases) {
            return Ok(true);
        }
    }
    Ok(false)
}
