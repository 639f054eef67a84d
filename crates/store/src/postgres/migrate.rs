//! Migrations: numbered SQL files, each with a checksum, applied under a lock.
//!
//! Ten nodes may start at once: one of them migrates, the others wait for its lock and find the work done. A node that is
//! older than the schema refuses to start.

use super::fault::{OrFault, unavailable};
use crate::error::Error;
use tokio_postgres::Client;

/// The lock that a node holds while it migrates. Any number will do, as long as all nodes use the same one.
const LOCK: i64 = 0x5365_6775_6500_0001;

/// The schema's steps, first to last. A step that was released is never changed.
const MIGRATIONS: &[(&str, &str)] = &[("0001_tables", include_str!("migrations/0001_tables.sql"))];

const LIST: &str = "CREATE TABLE IF NOT EXISTS segue_migrations (
    step     bigint PRIMARY KEY,
    name     text NOT NULL,
    checksum text NOT NULL,
    done_at  timestamptz NOT NULL DEFAULT now()
)";

/// Brings the database to the newest schema.
pub(super) async fn migrate(client: &mut Client) -> Result<(), Error> {
    if is_current(client).await? {
        return Ok(());
    }
    let transaction = client.transaction().await.or_fault()?;
    // Released with the transaction, also if this node dies.
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await.or_fault()?;
    let tables = "SELECT count(*) FROM information_schema.tables WHERE table_schema = current_schema()
                  AND table_name LIKE 'segue!_%' ESCAPE '!' AND table_name <> 'segue_migrations'";
    let others: i64 = transaction.query_one(tables, &[]).await.or_fault()?.get(0);
    let is_new = transaction
        .query_one("SELECT to_regclass('segue_migrations') IS NULL", &[])
        .await
        .or_fault()?
        .get::<_, bool>(0);
    if is_new && others > 0 {
        return Err(unavailable(
            "the database has tables named segue_... that Segue did not make",
            "use another database, or a schema of its own (options=-csearch_path%3DNAME in the URL)",
        ));
    }
    transaction.batch_execute(LIST).await.or_fault()?;
    // Asked again under the lock: another node may have been faster.
    let done = check(
        &transaction
            .query("SELECT step, name, checksum FROM segue_migrations ORDER BY step", &[])
            .await
            .or_fault()?,
    )?;
    for (step, (name, sql)) in MIGRATIONS.iter().enumerate().skip(done) {
        transaction.batch_execute(sql).await.or_fault()?;
        transaction
            .execute(
                "INSERT INTO segue_migrations (step, name, checksum) VALUES ($1, $2, $3)",
                &[&(step as i64 + 1), name, &checksum(sql)],
            )
            .await
            .or_fault()?;
    }
    transaction.commit().await.or_fault()
}

/// Tells whether nothing is to be done. A database that a node may not write is fine as long as that is so.
async fn is_current(client: &Client) -> Result<bool, Error> {
    let exists =
        client.query_one("SELECT to_regclass('segue_migrations') IS NOT NULL", &[]).await.or_fault()?;
    if !exists.get::<_, bool>(0) {
        return Ok(false);
    }
    let rows = client.query("SELECT step, name, checksum FROM segue_migrations ORDER BY step", &[]).await;
    Ok(check(&rows.or_fault()?)? == MIGRATIONS.len())
}

/// Compares the steps that were done with ours, and returns how many were.
fn check(rows: &[tokio_postgres::Row]) -> Result<usize, Error> {
    let known = MIGRATIONS.len() as i64;
    for (at, row) in rows.iter().enumerate() {
        let (step, name, found): (i64, String, String) = (row.get(0), row.get(1), row.get(2));
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
