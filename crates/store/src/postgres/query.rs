//! Reading the log.

use super::connect::{Connection, Value};
use super::replicated;
use super::rows::{ENTRY, column, message_key, record, seq, small, timestamp, wide};
use crate::error::Error;
use crate::types::{AppendId, Filter, Page, Reading, ScopeOrder, ScopePage, ScopeRow, Take};
use segue_core::entry::{Record, Seq};
use segue_core::message::MessageId;
use segue_core::scope::Key;
use segue_core::segment;
use segue_core::session::Number;
use segue_core::span::Span;
use std::collections::HashMap;
use tokio_postgres::types::Type;

async fn records(db: &Connection, sql: &str, values: &[Value<'_>]) -> Result<Vec<Record>, Error> {
    db.rows(sql, values).await?.iter().map(record).collect()
}

fn limited(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

pub(super) async fn head(db: &Connection, scope: &Key) -> Result<Option<Seq>, Error> {
    let sql = "SELECT head FROM segue_scopes WHERE scope = $1";
    let rows = db.rows(sql, &[(&scope.as_str(), Type::TEXT)]).await?;
    rows.first().map(|row| seq(column(row, 0)?)).transpose()
}

pub(super) async fn appended(
    db: &Connection,
    scope: &Key,
    after: Seq,
    id: AppendId,
) -> Result<Option<Seq>, Error> {
    let sql = "SELECT head FROM segue_commits WHERE scope = $1 AND after = $2 AND append_id = $3";
    let id = id.0.to_vec();
    let values: [Value<'_>; 3] =
        [(&scope.as_str(), Type::TEXT), (&wide(after), Type::INT8), (&id, Type::BYTEA)];
    let rows = db.rows(sql, &values).await?;
    rows.first().map(|row| seq(column(row, 0)?)).transpose()
}

/// Finds a message that was accepted. Whoever acknowledges it again waits for a standby first.
pub(super) async fn seen(db: &Connection, scope: &Key, id: &MessageId) -> Result<Option<Seq>, Error> {
    let sql = "SELECT seq FROM segue_seen WHERE scope = $1 AND message_id = $2";
    let id = message_key(id);
    let rows = db.rows(sql, &[(&scope.as_str(), Type::TEXT), (&id, Type::BYTEA)]).await?;
    rows.first().map(|row| seq(column(row, 0)?)).transpose()
}

/// Lists ids. Those that are too long for a key are kept as digests, and are not listed.
pub(super) async fn ids(
    db: &Connection,
    scope: &Key,
    after: Option<&MessageId>,
    limit: usize,
) -> Result<Vec<(MessageId, Seq)>, Error> {
    let sql = "SELECT message_id, seq FROM segue_seen WHERE scope = $1 AND message_id > $2
               AND NOT (length(message_id) = 33 AND get_byte(message_id, 0) = 255) ORDER BY message_id LIMIT $3";
    // No id is empty, so all of them are behind no bytes at all.
    let after = after.map(message_key).unwrap_or_default();
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let values: [Value<'_>; 3] = [(&scope.as_str(), Type::TEXT), (&after, Type::BYTEA), (&limit, Type::INT8)];
    let id = |row: &tokio_postgres::Row| {
        let text = String::from_utf8(column::<Vec<u8>>(row, 0)?);
        let text = text.map_err(|error| Error::damaged("the id of a message", error))?;
        Ok((MessageId(text), seq(column(row, 1)?)?))
    };
    db.rows(sql, &values).await?.iter().map(id).collect()
}

pub(super) async fn keep_ids(db: &Connection, scope: &Key, ids: &[(MessageId, Seq)]) -> Result<(), Error> {
    let sql = "INSERT INTO segue_seen (scope, message_id, seq)
               SELECT $1, s.* FROM unnest($2::bytea[], $3::bigint[]) AS s ON CONFLICT DO NOTHING RETURNING 1";
    let (keys, seqs): (Vec<Vec<u8>>, Vec<i64>) =
        ids.iter().map(|(id, seq)| (message_key(id), wide(*seq))).unzip();
    let values: [Value<'_>; 3] =
        [(&scope.as_str(), Type::TEXT), (&keys, Type::BYTEA_ARRAY), (&seqs, Type::INT8_ARRAY)];
    if db.write(sql, &values).await?.len() < ids.len() {
        // An earlier try may have written the others.
        replicated::confirm(db).await?;
    }
    Ok(())
}

pub(super) async fn get(db: &Connection, scope: &Key, seq: Seq) -> Result<Option<Record>, Error> {
    let sql = format!("SELECT {ENTRY} FROM segue_entries WHERE scope = $1 AND seq = $2");
    let values: [Value<'_>; 2] = [(&scope.as_str(), Type::TEXT), (&wide(seq), Type::INT8)];
    Ok(records(db, &sql, &values).await?.pop())
}

pub(super) async fn get_many(
    db: &Connection,
    scope: &Key,
    seqs: &[Seq],
) -> Result<Vec<Option<Record>>, Error> {
    let sql = format!("SELECT {ENTRY} FROM segue_entries WHERE scope = $1 AND seq = ANY($2)");
    let wanted: Vec<i64> = seqs.iter().map(|seq| wide(*seq)).collect();
    let values: [Value<'_>; 2] = [(&scope.as_str(), Type::TEXT), (&wanted, Type::INT8_ARRAY)];
    let found = records(db, &sql, &values).await?;
    let found: HashMap<Seq, Record> = found.into_iter().map(|record| (record.seq, record)).collect();
    Ok(seqs.iter().map(|seq| found.get(seq).cloned()).collect())
}

pub(super) async fn tail(
    db: &Connection,
    scope: &Key,
    after: Seq,
    limit: usize,
) -> Result<Vec<Record>, Error> {
    let sql =
        format!("SELECT {ENTRY} FROM segue_entries WHERE scope = $1 AND seq > $2 ORDER BY seq LIMIT $3");
    let values: [Value<'_>; 3] =
        [(&scope.as_str(), Type::TEXT), (&wide(after), Type::INT8), (&limited(limit), Type::INT8)];
    records(db, &sql, &values).await
}

/// Reads the messages behind an entry and up to another, in order.
pub(super) async fn messages(
    db: &Connection,
    scope: &Key,
    after: Seq,
    through: Seq,
    limit: usize,
) -> Result<Vec<Record>, Error> {
    let sql = format!(
        "SELECT {ENTRY} FROM segue_entries WHERE scope = $1 AND seq > $2 AND seq <= $3 AND kind < 10
         ORDER BY seq LIMIT $4"
    );
    let values: [Value<'_>; 4] = [
        (&scope.as_str(), Type::TEXT),
        (&wide(after), Type::INT8),
        (&wide(through), Type::INT8),
        (&limited(limit), Type::INT8),
    ];
    records(db, &sql, &values).await
}

/// Reads entries of a view, in order: span by span from the wanted end, until there are enough.
pub(super) async fn read(db: &Connection, scope: &Key, reading: &Reading) -> Result<Vec<Record>, Error> {
    let order = match reading.take {
        Take::Newest(_) => "DESC",
        Take::Oldest(_) => "ASC",
    };
    let mut taken: Vec<Record> = Vec::new();
    for span in reading.nearest_spans() {
        if reading.is_served(&taken, span) {
            break;
        }
        let read = read_span(db, scope, span, reading.filter, reading.limit(), order).await?;
        reading.add(&mut taken, read);
    }
    taken.sort_by_key(|record| record.seq);
    Ok(taken)
}

async fn read_span(
    db: &Connection,
    scope: &Key,
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
        "SELECT {ENTRY} FROM segue_entries WHERE scope = $1 AND seq BETWEEN $2 AND $3 AND segment = $4 {kinds}
         ORDER BY seq {order} LIMIT $5"
    );
    let values: [Value<'_>; 5] = [
        (&scope.as_str(), Type::TEXT),
        (&wide(span.first), Type::INT8),
        (&wide(span.last), Type::INT8),
        (&i64::from(span.segment.0), Type::INT8),
        (&limited(limit), Type::INT8),
    ];
    records(db, &sql, &values).await
}

pub(super) async fn count_before(
    db: &Connection,
    scope: &Key,
    before: Seq,
    segments: &[segment::Number],
) -> Result<Vec<(segment::Number, u32)>, Error> {
    let numbers: Vec<i64> = segments.iter().map(|number| i64::from(number.0)).collect();
    let sql =
        "SELECT s.number, (SELECT nth FROM segue_entries WHERE scope = $1 AND seq < $2 AND segment = s.number
                   ORDER BY seq DESC LIMIT 1)
               FROM unnest($3::bigint[]) WITH ORDINALITY AS s (number, at) ORDER BY s.at";
    let values: [Value<'_>; 3] =
        [(&scope.as_str(), Type::TEXT), (&wide(before), Type::INT8), (&numbers, Type::INT8_ARRAY)];
    let rows = db.rows(sql, &values).await?;
    let counted = |row| {
        let count = column::<Option<i64>>(row, 1)?.unwrap_or(0);
        Ok((segment::Number(small(column(row, 0)?)?), small(count)?))
    };
    rows.iter().map(counted).collect()
}

const SCOPES_BY_TIME: &str = "SELECT scope, open_session, sessions, messages, updated_at FROM segue_scopes
    WHERE updated_at <= $1 AND (updated_at < $1 OR scope COLLATE \"C\" > $2)
    ORDER BY updated_at DESC, scope COLLATE \"C\" LIMIT $3";
const SCOPES_BY_KEY: &str = "SELECT scope, open_session, sessions, messages, updated_at FROM segue_scopes
    WHERE updated_at <= $1 AND scope COLLATE \"C\" > $2 ORDER BY scope COLLATE \"C\" LIMIT $3";

pub(super) async fn scopes(db: &Connection, page: &Page) -> Result<ScopePage, Error> {
    let (sql, at, key) = match (page.order, &page.after) {
        (ScopeOrder::Newest, Some(cursor)) => {
            let (at, key) = cursor.parse()?;
            (SCOPES_BY_TIME, at, key)
        }
        (ScopeOrder::Newest, None) => (SCOPES_BY_TIME, i64::MAX, ""),
        (ScopeOrder::Key, Some(cursor)) => (SCOPES_BY_KEY, i64::MAX, cursor.0.as_str()),
        (ScopeOrder::Key, None) => (SCOPES_BY_KEY, i64::MAX, ""),
    };
    let limit = limited(page.limit.saturating_add(1));
    let rows = db.rows(sql, &[(&at, Type::INT8), (&key, Type::TEXT), (&limit, Type::INT8)]).await?;
    let rows: Result<Vec<ScopeRow>, Error> = rows
        .iter()
        .map(|row| {
            let key: &str = column(row, 0)?;
            Ok(ScopeRow {
                scope: key.parse().map_err(|error| Error::damaged("a scope's key", error))?,
                active: column::<Option<i64>>(row, 1)?.map(small).transpose()?.map(Number),
                sessions: small(column(row, 2)?)?,
                messages: seq(column(row, 3)?)?.0,
                updated_at: timestamp(column(row, 4)?)?,
            })
        })
        .collect();
    Ok(ScopePage::of(rows?, page))
}
