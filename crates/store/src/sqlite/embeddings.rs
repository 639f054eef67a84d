//! Embeddings of sessions and entries. Triggers delete them together with what they were made of.

use super::db::Db;
use super::fault::{OrFault, fault};
use super::rows::{self, ScopeId, entry_id, seq_of, small};
use crate::encryption::Bound;
use crate::error::Error;
use crate::types::{Embedding, Subject};
use rusqlite::{Connection, Row, params};
use segue_core::entry::{Kind, Seq};
use segue_core::scope::Key;
use segue_core::session::Number;

/// The kind and the number of a subject.
fn coded(subject: Subject) -> (i64, i64) {
    match subject {
        Subject::Session(number) => (0, i64::from(number.0)),
        Subject::Entry(seq) => (1, seq.0 as i64),
    }
}

/// What the bytes of a subject are bound to.
fn bound(scope: &Key, subject: Subject) -> Bound<'_> {
    match subject {
        Subject::Session(number) => Bound::SessionEmbedding(scope, number),
        Subject::Entry(seq) => Bound::EntryEmbedding(scope, seq),
    }
}

fn embedding(db: &Db, scope: &Key, row: &Row<'_>) -> Result<Embedding, Error> {
    let int = |at: usize| row.get::<_, i64>(at).map_err(fault);
    let subject = match int(0)? {
        0 => Subject::Session(Number(small(int(1)?)?)),
        1 => Subject::Entry(Seq(int(1)? as u64)),
        other => return Err(Error::damaged("an embedding", format!("it is of kind {other}"))),
    };
    let bytes = db.unseal_bytes(bound(scope, subject), row.get(4).map_err(fault)?)?;
    Ok(Embedding { subject, first: seq_of(int(2)?), last: seq_of(int(3)?), bytes })
}

/// Reads the embeddings of some subjects.
pub(super) fn get(db: &Db, key: &Key, subjects: &[Subject]) -> Result<Vec<Embedding>, Error> {
    let Some((scope, _)) = rows::find(db, key)? else { return Ok(Vec::new()) };
    let sql =
        "SELECT kind, number, first, last, bytes FROM embeddings WHERE scope=?1 AND kind=?2 AND number=?3";
    let mut query = db.prepare_cached(sql).or_fault()?;
    let mut found = Vec::new();
    for subject in subjects {
        let (kind, number) = coded(*subject);
        let mut rows = query.query(params![scope.0, kind, number]).or_fault()?;
        if let Some(row) = rows.next().or_fault()? {
            found.push(embedding(db, key, row)?);
        }
    }
    Ok(found)
}

/// Reads the embeddings of entries behind an entry, in order.
pub(super) fn tail(db: &Db, key: &Key, after: Seq, limit: usize) -> Result<Vec<Embedding>, Error> {
    let Some((scope, _)) = rows::find(db, key)? else { return Ok(Vec::new()) };
    let sql = "SELECT kind, number, first, last, bytes FROM embeddings
               WHERE scope=?1 AND kind=1 AND number>?2 ORDER BY number LIMIT ?3";
    let mut query = db.prepare_cached(sql).or_fault()?;
    let limit = limit.min(i64::MAX as usize) as i64;
    let mut rows = query.query(params![scope.0, after.0 as i64, limit]).or_fault()?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().or_fault()? {
        found.push(embedding(db, key, row)?);
    }
    Ok(found)
}

/// Keeps embeddings, unless anything was erased since the entries were read: it may be one of them. Of what is noted for deletion
/// nothing is kept: it can still be read, and is about to be gone.
pub(super) fn put(db: &Db, key: &Key, head: Seq, embeddings: &[Embedding]) -> Result<(), Error> {
    let transaction = db.begin()?;
    let Some((scope, now)) = rows::find(db, key)? else { return Ok(()) };
    if is_erased(db, scope, head, now)? {
        return Ok(());
    }
    let sql = "INSERT OR REPLACE INTO embeddings (scope, kind, number, first, last, bytes)
               SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE (SELECT count(*) FROM entries
               WHERE id IN ((?1 << 32) + ?4, (?1 << 32) + ?5) AND body IS NOT NULL
               AND segment NOT IN (SELECT segment FROM garbage WHERE scope = ?1)) = 1 + (?4 < ?5)";
    let mut put = db.prepare_cached(sql).or_fault()?;
    for Embedding { subject, first, last, bytes } in embeddings {
        let (kind, number) = coded(*subject);
        let bytes = db.seal_bytes(bound(key, *subject), bytes)?;
        put.execute(params![scope.0, kind, number, first.0 as i64, last.0 as i64, bytes]).or_fault()?;
    }
    drop(put);
    transaction.commit().or_fault()
}

/// Tells whether anything was erased behind an entry and up to another.
fn is_erased(db: &Connection, scope: ScopeId, after: Seq, through: Seq) -> Result<bool, Error> {
    let mut query = db.prepare_cached("SELECT kind FROM entries WHERE id > ?1 AND id <= ?2").or_fault()?;
    let mut kinds = query.query(params![entry_id(scope, after), entry_id(scope, through)]).or_fault()?;
    while let Some(row) = kinds.next().or_fault()? {
        if Kind::coded(row.get(0).or_fault()?).is_none_or(Kind::erases) {
            return Ok(true);
        }
    }
    Ok(false)
}
