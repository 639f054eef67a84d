//! Checks what the fold of a log cannot see: the guards, and rows that belong to nothing.

use super::connect::{Connection, Value};
use super::rows::{self, ENTRY, column, message_key, record};
use super::{migrate, query, search};
use crate::error::Error;
use crate::verify;
use segue_core::entry::Seq;
use segue_core::scope::Key;
use tokio_postgres::types::Type;

/// How many rows are read at a time.
const PAGE: usize = 1_000;

/// What must not be in a scope, and how it is called.
const STRAYS: &[(&str, &str)] = &[
    (
        "SELECT count(*) FROM segue_garbage AS g JOIN segue_scopes AS s ON s.scope = g.scope WHERE g.scope = $1
         AND (g.segment = s.open_segment OR g.segment >= s.next_segment
              OR EXISTS (SELECT 1 FROM segue_segments WHERE scope = $1 AND number = g.segment))",
        "segments are noted for deletion, and nobody dropped them",
    ),
    (
        "SELECT count(*) FROM segue_entries AS e JOIN segue_scopes AS s ON s.scope = e.scope
         WHERE e.scope = $1 AND e.kind NOT BETWEEN 20 AND 59 AND e.segment IS DISTINCT FROM s.open_segment
         AND NOT EXISTS (SELECT 1 FROM segue_segments WHERE scope = $1 AND number = e.segment)
         AND NOT EXISTS (SELECT 1 FROM segue_garbage WHERE scope = $1 AND segment = e.segment)",
        "entries are in segments that were deleted",
    ),
    (
        "SELECT count(*) FROM segue_entries AS e JOIN segue_scopes AS s ON s.scope = e.scope
         WHERE e.scope = $1 AND (e.seq > s.head OR e.seq < 1)",
        "entries are behind the scope's head",
    ),
    (
        "SELECT count(*) FROM segue_embeddings AS m WHERE scope = $1
         AND (SELECT count(*) FROM segue_entries WHERE scope = $1 AND seq IN (m.first, m.last) AND body IS NOT NULL)
             <> CASE WHEN m.first < m.last THEN 2 ELSE 1 END",
        "embeddings were made of messages that are gone",
    ),
    ("SELECT count(*) FROM segue_erasing WHERE scope = $1", "entries are marked for erasing, and nobody is erasing them"),
];

/// The guards that refuse changes of what was sealed, on the tables and on each of their partitions, as they were made.
const GUARDS: &str = "SELECT count(*) FROM pg_trigger AS t JOIN pg_proc AS f ON f.oid = t.tgfoid
    WHERE NOT t.tgisinternal AND t.tgenabled IN ('O', 'A') AND f.proname LIKE 'segue!_guard!_%' ESCAPE '!'
    AND t.tgname IN ('segue_insert', 'segue_update', 'segue_delete', 'segue_change', 'segue_truncate')
    AND t.tgrelid IN (SELECT unnest(ARRAY['segue_entries', 'segue_segments']::regclass[])
        UNION ALL SELECT inhrelid FROM pg_inherits
            WHERE inhparent IN ('segue_entries'::regclass, 'segue_segments'::regclass))";

/// How many parts each table has.
const PARTS: i64 = 16;

/// How many guards there are: four on the entries and two on the segments.
const GUARDS_COUNT: i64 = (PARTS + 1) * (4 + 2);

/// What the functions behind the guards say, one after the other.
const GUARDS_TEXT: &str = "SELECT string_agg(prosrc, '' ORDER BY proname COLLATE \"C\") FROM pg_proc
    WHERE pronamespace = current_schema()::regnamespace AND proname LIKE 'segue!_guard!_%' ESCAPE '!'";

/// The tables whose rows belong to a scope.
const TABLES: &[&str] = &[
    "entries",
    "segments",
    "sessions",
    "seen",
    "garbage",
    "extras",
    "commits",
    "terms",
    "indexed",
    "embeddings",
];

