//! Reading the log.

use super::append;
use super::fault::{OrFault, fault};
use super::rows::{self, ScopeId, digest, entry_id, seq_of, small, timestamp};
use crate::error::Error;
use crate::types::{Filter, Page, Reading, ScopePage, ScopeRow, Take};
use rusqlite::{Connection, OptionalExtension, Row, params};
use segue_core::entry::{Bytes, Kind, Record, Seq};
use segue_core::message::MessageId;
use segue_core::scope::Key;
use segue_core::segment;
use segue_core::session::Number;
use segue_core::span::Span;
use std::path::Path;

const COLUMNS: &str = "id, segment, at, kind, nth, body, hash";

fn record(row: &Row<'_>) -> Result<Record, Error> {
    let int = |at: usize| row.get::<_, i64>(at).map_err(fault);
    let seq = seq_of(int(0)?);
    let code = int(3)?;
    let kind = u8::try_from(code).ok().and_then(Kind::coded);
    // A Segue that adds a kind raises the format of the database, so this one was refused when it opened it, unless the
    // other one came later.
    let unknown = || format!("unknown kind {code}; if a newer Segue writes here too, use that one");
    let kind = kind.ok_or_else(|| Error::damaged(format!("entry {seq}"), unknown()))?;
    let body: Option<String> = row.get(5).map_err(fault)?;
    let hash: Option<Vec<u8>> = row.get(6).map_err(fault)?;
    let bytes = match (body, hash) {
        (Some(text), None) => Bytes::Kept(text),
        (Some(_), Some(_)) => {
            return Err(Error::damaged(
                format!("entry {seq}"),
                "it has both a body and the hash of an erased one",
            ));
        }
        (None, Some(hash)) => Bytes::Erased(digest(&hash)?),
        (None, None) => return Err(Error::damaged(format!("entry {seq}"), "it has neither body nor hash")),
    };
    Ok(Record {
        seq,
        segment: segment::Number(small(int(1)?)?),
        at: timestamp(int(2)?)?,
        nth: small(int(4)?)?,
        kind,
        bytes,
    })
}

fn records(db: &Connection, sql: &str, values: impl rusqlite::Params) -> Result<Vec<Record>, Error> {
    let mut query = db.prepare_cached(sql).or_fault()?;
    let mut rows = query.query(values).or_fault()?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().or_fault()? {
        found.push(record(row)?);
    }
    Ok(found)
}

pub(super) fn seen(db: &Connection, scope: &Key, id: &MessageId) -> Result<Option<Seq>, Error> {
    match rows::find(db, scope)? {
        Some((scope, _)) => append::seen(db, scope, &id.0),
        None => Ok(None),
    }
}

pub(super) fn get(db: &Connection, scope: &Key, seq: Seq) -> Result<Option<Record>, Error> {
    let Some((scope, _)) = rows::find(db, scope)? else { return Ok(None) };
    entry(db, entry_id(scope, seq))
}

/// Reads one entry by its number in the database.
pub(super) fn entry(db: &Connection, id: i64) -> Result<Option<Record>, Error> {
    let sql = format!("SELECT {COLUMNS} FROM entries WHERE id = ?1");
    Ok(records(db, &sql, [id])?.pop())
}

/// Reads messages of a scope behind an entry and up to another, in order.
pub(super) fn messages(
    db: &Connection,
    scope: ScopeId,
    after: Seq,
    through: Seq,
    limit: usize,
) -> Result<Vec<Record>, Error> {
    let sql = format!(
        "SELECT {COLUMNS} FROM entries WHERE id > ?1 AND id <= ?2 AND kind < 10 ORDER BY id LIMIT ?3"
    );
    let limit = limit.min(i64::MAX as usize) as i64;
    records(db, &sql, params![entry_id(scope, after), entry_id(scope, through), limit])
}

/// Reads what a segment holds between two entries and what goes with it, in order.
pub(super) fn of_segment(
    db: &Connection,
    first: i64,
    last: i64,
    segment: i64,
    limit: i64,
) -> Result<Vec<Record>, Error> {
    let sql = format!(
        "SELECT {COLUMNS} FROM entries WHERE id BETWEEN ?1 AND ?2 AND segment = ?3
         AND kind NOT BETWEEN 20 AND 59 ORDER BY id LIMIT ?4"
    );
    records(db, &sql, params![first, last, segment, limit])
}

pub(super) fn tail(db: &Connection, scope: &Key, after: Seq, limit: usize) -> Result<Vec<Record>, Error> {
    let Some((scope, _)) = rows::find(db, scope)? else { return Ok(Vec::new()) };
    let sql = format!("SELECT {COLUMNS} FROM entries WHERE id > ?1 AND id <= ?2 ORDER BY id LIMIT ?3");
    let last = entry_id(scope, Seq(u64::MAX));
    records(db, &sql, params![entry_id(scope, after), last, limit.min(i64::MAX as usize) as i64])
}

