//! Whether a commit that is seen can still be lost.
//!
//! A commit waits for its standby before it is acknowledged. If its backend is terminated meanwhile, or the server crashes and
//! starts again, it is there and no standby may have it: a failover would lose it. So whoever finds a commit whose acknowledgement
//! was lost, and is about to acknowledge it, first makes a commit of its own and waits for that: a standby has them in order.

use super::connect::Connection;
use super::fault::OrFault;
use super::rows::column;
use crate::error::Error;

/// Whether commits wait for a standby at all.
const WAITS: &str = "SELECT current_setting('synchronous_standby_names') <> ''
    AND current_setting('synchronous_commit') NOT IN ('off', 'local') AND NOT pg_is_in_recovery()";

/// What is committed to wait for the standby: a transaction that writes nothing waits for nobody. It is a record in the
/// write-ahead log and nothing else.
const TOUCH: &str = "SELECT pg_logical_emit_message(true, 'segue', '')";

/// Waits until a standby has everything that this connection has seen.
pub(super) async fn confirm(db: &Connection) -> Result<(), Error> {
    let rows = db.rows(WAITS, &[]).await?;
    if !rows.first().map_or(Ok(false), |row| column(row, 0))? {
        return Ok(());
    }
    db.begin().await.or_fault()?;
    if let Err(failure) = db.try_rows(TOUCH, &[]).await {
        db.roll_back().await;
        return Err(failure.into());
    }
    db.commit().await.or_fault()
}
