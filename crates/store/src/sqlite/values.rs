//! Small named values beside the log, and leases.

use super::db::Db;
use super::fault::{OrFault, fault};
use super::rows::{micros, timestamp};
use crate::encryption::Bound;
use crate::error::Error;
use crate::leases::{Leased, ends_at};
use crate::values::Value;
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};
use segue_core::Timestamp;
use std::time::Duration;

/// How many values whose time is over are deleted with a new one.
const EXPIRED_AT_ONCE: i64 = 16;

const COLUMNS: &str = "key, bytes, expires_at";

fn value(db: &Db, namespace: &str, row: &Row<'_>) -> Result<Value, Error> {
    let key: String = row.get(0).map_err(fault)?;
    let bytes = db.unseal_bytes(Bound::Value(namespace, &key), row.get(1).map_err(fault)?)?;
    let expires_at: Option<i64> = row.get(2).map_err(fault)?;
    Ok(Value { key, bytes, expires_at: expires_at.map(timestamp).transpose()? })
}

/// Reads a value.
pub(super) fn get(db: &Db, namespace: &str, key: &str, now: Timestamp) -> Result<Option<Value>, Error> {
    let sql = format!("SELECT {COLUMNS} FROM named_values WHERE namespace = ?1 AND key = ?2");
    let mut query = db.prepare_cached(&sql).or_fault()?;
    let mut rows = query.query(params![namespace, key]).or_fault()?;
    let found = rows.next().or_fault()?.map(|row| value(db, namespace, row)).transpose()?;
    Ok(found.filter(|value| value.is_live(now)))
}

/// Writes a value.
pub(super) fn put(db: &Db, namespace: &str, value: &Value) -> Result<(), Error> {
    let sql =
        "INSERT OR REPLACE INTO named_values (namespace, key, bytes, expires_at) VALUES (?1, ?2, ?3, ?4)";
    let mut put = db.prepare_cached(sql).or_fault()?;
    let bytes = db.seal_bytes(Bound::Value(namespace, &value.key), &value.bytes)?;
    put.execute(params![namespace, value.key, bytes, value.expires_at.map(micros)]).or_fault().map(drop)
}

/// Writes a value if none is there; else returns that one.
pub(super) fn insert(
    db: &Db,
    namespace: &str,
    value: &Value,
    now: Timestamp,
) -> Result<Option<Value>, Error> {
    let transaction = db.begin()?;
    if let Some(found) = get(db, namespace, &value.key, now)? {
        return Ok(Some(found));
    }
    put(db, namespace, value)?;
    let expired =
        "DELETE FROM named_values WHERE (namespace, key) IN (SELECT namespace, key FROM named_values
                   WHERE expires_at <= ?1 ORDER BY expires_at LIMIT ?2)";
    transaction.execute(expired, params![micros(now), EXPIRED_AT_ONCE]).or_fault()?;
    transaction.commit().or_fault()?;
    Ok(None)
}

/// Deletes a value; tells whether one was there.
pub(super) fn delete(db: &Connection, namespace: &str, key: &str) -> Result<bool, Error> {
    let sql = "DELETE FROM named_values WHERE namespace = ?1 AND key = ?2";
    Ok(db.execute(sql, params![namespace, key]).or_fault()? > 0)
}

/// Lists values by their keys.
pub(super) fn list(
    db: &Db,
    namespace: &str,
    prefix: &str,
    after: Option<&str>,
    limit: usize,
    now: Timestamp,
) -> Result<Vec<Value>, Error> {
    let sql = format!(
        "SELECT {COLUMNS} FROM named_values
         WHERE namespace = ?1 AND key >= ?2 AND (?3 IS NULL OR key > ?3) ORDER BY key"
    );
    let mut query = db.prepare_cached(&sql).or_fault()?;
    let begin = after.unwrap_or(prefix).max(prefix);
    let mut rows = query.query(params![namespace, begin, after]).or_fault()?;
    let mut found = Vec::new();
    while found.len() < limit
        && let Some(row) = rows.next().or_fault()?
    {
        let value = value(db, namespace, row)?;
        if !value.key.starts_with(prefix) {
            break;
        }
        found.extend(Some(value).filter(|value| value.is_live(now)));
    }
    Ok(found)
}

/// Acquires or renews a lease.
pub(super) fn lease(
    db: &mut Connection,
    name: &str,
    holder: &str,
    ttl: Duration,
    now: Timestamp,
) -> Result<Leased, Error> {
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate).or_fault()?;
    let found = transaction
        .query_row("SELECT holder, until FROM leases WHERE name = ?1", [name], |row| {
            Ok((row.get::<_, String>(0)?, row.get::<_, i64>(1)?))
        })
        .optional()
        .or_fault()?;
    if let Some((by, until)) = found
        && by != holder
        && micros(now) < until
    {
        return Ok(Leased::Taken { by, until: timestamp(until)? });
    }
    let until = ends_at(now, ttl);
    let sql = "INSERT OR REPLACE INTO leases (name, holder, until) VALUES (?1, ?2, ?3)";
    transaction.execute(sql, params![name, holder, micros(until)]).or_fault()?;
    transaction.commit().or_fault()?;
    Ok(Leased::Held { until })
}

/// Gives a lease back.
pub(super) fn release(db: &Connection, name: &str, holder: &str) -> Result<(), Error> {
    db.execute("DELETE FROM leases WHERE name = ?1 AND holder = ?2", params![name, holder])
        .or_fault()
        .map(drop)
}
