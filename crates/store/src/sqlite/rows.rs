//! The state of a scope as rows: what is folded from the log, for reading without folding.

use super::db::Db;
use super::extras;
use super::fault::{OrFault, fault};
use super::pages::{self, Pages};
use super::query;
use crate::encryption::Bound;
use crate::error::Error;
use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params, params_from_iter};
use segue_core::Timestamp;
use segue_core::digest::Digest;
use segue_core::entry::Seq;
use segue_core::evolve::evolve;
use segue_core::pins::Pins;
use segue_core::scope::Key;
use segue_core::segment;
use segue_core::session::{Id, Number, Origin, Session, Status, Title, Upkeep};
use segue_core::state::State;
use std::sync::Arc;

/// How many entries are folded at a time.
const ENTRIES_MAX: usize = 1_000;

/// The number of a scope in this database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ScopeId(pub i64);

/// The number of an entry in this database: its scope's and its place, side by side.
pub(super) fn entry_id(scope: ScopeId, seq: Seq) -> i64 {
    (scope.0 << 32) | (seq.0.min(u64::from(u32::MAX)) as i64)
}

/// Takes the place out of the number of an entry.
pub(super) fn seq_of(id: i64) -> Seq {
    Seq((id & 0xffff_ffff) as u64)
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

pub(super) fn json<T: serde::Serialize>(value: &T) -> Result<String, Error> {
    serde_json::to_string(value).map_err(|error| Error::unavailable("writing a row", error))
}

pub(super) fn parse<T: serde::de::DeserializeOwned>(what: &str, text: &str) -> Result<T, Error> {
    serde_json::from_str(text).map_err(|error| Error::damaged(what, error))
}

/// Finds a scope's number and head.
pub(super) fn find(db: &Connection, scope: &Key) -> Result<Option<(ScopeId, Seq)>, Error> {
    let mut query = db.prepare_cached("SELECT id, head FROM scopes WHERE key = ?1").or_fault()?;
    let found = query
        .query_row([scope.as_str()], |row| Ok((ScopeId(row.get(0)?), Seq(row.get::<_, i64>(1)? as u64))));
    found.optional().or_fault()
}

/// Finds the key of a scope by its number.
pub(super) fn key(db: &Connection, scope: ScopeId) -> Result<Key, Error> {
    let mut query = db.prepare_cached("SELECT key FROM scopes WHERE id = ?1").or_fault()?;
    let key: String = query.query_row([scope.0], |row| row.get(0)).or_fault()?;
    key.parse().map_err(|error| Error::damaged("a scope's key", error))
}

const UPDATE: &str = "UPDATE scopes SET head=?1, updated_at=?2, next_session=?3, next_segment=?4, chain=?5,
     messages=?6, sessions=?7, open_segment=?8, open_session=?9, open_first=?10,
     open_messages=?11, open_digest=?12, opened_at=?13, last_user_at=?14,
     open_updated_at=?15, view_from=?16, view_skips=?17
     WHERE id=?18 AND head=?19 AND key=?20";

/// What stands in the row of a scope besides its number and its key.
fn scope_values(state: &State) -> [Value; 17] {
    let open = state.open.as_ref();
    let number = |value: Option<u64>| value.map_or(Value::Null, |v| Value::Integer(v as i64));
    let time = |at: Option<Timestamp>| at.map_or(Value::Null, |at| Value::Integer(micros(at)));
    [
        Value::Integer(state.head.0 as i64),
        Value::Integer(micros(state.clock)),
        Value::Integer(i64::from(state.next_session.0)),
        Value::Integer(i64::from(state.next_segment.0)),
        Value::Blob(state.chain.0.to_vec()),
        Value::Integer(state.messages as i64),
        Value::Integer(state.listed() as i64),
        number(open.map(|o| u64::from(o.number.0))),
        number(open.map(|o| u64::from(o.session.0))),
        number(open.map(|o| o.first.0)),
        number(open.map(|o| u64::from(o.messages))),
        open.map_or(Value::Null, |o| Value::Blob(o.digest.0.to_vec())),
        time(open.map(|o| o.opened_at)),
        time(open.and_then(|o| o.last_user_at)),
        time(open.map(|o| o.updated_at)),
        number(open.map(|o| o.view_from.0)),
        number(open.map(|o| u64::from(o.view_skips))),
    ]
}

/// Writes the row of a scope: the one row, besides its entries, that an ordinary message changes. Tells whether it was the
/// row of this scope, with this head; else it is not written.
pub(super) fn update_scope(db: &Connection, id: ScopeId, head: Seq, next: &State) -> Result<bool, Error> {
    let key = Value::Text(next.scope.as_str().to_owned());
    let place = [Value::Integer(id.0), Value::Integer(head.0 as i64), key];
    let mut update = db.prepare_cached(UPDATE).or_fault()?;
    Ok(update.execute(params_from_iter(scope_values(next).iter().chain(&place))).or_fault()? == 1)
}

/// Writes the row of a new scope.
pub(super) fn insert_scope(db: &Connection, state: &State) -> Result<ScopeId, Error> {
    let mut insert = db
        .prepare_cached(
            "INSERT INTO scopes (head, updated_at, next_session, next_segment, chain, messages, sessions,
             open_segment, open_session, open_first, open_messages, open_digest, opened_at,
             last_user_at, open_updated_at, view_from, view_skips, key)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)",
        )
        .or_fault()?;
    let key = Value::Text(state.scope.as_str().to_owned());
    insert.execute(params_from_iter(scope_values(state).iter().chain([&key]))).or_fault()?;
    Ok(ScopeId(db.last_insert_rowid()))
}