/// Reads entries of a view, in order: span by span from the wanted end, until there are enough.
pub(super) fn read(db: &Connection, scope: &Key, reading: &Reading) -> Result<Vec<Record>, Error> {
    let Some((scope, _)) = rows::find(db, scope)? else { return Ok(Vec::new()) };
    let mut spans: Vec<&Span> = reading.view.iter().collect();
    let (limit, order) = match reading.take {
        Take::Newest(limit) => (limit, "DESC"),
        Take::Oldest(limit) => (limit, "ASC"),
    };
    // Nearer to the wanted end comes first, for spans and for entries.
    let nearer = |a: Seq, b: Seq| match reading.take {
        Take::Newest(_) => b.cmp(&a),
        Take::Oldest(_) => a.cmp(&b),
    };
    let near_end = |span: &Span| match reading.take {
        Take::Newest(_) => span.last,
        Take::Oldest(_) => span.first,
    };
    spans.sort_by(|a, b| nearer(near_end(a), near_end(b)));
    let mut taken: Vec<Record> = Vec::new();
    for span in spans {
        // Spans may overlap in the log, so a full hand counts only if all of it is nearer than this span.
        let is_full = taken.len() >= limit;
        if is_full && taken.last().is_some_and(|last| nearer(last.seq, near_end(span)).is_lt()) {
            break;
        }
        taken.extend(read_span(db, scope, span, reading.filter, limit, order)?);
        taken.sort_by(|a, b| nearer(a.seq, b.seq));
        taken.truncate(limit);
    }
    taken.sort_by_key(|record| record.seq);
    Ok(taken)
}

fn read_span(
    db: &Connection,
    scope: ScopeId,
    span: &Span,
    filter: Filter,
    limit: usize,
    order: &str,
) -> Result<Vec<Record>, Error> {
    let kinds = match filter {
        Filter::Messages => "AND kind < 10",
        Filter::Decisions => "AND kind = 11",
        Filter::Commands => "AND kind = 10",
        Filter::All => "",
    };
    let sql = format!(
        "SELECT {COLUMNS} FROM entries WHERE id BETWEEN ?1 AND ?2 AND segment = ?3 {kinds}
         ORDER BY id {order} LIMIT ?4"
    );
    let (first, last) = (entry_id(scope, span.first), entry_id(scope, span.last));
    records(db, &sql, params![first, last, span.segment.0, limit.min(i64::MAX as usize) as i64])
}

pub(super) fn count_before(
    db: &Connection,
    scope: &Key,
    seq: Seq,
    segments: &[segment::Number],
) -> Result<Vec<(segment::Number, u32)>, Error> {
    let Some((scope, _)) = rows::find(db, scope)? else { return Ok(Vec::new()) };
    let mut query = db
        .prepare_cached(
            "SELECT nth FROM entries WHERE id >= ?1 AND id < ?2 AND segment = ?3 ORDER BY id DESC LIMIT 1",
        )
        .or_fault()?;
    let (first, end) = (entry_id(scope, Seq::ZERO), entry_id(scope, seq));
    let count = |number: &segment::Number| {
        let nth = query.query_row(params![first, end, number.0], |row| row.get::<_, u32>(0)).optional();
        Ok((*number, nth.or_fault()?.unwrap_or(0)))
    };
    segments.iter().map(count).collect()
}

pub(super) fn scopes(db: &Connection, page: &Page) -> Result<ScopePage, Error> {
    let sql = "SELECT key, open_session, sessions, messages, updated_at FROM scopes
         WHERE updated_at <= ?1 AND (updated_at < ?1 OR key > ?2) ORDER BY updated_at DESC, key LIMIT ?3";
    let (clock, key) = match &page.after {
        Some(cursor) => cursor.parse()?,
        None => (i64::MAX, ""),
    };
    let mut query = db.prepare_cached(sql).or_fault()?;
    // One more, to tell whether there is a next page.
    let limit = page.limit.saturating_add(1).min(i64::MAX as usize) as i64;
    let mut rows = query.query(params![clock, key, limit]).or_fault()?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().or_fault()? {
        let key: String = row.get(0).or_fault()?;
        let active: Option<i64> = row.get(1).or_fault()?;
        found.push(ScopeRow {
            scope: key.parse().map_err(|error| Error::damaged("a scope's key", error))?,
            active: active.map(small).transpose()?.map(Number),
            sessions: small(row.get(2).or_fault()?)?,
            messages: row.get::<_, i64>(3).or_fault()? as u64,
            updated_at: timestamp(row.get(4).or_fault()?)?,
        });
    }
    Ok(ScopePage::of(found, page.limit))
}

/// Writes a consistent copy of the database to a new file.
pub(super) fn backup(db: &Connection, to: &Path) -> Result<(), Error> {
    if to.exists() {
        let why = "name a file that is not there";
        return Err(Error::unavailable(format!("{} is there already", to.display()), why));
    }
    let to = to.to_str().ok_or_else(|| Error::unavailable("making a backup", "the path is not Unicode"))?;
    db.execute("VACUUM INTO ?1", [to]).or_fault().map(drop)
}
