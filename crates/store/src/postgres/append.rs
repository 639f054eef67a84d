//! Appending: the one statement of a turn.
//!
//! An ordinary message changes the row of its scope and adds rows. That is one statement with one round trip, guarded by
//! the head: if the scope has moved on, nothing is written. An append that also seals, drops or erases takes a transaction
//! whose first statement is the same guard.

use super::connect::{Connection, Value};
use super::fault::{Failure, OrFault};
use super::rows::{SCOPE_COLUMNS, ScopeRow, json, message_key, micros, session_json, wide};
use super::target::Statements;
use super::{purge, replicated, search};
use crate::commits::Position;
use crate::error::Error;
use crate::types::Append;
use segue_core::entry::{Bytes, Record, Seq};
use segue_core::state::State;
use std::sync::{Arc, LazyLock};
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

/// How many appends share a transaction. Their places have twelve bits in a position.
pub(super) const BATCH_MAX: usize = 512;

/// What became of the guarded write.
enum Written {
    /// The scope's head was the expected one; the commit has this position.
    Done(Position),
    /// It was not, or the message had been accepted: the reason is to be asked for.
    Not,
}

/// Where the commit's place in its transaction begins; see the table's comment.
const POSITION: &str = "pg_current_xact_id()::text::bigint * 4096";

/// The whole turn: the scope's row, the entries, the commit, the message's id.
static TURN: LazyLock<String> = LazyLock::new(|| {
    let columns = SCOPE_COLUMNS.join(", ");
    let set: Vec<String> =
        SCOPE_COLUMNS.iter().zip(4..).map(|(name, at)| format!("{name} = ${at}")).collect();
    let new: Vec<String> = (4..4 + SCOPE_COLUMNS.len()).map(|at| format!("${at}")).collect();
    let entries = 4 + SCOPE_COLUMNS.len();
    let [seqs, segments, times, kinds, nths, bodies, hashes] = [0, 1, 2, 3, 4, 5, 6].map(|n| n + entries);
    let [message_id, message_seq, place] = [7, 8, 9].map(|n| n + entries);
    format!(
        "WITH changed AS (UPDATE segue_scopes SET {} WHERE scope = $1 AND head = $2 AND $2 > 0 RETURNING 1),
         created AS (INSERT INTO segue_scopes (scope, {columns}) SELECT $1, {} WHERE $2 = 0
             ON CONFLICT (scope) DO NOTHING RETURNING 1),
         moved AS (SELECT 1 FROM changed UNION ALL SELECT 1 FROM created),
         entries AS (INSERT INTO segue_entries (scope, seq, segment, at, kind, nth, body, hash)
             SELECT $1, e.* FROM unnest(${seqs}::bigint[], ${segments}::bigint[], ${times}::bigint[],
                 ${kinds}::smallint[], ${nths}::bigint[], ${bodies}::text[], ${hashes}::bytea[]) AS e, moved),
         seen AS (INSERT INTO segue_seen (scope, message_id, seq)
             SELECT $1, ${message_id}, ${message_seq} FROM moved WHERE ${message_id} IS NOT NULL),
         commits AS (INSERT INTO segue_commits (scope, after, head, append_id, position)
             SELECT $1, $2, $4, $3, {POSITION} + ${place} FROM moved RETURNING position)
         SELECT max(position) FROM commits",
        set.join(", "),
        new.join(", "),
    )
});

/// The values of an append, in the shape that PostgreSQL takes.
struct Rows {
    scope: ScopeRow,
    prior: i64,
    id: Vec<u8>,
    seqs: Vec<i64>,
    segments: Vec<i64>,
    times: Vec<i64>,
    kinds: Vec<i16>,
    nths: Vec<i64>,
    bodies: Vec<Option<String>>,
    hashes: Vec<Option<Vec<u8>>>,
    message_id: Option<Vec<u8>>,
    message_seq: Option<i64>,
    place: i64,
}

impl Rows {
    /// Makes the rows of an append. Its place is what is added to the number of its transaction.
    fn of(append: &Append, place: i64) -> Self {
        let records = &append.records;
        let body = |record: &Record| match &record.bytes {
            Bytes::Kept(text) => (Some(text.clone()), None),
            Bytes::Erased(hash) => (None, Some(hash.0.to_vec())),
        };
        let (bodies, hashes) = records.iter().map(body).unzip();
        Self {
            scope: ScopeRow::of(&append.next),
            prior: wide(append.prior.head),
            id: append.id.0.to_vec(),
            seqs: records.iter().map(|record| wide(record.seq)).collect(),
            segments: records.iter().map(|record| i64::from(record.segment.0)).collect(),
            times: records.iter().map(|record| micros(record.at)).collect(),
            kinds: records.iter().map(|record| i16::from(record.kind.code())).collect(),
            nths: records.iter().map(|record| i64::from(record.nth)).collect(),
            bodies,
            hashes,
            message_id: append.message_id.as_ref().map(|(id, _)| message_key(id)),
            message_seq: append.message_id.as_ref().map(|(_, seq)| wide(*seq)),
            place,
        }
    }
}

