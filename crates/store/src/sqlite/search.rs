//! The index for searching, by FTS5.
//!
//! A turn writes nothing here. A search first brings the index of its scope up to date, in steps between which turns are
//! written; what is erased or deleted leaves the index in the same transaction.

use super::db::Db;
use super::fault::OrFault;
use super::query;
use super::rows::{self, ScopeId, seq_of, small};
use crate::encryption::{Bound, Vault};
use crate::error::Error;
use crate::search::{self, Posting, TokenKey};
use rusqlite::{Connection, OptionalExtension, params};
use segue_core::entry::{Record, Seq};
use segue_core::scope::Key;
use segue_core::segment;

/// How many messages are indexed in one transaction, so that no turn waits for long.
const MESSAGES_MAX: usize = 512;

/// How far the index of a scope goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Indexed {
    pub through: Seq,
    pub messages: u64,
    pub length: u64,
}

impl Indexed {
    pub(super) const NOTHING: Self = Self { through: Seq::ZERO, messages: 0, length: 0 };
}

/// Tells how far the index of a scope goes; nothing if it was never searched.
pub(super) fn indexed(db: &Connection, scope: ScopeId) -> Result<Option<Indexed>, Error> {
    let sql = "SELECT through, messages, length FROM search_scopes WHERE scope = ?1";
    let mut query = db.prepare_cached(sql).or_fault()?;
    let row = query.query_row([scope.0], |row| {
        let count = |at: usize| row.get::<_, i64>(at).map(|count| count.max(0) as u64);
        Ok(Indexed { through: seq_of(row.get(0)?), messages: count(1)?, length: count(2)? })
    });
    row.optional().or_fault()
}

fn save(db: &Connection, scope: ScopeId, indexed: Indexed) -> Result<(), Error> {
    let Indexed { through, messages, length } = indexed;
    let sql =
        "INSERT OR REPLACE INTO search_scopes (scope, through, messages, length) VALUES (?1, ?2, ?3, ?4)";
    db.prepare_cached(sql)
        .and_then(|mut put| put.execute([scope.0, through.0 as i64, messages as i64, length as i64]))
        .or_fault()
        .map(drop)
}

/// Makes a new key of the tokens, encrypted, and an empty index: the old key was there for everybody to read.
pub(super) fn renew_key(db: &Connection, vault: &Vault) -> Result<(), Error> {
    let key: Vec<u8> = db.query_row("SELECT randomblob(32)", [], |row| row.get(0)).or_fault()?;
    let key = vault.seal_bytes(Bound::TokenKey, &key)?;
    db.execute("UPDATE search_key SET key = ?1 WHERE id = 1", [key]).or_fault()?;
    forget_all(db)
}

/// Reads the key of the tokens.
pub(super) fn key(db: &Db) -> Result<TokenKey, Error> {
    let mut query = db.prepare_cached("SELECT key FROM search_key WHERE id = 1").or_fault()?;
    let key: Vec<u8> = query.query_row([], |row| row.get(0)).or_fault()?;
    let key = db.unseal_bytes(Bound::TokenKey, key)?;
    let key =
        key.try_into().map_err(|_| Error::damaged("the key of the index", "it does not have 32 bytes"))?;
    Ok(TokenKey(key))
}

/// Returns the head of a scope if its index does not reach it.
pub(super) fn behind(db: &Connection, scope: &Key) -> Result<Option<Seq>, Error> {
    let Some((id, head)) = rows::find(db, scope)? else { return Ok(None) };
    let through = indexed(db, id)?.unwrap_or(Indexed::NOTHING).through;
    Ok((through < head).then_some(head))
}

/// What the index holds of a message: its tokens in the order of the text.
pub(super) fn tokens(key: &TokenKey, scope: &Key, record: &Record) -> Option<(String, u32)> {
    let text = search::said(record)?;
    let (mut tokens, mut length) = (String::new(), 0);
    let mut known = std::collections::HashMap::new();
    for term in search::terms(&text) {
        tokens.push_str(known.entry(term).or_insert_with(|| key.token(scope, term)));
        tokens.push(' ');
        length += 1;
    }
    Some((tokens, length))
}

