//! Whether a commit that is seen can still be lost.
//!
//! A commit waits for its standby before it is acknowledged. If its backend is terminated meanwhile, or the server crashes and
//! starts again, it is there and no standby may have it: a failover would lose it. So whoever finds a commit whose acknowledgement
//! was lost, and is about to acknowledge it, first makes a commit of its own and waits for that: a standby has them in order.

use super::connect::Connection;
use super::fault::OrFault;
use super::rows::column;
use crate::error::Error;
use segue_core::scope::Key;
use tokio_postgres::types::Type;

/// Whether commits wait for a standby at all.
const WAITS: &str = "SELECT current_setting('synchronous_standby_names') <> ''
    AND current_setting('synchronous_commit') NOT IN ('off', 'local') AND NOT pg_is_in_recovery()";

/// Waits until a standby has everything that this connection has seen of a scope.
pub(super) async fn confirm(db: &Connection, scope: &Key) -> Result<(), Error> {
    let rows = db.rows(WAITS, &[]).await?;
    if !rows.first().map_or(Ok(false), |row| column(row, 0))? {
        return Ok(());
    }
    // It changes nothing; a transaction that writes nothing waits for nobody.
    let touch = "UPDATE segue_scopes SET head = head WHERE scope = $1";
    db.begin().await.or_fault()?;
    if let Err(failure) = db.try_rows(touch, &[(&scope.as_str(), Type::TEXT)]).await {
        db.roll_back().await;
        return Err(failure.into());
    }
    db.commit().await.or_fault()
}