/// Checks one scope, or the database as a whole.
pub(super) async fn audit(db: &Connection, scope: Option<&Key>) -> Result<Vec<String>, Error> {
    let mut problems = Vec::new();
    let Some(scope) = scope else {
        let guards: i64 = db.rows(GUARDS, &[]).await?.first().map_or(Ok(0), |row| column(row, 0))?;
        if guards != GUARDS_COUNT {
            problems.push("a trigger that guards sealed segments is missing or switched off".to_owned());
        }
        let rows = db.rows(GUARDS_TEXT, &[]).await?;
        let text: Option<&str> = rows.first().map_or(Ok(None), |row| column(row, 0))?;
        if text != Some(guards_text().as_str()) {
            problems.push("a function that guards sealed segments was replaced".to_owned());
        }
        for table in TABLES {
            let mut strays = 0;
            // Part by part: a scope is in the same part of every table, and no statement takes too long.
            for part in 0..PARTS {
                let sql = format!(
                    "SELECT count(*) FROM segue_{table}_p{part} AS t
                     WHERE NOT EXISTS (SELECT 1 FROM segue_scopes_p{part} WHERE scope = t.scope)"
                );
                strays +=
                    db.long_rows(&sql, &[]).await?.first().map_or(Ok(0), |row| column::<i64>(row, 0))?;
            }
            if strays > 0 {
                problems.push(format!("{strays} rows of segue_{table} belong to no scope"));
            }
        }
        return Ok(problems);
    };
    match rows::load_rows(db, scope).await {
        Err(damaged @ Error::Damaged { .. }) => {
            problems.push(format!("{damaged}; it is set aside, and the log is read instead"));
        }
        Ok(Some(state)) => {
            let listed = state.list().count() as i64;
            let sql = "SELECT sessions FROM segue_scopes WHERE scope = $1";
            let counted = count(db, sql, scope).await?;
            if listed != counted {
                problems.push(format!("the scope's row counts {counted} sessions, there are {listed}"));
            }
        }
        Ok(None) => {}
        Err(error) => return Err(error),
    }
    for (sql, what) in STRAYS {
        let strays = count(db, sql, scope).await?;
        if strays > 0 {
            problems.push(format!("{strays} {what}"));
        }
    }
    let wrong = wrong_ids(db, scope).await?;
    if wrong > 0 {
        problems.push(format!("{wrong} message ids point to other messages"));
    }
    if !is_index_sound(db, scope).await? {
        problems.push("the index for searching is not what the messages say".to_owned());
    }
    Ok(problems)
}

/// Counts the message ids that stand for another message than the one that has them.
async fn wrong_ids(db: &Connection, scope: &Key) -> Result<usize, Error> {
    let sql = format!(
        "SELECT {ENTRY}, s.message_id FROM segue_seen AS s JOIN segue_entries AS e USING (scope, seq)
         WHERE scope = $1 AND s.message_id > $2 AND body IS NOT NULL ORDER BY s.message_id LIMIT {PAGE}"
    );
    let (mut after, mut wrong) = (Vec::<u8>::new(), 0);
    loop {
        let values: [Value<'_>; 2] = [(&scope.as_str(), Type::TEXT), (&after, Type::BYTEA)];
        let rows = db.rows(&sql, &values).await?;
        let Some(last) = rows.last() else { return Ok(wrong) };
        for row in &rows {
            let id = verify::message_id(&record(row)?);
            let known: &[u8] = column(row, 7)?;
            wrong += usize::from(id.is_none_or(|id| message_key(&id) != known));
        }
        after = column(last, 7)?;
    }
}

/// Compares the index for searching with the messages that it was made of.
async fn is_index_sound(db: &Connection, scope: &Key) -> Result<bool, Error> {
    let Some(indexed) = search::indexed(db, scope).await? else { return Ok(true) };
    let key = search::key(db).await?;
    let (mut after, mut messages, mut length) = (Seq::ZERO, 0, 0);
    loop {
        let page = query::messages(db, scope, after, indexed.through, PAGE).await?;
        // Behind the last message there is nothing, either.
        let through = page.last().map_or(Seq(u64::MAX), |record| record.seq);
        let expected: Vec<_> =
            page.iter().filter_map(|record| search::rows_of(&key, scope, record)).flatten().collect();
        if search::read(db, scope, after, through).await? != expected {
            return Ok(false);
        }
        for row in expected.iter().filter(|row| row.part == 0) {
            messages += 1;
            length += row.length;
        }
        if page.is_empty() {
            return Ok((messages, length) == (indexed.messages, indexed.length));
        }
        after = through;
    }
}

async fn count(db: &Connection, sql: &str, scope: &Key) -> Result<i64, Error> {
    let rows = db.rows(sql, &[(&scope.as_str(), Type::TEXT)]).await?;
    rows.first().map_or(Ok(0), |row| column(row, 0))
}

/// What the functions behind the guards are to say: as they stand in the migration that makes them.
fn guards_text() -> String {
    let made = migrate::TABLES.split("CREATE FUNCTION ").skip(1);
    let mut functions: Vec<(&str, &str)> =
        made.filter_map(|made| Some((made.split_once('(')?.0, made.split("$$").nth(1)?))).collect();
    functions.sort_unstable();
    functions.into_iter().map(|(_, text)| text).collect()
}
