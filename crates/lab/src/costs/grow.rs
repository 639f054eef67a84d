//! Many scopes, made by the database itself: every row of a scope that Segue has written, again under other names.

use tokio_postgres::NoTls;

/// The tables that have rows of a scope with one session.
const TABLES: [&str; 6] = ["scopes", "entries", "sessions", "extras", "seen", "commits"];

/// How many scopes are made with one statement.
const BATCH: u64 = 50_000;

/// Copies the rows of a scope under so many names. The guards are off meanwhile, for this connection alone.
pub async fn grow(url: &str, scope: &str, scopes: u64) -> anyhow::Result<()> {
    let url = url.split_once('?').map_or(url, |(url, _)| url);
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    client.batch_execute("SET session_replication_role = replica; SET synchronous_commit = off").await?;
    for table in TABLES {
        let sql = "SELECT string_agg(quote_ident(column_name), ', ' ORDER BY ordinal_position) FROM information_schema.columns
                   WHERE table_schema = current_schema() AND table_name = $1 AND column_name <> 'scope'";
        let columns: Option<String> = client.query_one(sql, &[&format!("segue_{table}")]).await?.get(0);
        let columns = columns.unwrap_or_default();
        for first in (0..scopes).step_by(usize::try_from(BATCH)?) {
            let last = (first + BATCH).min(scopes) - 1;
            let sql = format!(
                "INSERT INTO segue_{table} (scope, {columns})
                 SELECT $1 || n, {columns} FROM segue_{table}, generate_series({first}::bigint, {last}::bigint) AS n
                 WHERE scope = $2"
            );
            let prefix = format!("{scope}-");
            client.execute(&sql, &[&prefix.as_str(), &scope]).await?;
        }
    }
    client.batch_execute("ANALYZE").await?;
    Ok(())
}
