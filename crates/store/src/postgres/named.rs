//! Small named values and leases.

use super::connect::{Connection, Value as Column};
use super::replicated;
use super::rows::{column, micros, timestamp};
use crate::error::Error;
use crate::leases::Leased;
use crate::values::Value;
use segue_core::Timestamp;
use std::time::Duration;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

/// How many expired values are deleted together with a new one.
const EXPIRED_AT_ONCE: i64 = 100;

/// The longest lease, in microseconds: a hundred years.
const TTL_MAX: i64 = 100 * 365 * 24 * 3_600 * 1_000_000;

fn text(bytes: &[u8]) -> Result<String, Error> {
    String::from_utf8(bytes.to_vec()).map_err(|error| Error::damaged("a key", error))
}

fn value(row: &Row) -> Result<Value, Error> {
    Ok(Value {
        key: text(column(row, 0)?)?,
        bytes: column(row, 1)?,
        expires_at: column::<Option<i64>>(row, 2)?.map(timestamp).transpose()?,
    })
}

pub(super) async fn get(
    db: &Connection,
    namespace: &str,
    key: &str,
    now: Timestamp,
) -> Result<Option<Value>, Error> {
    let sql = "SELECT key, bytes, expires_at FROM segue_values
               WHERE namespace = $1 AND key = $2 AND (expires_at IS NULL OR expires_at > $3)";
    let (namespace, key) = (namespace.as_bytes(), key.as_bytes());
    let values: [Column<'_>; 3] =
        [(&namespace, Type::BYTEA), (&key, Type::BYTEA), (&micros(now), Type::INT8)];
    db.rows(sql, &values).await?.first().map(value).transpose()
}

pub(super) async fn put(db: &Connection, namespace: &str, value: &Value) -> Result<(), Error> {
    value.check(namespace)?;
    let sql = "INSERT INTO segue_values (namespace, key, bytes, expires_at) VALUES ($1, $2, $3, $4)
               ON CONFLICT (namespace, key) DO UPDATE SET bytes = $3, expires_at = $4";
    let (namespace, key) = (namespace.as_bytes(), value.key.as_bytes());
    let until = value.expires_at.map(micros);
    let values: [Column<'_>; 4] =
        [(&namespace, Type::BYTEA), (&key, Type::BYTEA), (&value.bytes, Type::BYTEA), (&until, Type::INT8)];
    db.write(sql, &values).await.map(drop)
}

/// Writes a value where none is; returns the one that is there instead. It may be the caller's own, of an earlier try.
pub(super) async fn insert(
    db: &Connection,
    namespace: &str,
    new: &Value,
    now: Timestamp,
) -> Result<Option<Value>, Error> {
    new.check(namespace)?;
    let sql = "INSERT INTO segue_values AS v (namespace, key, bytes, expires_at) VALUES ($1, $2, $3, $4)
               ON CONFLICT (namespace, key) DO UPDATE SET bytes = $3, expires_at = $4 WHERE v.expires_at <= $5
               RETURNING 1";
    let (space, key) = (namespace.as_bytes(), new.key.as_bytes());
    let until = new.expires_at.map(micros);
    loop {
        let values: [Column<'_>; 5] = [
            (&space, Type::BYTEA),
            (&key, Type::BYTEA),
            (&new.bytes, Type::BYTEA),
            (&until, Type::INT8),
            (&micros(now), Type::INT8),
        ];
        if !db.write(sql, &values).await?.is_empty() {
            let expired = "DELETE FROM segue_values WHERE ctid = ANY(ARRAY(
                SELECT ctid FROM segue_values WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2))";
            db.rows(expired, &[(&micros(now), Type::INT8), (&EXPIRED_AT_ONCE, Type::INT8)]).await?;
            return Ok(None);
        }
        // Whoever was first may have deleted it since: then it is tried again.
        if let Some(there) = get(db, namespace, &new.key, now).await? {
            replicated::confirm(db).await?;
            return Ok(Some(there));
        }
    }
}

