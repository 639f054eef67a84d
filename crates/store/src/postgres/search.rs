//! The index for searching: tsvectors with a GIN index.
//!
//! A turn writes nothing here. A search first brings the index of its scope up to date, in steps; what is erased or deleted
//! leaves the index in the same transaction. Whoever changes the index of a scope locks its row in `segue_indexed` first, and
//! reads the messages after that: so no message enters the index while somebody erases it.

use super::connect::{Connection, Value};
use super::fault::{Failure, OrFault};
use super::query;
use super::rows::{column, seq, small, wide};
use crate::error::Error;
use crate::search::{self, POSTINGS_MAX, Posting, Postings, Term, TermPostings, TokenKey};
use segue_core::entry::{Record, Seq};
use segue_core::scope::Key;
use segue_core::segment;
use std::collections::BTreeMap;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

/// How many messages are indexed in one transaction.
const MESSAGES_MAX: usize = 512;

/// How many different terms a row of the index has: PostgreSQL's tsvectors end at a megabyte.
const TERMS_MAX: usize = 20_000;

/// How far the index of a scope goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Indexed {
    pub(super) through: Seq,
    pub(super) messages: i64,
    pub(super) length: i64,
}

/// Reads the key of the tokens.
pub(super) async fn key(db: &Connection) -> Result<TokenKey, Error> {
    let rows = db.rows("SELECT key FROM segue_index_key WHERE id = 1", &[]).await?;
    let key: &[u8] = rows.first().map_or(Ok(&[][..]), |row| column(row, 0))?;
    let key = key.try_into();
    key.map(TokenKey).map_err(|_| Error::damaged("the key of the index", "it does not have 32 bytes"))
}

/// Returns the head of a scope if its index does not reach it.
pub(super) async fn behind(db: &Connection, scope: &Key) -> Result<Option<Seq>, Error> {
    let sql =
        "SELECT s.head, i.through FROM segue_scopes AS s LEFT JOIN segue_indexed AS i ON i.scope = s.scope
               WHERE s.scope = $1";
    let rows = db.rows(sql, &[(&scope.as_str(), Type::TEXT)]).await?;
    let Some(row) = rows.first() else { return Ok(None) };
    let (head, through) = (seq(column(row, 0)?)?, column::<Option<i64>>(row, 1)?.unwrap_or(0));
    Ok((seq(through)? < head).then_some(head))
}

/// Reads how far the index of a scope goes; nothing if it was never searched.
pub(super) async fn indexed(db: &Connection, scope: &Key) -> Result<Option<Indexed>, Error> {
    let sql = "SELECT through, messages, length FROM segue_indexed WHERE scope = $1";
    let rows = db.rows(sql, &[(&scope.as_str(), Type::TEXT)]).await?;
    let read = |row| {
        Ok(Indexed { through: seq(column(row, 0)?)?, messages: column(row, 1)?, length: column(row, 2)? })
    };
    rows.first().map(read).transpose()
}

/// A row of the index.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TermsRow {
    pub(super) seq: i64,
    pub(super) part: i64,
    pub(super) segment: i64,
    pub(super) length: i64,
    pub(super) tokens: Vec<String>,
    pub(super) counts: Vec<i64>,
}

/// Makes what the index holds of a message; nothing if nothing of it can be found.
pub(super) fn rows_of(key: &TokenKey, scope: &Key, record: &Record) -> Option<Vec<TermsRow>> {
    let text = search::said(record)?;
    let mut terms: BTreeMap<Term, i64> = BTreeMap::new();
    let mut length = 0;
    for term in search::terms(&text) {
        *terms.entry(term).or_default() += 1;
        length += 1;
    }
    let mut counts: Vec<(String, i64)> =
        terms.into_iter().map(|(term, count)| (key.token(scope, term), count)).collect();
    counts.sort();
    let (seq, segment) = (wide(record.seq), i64::from(record.segment.0));
    // A message without terms is counted, too.
    let parts = counts.chunks(TERMS_MAX).chain(counts.is_empty().then_some(&[][..]));
    let row = |(part, counts): (i64, &[(String, i64)])| {
        let (tokens, counts) = counts.iter().cloned().unzip();
        TermsRow { seq, part, segment, length, tokens, counts }
    };
    Some((0..).zip(parts).map(row).collect())
}

