//! Embeddings, as bytes that the store does not read.

use super::connect::{Connection, Value};
use super::fault::OrFault;
use super::rows::{column, seq, small, wide};
use crate::error::Error;
use crate::types::{Embedding, Subject};
use segue_core::entry::{Kind, Seq};
use segue_core::scope::Key;
use segue_core::session::Number;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

const SESSION: i16 = 0;
const ENTRY: i16 = 1;

fn coded(subject: Subject) -> (i16, i64) {
    match subject {
        Subject::Session(number) => (SESSION, i64::from(number.0)),
        Subject::Entry(seq) => (ENTRY, wide(seq)),
    }
}

fn embedding(row: &Row) -> Result<Embedding, Error> {
    let of: i64 = column(row, 1)?;
    let subject = match column::<i16>(row, 0)? {
        SESSION => Subject::Session(Number(small(of)?)),
        ENTRY => Subject::Entry(seq(of)?),
        other => return Err(Error::damaged("an embedding", format!("it is of the unknown kind {other}"))),
    };
    Ok(Embedding {
        subject,
        first: seq(column(row, 2)?)?,
        last: seq(column(row, 3)?)?,
        bytes: column(row, 4)?,
    })
}

pub(super) async fn get(db: &Connection, scope: &Key, subjects: &[Subject]) -> Result<Vec<Embedding>, Error> {
    let (kinds, ofs): (Vec<i16>, Vec<i64>) = subjects.iter().map(|subject| coded(*subject)).unzip();
    let sql = "SELECT e.of_kind, e.of, e.first, e.last, e.bytes FROM segue_embeddings AS e
               JOIN unnest($2::smallint[], $3::bigint[]) AS s (of_kind, of) ON s.of_kind = e.of_kind AND s.of = e.of
               WHERE e.scope = $1";
    let values: [Value<'_>; 3] =
        [(&scope.as_str(), Type::TEXT), (&kinds, Type::INT2_ARRAY), (&ofs, Type::INT8_ARRAY)];
    db.rows(sql, &values).await?.iter().map(embedding).collect()
}

pub(super) async fn tail(
    db: &Connection,
    scope: &Key,
    after: Seq,
    limit: usize,
) -> Result<Vec<Embedding>, Error> {
    let sql = "SELECT of_kind, of, first, last, bytes FROM segue_embeddings
               WHERE scope = $1 AND of_kind = 1 AND of > $2 ORDER BY of LIMIT $3";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let values: [Value<'_>; 3] =
        [(&scope.as_str(), Type::TEXT), (&wide(after), Type::INT8), (&limit, Type::INT8)];
    db.rows(sql, &values).await?.iter().map(embedding).collect()
}

/// Keeps embeddings, unless anything was erased since the entries were read: it may be one of them. Of what is noted for deletion
/// nothing is kept: it can still be read, and is about to be gone.
pub(super) async fn put(
    db: &Connection,
    scope: &Key,
    head: Seq,
    embeddings: &[Embedding],
) -> Result<(), Error> {
    db.begin().await.or_fault()?;
    match write(db, scope, head, embeddings).await {
        Ok(()) => db.commit().await.or_fault(),
        Err(error) => {
            db.roll_back().await;
            Err(error)
        }
    }
}

async fn write(db: &Connection, scope: &Key, head: Seq, embeddings: &[Embedding]) -> Result<(), Error> {
    let (kinds, ofs): (Vec<i16>, Vec<i64>) = embeddings.iter().map(|one| coded(one.subject)).unzip();
    let first: Vec<i64> = embeddings.iter().map(|one| wide(one.first)).collect();
    let last: Vec<i64> = embeddings.iter().map(|one| wide(one.last)).collect();
    let bytes: Vec<&[u8]> = embeddings.iter().map(|one| one.bytes.as_slice()).collect();
    // The row of the scope is locked, so that no erasure comes between the look and the write. It is a statement of its own: the
    // next one sees what was committed while this one waited.
    let lock = "SELECT 1 FROM segue_scopes WHERE scope = $1 FOR SHARE";
    if db.rows(lock, &[(&scope.as_str(), Type::TEXT)]).await?.is_empty() {
        return Ok(());
    }
    let sql = "INSERT INTO segue_embeddings (scope, of_kind, of, first, last, bytes)
        SELECT $1, e.* FROM unnest($3::smallint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bytea[])
            AS e (of_kind, of, first, last, bytes)
        WHERE NOT EXISTS (SELECT 1 FROM segue_entries WHERE scope = $1 AND seq > $2 AND kind = ANY($8))
        AND (SELECT count(*) FROM segue_entries AS m WHERE scope = $1 AND seq IN (e.first, e.last) AND body IS NOT NULL
            AND NOT EXISTS (SELECT 1 FROM segue_garbage WHERE scope = $1 AND segment = m.segment))
            = CASE WHEN e.first < e.last THEN 2 ELSE 1 END
        ON CONFLICT (scope, of_kind, of) DO UPDATE
        SET first = EXCLUDED.first, last = EXCLUDED.last, bytes = EXCLUDED.bytes";
    let erasing: Vec<i16> =
        (0..=u8::MAX).filter(|code| Kind::coded(*code).is_some_and(Kind::erases)).map(i16::from).collect();
    let values: [Value<'_>; 8] = [
        (&scope.as_str(), Type::TEXT),
        (&wide(head), Type::INT8),
        (&kinds, Type::INT2_ARRAY),
        (&ofs, Type::INT8_ARRAY),
        (&first, Type::INT8_ARRAY),
        (&last, Type::INT8_ARRAY),
        (&bytes, Type::BYTEA_ARRAY),
        (&erasing, Type::INT2_ARRAY),
    ];
    db.rows(sql, &values).await.map(drop)
}
