//! The state of a scope as rows: what is folded from the log, for reading without folding.

use super::connect::{Connection, Value};
use super::query;
use crate::error::Error;
use segue_core::Timestamp;
use segue_core::digest::Digest;
use segue_core::entry::{Bytes, Kind, Record, Seq};
use segue_core::evolve::evolve;
use segue_core::message::MessageId;
use segue_core::pins::Pins;
use segue_core::scope::Key;
use segue_core::segment;
use segue_core::session::{Id, Number, Origin, Session, Status, Title, Upkeep};
use segue_core::span::Spans;
use segue_core::state::State;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

/// Reads a whole state in one statement, so that all of it is of one moment.
const LOAD: &str = "SELECT head, updated_at, next_session, next_segment, chain, messages, open_segment, open_session,
    open_first, open_messages, open_digest, opened_at, last_user_at, open_updated_at, view_from, view_skips,
    (SELECT boundaries FROM segue_extras WHERE scope = $1), (SELECT extras FROM segue_extras WHERE scope = $1),
    ARRAY(SELECT number FROM segue_sessions WHERE scope = $1 ORDER BY number),
    ARRAY(SELECT session FROM segue_sessions WHERE scope = $1 ORDER BY number),
    ARRAY(SELECT number FROM segue_segments WHERE scope = $1 ORDER BY number),
    ARRAY(SELECT first FROM segue_segments WHERE scope = $1 ORDER BY number),
    ARRAY(SELECT last FROM segue_segments WHERE scope = $1 ORDER BY number),
    ARRAY(SELECT messages FROM segue_segments WHERE scope = $1 ORDER BY number),
    ARRAY(SELECT digest FROM segue_segments WHERE scope = $1 ORDER BY number),
    ARRAY(SELECT sealed_at FROM segue_segments WHERE scope = $1 ORDER BY number)
    FROM segue_scopes WHERE scope = $1";

/// Whether a session is there, as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StatusRow {
    #[default]
    Live,
    Archived,
    MergedInto(Number),
}

fn is_live(status: &StatusRow) -> bool {
    *status == StatusRow::Live
}

/// A session as it is stored.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionRow {
    id: Id,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent: Option<Number>,
    origin: Origin,
    #[serde(default, skip_serializing_if = "is_live")]
    status: StatusRow,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    title_entries: Vec<Seq>,
    spans: Spans,
    created_at: i64,
    updated_at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pins: Option<Pins>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    upkeep: Option<Upkeep>,
}

pub(super) fn micros(at: Timestamp) -> i64 {
    at.as_microsecond()
}

pub(super) fn timestamp(micros: i64) -> Result<Timestamp, Error> {
    Timestamp::from_microsecond(micros).map_err(|error| Error::damaged("a time stamp", error))
}

pub(super) fn digest(bytes: &[u8]) -> Result<Digest, Error> {
    let bytes = bytes.try_into().map_err(|_| Error::damaged("a digest", "it does not have 32 bytes"))?;
    Ok(Digest(bytes))
}

pub(super) fn small(value: i64) -> Result<u32, Error> {
    u32::try_from(value).map_err(|error| Error::damaged("a number", error))
}

pub(super) fn seq(value: i64) -> Result<Seq, Error> {
    u64::try_from(value).map(Seq).map_err(|error| Error::damaged("an entry's number", error))
}

/// Turns an entry's number into one that PostgreSQL can hold.
pub(super) fn wide(seq: Seq) -> i64 {
    i64::try_from(seq.0).unwrap_or(i64::MAX)
}

/// The longest message id that is a key as it is: PostgreSQL's keys end at 2,700 bytes.
const MESSAGE_ID_MAX: usize = 1_024;

/// Returns what a message is known by: its id, or the hash of a long one. No id begins with the byte that hashes begin with.
pub(super) fn message_key(id: &MessageId) -> Vec<u8> {
    let id = id.0.as_bytes();
    match id.len() <= MESSAGE_ID_MAX {
        true => id.to_vec(),
        false => [&[0xff], Digest::of_body(id).0.as_slice()].concat(),
    }
}

/// Reads a column, which may be damaged like everything else on a disk.
pub(super) fn column<'a, T: tokio_postgres::types::FromSql<'a>>(row: &'a Row, at: usize) -> Result<T, Error> {
    row.try_get(at).map_err(|error| Error::damaged(format!("column {at} of a row"), error))
}

pub(super) fn json<T: Serialize>(value: &T) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|error| Error::unavailable("writing a row", error))
}

fn parse<T: serde::de::DeserializeOwned>(what: &str, text: &str) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|error| Error::damaged(what, error))
}

