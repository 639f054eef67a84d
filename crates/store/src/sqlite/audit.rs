//! Checks what the fold of a log cannot see: the file itself, its guards, and rows that belong to nothing.

use super::db::Db;
use super::fault::OrFault;
use super::rows::ScopeId;
use super::{audit_search, commits, in_use, open, pages, query, rows};
use crate::error::Error;
use crate::verify;
use rusqlite::{Connection, Params};
use segue_core::scope::Key;

/// Checks one scope, or the file as a whole.
pub(super) fn audit(db: &Db, scope: Option<&Key>) -> Result<Vec<String>, Error> {
    let _moment = rows::at_one_moment(db)?;
    match scope {
        Some(scope) => audit_scope(db, scope),
        None => audit_file(db),
    }
}

fn count(db: &Connection, sql: &str, values: impl Params) -> Result<i64, Error> {
    db.query_row(sql, values, |row| row.get(0)).or_fault()
}

/// What must not be in a scope, and how it is called.
const STRAYS: &[(&str, &str)] = &[
    (
        "SELECT count(*) FROM seen JOIN entries ON entries.id = (seen.scope << 32) + seen.seq
         WHERE seen.scope = ?1 AND typeof(body) = 'text' AND CASE WHEN json_valid(body)
         THEN json_extract(body, '$.message_id') IS NOT message_id ELSE 1 END",
        "message ids point to other messages",
    ),
    (
        "SELECT count(*) FROM garbage JOIN scopes ON scopes.id = garbage.scope WHERE garbage.scope = ?1
         AND (segment = open_segment OR segment >= next_segment
              OR segment IN (SELECT number FROM segments WHERE scope = ?1))",
        "segments are noted for deletion, and nobody dropped them",
    ),
    (
        "SELECT count(*) FROM entries JOIN scopes ON scopes.id = ?1
         WHERE entries.id BETWEEN ?1 << 32 AND (?1 << 32) + 0xffffffff AND kind NOT BETWEEN 20 AND 59
         AND segment IS NOT open_segment AND segment NOT IN (SELECT number FROM segments WHERE scope = ?1)
         AND segment NOT IN (SELECT segment FROM garbage WHERE scope = ?1)",
        "entries are in segments that were deleted",
    ),
    (
        "SELECT count(*) FROM embeddings LEFT JOIN entries AS a ON a.id = (scope << 32) + first
         LEFT JOIN entries AS z ON z.id = (scope << 32) + last
         WHERE scope = ?1 AND (a.body IS NULL OR z.body IS NULL OR first > last)",
        "embeddings were made of messages that are gone",
    ),
];

fn audit_scope(db: &Db, scope: &Key) -> Result<Vec<String>, Error> {
    let Some((id, head)) = rows::find(db, scope)? else { return Ok(Vec::new()) };
    let mut problems = Vec::new();
    match rows::load_rows(db, scope) {
        Err(damaged @ Error::Damaged { .. }) => {
            problems.push(format!("{damaged}; it is set aside, and the log is read instead"));
        }
        Ok(Some(state)) => {
            let strays = pages::strays(db, id, &state)?;
            if strays > 0 {
                problems.push(format!("{strays} pages of spans belong to no session"));
            }
        }
        Ok(None) | Err(_) => {}
    }
    let live = count(db, "SELECT count(*) FROM sessions WHERE scope = ?1 AND merged_into IS NULL", [id.0])?;
    let counted = count(db, "SELECT sessions FROM scopes WHERE id = ?1", [id.0])?;
    if live != counted {
        problems.push(format!("the scope's row counts {counted} sessions, there are {live}"));
    }
    problems.extend(audit_search::audit(db, scope, id, head)?);
    for (sql, what) in STRAYS {
        let strays = count(db, sql, [id.0])?;
        if strays > 0 {
            problems.push(format!("{strays} {what}"));
        }
    }
    problems.extend(encrypted_strays(db, id)?);
    Ok(problems)
}