/// Writes an append, all or nothing of it. `Ok` also if the same append had been written before; with its position if it was
/// written now.
pub(super) async fn append(db: &Connection, append: &Append) -> Result<Option<Position>, Error> {
    let tried = match is_plain(append) && db.statements() == Statements::Prepared {
        true => turn(db, append, 0).await,
        false => in_transaction(db, append).await,
    };
    match tried {
        Ok(Written::Done(position)) => Ok(Some(position)),
        Ok(Written::Not) => refusal(db, append).await.map(|()| None),
        Err(failure) if is_refused(&failure) => refusal(db, append).await.map(|()| None),
        Err(failure) if failure.is_lost() => Err(unknown(Error::from(failure))),
        Err(failure) => Err(failure.into()),
    }
}

/// Says that nobody knows what became of an append.
pub(super) fn unknown(why: impl ToString) -> Error {
    Error::Unknown { what: "appending to PostgreSQL".to_owned(), why: why.to_string() }
}

/// Tells whether somebody else was in the way: then the scope says what to do.
fn is_refused(failure: &Failure) -> bool {
    let codes =
        [SqlState::UNIQUE_VIOLATION, SqlState::T_R_SERIALIZATION_FAILURE, SqlState::T_R_DEADLOCK_DETECTED];
    failure.code().is_some_and(|code| codes.contains(code))
}

/// Tells whether an append changes nothing but its scope's row.
fn is_plain(append: &Append) -> bool {
    let (old, new) = (&append.prior, &append.next);
    append.garbage.is_empty()
        && append.erase.is_empty()
        && Arc::ptr_eq(&old.segments, &new.segments)
        && Arc::ptr_eq(&old.sessions, &new.sessions)
        && Arc::ptr_eq(&old.boundaries, &new.boundaries)
        && (Arc::ptr_eq(&old.extras, &new.extras) || old.extras == new.extras)
}

async fn turn(db: &Connection, append: &Append, nth: i64) -> Result<Written, Failure> {
    let rows = Rows::of(append, db.position_base + nth);
    let scope = append.scope().as_str();
    let mut values: Vec<Value<'_>> =
        vec![(&scope, Type::TEXT), (&rows.prior, Type::INT8), (&rows.id, Type::BYTEA)];
    values.extend(rows.scope.values());
    values.push((&rows.seqs, Type::INT8_ARRAY));
    values.push((&rows.segments, Type::INT8_ARRAY));
    values.push((&rows.times, Type::INT8_ARRAY));
    values.push((&rows.kinds, Type::INT2_ARRAY));
    values.push((&rows.nths, Type::INT8_ARRAY));
    values.push((&rows.bodies, Type::TEXT_ARRAY));
    values.push((&rows.hashes, Type::BYTEA_ARRAY));
    values.push((&rows.message_id, Type::BYTEA));
    values.push((&rows.message_seq, Type::INT8));
    values.push((&rows.place, Type::INT8));
    let committed = db.try_rows(&TURN, &values).await?;
    Ok(match committed.first().and_then(|row| row.get::<_, Option<i64>>(0)) {
        Some(position) => Written::Done(Position(position.unsigned_abs())),
        None => Written::Not,
    })
}

/// Writes an append that also seals, drops or erases.
async fn in_transaction(db: &Connection, append: &Append) -> Result<Written, Failure> {
    db.begin().await?;
    let written = with_changes(db, append, 0).await;
    match &written {
        Ok(Written::Done(_)) => db.commit().await?,
        Ok(Written::Not) | Err(_) => db.roll_back().await,
    }
    written
}

/// Writes an append inside a transaction.
async fn with_changes(db: &Connection, append: &Append, nth: i64) -> Result<Written, Failure> {
    let written = turn(db, append, nth).await?;
    if matches!(written, Written::Done(_)) && !is_plain(append) {
        changes(db, append).await?;
    }
    Ok(written)
}

