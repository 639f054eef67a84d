//! Reading the log.

use super::append;
use super::db::Db;
use super::fault::{OrFault, fault};
use super::rows::{self, ScopeId, digest, entry_id, seq_of, small, timestamp};
use crate::encryption::Bound;
use crate::error::Error;
use crate::types::{Filter, Page, Reading, ScopeOrder, ScopePage, ScopeRow, Take};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, params};
use segue_core::entry::{Bytes, Kind, Record, Seq};
use segue_core::message::MessageId;
use segue_core::scope::Key;
use segue_core::segment;
use segue_core::session::Number;
use segue_core::span::Span;
use std::path::Path;

const COLUMNS: &str = "id, segment, at, kind, nth, body, hash";

/// Reads a row. `scope` keeps the key of the last one: an encrypted body is bound to it.
fn record(db: &Db, row: &Row<'_>, scope: &mut Option<(ScopeId, Key)>) -> Result<Record, Error> {
    let int = |at: usize| row.get::<_, i64>(at).map_err(fault);
    let seq = seq_of(int(0)?);
    let code = int(3)?;
    let kind = u8::try_from(code).ok().and_then(Kind::coded);
    // A Segue that adds a kind raises the format of the database, so this one was refused when it opened it, unless the
    // other one came later.
    let unknown = || format!("unknown kind {code}; if a newer Segue writes here too, use that one");
    let kind = kind.ok_or_else(|| Error::damaged(format!("entry {seq}"), unknown()))?;
    let body = match row.get_ref(5).map_err(fault)? {
        ValueRef::Text(text) => Some(
            std::str::from_utf8(text)
                .map_err(|error| Error::damaged(format!("entry {seq}"), error))?
                .to_owned(),
        ),
        sealed @ ValueRef::Blob(_) => {
            let id = ScopeId(int(0)? >> 32);
            let key = match scope.take() {
                Some((of, key)) if of == id => key,
                _ => rows::key(db, id)?,
            };
            let (_, key) = scope.insert((id, key));
            db.unseal(Bound::Entry(key, seq), sealed)?
        }
        ValueRef::Null => None,
        _ => {
            return Err(Error::damaged(format!("entry {seq}"), "there is a number in the place of its body"));
        }
    };
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

fn records(db: &Db, sql: &str, values: impl rusqlite::Params) -> Result<Vec<Record>, Error> {
    let mut query = db.prepare_cached(sql).or_fault()?;
    let mut rows = query.query(values).or_fault()?;
    let (mut found, mut scope) = (Vec::new(), None);
    while let Some(row) = rows.next().or_fault()? {
        found.push(record(db, row, &mut scope)?);
    }
    Ok(found)
}

pub(super) fn seen(db: &Connection, scope: &Key, id: &MessageId) -> Result<Option<Seq>, Error> {
    match rows::find(db, scope)? {
        Some((scope, _)) => append::seen(db, scope, &id.0),
        None => Ok(None),
    }
}

pub(super) fn ids(
    db: &Connection,
    scope: &Key,
    after: Option<&MessageId>,
    limit: usize,
) -> Result<Vec<(MessageId, Seq)>, Error> {
    let Some((scope, _)) = rows::find(db, scope)? else { return Ok(Vec::new()) };
    let sql = "SELECT message_id, seq FROM seen WHERE scope = ?1 AND (?2 IS NULL OR message_id > ?2)
               ORDER BY message_id LIMIT ?3";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let mut query = db.prepare_cached(sql).or_fault()?;
    let mut rows = query.query(params![scope.0, after.map(|id| &id.0), limit]).or_fault()?;
    let mut found = Vec::new();
    while let Some(row) = rows.next().or_fault()? {
        found.push((MessageId(row.get(0).or_fault()?), seq_of(row.get(1).or_fault()?)));
    }
    Ok(found)
}

pub(super) fn keep_ids(db: &mut Connection, scope: &Key, ids: &[(MessageId, Seq)]) -> Result<(), Error> {
    let Some((scope, _)) = rows::find(db, scope)? else { return Ok(()) };
    let transaction = db.transaction().or_fault()?;
    let sql = "INSERT OR IGNORE INTO seen (scope, message_id, seq) VALUES (?1, ?2, ?3)";
    for (id, seq) in ids {
        transaction
            .prepare_cached(sql)
            .or_fault()?
            .execute(params![scope.0, id.0, seq.0 as i64])
            .or_fault()?;
    }
    transaction.commit().or_fault()
}

pub(super) fn get(db: &Db, scope: &Key, seq: Seq) -> Result<Option<Record>, Error> {
    let Some((scope, _)) = rows::find(db, scope)? else { return Ok(None) };
    entry(db, entry_id(scope, seq))
}

/// Reads one entry by its number in the database.
pub(super) fn entry(db: &Db, id: i64) -> Result<Option<Record>, Error> {
    let sql = format!("SELECT {COLUMNS} FROM entries WHERE id = ?1");
    Ok(records(db, &sql, [id])?.pop())
}

/// Reads messages of a scope behind an entry and up to another, in order.
pub(super) fn messages(
    db: &Db,
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
    db: &Db,
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

pub(super) fn tail(db: &Db, scope: &Key, after: Seq, limit: usize) -> Result<Vec<Record>, Error> {
    let Some((scope, _)) = rows::find(db, scope)? else { return Ok(Vec::new()) };
    let sql = format!("SELECT {COLUMNS} FROM entries WHERE id > ?1 AND id <= ?2 ORDER BY id LIMIT ?3");
    let last = entry_id(scope, Seq(u64::MAX));
    records(db, &sql, params![entry_id(scope, after), last, limit.min(i64::MAX as usize) as i64])
}

/// Reads entries of a view, in order: span by span from the wanted end, until there are enough.
pub(super) fn read(db: &Db, scope: &Key, reading: &Reading) -> Result<Vec<Record>, Error> {
    let Some((scope, _)) = rows::find(db, scope)? else { return Ok(Vec::new()) };
    let order = match reading.take {
        Take::Newest(_) => "DESC",
        Take::Oldest(_) => "ASC",
    };
    let mut taken: Vec<Record> = Vec::new();
    for span in reading.nearest_spans() {
        if reading.is_served(&taken, span) {
            break;
        }
        let read = read_span(db, scope, span, reading.filter, reading.limit(), order)?;
        reading.add(&mut taken, read);
    }
    taken.sort_by_key(|record| record.seq);
    Ok(taken)
}

fn read_span(
    db: &Db,
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

const SCOPES_BY_TIME: &str = "SELECT key, open_session, sessions, messages, updated_at FROM scopes
     WHERE updated_at <= ?1 AND (updated_at < ?1 OR key > ?2) ORDER BY updated_at DESC, key LIMIT ?3";
const SCOPES_BY_KEY: &str = "SELECT key, open_session, sessions, messages, updated_at FROM scopes
     WHERE key > ?2 AND updated_at <= ?1 ORDER BY key LIMIT ?3";

pub(super) fn scopes(db: &Connection, page: &Page) -> Result<ScopePage, Error> {
    let (sql, clock, key) = match (page.order, &page.after) {
        (ScopeOrder::Newest, Some(cursor)) => {
            let (clock, key) = cursor.parse()?;
            (SCOPES_BY_TIME, clock, key)
        }
        (ScopeOrder::Newest, None) => (SCOPES_BY_TIME, i64::MAX, ""),
        (ScopeOrder::Key, Some(cursor)) => (SCOPES_BY_KEY, i64::MAX, cursor.0.as_str()),
        (ScopeOrder::Key, None) => (SCOPES_BY_KEY, i64::MAX, ""),
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
    Ok(ScopePage::of(found, page))
}

/// Writes a consistent copy of the database to a new file.
pub(super) fn backup(db: &Connection, to: &Path) -> Result<(), Error> {
    if to.exists() {
        let why = "name a file that is not there";
        return Err(Error::unavailable(format!("{} is there already", to.display()), why));
    }
    let name = to.to_str().ok_or_else(|| Error::unavailable("making a backup", "the path is not Unicode"))?;
    // SQLite would make it with the rights that new files have. An empty file is taken as it is.
    let made = crate::private::options().write(true).create_new(true).open(to);
    made.map_err(|error| Error::unavailable("making a backup", error))?;
    let copied = db.execute("VACUUM INTO ?1", [name]).or_fault().map(drop);
    if copied.is_err() {
        // Half a backup is none; that it stays is no worse than that there is none.
        _ = std::fs::remove_file(to);
    }
    copied
}
