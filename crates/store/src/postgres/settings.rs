//! Settings of the server that undo durability: whoever has changed them may have forgotten it.

use super::connect::Connection;
use super::rows::column;
use crate::error::Error;
use std::collections::HashMap;

const SETTINGS: &str = "SELECT name, setting FROM pg_settings
    WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit', 'synchronous_standby_names')";

/// Says by which of its settings the server may lose what it has acknowledged, one sentence each.
pub(super) async fn risks(db: &Connection) -> Result<Vec<String>, Error> {
    let rows = db.rows(SETTINGS, &[]).await?;
    let mut settings: HashMap<&str, &str> = HashMap::new();
    for row in &rows {
        settings.insert(column(row, 0)?, column(row, 1)?);
    }
    let is = |name: &str, value: &str| settings.get(name) == Some(&value);
    let has_standby = settings.get("synchronous_standby_names").is_some_and(|names| !names.is_empty());
    let risks = [
        (
            is("fsync", "off"),
            "PostgreSQL has fsync = off: when its machine fails, acknowledged messages and the database itself may be lost",
        ),
        (
            is("full_page_writes", "off"),
            "PostgreSQL has full_page_writes = off: when its machine fails, the database may be damaged",
        ),
        (
            is("synchronous_commit", "off"),
            "PostgreSQL has synchronous_commit = off for this user or database: when it crashes, the last acknowledged messages are lost",
        ),
        (
            is("synchronous_commit", "local") && has_standby,
            "PostgreSQL has synchronous_commit = local for this user or database: commits do not wait for the standby, and a failover \
             loses the last acknowledged messages",
        ),
    ];
    Ok(risks.into_iter().filter(|(is_risk, _)| *is_risk).map(|(_, told)| told.to_owned()).collect())
}
