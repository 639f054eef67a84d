//! What a scope keeps besides its sessions, as rows: one for what is small, and one for each task, each list of what is kept of
//! a session's tasks, and each copy of a description. A change writes what it changes.

use super::db::Db;
use super::fault::OrFault;
use super::rows::{ScopeId, json, parse};
use crate::encryption::Bound;
use crate::error::Error;
use rusqlite::{OptionalExtension, params};
use segue_core::entry::Seq;
use segue_core::extras::ScopeExtras;
use segue_core::scope::Key;
use segue_core::session::Number;
use segue_core::state::State;
use std::sync::Arc;

/// What a row is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RowKind {
    Task = 1,
    Kept = 2,
    Copy = 3,
    Memories = 4,
}

impl RowKind {
    const ALL: [Self; 4] = [Self::Task, Self::Kept, Self::Copy, Self::Memories];

    /// Says what an encrypted row is bound to.
    fn bound(self, scope: &Key, number: i64) -> Bound<'_> {
        let what = match self {
            Self::Task => "task",
            Self::Kept => "kept",
            Self::Copy => "copy",
            Self::Memories => "memories",
        };
        Bound::ExtrasRow(scope, what, number as u64)
    }
}

/// Loads the extras of a scope.
pub(super) fn load(db: &Db, id: ScopeId, scope: &Key) -> Result<ScopeExtras, Error> {
    let mut query = db.prepare_cached("SELECT extras FROM scope_extras WHERE scope=?1").or_fault()?;
    let mut rows = query.query([id.0]).or_fault()?;
    let Some(row) = rows.next().or_fault()? else { return Ok(ScopeExtras::default()) };
    let mut extras = match db.unseal(Bound::Extras(scope), row.get_ref(0).or_fault()?)? {
        Some(text) => parse("the extras of a scope", &text)?,
        None => ScopeExtras::default(),
    };
    load_rows(db, id, scope, &mut extras)?;
    Ok(extras)
}

fn load_rows(db: &Db, id: ScopeId, scope: &Key, extras: &mut ScopeExtras) -> Result<(), Error> {
    let mut query =
        db.prepare_cached("SELECT kind, number, value FROM extras_rows WHERE scope=?1").or_fault()?;
    let mut rows = query.query([id.0]).or_fault()?;
    let damaged = |why: String| Error::damaged("a row of a scope's extras", why);
    while let Some(row) = rows.next().or_fault()? {
        let (kind, number): (i64, i64) = (row.get(0).or_fault()?, row.get(1).or_fault()?);
        let Some(kind) = RowKind::ALL.into_iter().find(|one| *one as i64 == kind) else {
            return Err(damaged(format!("{kind} is no kind")));
        };
        let text = db.unseal(kind.bound(scope, number), row.get_ref(2).or_fault()?)?;
        let text = text.ok_or_else(|| damaged("it is empty".to_owned()))?;
        let session = || super::rows::small(number).map(Number);
        match kind {
            RowKind::Task => _ = extras.tasks.insert(session()?, parse("a task", &text)?),
            RowKind::Kept => _ = extras.kept.insert(session()?, parse("what is kept of tasks", &text)?),
            RowKind::Copy => {
                _ = extras.copies.insert(Seq(number as u64), parse("the place of a description", &text)?);
            }
            RowKind::Memories => extras.memories = Arc::new(parse("what is remembered", &text)?),
        }
    }
    Ok(())
}

/// Writes what differs between two states.
pub(super) fn save(db: &Db, id: ScopeId, old: &State, new: &State) -> Result<(), Error> {
    let mut query = db.prepare_cached("SELECT has_rows FROM scope_extras WHERE scope=?1").or_fault()?;
    let has_rows: Option<i64> = query.query_row([id.0], |row| row.get(0)).optional().or_fault()?;
    // An older format has everything in one row, and is written as if nothing of it were there.
    let nothing = ScopeExtras::default();
    let is_older = has_rows == Some(0);
    let (old, new_extras) = (if is_older { &nothing } else { old.extras.as_ref() }, new.extras.as_ref());
    save_rows(db, (id, &new.scope), old, new_extras)?;
    let (small_before, small) = (old.without_lists(), new_extras.without_lists());
    if small_before == small && has_rows == Some(1) {
        return Ok(());
    }
    let text = json(&small)?;
    let text = db.seal(Bound::Extras(&new.scope), &text)?;
    db.prepare_cached("INSERT OR REPLACE INTO scope_extras (scope, extras, has_rows) VALUES (?1, ?2, 1)")
        .and_then(|mut put| put.execute(params![id.0, text]))
        .or_fault()
        .map(drop)
}

/// The number of a scope, and its key.
type ScopeRef<'a> = (ScopeId, &'a Key);

fn save_rows(db: &Db, scope: ScopeRef<'_>, old: &ScopeExtras, new: &ScopeExtras) -> Result<(), Error> {
    for (session, task) in new.tasks.changed(&old.tasks) {
        put(db, scope, RowKind::Task, session.0.into(), &json(task)?)?;
    }
    for session in new.tasks.gone(&old.tasks) {
        delete(db, scope, RowKind::Task, session.0.into())?;
    }
    for (session, kept) in new.kept.changed(&old.kept) {
        put(db, scope, RowKind::Kept, session.0.into(), &json(kept)?)?;
    }
    for session in new.kept.gone(&old.kept) {
        delete(db, scope, RowKind::Kept, session.0.into())?;
    }
    for (message, copy) in new.copies.changed(&old.copies) {
        put(db, scope, RowKind::Copy, message.0 as i64, &json(copy)?)?;
    }
    for message in new.copies.gone(&old.copies) {
        delete(db, scope, RowKind::Copy, message.0 as i64)?;
    }
    if !Arc::ptr_eq(&old.memories, &new.memories) && old.memories != new.memories {
        put(db, scope, RowKind::Memories, 0, &json(new.memories.as_ref())?)?;
    }
    Ok(())
}

fn put(db: &Db, (id, scope): ScopeRef<'_>, kind: RowKind, number: i64, value: &str) -> Result<(), Error> {
    let value = db.seal(kind.bound(scope, number), value)?;
    db.prepare_cached(
        "INSERT OR REPLACE INTO extras_rows (scope, kind, number, value) VALUES (?1, ?2, ?3, ?4)",
    )
    .and_then(|mut put| put.execute(params![id.0, kind as i64, number, value]))
    .or_fault()
    .map(drop)
}

fn delete(db: &Db, (id, _): ScopeRef<'_>, kind: RowKind, number: i64) -> Result<(), Error> {
    db.prepare_cached("DELETE FROM extras_rows WHERE scope=?1 AND kind=?2 AND number=?3")
        .and_then(|mut delete| delete.execute(params![id.0, kind as i64, number]))
        .or_fault()
        .map(drop)
}
