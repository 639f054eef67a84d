//! Compares the index for searching with the messages that it was made of.

use super::db::Db;
use super::fault::OrFault;
use super::rows::{ScopeId, entry_id};
use super::{query, search};
use crate::error::Error;
use crate::search::{Posting, said};
use rusqlite::Connection;
use segue_core::entry::{Record, Seq};
use segue_core::scope::Key;
use std::collections::BTreeMap;

/// How many messages are read at a time.
const MESSAGES_MAX: usize = 1_000;

const WRONG: &str = "the index for searching is not what the messages say";

/// Says what is wrong with the index of a scope.
pub(super) fn audit(db: &Db, scope: &Key, id: ScopeId, head: Seq) -> Result<Option<String>, Error> {
    let sound = match is_sound(db, scope, id, head) {
        // What cannot be read is not what was written; the rest of the audit says more.
        Err(Error::Damaged { .. }) => false,
        other => other?,
    };
    Ok((!sound).then(|| WRONG.to_owned()))
}

fn is_sound(db: &Db, scope: &Key, id: ScopeId, head: Seq) -> Result<bool, Error> {
    let Some(indexed) = search::indexed(db, id)? else { return Ok(true) };
    if indexed.through > head {
        return Ok(false);
    }
    let key = search::key(db)?;
    let mut expected: BTreeMap<String, Vec<Posting>> = BTreeMap::new();
    let (mut after, mut messages, mut length) = (Seq::ZERO, 0, 0);
    loop {
        let page = query::messages(db, id, after, indexed.through, MESSAGES_MAX)?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        for record in page.iter().filter(|record| said(record).is_some()) {
            let Some((tokens, terms)) = search::tokens(&key, scope, record) else { continue };
            messages += 1;
            length += u64::from(terms);
            let Record { seq, segment, .. } = *record;
            for token in tokens.split_whitespace() {
                let postings = expected.entry(token.to_owned()).or_default();
                match postings.last_mut().filter(|last| last.seq == seq) {
                    Some(last) => last.count += 1,
                    None => postings.push(Posting { seq, segment, count: 1, length: terms }),
                }
            }
        }
    }
    let rows = "SELECT count(*) FROM search_messages WHERE id BETWEEN ?1 AND ?2";
    let ends = [entry_id(id, Seq::ZERO), entry_id(id, Seq(u64::MAX))];
    let listed: i64 = db.query_row(rows, ends, |row| row.get(0)).or_fault()?;
    if (indexed.messages, indexed.length, listed) != (messages, length, messages as i64) {
        return Ok(false);
    }
    for (token, postings) in expected {
        if search::of_token(db, &token)? != postings {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Says what is wrong with the index as a whole: it holds as many terms of each scope as its messages have.
pub(super) fn audit_all(db: &Connection) -> Result<Option<String>, Error> {
    let differs = "SELECT count(*) FROM
        (SELECT doc >> 32 AS scope, count(*) AS terms FROM search_terms GROUP BY 1) AS found
        FULL JOIN (SELECT scope, length FROM search_scopes WHERE length > 0) AS known USING (scope)
        WHERE terms IS NOT length";
    match db.query_row(differs, [], |row| row.get::<_, i64>(0)).or_fault() {
        Ok(0) => Ok(None),
        Ok(_) | Err(Error::Damaged { .. }) => Ok(Some(WRONG.to_owned())),
        Err(error) => Err(error),
    }
}
