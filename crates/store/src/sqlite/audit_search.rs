//! Compares the index for searching with the messages that it was made of.

use super::fault::OrFault;
use super::query;
use super::rows::{ScopeId, small};
use super::search::{Indexed, indexed};
use crate::error::Error;
use crate::search::{self, Corpus, Term};
use rusqlite::Connection;
use segue_core::entry::Seq;
use std::collections::BTreeMap;

/// Where a term stands: segment, count, length.
type Places = BTreeMap<Term, BTreeMap<Seq, (u32, u32, u32)>>;

/// Says what is wrong with the index of a scope.
pub(super) fn audit(db: &Connection, scope: ScopeId, head: Seq) -> Result<Option<String>, Error> {
    let sound = match is_sound(db, scope, head) {
        // What cannot be read is not what was written; the rest of the audit says more.
        Err(Error::Damaged { .. }) => false,
        other => other?,
    };
    Ok((!sound).then(|| "the index for searching is not what the messages say".to_owned()))
}

fn is_sound(db: &Connection, scope: ScopeId, head: Seq) -> Result<bool, Error> {
    let Some(Indexed { through, corpus }) = indexed(db, scope)? else {
        let strays = "SELECT EXISTS (SELECT 1 FROM postings WHERE scope = ?1)
                      OR EXISTS (SELECT 1 FROM terms WHERE scope = ?1)";
        let strays: bool = db.query_row(strays, [scope.0], |row| row.get(0)).or_fault()?;
        return Ok(!strays);
    };
    let (expected, counted) = made(db, scope, through)?;
    if through > head || counted != corpus || stored(db, scope)? != expected {
        return Ok(false);
    }
    let counts = expected.into_iter().map(|(term, messages)| (term, messages.len() as i64));
    let mut query = db.prepare("SELECT term, messages FROM terms WHERE scope = ?1").or_fault()?;
    let terms = query
        .query_map([scope.0], |row| Ok((Term(row.get::<_, i64>(0)? as u64), row.get::<_, i64>(1)?)))
        .or_fault()?;
    Ok(terms.collect::<Result<BTreeMap<_, _>, _>>().or_fault()? == counts.collect())
}

/// Makes the index anew.
fn made(db: &Connection, scope: ScopeId, through: Seq) -> Result<(Places, Corpus), Error> {
    let (mut places, mut corpus) = (Places::new(), Corpus::default());
    for record in query::messages(db, scope, Seq::ZERO, through, usize::MAX)? {
        let Some(text) = search::said(&record) else { continue };
        let (counts, length) = search::counted(&text);
        corpus.messages += 1;
        corpus.length += u64::from(length);
        for (term, count) in counts {
            places.entry(term).or_default().insert(record.seq, (record.segment.0, count, length));
        }
    }
    Ok((places, corpus))
}

fn stored(db: &Connection, scope: ScopeId) -> Result<Places, Error> {
    let sql = "SELECT term, seq, segment, count, length FROM postings WHERE scope = ?1";
    let mut query = db.prepare(sql).or_fault()?;
    let mut rows = query.query([scope.0]).or_fault()?;
    let mut places = Places::new();
    while let Some(row) = rows.next().or_fault()? {
        let int = |at: usize| row.get::<_, i64>(at).or_fault();
        let place = (small(int(2)?)?, small(int(3)?)?, small(int(4)?)?);
        places.entry(Term(int(0)? as u64)).or_default().insert(Seq(int(1)? as u64), place);
    }
    Ok(places)
}