pub(super) async fn delete(db: &Connection, namespace: &str, key: &str) -> Result<bool, Error> {
    // What is deleted stays in the table's file until that is purged.
    let sql = "WITH gone AS (DELETE FROM segue_values WHERE namespace = $1 AND key = $2 RETURNING 1)
               INSERT INTO segue_marks (name, value) SELECT 'purge_values', 1 FROM gone
               ON CONFLICT (name) DO UPDATE SET value = segue_marks.value + 1 RETURNING 1";
    let (namespace, key) = (namespace.as_bytes(), key.as_bytes());
    let is_gone = !db.write(sql, &[(&namespace, Type::BYTEA), (&key, Type::BYTEA)]).await?.is_empty();
    if !is_gone {
        // An earlier try may have deleted it.
        replicated::confirm(db).await?;
    }
    Ok(is_gone)
}

pub(super) async fn list(
    db: &Connection,
    namespace: &str,
    prefix: &str,
    after: Option<&str>,
    limit: usize,
    now: Timestamp,
) -> Result<Vec<Value>, Error> {
    let sql = "SELECT key, bytes, expires_at FROM segue_values
               WHERE namespace = $1 AND key >= $2 AND substr(key, 1, length($2)) = $2
               AND ($3::bytea IS NULL OR key > $3) AND (expires_at IS NULL OR expires_at > $4) ORDER BY key LIMIT $5";
    let (namespace, prefix) = (namespace.as_bytes(), prefix.as_bytes());
    let after = after.map(str::as_bytes);
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let values: [Column<'_>; 5] = [
        (&namespace, Type::BYTEA),
        (&prefix, Type::BYTEA),
        (&after, Type::BYTEA),
        (&micros(now), Type::INT8),
        (&limit, Type::INT8),
    ];
    db.rows(sql, &values).await?.iter().map(value).collect()
}

/// Acquires or renews a lease, by the clock of the database: those of the nodes may be wrong.
pub(super) async fn lease(db: &Connection, name: &str, holder: &str, ttl: Duration) -> Result<Leased, Error> {
    // One statement decides, and tells who has it: the updated row, or the one that stood in the way.
    let sql = "WITH clock AS (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now),
        taken AS (
            INSERT INTO segue_leases AS l (name, holder, until) SELECT $1, $2, now + $3 FROM clock
            ON CONFLICT (name) DO UPDATE SET holder = $2, until = EXCLUDED.until
                WHERE l.holder = $2 OR l.until <= EXCLUDED.until - $3
            RETURNING holder, until)
        SELECT holder, until FROM taken
        UNION ALL SELECT holder, until FROM segue_leases WHERE name = $1 AND NOT EXISTS (SELECT 1 FROM taken)";
    let (name, by) = (name.as_bytes(), holder.as_bytes());
    let ttl = i64::try_from(ttl.as_micros()).unwrap_or(i64::MAX).min(TTL_MAX);
    let values: [Column<'_>; 3] = [(&name, Type::BYTEA), (&by, Type::BYTEA), (&ttl, Type::INT8)];
    loop {
        let rows = db.write(sql, &values).await?;
        // Nothing at all: the holder released it while this was asked.
        let Some(row) = rows.first() else { continue };
        let (found, until) = (text(column(row, 0)?)?, timestamp(column(row, 1)?)?);
        return Ok(match found == holder {
            true => Leased::Held { until },
            false => Leased::Taken { by: found, until },
        });
    }
}

pub(super) async fn release(db: &Connection, name: &str, holder: &str) -> Result<(), Error> {
    let sql = "DELETE FROM segue_leases WHERE name = $1 AND holder = $2";
    let (name, holder) = (name.as_bytes(), holder.as_bytes());
    db.rows(sql, &[(&name, Type::BYTEA), (&holder, Type::BYTEA)]).await.map(drop)
}