/// Writes the rows that differ between two states; an ordinary message changes none of them.
pub(super) fn save_changes(db: &Db, scope: ScopeId, old: &State, new: &State) -> Result<(), Error> {
    if !Arc::ptr_eq(&old.segments, &new.segments) {
        for (number, sealed) in
            new.segments.unshared(&old.segments).filter(|(n, _)| !old.segments.contains_key(n))
        {
            insert_segment(db, scope, *number, sealed)?;
        }
    }
    if !Arc::ptr_eq(&old.sessions, &new.sessions) {
        for (number, session) in new.sessions.unshared(&old.sessions) {
            let before = old.sessions.get(number);
            if before.is_none_or(|before| !Arc::ptr_eq(before, session) && before != session) {
                pages::save(db, scope, &session.spans)?;
                save_session(db, scope, &new.scope, *number, session)?;
            }
        }
        pages::forget(db, scope, old, new)?;
        let gone = old.sessions.unshared(&new.sessions).map(|(number, _)| number);
        for number in gone.filter(|n| !new.sessions.contains_key(n)) {
            db.prepare_cached("DELETE FROM sessions WHERE scope=?1 AND number=?2")
                .and_then(|mut delete| delete.execute(params![scope.0, number.0]))
                .or_fault()?;
        }
    }
    if !Arc::ptr_eq(&old.boundaries, &new.boundaries) {
        db.prepare_cached("INSERT OR REPLACE INTO boundaries (scope, list) VALUES (?1, ?2)")
            .and_then(|mut put| put.execute(params![scope.0, json(new.boundaries.as_ref()).ok()]))
            .or_fault()?;
    }
    if !Arc::ptr_eq(&old.extras, &new.extras) {
        extras::save(db, scope, old, new)?;
    }
    Ok(())
}

fn insert_segment(
    db: &Connection,
    scope: ScopeId,
    number: segment::Number,
    sealed: &segment::Sealed,
) -> Result<(), Error> {
    let mut insert = db
        .prepare_cached(
            "INSERT INTO segments (scope, number, first, last, messages, digest, sealed_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )
        .or_fault()?;
    let (first, last) = (sealed.first.0 as i64, sealed.last.0 as i64);
    let values =
        params![scope.0, number.0, first, last, sealed.messages, sealed.digest.0, micros(sealed.sealed_at)];
    insert.execute(values).or_fault().map(drop)
}

/// What stands in `merged_into` of an archived session: no session has this number.
const ARCHIVED: u32 = 0;

fn save_session(db: &Db, scope: ScopeId, key: &Key, number: Number, session: &Session) -> Result<(), Error> {
    let mut put = db
        .prepare_cached(
            "INSERT OR REPLACE INTO sessions (scope, number, id, parent, origin, merged_into, title,
             title_entries, spans, created_at, updated_at, pins, upkeep)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        )
        .or_fault()?;
    let merged_into = match session.status {
        Status::Live => None,
        Status::Archived => Some(ARCHIVED),
        Status::Merged { into } => Some(into.0),
    };
    let pins = if session.pins == Pins::default() { None } else { Some(json(&session.pins)?) };
    let pins = pins.as_deref().map(|pins| db.seal(Bound::Session(key, number), pins)).transpose()?;
    // Numbers of entries, and no words.
    let upkeep = if session.upkeep == Upkeep::default() { None } else { Some(json(&session.upkeep)?) };
    let title = session.title.as_ref().map(|title| db.seal(Bound::Title(key, number), title.as_str()));
    let title = title.transpose()?;
    put.execute(params![
        scope.0,
        number.0,
        session.id.to_string(),
        session.parent.map(|n| n.0),
        json(&session.origin)?,
        merged_into,
        title,
        json(&session.title_entries)?,
        json(&pages::Row::of(&session.spans))?,
        micros(session.created_at),
        micros(session.updated_at),
        pins,
        upkeep,
    ])
    .or_fault()
    .map(drop)
}

