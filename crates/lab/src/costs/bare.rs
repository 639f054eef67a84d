//! A bare statement: the rows that a turn writes, into plain tables without partitions, triggers or guards.

use anyhow::Context as _;
use segue_engine::clock::{Clock as _, SystemClock};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Statement};

/// The rows of a turn, taken from one that Segue has written.
struct Rows {
    segments: Vec<i64>,
    times: Vec<i64>,
    kinds: Vec<i16>,
    nths: Vec<i64>,
    bodies: Vec<Option<String>>,
}

/// A connection with the statement prepared.
pub struct Bare {
    client: Client,
    statement: Statement,
    rows: Rows,
    head: i64,
}

const TABLES: &str = "
    DROP TABLE IF EXISTS bare_scopes, bare_entries, bare_seen, bare_commits;
    CREATE TABLE bare_scopes (LIKE segue_scopes INCLUDING ALL);
    CREATE TABLE bare_entries (LIKE segue_entries INCLUDING ALL);
    CREATE TABLE bare_seen (LIKE segue_seen INCLUDING ALL);
    CREATE TABLE bare_commits (LIKE segue_commits INCLUDING ALL)";

const STATEMENT: &str = "
    WITH scopes AS (UPDATE bare_scopes SET head = $3 WHERE scope = $1 RETURNING 1),
    entries AS (INSERT INTO bare_entries (scope, seq, segment, at, kind, nth, body)
        SELECT $1, e.* FROM unnest($4::bigint[], $5::bigint[], $6::bigint[], $7::smallint[], $8::bigint[], $9::text[]) AS e),
    seen AS (INSERT INTO bare_seen (scope, message_id, seq) VALUES ($1, $10, $3)),
    commits AS (INSERT INTO bare_commits (scope, after, head, append_id, position) VALUES ($1, $2, $3, $11, $3))
    SELECT count(*) FROM scopes";

impl Bare {
    /// Makes the tables, with the row of a scope that Segue has written, and as many rows as it has.
    pub async fn open(url: &str, scope: &str, entries_of_a_turn: usize) -> anyhow::Result<Self> {
        let url = url.split_once('?').map_or(url, |(url, _)| url);
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        tokio::spawn(connection);
        client.batch_execute(TABLES).await?;
        for table in ["scopes", "entries", "seen", "commits"] {
            let sql = format!("INSERT INTO bare_{table} SELECT * FROM segue_{table} WHERE scope = $1");
            client.execute(&sql, &[&scope]).await?;
        }
        let sql = "SELECT segment, at, kind, nth, body FROM segue_entries WHERE scope = $1 ORDER BY seq DESC LIMIT $2";
        let count = i64::try_from(entries_of_a_turn)?;
        let found = client.query(sql, &[&scope as &(dyn ToSql + Sync), &count]).await?;
        let rows = Rows {
            segments: found.iter().map(|row| row.get(0)).collect(),
            times: found.iter().map(|row| row.get(1)).collect(),
            kinds: found.iter().map(|row| row.get(2)).collect(),
            nths: found.iter().map(|row| row.get(3)).collect(),
            bodies: found.iter().map(|row| row.get(4)).collect(),
        };
        let head = client.query_one("SELECT head FROM bare_scopes WHERE scope = $1", &[&scope]).await?;
        let head = head.get(0);
        let statement = client.prepare(STATEMENT).await?;
        Ok(Self { client, statement, rows, head })
    }

    /// Runs the statement, and returns the microseconds of each.
    pub async fn turns(&mut self, scope: &str, count: usize) -> anyhow::Result<Vec<f64>> {
        let mut times = Vec::with_capacity(count);
        for _ in 0..count {
            let began = SystemClock.ticks_us();
            let (after, seqs): (i64, Vec<i64>) =
                (self.head, (1..).take(self.rows.kinds.len()).map(|n: i64| self.head + n).collect());
            self.head = *seqs.last().context("a turn has entries")?;
            let (id, append) =
                (format!("bare-{}", self.head).into_bytes(), self.head.to_be_bytes().repeat(2));
            let rows = &self.rows;
            let values: [&(dyn ToSql + Sync); 11] = [
                &scope,
                &after,
                &self.head,
                &seqs,
                &rows.segments,
                &rows.times,
                &rows.kinds,
                &rows.nths,
                &rows.bodies,
                &id,
                &append,
            ];
            self.client.query_one(&self.statement, &values).await?;
            times.push((SystemClock.ticks_us() - began) as f64);
        }
        Ok(times)
    }
}
