//! Migrations: numbered SQL files, each with a checksum, applied under a lock.
//!
//! Ten nodes may start at once: one of them migrates, the others wait for its lock and find the work done. A node that is
//! older than the schema refuses to start.

use super::connect::Connection;
use super::fault::{OrFault, unavailable};
use super::rows::column;
use super::upkeep;
use super::watch::PLACES;
use crate::error::Error;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

/// The lock that a node holds while it migrates. Any number will do, as long as all nodes use the same one.
const LOCK: i64 = 0x5365_6775_6500_0001;

/// The first step: the tables and their guards.
pub(super) const TABLES: &str = include_str!("migrations/0001_tables.sql");

/// The schema's steps, first to last. A step that was released is never changed.
const MIGRATIONS: &[(&str, &str)] = &[
    ("0001_tables", TABLES),
    (UPKEEP, include_str!("migrations/0002_upkeep.sql")),
    ("0003_guards", include_str!("migrations/0003_guards.sql")),
];

/// The step that is not done in SQL.
const UPKEEP: &str = "0002_upkeep";

const LIST: &str = "CREATE TABLE IF NOT EXISTS segue_migrations (
    step     bigint PRIMARY KEY,
    name     text NOT NULL,
    checksum text NOT NULL,
    done_at  timestamptz NOT NULL DEFAULT now()
)";

const STEPS: &str = "SELECT step, name, checksum FROM segue_migrations ORDER BY step";

/// Brings the database to the newest schema. Returns what positions begin with; see `watch`.
pub(super) async fn prepare(db: &Connection) -> Result<i64, Error> {
    if is_current(db).await? {
        return position_base(db).await.map(|(base, _)| base);
    }
    db.begin().await.or_fault()?;
    match migrate(db).await {
        Ok(base) => db.commit().await.or_fault().map(|()| base),
        Err(error) => {
            db.roll_back().await;
            Err(error)
        }
    }
}

/// Takes all steps that are left, under the lock.
async fn migrate(db: &Connection) -> Result<i64, Error> {
    // Released with the transaction, also if this node dies.
    db.long_rows("SELECT pg_advisory_xact_lock($1)", &[(&LOCK, Type::INT8)]).await?;
    // Not information_schema: that lists only what the user has rights on.
    let tables = "SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace
                  AND relkind IN ('r', 'p', 'v', 'm', 'f') AND relname LIKE 'segue!_%' ESCAPE '!'
                  AND relname <> 'segue_migrations'";
    let others: i64 = db.rows(tables, &[]).await?.first().map_or(Ok(0), |row| column(row, 0))?;
    if !has_list(db).await? && others > 0 {
        return Err(foreign());
    }
    db.batch(LIST).await.or_fault()?;
    // Asked again under the lock: another node may have been faster.
    let done = check(&db.rows(STEPS, &[]).await?)?;
    for (step, (name, sql)) in (1_i64..).zip(MIGRATIONS).skip(done) {
        db.long_batch(sql).await.or_fault()?;
        if *name == UPKEEP {
            upkeep::settle(db).await?;
        }
        let note = "INSERT INTO segue_migrations (step, name, checksum) VALUES ($1, $2, $3)";
        let checksum = checksum(sql);
        db.rows(note, &[(&step, Type::INT8), (name, Type::TEXT), (&checksum, Type::TEXT)]).await?;
    }
    settle_positions(db).await
}