/// Locks the index of a scope until the transaction ends.
pub(super) async fn lock(db: &Connection, scope: &Value<'_>) -> Result<Indexed, Failure> {
    let sql = "INSERT INTO segue_indexed AS i (scope, through, messages, length) VALUES ($1, 0, 0, 0)
               ON CONFLICT (scope) DO UPDATE SET through = i.through RETURNING through, messages, length";
    let rows = db.try_rows(sql, std::slice::from_ref(scope)).await?;
    let read = |at: usize| rows.first().map_or(0, |row| row.get::<_, i64>(at));
    Ok(Indexed { through: Seq(read(0).unsigned_abs()), messages: read(1), length: read(2) })
}

/// How far a step has brought an index.
pub(super) enum Step {
    /// Up to this entry.
    Through(Seq),
    /// The database takes no writes, or not those of this user.
    ReadOnly,
}

/// Indexes some more messages of a scope.
pub(super) async fn step(db: &Connection, key: &TokenKey, scope: &Key) -> Result<Step, Error> {
    db.begin().await.or_fault()?;
    let name: Value<'_> = (&scope.as_str(), Type::TEXT);
    let state = match lock(db, &name).await {
        Ok(state) => state,
        Err(failure) => {
            db.roll_back().await;
            let is_read_only = failure.code().is_some_and(|code| {
                [SqlState::READ_ONLY_SQL_TRANSACTION, SqlState::INSUFFICIENT_PRIVILEGE].contains(code)
            });
            return if is_read_only { Ok(Step::ReadOnly) } else { Err(failure.into()) };
        }
    };
    let done = index(db, key, scope, state).await;
    match &done {
        Ok(_) => db.commit().await.or_fault()?,
        Err(_) => db.roll_back().await,
    }
    done.map(Step::Through)
}

/// Indexes behind what is indexed; the index is locked.
async fn index(db: &Connection, key: &TokenKey, scope: &Key, mut state: Indexed) -> Result<Seq, Error> {
    let name: Value<'_> = (&scope.as_str(), Type::TEXT);
    // A statement of its own, behind the lock: it sees what was erased before.
    let Some(head) = query::head(db, scope).await? else { return Ok(Seq::ZERO) };
    let messages = query::messages(db, scope, state.through, head, MESSAGES_MAX).await?;
    state.through =
        if messages.len() < MESSAGES_MAX { head } else { messages.last().map_or(head, |record| record.seq) };
    for rows in messages.iter().filter_map(|record| rows_of(key, scope, record)) {
        state.messages += 1;
        state.length += rows.first().map_or(0, |row| row.length);
        for row in &rows {
            insert(db, &name, row).await?;
        }
    }
    save(db, &name, state).await.or_fault()?;
    Ok(state.through)
}

async fn insert(db: &Connection, scope: &Value<'_>, row: &TermsRow) -> Result<(), Error> {
    let sql = "INSERT INTO segue_terms (scope, seq, part, segment, length, terms, counts)
               VALUES ($1, $2, $3, $4, $5, array_to_tsvector($6), $7)";
    let values: [Value<'_>; 7] = [
        scope.clone(),
        (&row.seq, Type::INT8),
        (&row.part, Type::INT8),
        (&row.segment, Type::INT8),
        (&row.length, Type::INT8),
        (&row.tokens, Type::TEXT_ARRAY),
        (&row.counts, Type::INT8_ARRAY),
    ];
    db.rows(sql, &values).await.map(drop)
}

async fn save(db: &Connection, scope: &Value<'_>, state: Indexed) -> Result<(), Failure> {
    let sql = "UPDATE segue_indexed SET through = $2, messages = $3, length = $4 WHERE scope = $1";
    let through = wide(state.through);
    let values = [
        scope.clone(),
        (&through as _, Type::INT8),
        (&state.messages as _, Type::INT8),
        (&state.length as _, Type::INT8),
    ];
    db.try_rows(sql, &values).await.map(drop)
}