/// Writes a session down.
pub(super) fn session_json(session: &Session) -> Result<String, Error> {
    json(&SessionRow {
        id: session.id,
        parent: session.parent,
        origin: session.origin,
        status: match session.status {
            Status::Live => StatusRow::Live,
            Status::Archived => StatusRow::Archived,
            Status::Merged { into } => StatusRow::MergedInto(into),
        },
        title: session.title.as_ref().map(|title| title.as_str().to_owned()),
        title_entries: session.title_entries.clone(),
        spans: session.spans.clone(),
        created_at: micros(session.created_at),
        updated_at: micros(session.updated_at),
        pins: (session.pins != Pins::default()).then(|| session.pins.clone()),
        upkeep: (session.upkeep != Upkeep::default()).then(|| session.upkeep.clone()),
    })
}

fn session(text: &str) -> Result<Session, Error> {
    let row: SessionRow = parse("a session", text)?;
    let title = match row.title {
        None => None,
        Some(text) => match Title::new(&text).filter(|title| title.as_str() == text) {
            Some(title) => Some(title),
            None => return Err(Error::damaged("a session's title", format!("'{text}' is none"))),
        },
    };
    Ok(Session {
        id: row.id,
        parent: row.parent,
        origin: row.origin,
        status: match row.status {
            StatusRow::Live => Status::Live,
            StatusRow::Archived => Status::Archived,
            StatusRow::MergedInto(into) => Status::Merged { into },
        },
        title,
        title_entries: row.title_entries,
        spans: row.spans,
        created_at: timestamp(row.created_at)?,
        updated_at: timestamp(row.updated_at)?,
        pins: row.pins.unwrap_or_default(),
        upkeep: row.upkeep.unwrap_or_default(),
    })
}

/// Adds what upkeep has made of a session to a row that was written before it stood there.
pub(super) fn with_upkeep(text: &str, upkeep: Upkeep) -> Result<String, Error> {
    json(&SessionRow { upkeep: Some(upkeep), ..parse("a session", text)? })
}

/// How many entries are folded at a time.
const ENTRIES_MAX: usize = 1_000;

/// Loads the state of a scope from its rows; if one of them cannot be read, from the log, which is the truth (L-10).
/// The row stays as it is until it is written the next time, and `segue verify` tells of it.
pub(super) async fn load(db: &Connection, scope: &Key) -> Result<Option<Arc<State>>, Error> {
    match load_rows(db, scope).await {
        Err(damaged @ Error::Damaged { .. }) => match refold(db, scope).await {
            Ok(state) => {
                tracing::warn!(%scope, error = %damaged, "a row of this scope is set aside, its log is read instead");
                Ok(state)
            }
            // What is wrong with the row says more than what is wrong with the log.
            Err(_) => Err(damaged),
        },
        loaded => loaded,
    }
}

/// Folds the whole log of a scope.
async fn refold(db: &Connection, scope: &Key) -> Result<Option<Arc<State>>, Error> {
    let Some(head) = query::head(db, scope).await? else { return Ok(None) };
    let mut state = State::empty(scope.clone());
    while state.head < head {
        let records = query::tail(db, scope, state.head, ENTRIES_MAX).await?;
        if records.is_empty() {
            return Err(Error::damaged("the log", "its end is missing"));
        }
        for record in &records {
            evolve(&mut state, record).map_err(|misfit| Error::damaged("the log", misfit))?;
        }
    }
    Ok(Some(Arc::new(state)))
}

/// Loads the state of a scope from its rows.
pub(super) async fn load_rows(db: &Connection, scope: &Key) -> Result<Option<Arc<State>>, Error> {
    let rows = db.rows(LOAD, &[(&scope.as_str(), Type::TEXT)]).await?;
    rows.first().map(|row| state(scope, row).map(Arc::new)).transpose()
}

fn state(scope: &Key, row: &Row) -> Result<State, Error> {
    let mut state = State::empty(scope.clone());
    state.head = seq(column(row, 0)?)?;
    state.clock = timestamp(column(row, 1)?)?;
    state.next_session = Number(small(column(row, 2)?)?);
    state.next_segment = segment::Number(small(column(row, 3)?)?);
    state.chain = digest(column(row, 4)?)?;
    state.messages = seq(column(row, 5)?)?.0;
    if let Some(number) = column::<Option<i64>>(row, 6)? {
        state.open = Some(segment::Open {
            number: segment::Number(small(number)?),
            session: Number(small(column(row, 7)?)?),
            first: seq(column(row, 8)?)?,
            messages: small(column(row, 9)?)?,
            digest: digest(column(row, 10)?)?,
            opened_at: timestamp(column(row, 11)?)?,
            last_user_at: column::<Option<i64>>(row, 12)?.map(timestamp).transpose()?,
            updated_at: timestamp(column(row, 13)?)?,
            view_from: seq(column(row, 14)?)?,
            view_skips: small(column(row, 15)?)?,
        });
    }
    if let Some(list) = column::<Option<&str>>(row, 16)? {
        state.boundaries = Arc::new(parse("the list of boundaries", list)?);
    }
    if let Some(extras) = column::<Option<&str>>(row, 17)? {
        state.extras = Arc::new(parse("what the scope keeps besides its sessions", extras)?);
    }
    let sessions = Arc::make_mut(&mut state.sessions);
    for (number, text) in column::<Vec<i64>>(row, 18)?.into_iter().zip(column::<Vec<&str>>(row, 19)?) {
        sessions.insert(Number(small(number)?), Arc::new(session(text)?));
    }
    let numbers: Vec<i64> = column(row, 20)?;
    let (first, last): (Vec<i64>, Vec<i64>) = (column(row, 21)?, column(row, 22)?);
    let (messages, digests): (Vec<i64>, Vec<&[u8]>) = (column(row, 23)?, column(row, 24)?);
    let sealed_at: Vec<i64> = column(row, 25)?;
    let segments = Arc::make_mut(&mut state.segments);
    for (at, number) in numbers.into_iter().enumerate() {
        let sealed = segment::Sealed {
            first: seq(first[at])?,
            last: seq(last[at])?,
            messages: small(messages[at])?,
            digest: digest(digests[at])?,
            sealed_at: timestamp(sealed_at[at])?,
        };
        segments.insert(segment::Number(small(number)?), sealed);
    }
    Ok(state)
}

