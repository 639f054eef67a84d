//! Sweeping: deletes the content of segments that nobody sees any more.

use super::connect::{Connection, Value};
use super::fault::{Failure, OrFault};
use super::rows::column;
use super::{purge, search};
use crate::error::Error;
use tokio_postgres::types::Type;

/// How many entries are deleted in one transaction, so that no turn waits for long.
const ENTRIES_MAX: i64 = 2_000;

/// Deletes everything that is noted for deletion, and returns how many segments that were.
pub(super) async fn sweep(db: &Connection) -> Result<usize, Error> {
    let mut swept = 0;
    loop {
        let next = db.rows("SELECT scope, segment FROM segue_garbage LIMIT 1", &[]).await?;
        let Some(row) = next.first() else { return Ok(swept) };
        let (scope, segment): (&str, i64) = (column(row, 0)?, column(row, 1)?);
        db.begin().await.or_fault()?;
        let done = step(db, &(&scope, Type::TEXT), &(&segment, Type::INT8)).await.or_fault();
        match done {
            Ok(segments) => {
                db.commit().await.or_fault()?;
                swept += segments;
            }
            Err(error) => {
                db.roll_back().await;
                return Err(error);
            }
        }
    }
}

/// Deletes a part of a segment; returns how many segments are done with.
async fn step(db: &Connection, scope: &Value<'_>, segment: &Value<'_>) -> Result<usize, Failure> {
    let key = [scope.clone(), segment.clone()];
    let sql = format!(
        "SELECT seq FROM segue_entries WHERE scope = $1 AND segment = $2 AND kind NOT BETWEEN 20 AND 59
         ORDER BY seq LIMIT {ENTRIES_MAX}"
    );
    let going: Vec<i64> = db.try_rows(&sql, &key).await?.iter().map(|row| row.get(0)).collect();
    let seqs: Value<'_> = (&going, Type::INT8_ARRAY);
    search::forget(db, scope, &seqs).await?;
    purge::note(db, scope).await?;
    db.try_rows("DELETE FROM segue_entries WHERE scope = $1 AND seq = ANY($2)", &[scope.clone(), seqs])
        .await?;
    if going.len() as i64 == ENTRIES_MAX {
        return Ok(0);
    }
    let sql = "DELETE FROM segue_garbage WHERE scope = $1 AND segment = $2 RETURNING 1";
    Ok(db.try_rows(sql, &key).await?.len())
}