/// Loads the state of a scope from its rows; if one of them cannot be read, from the log, which is the truth (L-10).
/// The row stays as it is until it is written the next time, and `segue verify` tells of it.
pub(super) fn load(db: &Db, scope: &Key) -> Result<Option<Arc<State>>, Error> {
    match load_rows(db, scope) {
        Err(damaged @ Error::Damaged { .. }) => match refold(db, scope) {
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

/// Begins a transaction, unless one is under way: all that is read in it is of one moment.
pub(super) fn at_one_moment(db: &Connection) -> Result<Option<Transaction<'_>>, Error> {
    db.is_autocommit().then(|| db.unchecked_transaction()).transpose().or_fault()
}

/// Folds the whole log of a scope.
fn refold(db: &Db, scope: &Key) -> Result<Option<Arc<State>>, Error> {
    let _moment = at_one_moment(db)?;
    let Some((_, head)) = find(db, scope)? else { return Ok(None) };
    let mut state = State::empty(scope.clone());
    loop {
        let records = query::tail(db, scope, state.head, ENTRIES_MAX)?;
        if records.is_empty() {
            break;
        }
        for record in &records {
            evolve(&mut state, record).map_err(|misfit| Error::damaged("the log", misfit))?;
        }
    }
    // A fold that ends elsewhere than the scope is not the whole of it.
    if state.head == head {
        Ok(Some(Arc::new(state)))
    } else {
        Err(Error::damaged("the log", "its end is missing"))
    }
}

/// Loads the state of a scope from its rows.
pub(super) fn load_rows(db: &Db, scope: &Key) -> Result<Option<Arc<State>>, Error> {
    let _moment = at_one_moment(db)?;
    let Some((id, _)) = find(db, scope)? else { return Ok(None) };
    let mut state = State::empty(scope.clone());
    let mut query = db.prepare_cached("SELECT * FROM scopes WHERE id = ?1").or_fault()?;
    query.query_row([id.0], |row| Ok(load_scope(row, &mut state))).or_fault()??;
    let mut query = db
        .prepare_cached(
            "SELECT number, first, last, messages, digest, sealed_at FROM segments WHERE scope=?1",
        )
        .or_fault()?;
    let mut rows = query.query([id.0]).or_fault()?;
    let segments = Arc::make_mut(&mut state.segments);
    while let Some(row) = rows.next().or_fault()? {
        let (number, sealed) = load_segment(row)?;
        segments.insert(number, sealed);
    }
    let pages = Pages::load(db, id)?;
    let mut query = db.prepare_cached("SELECT * FROM sessions WHERE scope=?1").or_fault()?;
    let mut rows = query.query([id.0]).or_fault()?;
    let sessions = Arc::make_mut(&mut state.sessions);
    while let Some(row) = rows.next().or_fault()? {
        let (number, session) = load_session(db, scope, row, &pages)?;
        sessions.insert(number, Arc::new(session));
    }
    let mut query = db.prepare_cached("SELECT list FROM boundaries WHERE scope=?1").or_fault()?;
    let list: Option<String> = query.query_row([id.0], |row| row.get(0)).optional().or_fault()?;
    if let Some(list) = list {
        state.boundaries = Arc::new(parse("the list of boundaries", &list)?);
    }
    state.extras = Arc::new(extras::load(db, id, scope)?);
    Ok(Some(Arc::new(state)))
}

fn load_scope(row: &Row<'_>, state: &mut State) -> Result<(), Error> {
    let int = |name: &str| row.get::<_, i64>(name).map_err(fault);
    let maybe = |name: &str| row.get::<_, Option<i64>>(name).map_err(fault);
    let bytes = |name: &str| row.get::<_, Vec<u8>>(name).map_err(fault).and_then(|b| digest(&b));
    state.head = Seq(int("head")? as u64);
    state.clock = timestamp(int("updated_at")?)?;
    state.next_session = Number(small(int("next_session")?)?);
    state.next_segment = segment::Number(small(int("next_segment")?)?);
    state.chain = bytes("chain")?;
    state.messages = int("messages")? as u64;
    let Some(number) = maybe("open_segment")? else { return Ok(()) };
    state.open = Some(segment::Open {
        number: segment::Number(small(number)?),
        session: Number(small(int("open_session")?)?),
        first: Seq(int("open_first")? as u64),
        messages: small(int("open_messages")?)?,
        digest: bytes("open_digest")?,
        opened_at: timestamp(int("opened_at")?)?,
        last_user_at: maybe("last_user_at")?.map(timestamp).transpose()?,
        updated_at: timestamp(int("open_updated_at")?)?,
        view_from: Seq(int("view_from")? as u64),
        view_skips: small(int("view_skips")?)?,
    });
    Ok(())
}

pub(super) fn small(value: i64) -> Result<u32, Error> {
    u32::try_from(value).map_err(|error| Error::damaged("a number", error))
}

fn load_segment(row: &Row<'_>) -> Result<(segment::Number, segment::Sealed), Error> {
    let int = |at: usize| row.get::<_, i64>(at).map_err(fault);
    let sealed = segment::Sealed {
        first: Seq(int(1)? as u64),
        last: Seq(int(2)? as u64),
        messages: small(int(3)?)?,
        digest: digest(&row.get::<_, Vec<u8>>(4).map_err(fault)?)?,
        sealed_at: timestamp(int(5)?)?,
    };
    Ok((segment::Number(small(int(0)?)?), sealed))
}

fn load_session(db: &Db, scope: &Key, row: &Row<'_>, pages: &Pages) -> Result<(Number, Session), Error> {
    let int = |name: &str| row.get::<_, i64>(name).map_err(fault);
    let maybe = |name: &str| row.get::<_, Option<i64>>(name).map_err(fault);
    let text = |name: &str| row.get::<_, String>(name).map_err(fault);
    let number = Number(small(int("number")?)?);
    let sealed = |name: &str, bound| db.unseal(bound, row.get_ref(name).map_err(fault)?);
    let id: Id = text("id")?.parse().map_err(|error| Error::damaged("a session's id", error))?;
    let status = match maybe("merged_into")? {
        Some(into) if into == i64::from(ARCHIVED) => Status::Archived,
        Some(into) => Status::Merged { into: Number(small(into)?) },
        None => Status::Live,
    };
    let title = match sealed("title", Bound::Title(scope, number))? {
        None => None,
        Some(text) => match Title::new(&text).filter(|title| title.as_str() == text) {
            Some(title) => Some(title),
            None => return Err(Error::damaged("a session's title", format!("'{text}' is none"))),
        },
    };
    let origin: Origin = parse("a session's origin", &text("origin")?)?;
    let pins = match sealed("pins", Bound::Session(scope, number))? {
        None => Pins::default(),
        Some(pins) => parse("what a session is pinned to", &pins)?,
    };
    let upkeep: Option<String> = row.get("upkeep").map_err(fault)?;
    let upkeep = match upkeep {
        None => Upkeep::default(),
        Some(upkeep) => parse("what upkeep has made of a session", &upkeep)?,
    };
    let session = Session {
        id,
        parent: maybe("parent")?.map(small).transpose()?.map(Number),
        origin,
        status,
        title,
        title_entries: parse("a session's titles", &text("title_entries")?)?,
        spans: pages.view(parse("a session's spans", &text("spans")?)?)?,
        created_at: timestamp(int("created_at")?)?,
        updated_at: timestamp(int("updated_at")?)?,
        pins,
        upkeep,
    };
    Ok((number, session))
}