/// Writes what differs between two states, behind the turn itself.
async fn changes(db: &Connection, append: &Append) -> Result<(), Failure> {
    let (old, new) = (append.prior.as_ref(), append.next.as_ref());
    let scope = append.scope().as_str();
    let key: Value<'_> = (&scope, Type::TEXT);
    save_segments(db, &key, old, new).await?;
    save_sessions(db, &key, old, new).await?;
    if !Arc::ptr_eq(&old.boundaries, &new.boundaries) || !Arc::ptr_eq(&old.extras, &new.extras) {
        let (boundaries, extras) = (json(new.boundaries.as_ref())?, json(new.extras.as_ref())?);
        let sql = "INSERT INTO segue_extras (scope, boundaries, extras) VALUES ($1, $2, $3)
                   ON CONFLICT (scope) DO UPDATE SET boundaries = $2, extras = $3";
        db.try_rows(sql, &[key.clone(), (&boundaries, Type::TEXT), (&extras, Type::TEXT)]).await?;
    }
    discard(db, &key, append).await?;
    erase(db, &key, &append.erase).await?;
    // Last, as in a sweep: this row is locked by all scopes of a partition, and each of them locks its index before.
    if !append.erase.is_empty() || !append.garbage.is_empty() {
        purge::note(db, &key).await?;
    }
    Ok(())
}

async fn save_segments(db: &Connection, key: &Value<'_>, old: &State, new: &State) -> Result<(), Failure> {
    if Arc::ptr_eq(&old.segments, &new.segments) {
        return Ok(());
    }
    for (number, sealed) in
        new.segments.unshared(&old.segments).filter(|(number, _)| !old.segments.contains_key(number))
    {
        let sql = "INSERT INTO segue_segments (scope, number, first, last, messages, digest, sealed_at)
                   VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let digest = sealed.digest.0.to_vec();
        db.try_rows(
            sql,
            &[
                key.clone(),
                (&i64::from(number.0), Type::INT8),
                (&wide(sealed.first), Type::INT8),
                (&wide(sealed.last), Type::INT8),
                (&i64::from(sealed.messages), Type::INT8),
                (&digest, Type::BYTEA),
                (&micros(sealed.sealed_at), Type::INT8),
            ],
        )
        .await?;
    }
    Ok(())
}

async fn save_sessions(db: &Connection, key: &Value<'_>, old: &State, new: &State) -> Result<(), Failure> {
    if Arc::ptr_eq(&old.sessions, &new.sessions) {
        return Ok(());
    }
    let (mut numbers, mut texts) = (Vec::new(), Vec::new());
    for (number, session) in new.sessions.unshared(&old.sessions) {
        let before = old.sessions.get(number);
        if before.is_none_or(|before| !Arc::ptr_eq(before, session) && before != session) {
            numbers.push(i64::from(number.0));
            texts.push(session_json(session)?);
        }
    }
    if !numbers.is_empty() {
        let sql = "INSERT INTO segue_sessions (scope, number, session)
                   SELECT $1, s.* FROM unnest($2::bigint[], $3::text[]) AS s
                   ON CONFLICT (scope, number) DO UPDATE SET session = EXCLUDED.session";
        let values = [key.clone(), (&numbers, Type::INT8_ARRAY), (&texts, Type::TEXT_ARRAY)];
        db.try_rows(sql, &values).await?;
    }
    let gone: Vec<i64> = old
        .sessions
        .keys()
        .filter(|number| !new.sessions.contains_key(number))
        .map(|number| i64::from(number.0))
        .collect();
    if !gone.is_empty() {
        let sql = "DELETE FROM segue_sessions WHERE scope = $1 AND number = ANY($2)";
        db.try_rows(sql, &[key.clone(), (&gone, Type::INT8_ARRAY)]).await?;
    }
    Ok(())
}

/// Notes segments for deletion, and takes them out of the sealed ones, which the triggers guard.
async fn discard(db: &Connection, key: &Value<'_>, append: &Append) -> Result<(), Failure> {
    if append.garbage.is_empty() {
        return Ok(());
    }
    let numbers: Vec<i64> = append.garbage.iter().map(|number| i64::from(number.0)).collect();
    let numbers: Value<'_> = (&numbers, Type::INT8_ARRAY);
    for sql in [
        "INSERT INTO segue_garbage (scope, segment) SELECT $1, unnest($2::bigint[]) ON CONFLICT DO NOTHING",
        "DELETE FROM segue_segments WHERE scope = $1 AND number = ANY($2)",
        "DELETE FROM segue_embeddings AS e WHERE scope = $1 AND EXISTS (SELECT 1 FROM segue_entries
             WHERE scope = $1 AND segment = ANY($2) AND seq BETWEEN e.first AND e.last)",
    ] {
        db.try_rows(sql, &[key.clone(), numbers.clone()]).await?;
    }
    Ok(())
}

