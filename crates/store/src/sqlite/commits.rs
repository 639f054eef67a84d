//! The order of commits.

use super::fault::OrFault;
use super::rows::ScopeId;
use crate::commits::{Commit, KEPT_MIN, Position};
use crate::error::Error;
use crate::types::{Append, AppendId};
use rusqlite::{Connection, params};
use segue_core::entry::Seq;
use std::collections::HashMap;

/// How many commits are kept. Older ones are deleted, some at a time.
const KEPT: i64 = 1_000_000;
const DELETED_AT_ONCE: i64 = 1_000;

/// Writes the row of an append.
pub(super) fn insert(db: &Connection, scope: ScopeId, append: &Append) -> Result<Position, Error> {
    let sql = "INSERT INTO commits (scope, after, head, append_id) VALUES (?1, ?2, ?3, ?4)";
    let (after, head) = (append.prior.head.0 as i64, append.next.head.0 as i64);
    db.prepare_cached(sql)
        .and_then(|mut insert| insert.execute(params![scope.0, after, head, append.id.0]))
        .or_fault()?;
    let n = db.last_insert_rowid();
    if n % DELETED_AT_ONCE == 0 {
        db.execute("DELETE FROM commits WHERE n <= ?1", [n - KEPT]).or_fault()?;
    }
    Ok(Position(n as u64))
}

/// Returns the position of the last commit.
pub(super) fn last(db: &Connection) -> Result<Position, Error> {
    let mut query = db.prepare_cached("SELECT coalesce(max(n), 0) FROM commits").or_fault()?;
    query.query_row([], |row| Ok(Position(row.get::<_, i64>(0)? as u64))).or_fault()
}

/// Reads the commits behind a position.
pub(super) fn read(db: &Connection, after: Position, limit: usize) -> Result<Vec<Commit>, Error> {
    let snapshot = db.unchecked_transaction().or_fault()?;
    let mut query = snapshot.prepare_cached("SELECT coalesce(min(n), 1) FROM commits").or_fault()?;
    let oldest = query.query_row([], |row| row.get::<_, i64>(0)).or_fault()? as u64;
    if after.0.saturating_add(1) < oldest {
        return Err(Error::Expired { oldest: Position(oldest) });
    }
    let sql = "SELECT n, key, after, commits.head FROM commits JOIN scopes ON scopes.id = scope
               WHERE n > ?1 ORDER BY n LIMIT ?2";
    let mut query = snapshot.prepare_cached(sql).or_fault()?;
    let (after, limit) = (after.0.min(i64::MAX as u64) as i64, limit.min(i64::MAX as usize) as i64);
    let mut rows = query.query(params![after, limit]).or_fault()?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().or_fault()? {
        let key: String = row.get(1).or_fault()?;
        let int = |at: usize| row.get::<_, i64>(at).map(|value| value as u64);
        found.push(Commit {
            position: Position(int(0).or_fault()?),
            scope: key.parse().map_err(|error| Error::damaged("a scope's key", error))?,
            after: Seq(int(2).or_fault()?),
            head: Seq(int(3).or_fault()?),
        });
    }
    Ok(found)
}

/// Finds the head that an append led to, newest first: it is seldom old.
pub(super) fn appended(
    db: &Connection,
    scope: ScopeId,
    after: Seq,
    id: AppendId,
) -> Result<Option<Seq>, Error> {
    let sql = "SELECT after, head, append_id FROM commits
               WHERE n > (SELECT max(n) FROM commits) - ?2 AND scope = ?1 ORDER BY n DESC";
    let mut query = db.prepare_cached(sql).or_fault()?;
    let mut rows = query.query([scope.0, KEPT_MIN as i64]).or_fault()?;
    while let Some(row) = rows.next().or_fault()? {
        let from: i64 = row.get(0).or_fault()?;
        if from as u64 <= after.0 {
            let found: Option<Vec<u8>> = row.get(2).or_fault()?;
            let is_it = from as u64 == after.0 && found.as_deref() == Some(&id.0);
            let head: i64 = row.get(1).or_fault()?;
            return Ok(is_it.then_some(Seq(head as u64)));
        }
    }
    Ok(None)
}

/// Checks that the commits lead to the heads of their scopes, without gaps.
pub(super) fn audit(db: &Connection) -> Result<Option<String>, Error> {
    let mut heads: HashMap<i64, i64> = HashMap::new();
    let mut query = db.prepare("SELECT n, scope, after, head FROM commits ORDER BY n").or_fault()?;
    let mut rows = query.query([]).or_fault()?;
    let (mut sound, mut first, mut before) = (true, None, None);
    while let Some(row) = rows.next().or_fault()? {
        let int = |at: usize| row.get::<_, i64>(at).or_fault();
        let (n, scope, after, head) = (int(0)?, int(1)?, int(2)?, int(3)?);
        let is_whole = *first.get_or_insert(n) == 1;
        // Of a list whose beginning was deleted nobody knows where a scope was.
        let known = heads.insert(scope, head).or(is_whole.then_some(0)).unwrap_or(after);
        sound &= after == known && after < head && before.is_none_or(|before| before + 1 == n);
        before = Some(n);
    }
    sound &= first.unwrap_or(1) == 1 || before.is_some_and(|last| last > KEPT);
    let mut query = db.prepare("SELECT id, head FROM scopes").or_fault()?;
    let mut rows = query.query([]).or_fault()?;
    let mut scopes = 0;
    while let Some(row) = rows.next().or_fault()? {
        let (scope, head): (i64, i64) = (row.get(0).or_fault()?, row.get(1).or_fault()?);
        scopes += usize::from(heads.contains_key(&scope));
        sound &= heads.get(&scope).map_or(first.is_some_and(|first| first > 1), |known| *known == head);
    }
    sound &= scopes == heads.len();
    Ok((!sound).then(|| "the list of commits is not what the logs say".to_owned()))
}