/// Finds message ids that point to other messages, among those that SQL cannot read.
fn encrypted_strays(db: &Db, id: ScopeId) -> Result<Option<String>, Error> {
    let sql = "SELECT seen.message_id, entries.id FROM seen JOIN entries ON entries.id = (seen.scope << 32) + seen.seq
               WHERE seen.scope = ?1 AND typeof(body) = 'blob'";
    let mut query = db.prepare(sql).or_fault()?;
    let mut rows = query.query([id.0]).or_fault()?;
    let mut strays = 0;
    while let Some(row) = rows.next().or_fault()? {
        let (known, entry): (String, i64) = (row.get(0).or_fault()?, row.get(1).or_fault()?);
        strays += match query::entry(db, entry) {
            Ok(record) => {
                let found = record.as_ref().and_then(verify::message_id);
                u32::from(found.is_none_or(|found| found.0 != known))
            }
            Err(Error::Damaged { .. }) => 1,
            Err(error) => return Err(error),
        };
    }
    Ok((strays > 0).then(|| format!("{strays} message ids point to other messages")))
}

fn audit_file(db: &Connection) -> Result<Vec<String>, Error> {
    let mut problems = Vec::new();
    let mut query = db.prepare("PRAGMA integrity_check(20)").or_fault()?;
    let mut rows = query.query([]).or_fault()?;
    while let Some(row) = rows.next().or_fault()? {
        let line: String = row.get(0).or_fault()?;
        if line != "ok" {
            problems.push(format!("the database file is damaged: {line}"));
        }
    }
    problems.extend(differences_of_schema(db)?);
    for table in [
        "segments",
        "sessions",
        "span_pages",
        "seen",
        "garbage",
        "boundaries",
        "scope_extras",
        "extras_rows",
        "search_scopes",
        "embeddings",
        "commits",
    ] {
        let sql = format!("SELECT count(*) FROM {table} WHERE scope NOT IN (SELECT id FROM scopes)");
        let strays = count(db, &sql, [])?;
        if strays > 0 {
            problems.push(format!("{strays} rows of {table} belong to no scope"));
        }
    }
    let sql = "SELECT count(*) FROM entries
               WHERE id >> 32 NOT IN (SELECT id FROM scopes) OR id & 0xffffffff = 0";
    let strays = count(db, sql, [])?;
    if strays > 0 {
        problems.push(format!("{strays} entries belong to no scope"));
    }
    problems.extend(commits::audit(db)?);
    problems.extend(audit_search::audit_all(db)?);
    if in_use::has_missed_log(db)? {
        problems.push(in_use::LOG_MISSED.to_owned());
    }
    if count(db, "SELECT count(*) FROM erasing", [])? > 0 {
        problems.push("entries are marked for erasing, and nobody is erasing them".to_owned());
    }
    Ok(problems)
}

/// Compares tables, indexes and guards with those of a new database.
fn differences_of_schema(db: &Connection) -> Result<Vec<String>, Error> {
    let (found, expected) = (schema(db)?, schema(&open::in_memory()?)?);
    let missing = expected.iter().filter(|part| !found.contains(part));
    let added = found.iter().filter(|part| !expected.contains(part));
    let missing = missing.map(|(kind, name, _)| format!("the {kind} {name} is not what Segue makes it"));
    let added = added.map(|(kind, name, _)| format!("the {kind} {name} is not of Segue's making"));
    Ok(missing.chain(added).collect())
}

fn schema(db: &Connection) -> Result<Vec<(String, String, Option<String>)>, Error> {
    // `sqlite_...` are SQLite's own, such as the statistics of ANALYZE.
    let sql = "SELECT type, name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!'";
    let mut query = db.prepare(sql).or_fault()?;
    let parts = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).or_fault()?;
    parts.collect::<Result<_, _>>().or_fault()
}