/// The columns of an entry, in the order that [`record`] reads them.
pub(super) const ENTRY: &str = "seq, segment, at, kind, nth, body, hash";

/// Reads an entry.
pub(super) fn record(row: &Row) -> Result<Record, Error> {
    let seq = seq(column(row, 0)?)?;
    let code: i16 = column(row, 3)?;
    let unknown = || format!("unknown kind {code}; if a newer Segue writes here too, use that one");
    let kind = u8::try_from(code).ok().and_then(Kind::coded);
    let kind = kind.ok_or_else(|| Error::damaged(format!("entry {seq}"), unknown()))?;
    let bytes = match (column::<Option<String>>(row, 5)?, column::<Option<&[u8]>>(row, 6)?) {
        (Some(text), None) => Bytes::Kept(text),
        (None, Some(hash)) => Bytes::Erased(digest(hash)?),
        (Some(_), Some(_)) => {
            let why = "it has both a body and the hash of an erased one";
            return Err(Error::damaged(format!("entry {seq}"), why));
        }
        (None, None) => return Err(Error::damaged(format!("entry {seq}"), "it has neither body nor hash")),
    };
    Ok(Record {
        seq,
        segment: segment::Number(small(column(row, 1)?)?),
        at: timestamp(column(row, 2)?)?,
        nth: small(column(row, 4)?)?,
        kind,
        bytes,
    })
}

/// What stands in the row of a scope besides its key, in the order of [`SCOPE_COLUMNS`].
pub(super) struct ScopeRow {
    numbers: [i64; 6],
    chain: Vec<u8>,
    open: [Option<i64>; 9],
    digest: Option<Vec<u8>>,
}

/// The columns of a scope's row, besides its key.
pub(super) const SCOPE_COLUMNS: [&str; 17] = [
    "head",
    "updated_at",
    "next_session",
    "next_segment",
    "messages",
    "sessions",
    "chain",
    "open_segment",
    "open_session",
    "open_first",
    "open_messages",
    "opened_at",
    "last_user_at",
    "open_updated_at",
    "view_from",
    "view_skips",
    "open_digest",
];

impl ScopeRow {
    pub(super) fn of(state: &State) -> Self {
        let open = state.open.as_ref();
        Self {
            numbers: [
                wide(state.head),
                micros(state.clock),
                i64::from(state.next_session.0),
                i64::from(state.next_segment.0),
                i64::try_from(state.messages).unwrap_or(i64::MAX),
                i64::try_from(state.listed()).unwrap_or(i64::MAX),
            ],
            chain: state.chain.0.to_vec(),
            open: [
                open.map(|open| i64::from(open.number.0)),
                open.map(|open| i64::from(open.session.0)),
                open.map(|open| wide(open.first)),
                open.map(|open| i64::from(open.messages)),
                open.map(|open| micros(open.opened_at)),
                open.and_then(|open| open.last_user_at).map(micros),
                open.map(|open| micros(open.updated_at)),
                open.map(|open| wide(open.view_from)),
                open.map(|open| i64::from(open.view_skips)),
            ],
            digest: open.map(|open| open.digest.0.to_vec()),
        }
    }

    /// Lists the values in the order of [`SCOPE_COLUMNS`].
    pub(super) fn values(&self) -> Vec<Value<'_>> {
        let mut values: Vec<Value<'_>> = Vec::with_capacity(SCOPE_COLUMNS.len());
        values.extend(self.numbers.iter().map(|number| (number as _, Type::INT8)));
        values.push((&self.chain, Type::BYTEA));
        values.extend(self.open.iter().map(|number| (number as _, Type::INT8)));
        values.push((&self.digest, Type::BYTEA));
        values
    }
}
