//! Appending: the one transaction of a turn.

use super::fault::OrFault;
use super::index;
use super::query;
use super::rows::{self, ScopeId, entry_id, micros, seq_of};
use crate::error::Error;
use crate::types::Append;
use rusqlite::{Connection, OptionalExtension, params};
use segue_core::entry::{Bytes, Record, Seq};

/// Writes an append inside the transaction that is open.
pub(super) fn append(db: &Connection, append: &Append) -> Result<(), Error> {
    let found = rows::find(db, append.scope())?;
    if let (Some((scope, _)), Some((id, _))) = (found, &append.message_id)
        && let Some(seq) = seen(db, scope, &id.0)?
    {
        return Err(Error::Duplicate { seq });
    }
    let (expected, head) = (append.prior.head, found.map_or(Seq::ZERO, |(_, head)| head));
    if expected != head {
        return Err(Error::Conflict { expected, found: head });
    }
    let last = append.next.head;
    if last.0 > u64::from(u32::MAX) {
        return Err(Error::unavailable("the scope's log is full", "start another scope"));
    }
    let scope = rows::save_scope(db, found.map(|(id, _)| id), &append.next)?;
    for record in &append.records {
        insert(db, scope, record)?;
    }
    discard(db, scope, append)?;
    rows::save_changes(db, scope, &append.prior, &append.next)?;
    if let Some((id, seq)) = &append.message_id {
        db.prepare_cached("INSERT INTO seen (scope, message_id, seq) VALUES (?1, ?2, ?3)")
            .and_then(|mut insert| insert.execute(params![scope.0, id.0, seq.0 as i64]))
            .or_fault()?;
    }
    for seq in &append.erase {
        let going = query::entry(db, entry_id(scope, *seq))?;
        index::forget(db, scope, going.as_slice())?;
        erase(db, entry_id(scope, *seq))?;
    }
    Ok(())
}

pub(super) fn seen(db: &Connection, scope: ScopeId, id: &str) -> Result<Option<Seq>, Error> {
    let mut query = db.prepare_cached("SELECT seq FROM seen WHERE scope=?1 AND message_id=?2").or_fault()?;
    let found = query.query_row(params![scope.0, id], |row| row.get::<_, i64>(0)).optional().or_fault()?;
    Ok(found.map(seq_of))
}

fn insert(db: &Connection, scope: ScopeId, record: &Record) -> Result<(), Error> {
    let mut insert = db
        .prepare_cached(
            "INSERT INTO entries (id, segment, at, kind, nth, body, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )
        .or_fault()?;
    let (body, hash) = match &record.bytes {
        Bytes::Kept(text) => (Some(text.as_str()), None),
        Bytes::Erased(hash) => (None, Some(hash.0)),
    };
    let (id, at) = (entry_id(scope, record.seq), micros(record.at));
    let done = insert.execute(params![id, record.segment.0, at, record.kind.code(), record.nth, body, hash]);
    match done {
        Err(error) if error.to_string().contains("segue: the segment is sealed") => {
            Err(Error::Sealed { segment: record.segment })
        }
        other => other.or_fault().map(drop),
    }
}

/// Notes segments for deletion and takes them out of the sealed ones, which the triggers guard.
fn discard(db: &Connection, scope: ScopeId, append: &Append) -> Result<(), Error> {
    for number in &append.garbage {
        let Some(sealed) = append.prior.segments.get(number) else {
            // It was open before and is sealed and dropped by this append: no row guards it.
            let open = append.prior.open.as_ref().filter(|open| open.number == *number);
            let first = open.map_or(append.prior.head.next(), |open| open.first);
            note_garbage(db, scope, number.0, first.0 as i64, append.next.head.0 as i64)?;
            continue;
        };
        note_garbage(db, scope, number.0, sealed.first.0 as i64, sealed.last.0 as i64)?;
        db.prepare_cached("DELETE FROM segments WHERE scope=?1 AND number=?2")
            .and_then(|mut delete| delete.execute(params![scope.0, number.0]))
            .or_fault()?;
    }
    Ok(())
}

fn note_garbage(db: &Connection, scope: ScopeId, number: u32, first: i64, last: i64) -> Result<(), Error> {
    db.prepare_cached("INSERT OR REPLACE INTO garbage (scope, segment, first, last) VALUES (?1, ?2, ?3, ?4)")
        .and_then(|mut insert| insert.execute(params![scope.0, number, first, last]))
        .or_fault()
        .map(drop)
}

fn erase(db: &Connection, id: i64) -> Result<(), Error> {
    let mut query = db.prepare_cached("SELECT body FROM entries WHERE id=?1").or_fault()?;
    let body: Option<Option<String>> = query.query_row([id], |row| row.get(0)).optional().or_fault()?;
    let Some(Some(body)) = body else { return Ok(()) };
    let hash = segue_core::digest::Digest::of_body(body.as_bytes());
    db.prepare_cached("INSERT OR IGNORE INTO erasing (id) VALUES (?1)")
        .and_then(|mut insert| insert.execute([id]))
        .or_fault()?;
    db.prepare_cached("UPDATE entries SET body=NULL, hash=?2 WHERE id=?1")
        .and_then(|mut update| update.execute(params![id, hash.0]))
        .or_fault()?;
    db.prepare_cached("DELETE FROM erasing WHERE id=?1")
        .and_then(|mut delete| delete.execute([id]))
        .or_fault()
        .map(drop)
}