/// Indexes some more messages of a scope, and tells how far the index goes now.
pub(super) fn step(db: &Db, scope: &Key) -> Result<Seq, Error> {
    let transaction = db.begin()?;
    let Some((id, head)) = rows::find(db, scope)? else { return Ok(Seq::ZERO) };
    let key = key(db)?;
    let mut state = indexed(db, id)?.unwrap_or(Indexed::NOTHING);
    let messages = query::messages(db, id, state.through, head, MESSAGES_MAX)?;
    state.through =
        if messages.len() < MESSAGES_MAX { head } else { messages.last().map_or(head, |record| record.seq) };
    for record in &messages {
        let Some((tokens, length)) = tokens(&key, scope, record) else { continue };
        insert(db, id, record, &tokens, length)?;
        state.messages += 1;
        state.length += u64::from(length);
    }
    save(db, id, state)?;
    transaction.commit().or_fault()?;
    Ok(state.through)
}

fn insert(db: &Connection, scope: ScopeId, record: &Record, tokens: &str, length: u32) -> Result<(), Error> {
    let id = rows::entry_id(scope, record.seq);
    db.prepare_cached("INSERT INTO search_index (rowid, terms) VALUES (?1, ?2)")
        .and_then(|mut put| put.execute(params![id, tokens]))
        .or_fault()?;
    db.prepare_cached("INSERT INTO search_messages (id, segment, length) VALUES (?1, ?2, ?3)")
        .and_then(|mut put| put.execute(params![id, record.segment.0, length]))
        .or_fault()
        .map(drop)
}

/// Takes what is about to go with its segment out of the index.
pub(super) fn forget_segment(
    db: &Db,
    scope: ScopeId,
    span: (i64, i64),
    segment: i64,
    limit: i64,
) -> Result<(), Error> {
    // A scope that was never searched has nothing to forget, and need not be read.
    if indexed(db, scope)?.is_none() {
        return Ok(());
    }
    forget(db, scope, &query::of_segment(db, span.0, span.1, segment, limit)?)
}

/// Takes messages out of the index that are about to go.
pub(super) fn forget(db: &Db, scope: ScopeId, going: &[Record]) -> Result<(), Error> {
    match take_out(db, scope, going) {
        // Where it cannot be read all of it goes: nothing may outlive its erasure, and the next search makes it anew.
        Err(Error::Damaged { .. }) => forget_all(db),
        done => done,
    }
}

fn take_out(db: &Db, scope: ScopeId, going: &[Record]) -> Result<(), Error> {
    let Some(mut state) = indexed(db, scope)? else { return Ok(()) };
    let (key, name) = (key(db)?, rows::key(db, scope)?);
    for record in going.iter().filter(|record| record.seq <= state.through) {
        let Some((tokens, length)) = tokens(&key, &name, record) else { continue };
        let id = rows::entry_id(scope, record.seq);
        let known = db
            .prepare_cached("DELETE FROM search_messages WHERE id = ?1 AND length = ?2")
            .and_then(|mut delete| delete.execute(params![id, length]))
            .or_fault()?;
        if known != 1 {
            return Err(Error::damaged("the index for searching", "a message is missing"));
        }
        db.prepare_cached("INSERT INTO search_index (search_index, rowid, terms) VALUES ('delete', ?1, ?2)")
            .and_then(|mut delete| delete.execute(params![id, tokens]))
            .or_fault()?;
        state.messages = state.messages.saturating_sub(1);
        state.length = state.length.saturating_sub(u64::from(length));
    }
    save(db, scope, state)
}

/// Empties the index. The next search makes it anew.
pub(super) fn forget_all(db: &Connection) -> Result<(), Error> {
    let all = "INSERT INTO search_index (search_index) VALUES ('delete-all');
               DELETE FROM search_messages; DELETE FROM search_scopes;";
    db.execute_batch(all).or_fault()
}

/// Reads where a token stands, in the order of the log. A token belongs to one scope.
pub(super) fn of_token(db: &Connection, token: &str) -> Result<Vec<Posting>, Error> {
    let sql = "SELECT doc, segment, length FROM search_terms CROSS JOIN search_messages ON id = doc WHERE term = ?1";
    let mut query = db.prepare_cached(sql).or_fault()?;
    let mut rows = query.query([token]).or_fault()?;
    let mut found: Vec<Posting> = Vec::new();
    while let Some(row) = rows.next().or_fault()? {
        let seq = seq_of(row.get(0).or_fault()?);
        match found.last_mut().filter(|last| last.seq == seq) {
            Some(last) => last.count += 1,
            None => found.push(Posting {
                seq,
                segment: segment::Number(small(row.get(1).or_fault()?)?),
                count: 1,
                length: small(row.get(2).or_fault()?)?,
            }),
        }
    }
    Ok(found)
}