/// Takes messages out of the index that go in this transaction.
pub(super) async fn forget(db: &Connection, scope: &Value<'_>, seqs: &Value<'_>) -> Result<(), Failure> {
    lock(db, scope).await?;
    let sql = "WITH gone AS (DELETE FROM segue_terms WHERE scope = $1 AND seq = ANY($2) RETURNING part, length),
        sums AS (SELECT count(*) AS messages, coalesce(sum(length), 0)::bigint AS length FROM gone WHERE part = 0)
        UPDATE segue_indexed AS i SET messages = i.messages - sums.messages, length = i.length - sums.length
        FROM sums WHERE i.scope = $1";
    db.try_rows(sql, &[scope.clone(), seqs.clone()]).await.map(drop)
}

/// Reads where the terms of a query stand in a scope, whose index must be up to date.
pub(super) async fn postings(
    db: &Connection,
    key: &TokenKey,
    scope: &Key,
    terms: &[Term],
) -> Result<Postings, Error> {
    let tokens: Vec<String> = terms.iter().map(|term| key.token(scope, *term)).collect();
    // One statement, so that all is of one moment.
    let sql = format!(
        "SELECT i.messages, i.length, p.n, p.seq, p.segment, p.length, p.count, p.messages
         FROM segue_indexed AS i LEFT JOIN LATERAL (
             SELECT a.n, t.* FROM unnest($2::text[]) WITH ORDINALITY AS a (token, n), LATERAL (
                 SELECT seq, segment, length, counts[array_position(tsvector_to_array(terms), a.token)] AS count,
                     count(*) OVER () AS messages
                 FROM segue_terms WHERE scope = $1 AND terms @@ a.token::tsquery
                 ORDER BY seq DESC LIMIT {POSTINGS_MAX}) AS t
         ) AS p ON true WHERE i.scope = $1 ORDER BY p.n, p.seq"
    );
    let rows = db.rows(&sql, &[(&scope.as_str(), Type::TEXT), (&tokens, Type::TEXT_ARRAY)]).await?;
    let mut found = Postings { terms: vec![TermPostings::default(); terms.len()], ..Postings::default() };
    for row in &rows {
        found.messages = seq(column(row, 0)?)?.0;
        found.length = seq(column(row, 1)?)?.0;
        let Some(n) = column::<Option<i64>>(row, 2)? else { continue };
        let at = usize::try_from(n).ok().and_then(|n| n.checked_sub(1));
        let Some(term) = at.and_then(|at| found.terms.get_mut(at)) else { continue };
        term.messages = seq(column(row, 7)?)?.0;
        term.newest.push(Posting {
            seq: seq(column(row, 3)?)?,
            segment: segment::Number(small(column(row, 4)?)?),
            length: small(column(row, 5)?)?,
            count: small(column::<Option<i64>>(row, 6)?.unwrap_or(0))?,
        });
    }
    Ok(found)
}

/// Reads the rows of the index behind an entry and up to another, in order.
pub(super) async fn read(
    db: &Connection,
    scope: &Key,
    after: Seq,
    through: Seq,
) -> Result<Vec<TermsRow>, Error> {
    let sql = "SELECT seq, part, segment, length, tsvector_to_array(terms), counts FROM segue_terms
               WHERE scope = $1 AND seq > $2 AND seq <= $3 ORDER BY seq, part";
    let values: [Value<'_>; 3] =
        [(&scope.as_str(), Type::TEXT), (&wide(after), Type::INT8), (&wide(through), Type::INT8)];
    let row = |row| {
        Ok(TermsRow {
            seq: column(row, 0)?,
            part: column(row, 1)?,
            segment: column(row, 2)?,
            length: column(row, 3)?,
            tokens: column(row, 4)?,
            counts: column(row, 5)?,
        })
    };
    db.rows(sql, &values).await?.iter().map(row).collect()
}
