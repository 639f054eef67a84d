//! Sweeping: deletes the content of segments that nobody sees any more.

use super::db::Db;
use super::fault::OrFault;
use super::rows::{ScopeId, entry_id};
use super::search;
use crate::error::Error;
use rusqlite::{OptionalExtension, params};
use segue_core::entry::Seq;

/// How many entries are deleted in one transaction, so that no turn waits for long.
const ENTRIES_MAX: i64 = 2_000;

/// Deletes a part of what is left to delete.
///
/// Returns nothing when there is nothing left, else how many segments are done with.
pub(super) fn step(db: &Db) -> Result<Option<usize>, Error> {
    let transaction = db.begin()?;
    let next = transaction.query_row("SELECT scope, segment, first, last FROM garbage LIMIT 1", [], |row| {
        Ok((ScopeId(row.get(0)?), row.get::<_, i64>(1)?, row.get::<_, i64>(2)?, row.get::<_, i64>(3)?))
    });
    let Some((scope, segment, first, last)) = next.optional().or_fault()? else { return Ok(None) };
    let (first, last) = (entry_id(scope, Seq(first as u64)), entry_id(scope, Seq(last as u64)));
    search::forget_segment(db, scope, (first, last), segment, ENTRIES_MAX)?;
    let deleted = transaction
        .execute(
            "DELETE FROM entries WHERE id IN (SELECT id FROM entries WHERE id BETWEEN ?1 AND ?2
             AND segment = ?3 AND kind NOT BETWEEN 20 AND 59 ORDER BY id LIMIT ?4)",
            params![first, last, segment, ENTRIES_MAX],
        )
        .or_fault()?;
    let done = (deleted as i64) < ENTRIES_MAX;
    if done {
        transaction
            .execute("DELETE FROM garbage WHERE scope=?1 AND segment=?2", params![scope.0, segment])
            .or_fault()?;
    }
    transaction.commit().or_fault()?;
    Ok(Some(usize::from(done)))
}
