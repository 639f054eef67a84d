//! Appending: the one transaction of a turn.

use super::commits;
use super::db::Db;
use super::fault::OrFault;
use super::query;
use super::rows::{self, ScopeId, entry_id, micros, seq_of};
use super::search;
use crate::commits::Position;
use crate::encryption::Bound;
use crate::error::Error;
use crate::types::Append;
use rusqlite::{Connection, OptionalExtension, params};
use segue_core::digest::Digest;
use segue_core::entry::{Bytes, Record, Seq};
use segue_core::scope::Key;

/// What came of an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Appended {
    /// The scope's number, which is the known one unless that was wrong.
    pub scope: ScopeId,
    /// Where the commit stands; nothing if the append was committed before.
    pub position: Option<Position>,
}

/// Writes an append inside the transaction that is open. One that was committed before is not written again.
pub(super) fn append(db: &Db, known: Option<ScopeId>, append: &Append) -> Result<Appended, Error> {
    match write(db, known, append) {
        // The transaction may hold a part of it: who calls takes that back.
        Err(refused @ (Error::Conflict { .. } | Error::Duplicate { .. })) => {
            let scope = rows::find(db, append.scope())?.map(|(scope, _)| scope);
            match scope {
                Some(scope) if commits::appended(db, scope, append.prior.head, append.id)?.is_some() => {
                    Ok(Appended { scope, position: None })
                }
                Some(_) | None => Err(refused),
            }
        }
        done => done,
    }
}

fn write(db: &Db, known: Option<ScopeId>, append: &Append) -> Result<Appended, Error> {
    let scope = match known {
        Some(id) if rows::update_scope(db, id, append.prior.head, &append.next)? => {
            refuse_twice(db, id, append)?;
            id
        }
        Some(_) | None => find_and_save(db, append)?,
    };
    if append.next.head.0 > u64::from(u32::MAX) {
        return Err(Error::unavailable("the scope's log is full", "start another scope"));
    }
    for record in &append.records {
        insert(db, scope, append.scope(), record)?;
    }
    discard(db, scope, append)?;
    rows::save_changes(db, scope, &append.prior, &append.next)?;
    if let Some((id, seq)) = &append.message_id {
        db.prepare_cached("INSERT INTO seen (scope, message_id, seq) VALUES (?1, ?2, ?3)")
            .and_then(|mut insert| insert.execute(params![scope.0, id.0, seq.0 as i64]))
            .or_fault()?;
    }
    for seq in &append.erase {
        let id = entry_id(scope, *seq);
        let hash = match query::entry(db, id) {
            Ok(going) => {
                search::forget(db, scope, going.as_slice())?;
                going.filter(|going| matches!(going.bytes, Bytes::Kept(_))).map(|going| going.body_hash())
            }
            // Encrypted bytes that were changed go like any others. What they said is not known, nor what was indexed.
            Err(Error::Damaged { .. }) => {
                search::forget_all(db)?;
                raw_hash(db, id)?
            }
            Err(error) => return Err(error),
        };
        if let Some(hash) = hash {
            erase(db, id, hash)?;
        }
    }
    let position = commits::insert(db, scope, append)?;
    Ok(Appended { scope, position: Some(position) })
}

/// Writes the row of a scope whose number is not known, or is not what it was thought to be.
fn find_and_save(db: &Connection, append: &Append) -> Result<ScopeId, Error> {
    let found = rows::find(db, append.scope())?;
    if let Some((scope, _)) = found {
        refuse_twice(db, scope, append)?;
    }
    let (expected, head) = (append.prior.head, found.map_or(Seq::ZERO, |(_, head)| head));
    match found {
        None if expected == head => rows::insert_scope(db, &append.next),
        Some((scope, _)) if rows::update_scope(db, scope, expected, &append.next)? => Ok(scope),
        Some(_) | None => Err(Error::Conflict { expected, found: head }),
    }
}

/// Refuses what was appended before.
fn refuse_twice(db: &Connection, scope: ScopeId, append: &Append) -> Result<(), Error> {
    let Some((id, _)) = &append.message_id else { return Ok(()) };
    match seen(db, scope, &id.0)? {
        Some(seq) => Err(Error::Duplicate { seq }),
        None => Ok(()),
    }
}

pub(super) fn seen(db: &Connection, scope: ScopeId, id: &str) -> Result<Option<Seq>, Error> {
    let mut query = db.prepare_cached("SELECT seq FROM seen WHERE scope=?1 AND message_id=?2").or_fault()?;
    let found = query.query_row(params![scope.0, id], |row| row.get::<_, i64>(0)).optional().or_fault()?;
    Ok(found.map(seq_of))
}