/// Erases bodies, and everything that was made of them.
async fn erase(db: &Connection, key: &Value<'_>, entries: &[Seq]) -> Result<(), Failure> {
    if entries.is_empty() {
        return Ok(());
    }
    let seqs: Vec<i64> = entries.iter().map(|seq| wide(*seq)).collect();
    let sql = "SELECT seq, body FROM segue_entries WHERE scope = $1 AND seq = ANY($2) AND body IS NOT NULL";
    let kept = db.try_rows(sql, &[key.clone(), (&seqs, Type::INT8_ARRAY)]).await?;
    let seqs: Vec<i64> = kept.iter().map(|row| row.get(0)).collect();
    let hash = |row: &tokio_postgres::Row| {
        segue_core::digest::Digest::of_body(row.get::<_, &str>(1).as_bytes()).0.to_vec()
    };
    let hashes: Vec<Vec<u8>> = kept.iter().map(hash).collect();
    let seqs: Value<'_> = (&seqs, Type::INT8_ARRAY);
    db.try_rows(
        "INSERT INTO segue_erasing (scope, seq) SELECT $1, unnest($2::bigint[])",
        &[key.clone(), seqs.clone()],
    )
    .await?;
    db.try_rows(
        "UPDATE segue_entries AS e SET body = NULL, hash = h.hash
         FROM unnest($2::bigint[], $3::bytea[]) AS h (seq, hash) WHERE e.scope = $1 AND e.seq = h.seq",
        &[key.clone(), seqs.clone(), (&hashes, Type::BYTEA_ARRAY)],
    )
    .await?;
    for sql in [
        "DELETE FROM segue_erasing WHERE scope = $1 AND seq = ANY($2)",
        "DELETE FROM segue_embeddings AS e WHERE scope = $1
             AND EXISTS (SELECT 1 FROM unnest($2::bigint[]) AS s WHERE s BETWEEN e.first AND e.last)",
    ] {
        db.try_rows(sql, &[key.clone(), seqs.clone()]).await?;
    }
    search::forget(db, key, &seqs).await
}

/// Finds out why an append was not written. It may have been, by an earlier try.
async fn refusal(db: &Connection, append: &Append) -> Result<(), Error> {
    let scope = append.scope();
    let prior = wide(append.prior.head);
    let message_id = append.message_id.as_ref().map(|(id, _)| message_key(id));
    let id = append.id.0.to_vec();
    let sql = "SELECT (SELECT head FROM segue_scopes WHERE scope = $1),
        EXISTS (SELECT 1 FROM segue_commits WHERE scope = $1 AND after = $2 AND append_id = $3),
        (SELECT seq FROM segue_seen WHERE scope = $1 AND message_id = $4)";
    let values: [Value<'_>; 4] =
        [(&scope.as_str(), Type::TEXT), (&prior, Type::INT8), (&id, Type::BYTEA), (&message_id, Type::BYTEA)];
    let rows = db.rows(sql, &values).await?;
    let Some(row) = rows.first() else { return Err(Error::unavailable("appending", "no answer")) };
    let (head, is_done): (Option<i64>, bool) = (row.get(0), row.get(1));
    let seen: Option<i64> = row.get(2);
    match (is_done, seen, head) {
        // It is there, and is told once a standby has it.
        (true, _, _) => replicated::confirm(db).await.map_err(unknown),
        (false, Some(seq), _) => {
            replicated::confirm(db).await?;
            Err(Error::Duplicate { seq: super::rows::seq(seq)? })
        }
        (false, None, head) => {
            Err(Error::Conflict { expected: append.prior.head, found: super::rows::seq(head.unwrap_or(0))? })
        }
    }
}

/// What became of appends that share a transaction.
pub(super) enum Together {
    /// All are written; the last one has this position.
    Written(Option<Position>),
    /// None is: each is to be sent by itself.
    Not,
    /// Nobody knows: each is to be sent by itself, which is never done twice.
    Unknown(Error),
}

/// Writes several appends in one transaction.
pub(super) async fn together(db: &Connection, appends: &[Append]) -> Result<Together, Error> {
    db.begin().await.or_fault()?;
    let mut last = None;
    for (nth, append) in (0..).zip(appends) {
        match with_changes(db, append, nth).await {
            Ok(Written::Done(position)) => last = Some(position),
            _ => {
                db.roll_back().await;
                return Ok(Together::Not);
            }
        }
    }
    Ok(match db.commit().await {
        Ok(()) => Together::Written(last),
        Err(failure) if failure.is_lost() => Together::Unknown(unknown(Error::from(failure))),
        Err(_) => Together::Not,
    })
}
