//! Purging: lets nothing of what was erased be left in the files of the tables.
//!
//! A body that is set to NULL stays in the table's file as an old version of its row. `VACUUM` makes that space free and does
//! not overwrite it; only `VACUUM FULL` writes the table anew, and locks it meanwhile. A scope lives in one partition of each
//! table, so only those are written anew, and only as long as they are small: turns of their scopes wait.

use super::connect::{Connection, Value};
use super::fault::Failure;
use super::rows::column;
use crate::error::Error;
use crate::store::Purged;
use std::time::Duration;
use tokio_postgres::types::Type;

/// The tables that hold what people said, or what was made of it.
const TABLES: [&str; 6] = ["entries", "sessions", "extras", "terms", "embeddings", "scopes"];

/// How large the partitions of a scope may be together to be written anew while they are in use: about two seconds.
const REWRITTEN_BYTES_MAX: i64 = 128 * 1024 * 1024;

/// How often a partition's lock is asked for, and how long to wait in between. Nothing queues for it, so turns go on.
const LOCK_TRIES: u32 = 12;
const LOCK_AGAIN: Duration = Duration::from_millis(250);

/// Notes, in the transaction that erases or deletes, that the partitions of a scope are to be purged.
pub(super) async fn note(db: &Connection, scope: &Value<'_>) -> Result<(), Failure> {
    let sql = "INSERT INTO segue_marks (name, value)
               SELECT 'purge_p' || substring(tableoid::regclass::text FROM '[0-9]+$'), 1 FROM segue_scopes WHERE scope = $1
               ON CONFLICT (name) DO UPDATE SET value = segue_marks.value + 1";
    db.try_rows(sql, std::slice::from_ref(scope)).await.map(drop)
}

/// The mark of the values, which belong to no partition. Deleting one leaves it; see `named::delete`.
const VALUES: &str = "purge_values";

/// Purges every partition that is noted, and the values.
pub(super) async fn purge(db: &Connection) -> Result<Purged, Error> {
    let noted = db.rows("SELECT name, value FROM segue_marks WHERE name LIKE 'purge\\_%'", &[]).await?;
    let mut left = Vec::new();
    for row in &noted {
        let (name, value): (&str, i64) = (column(row, 0)?, column(row, 1)?);
        let part = name.trim_start_matches("purge_");
        let tables = match name {
            VALUES => vec!["segue_values".to_owned()],
            _ => TABLES.iter().map(|table| format!("segue_{table}_{part}")).collect(),
        };
        match rewrite(db, name, part, tables).await? {
            Some(why) => left.push(why),
            None => {
                // What was erased meanwhile stays noted.
                let sql = "DELETE FROM segue_marks WHERE name = $1 AND value = $2";
                db.rows(sql, &[(&name, Type::TEXT), (&value, Type::INT8)]).await?;
            }
        }
    }
    Ok(match left.is_empty() {
        true => Purged::Complete,
        false => Purged::Unfinished { why: left.join("; ") },
    })
}

/// Purges tables. Returns what is left of them, and why.
async fn rewrite(
    db: &Connection,
    mark: &str,
    part: &str,
    tables: Vec<String>,
) -> Result<Option<String>, Error> {
    let sql = "SELECT sum(pg_total_relation_size(t::regclass))::bigint FROM unnest($1::text[]) AS t";
    let rows = db.rows(sql, &[(&tables, Type::TEXT_ARRAY)]).await?;
    let bytes: i64 = rows.first().map_or(Ok(0), |row| column(row, 0))?;
    // Whoever began before the erasure still sees what was erased, and so it cannot be removed. A standby that says what it still
    // reads belongs to no database; who works in another database is not in the way.
    let sql = "SELECT count(*) FROM pg_stat_activity, segue_marks AS m
               WHERE m.name = $1 AND pid <> pg_backend_pid() AND age(backend_xmin) >= age(m.xmin)
               AND (datname IS NULL OR datname = current_database())";
    let rows = db.rows(sql, &[(&mark, Type::TEXT)]).await?;
    if rows.first().map_or(Ok(0_i64), |row| column(row, 0))? > 0 {
        return Ok(Some(format!(
            "a transaction that began before still sees old rows of the tables ..._{part}"
        )));
    }
    let is_small = bytes <= REWRITTEN_BYTES_MAX;
    for table in tables {
        if !vacuum(db, &table, is_small).await? {
            return Ok(Some(format!("the tables ..._{part} are in use, or belong to another user")));
        }
    }
    let megabytes = bytes / (1024 * 1024);
    Ok((!is_small).then(|| {
        format!(
            "old bytes may stand in free space of the tables ..._{part} ({megabytes} MB) until it is used again: \
             VACUUM (FULL) when their scopes may wait"
        )
    }))
}

/// Vacuums a table, if nobody has it locked for long. Returns whether it did.
async fn vacuum(db: &Connection, table: &str, is_full: bool) -> Result<bool, Error> {
    let full = if is_full { "FULL, " } else { "" };
    for _ in 0..LOCK_TRIES {
        match db.long_batch(&format!("VACUUM ({full}SKIP_LOCKED) {table}")).await {
            Ok(()) => return Ok(true),
            // It says by a warning that it has skipped the table.
            Err(Failure::Unconfirmed) => tokio::time::sleep(LOCK_AGAIN).await,
            Err(failure) => return Err(failure.into()),
        }
    }
    Ok(false)
}