fn insert(db: &Db, scope: ScopeId, key: &Key, record: &Record) -> Result<(), Error> {
    let mut insert = db
        .prepare_cached(
            "INSERT INTO entries (id, segment, at, kind, nth, body, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )
        .or_fault()?;
    let (body, hash) = match &record.bytes {
        Bytes::Kept(text) => (Some(db.seal(Bound::Entry(key, record.seq), text)?), None),
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

/// Hashes a body as it stands in the database.
fn raw_hash(db: &Connection, id: i64) -> Result<Option<Digest>, Error> {
    let mut query = db.prepare_cached("SELECT CAST(body AS BLOB) FROM entries WHERE id=?1").or_fault()?;
    let body: Option<Option<Vec<u8>>> = query.query_row([id], |row| row.get(0)).optional().or_fault()?;
    Ok(body.flatten().map(|body| Digest::of_body(&body)))
}

fn erase(db: &Connection, id: i64, hash: Digest) -> Result<(), Error> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sqlite::{audit, open};
    use crate::types::{AppendId, Page, ScopeRow};
    use proptest::prelude::*;
    use segue_core::Timestamp;
    use segue_core::decide::{Circumstances, Command, decide};
    use segue_core::facts::Facts;
    use segue_core::message::{Message, MessageId, Role};
    use segue_core::policy::Policy;
    use segue_core::session::Id;
    use segue_core::state::State;
    use std::cmp::Reverse;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    fn said(state: &Arc<State>, text: &str, id: Option<&str>) -> Append {
        said_at(Timestamp::UNIX_EPOCH, state, text, id)
    }

    fn said_at(now: Timestamp, state: &Arc<State>, text: &str, id: Option<&str>) -> Append {
        let command = Command::Say { role: Role::User, message: Message::text(text) };
        let fresh = fresh_id();
        let at = Circumstances { now, fresh, spoken: None };
        let mut decided = decide(state, &Policy::default(), &command, &Facts::default(), &at).unwrap();
        Append::of(
            AppendId::from(fresh),
            Arc::clone(state),
            &mut decided,
            id.map(|id| MessageId(id.to_owned())),
        )
    }

    fn fresh_id() -> Id {
        static IDS: AtomicU64 = AtomicU64::new(1);
        Id(uuid::Uuid::from_u128(IDS.fetch_add(1, Ordering::Relaxed).into()))
    }

    fn empty(name: &str) -> Arc<State> {
        Arc::new(State::empty(name.parse().unwrap()))
    }

    #[test]
    fn a_number_that_belongs_to_another_scope_is_not_believed() {
        let folder = tempfile::tempdir().unwrap();
        let db = open::for_writing(&folder.path().join("segue.db"), None).unwrap();
        let (mine, other) = (empty("agent:main:cli:direct:me"), empty("agent:main:cli:direct:you"));
        let (first, others) = (said(&mine, "hello", None), said(&other, "hi", None));
        let my_id = append(&db, None, &first).unwrap().scope;
        // As if the number had been promised by a commit that failed. Both scopes have the same head.
        let other_id = append(&db, Some(my_id), &others).unwrap().scope;
        assert_ne!(my_id, other_id);
        let second = said(&first.next, "and again", None);
        assert_eq!(append(&db, Some(other_id), &second).unwrap().scope, my_id);
        for (scope, id, state) in [(&mine, my_id, &second.next), (&other, other_id, &others.next)] {
            assert_eq!(rows::load_rows(&db, &scope.scope).unwrap().as_ref(), Some(state));
            assert_eq!(rows::find(&db, &scope.scope).unwrap(), Some((id, state.head)));
        }
    }

    #[test]
    fn x7_a_scope_that_is_known_refuses_twice_and_conflicts_as_one_that_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let db = open::for_writing(&folder.path().join("segue.db"), None).unwrap();
        let mine = empty("agent:main:cli:direct:me");
        let first = said(&mine, "hello", Some("1"));
        let id = append(&db, None, &first).unwrap().scope;
        for known in [None, Some(id)] {
            let again = append(&db, known, &said(&first.next, "hello", Some("1")));
            assert!(matches!(again, Err(Error::Duplicate { .. })), "{again:?}");
            let late = append(&db, known, &said(&mine, "other", Some("2")));
            assert!(matches!(late, Err(Error::Conflict { .. })), "{late:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

        /// Whoever writes how often, and whatever their clocks say.
        #[test]
        fn scopes_are_listed_by_their_clocks(writes in prop::collection::vec((0usize..5, 0i64..12), 1..40)) {
            let folder = tempfile::tempdir().unwrap();
            let db = open::for_writing(&folder.path().join("segue.db"), None).unwrap();
            let mut ids = [None; 5];
            let mut states: Vec<Arc<State>> =
                (0..5).map(|n| empty(&format!("agent:main:cli:direct:p{n}"))).collect();
            for (scope, second) in writes {
                let now = Timestamp::from_second(second).unwrap();
                let one = said_at(now, &states[scope], "hello", None);
                // Some are not known, as after a start, and some are thought to be others.
                let known = ids[(scope + second as usize / 5) % ids.len()];
                ids[scope] = Some(append(&db, known, &one).unwrap().scope);
                states[scope] = Arc::clone(&one.next);
                let mut expected: Vec<&Arc<State>> = states.iter().filter(|state| state.messages > 0).collect();
                expected.sort_by_key(|state| (Reverse(state.clock), state.scope.as_str().to_owned()));
                let expected: Vec<ScopeRow> = expected.into_iter().map(|state| ScopeRow::of(state)).collect();
                let mut listed = Vec::new();
                let mut page = Page::first(2);
                loop {
                    let found = query::scopes(&db, &page).unwrap();
                    listed.extend(found.rows);
                    page.after = found.next;
                    if page.after.is_none() {
                        break;
                    }
                }
                prop_assert_eq!(&listed, &expected);
                prop_assert_eq!(audit::audit(&db, None).unwrap(), Vec::<String>::new());
            }
        }
    }
}