/// Tells whether nothing is to be done. A database that a node may not write is fine as long as that is so.
async fn is_current(db: &Connection) -> Result<bool, Error> {
    if !has_list(db).await? {
        return Ok(false);
    }
    let columns = "SELECT count(*) FROM pg_attribute WHERE attrelid = 'segue_migrations'::regclass
        AND (attname, atttypid::regtype::text) IN (('step', 'bigint'), ('name', 'text'), ('checksum', 'text'))";
    let ours: i64 = db.rows(columns, &[]).await?.first().map_or(Ok(0), |row| column(row, 0))?;
    if ours != 3 {
        return Err(foreign());
    }
    if check(&db.rows(STEPS, &[]).await?)? != MIGRATIONS.len() {
        return Ok(false);
    }
    let (_, system) = position_base(db).await?;
    let writable = "SELECT NOT pg_is_in_recovery() AND current_setting('transaction_read_only') = 'off'";
    let is_writable: bool = db.rows(writable, &[]).await?.first().map_or(Ok(false), |row| column(row, 0))?;
    Ok(db.identity().system.is_none_or(|found| system == Some(found)) || !is_writable)
}

async fn has_list(db: &Connection) -> Result<bool, Error> {
    let rows = db.rows("SELECT to_regclass('segue_migrations') IS NOT NULL", &[]).await?;
    rows.first().map_or(Ok(false), |row| column(row, 0))
}

/// Says that the tables are somebody else's.
fn foreign() -> Error {
    unavailable(
        "the database has tables named segue_... that Segue did not make",
        "use another database, or a schema of its own (options=-csearch_path%3DNAME in the URL)",
    )
}

/// Reads what positions begin with, and the server that this was settled for.
async fn position_base(db: &Connection) -> Result<(i64, Option<i64>), Error> {
    let sql = "SELECT coalesce(max(value) FILTER (WHERE name = 'position_base'), 0),
        max(value) FILTER (WHERE name = 'system') FROM segue_marks";
    let rows = db.rows(sql, &[]).await?;
    rows.first().map_or(Ok((0, None)), |row| Ok((column(row, 0)?, column(row, 1)?)))
}

/// Lets the positions of commits go on behind those that there are. They are made of the server's transaction numbers, which begin
/// anew in a server that a dump was restored into.
async fn settle_positions(db: &Connection) -> Result<i64, Error> {
    let (base, known) = position_base(db).await?;
    let Some(system) = db.identity().system.filter(|system| known != Some(*system)) else { return Ok(base) };
    let last = "SELECT greatest((SELECT max(position) FROM segue_commits),
            (SELECT max(value) FROM segue_marks WHERE name = 'commits_swept'), 0),
        pg_snapshot_xmax(pg_current_snapshot())::text::bigint";
    let rows = db.long_rows(last, &[]).await?;
    let Some(row) = rows.first() else { return Ok(base) };
    let (last, next): (i64, i64) = (column(row, 0)?, column(row, 1)?);
    // Where nobody has noted the server, a commit from the future tells that it was another one.
    let base = match known.is_some() || last >= base + next * PLACES {
        true => (last / PLACES + 1) * PLACES,
        false => base,
    };
    let note = "INSERT INTO segue_marks (name, value) VALUES ('position_base', $1), ('system', $2)
                ON CONFLICT (name) DO UPDATE SET value = EXCLUDED.value";
    db.rows(note, &[(&base, Type::INT8), (&system, Type::INT8)]).await?;
    Ok(base)
}

/// Compares the steps that were done with ours, and returns how many were.
fn check(rows: &[Row]) -> Result<usize, Error> {
    let known = MIGRATIONS.len() as i64;
    for (at, row) in rows.iter().enumerate() {
        let (step, name, found): (i64, &str, &str) = (column(row, 0)?, column(row, 1)?, column(row, 2)?);
        let Some((_, sql)) = MIGRATIONS.get(at) else {
            return Err(Error::NewerFormat { found: rows.len() as i64, known });
        };
        if step != at as i64 + 1 || found != checksum(sql) {
            let what = format!("step {step} ({name}) of the schema");
            return Err(Error::damaged(what, "it is not the step that this Segue knows by that number"));
        }
    }
    Ok(rows.len())
}

fn checksum(sql: &str) -> String {
    segue_core::digest::Digest::of_body(sql.as_bytes()).to_string()
}
