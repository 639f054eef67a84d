//! Searching, and the index that it goes by.
//!
//! A turn writes nothing here. A search first brings the index of its scope up to date, in steps between which turns
//! get their chance; what is erased or deleted leaves the index in the same transaction.

use super::fault::OrFault;
use super::query;
use super::rows::{self, ScopeId, entry_id, seq_of, small};
use crate::error::Error;
use crate::search::{self, Corpus, Hit, Posting, Postings, Query, Term, Visit};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use segue_core::entry::{Record, Seq};
use segue_core::scope::Key;
use segue_core::segment;
use std::collections::BTreeMap;

/// How many messages are indexed in one transaction, so that no turn waits for long.
const MESSAGES_MAX: usize = 256;

/// How far the index of a scope goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Indexed {
    pub through: Seq,
    pub corpus: Corpus,
}

impl Indexed {
    const NOTHING: Self = Self { through: Seq::ZERO, corpus: Corpus { messages: 0, length: 0 } };
}

/// Tells how far the index of a scope goes; nothing if it was never searched.
pub(super) fn indexed(db: &Connection, scope: ScopeId) -> Result<Option<Indexed>, Error> {
    let mut query =
        db.prepare_cached("SELECT through, messages, length FROM indexed WHERE scope = ?1").or_fault()?;
    let row = query.query_row([scope.0], |row| {
        let corpus = Corpus {
            messages: row.get::<_, i64>(1)?.max(0) as u64,
            length: row.get::<_, i64>(2)?.max(0) as u64,
        };
        Ok(Indexed { through: seq_of(row.get(0)?), corpus })
    });
    row.optional().or_fault()
}

fn save(db: &Connection, scope: ScopeId, indexed: Indexed) -> Result<(), Error> {
    let Indexed { through, corpus } = indexed;
    db.prepare_cached(
        "INSERT OR REPLACE INTO indexed (scope, through, messages, length) VALUES (?1, ?2, ?3, ?4)",
    )
    .and_then(|mut put| {
        put.execute(params![scope.0, through.0 as i64, corpus.messages as i64, corpus.length as i64])
    })
    .or_fault()
    .map(drop)
}

/// Returns the head of a scope if its index does not reach it.
pub(super) fn behind(db: &Connection, scope: &Key) -> Result<Option<Seq>, Error> {
    let Some((id, head)) = rows::find(db, scope)? else { return Ok(None) };
    let through = indexed(db, id)?.map_or(Seq::ZERO, |indexed| indexed.through);
    Ok((through < head).then_some(head))
}

/// Indexes some more messages of a scope, and tells how far the index goes now.
pub(super) fn step(db: &mut Connection, scope: &Key) -> Result<Seq, Error> {
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate).or_fault()?;
    let Some((id, head)) = rows::find(&transaction, scope)? else { return Ok(Seq::ZERO) };
    let mut state = indexed(&transaction, id)?.unwrap_or(Indexed::NOTHING);
    let messages = query::messages(&transaction, id, state.through, head, MESSAGES_MAX)?;
    state.through =
        if messages.len() < MESSAGES_MAX { head } else { messages.last().map_or(head, |record| record.seq) };
    // In the order of the tree, so that its pages are touched once.
    let mut postings: BTreeMap<Term, Vec<Posting>> = BTreeMap::new();
    for record in &messages {
        let Some(text) = search::said(record) else { continue };
        let (counts, length) = search::counted(&text);
        state.corpus.messages += 1;
        state.corpus.length += u64::from(length);
        for (term, count) in counts {
            let posting = Posting { seq: record.seq, segment: record.segment, count, length };
            postings.entry(term).or_default().push(posting);
        }
    }
    for (term, postings) in postings {
        insert(&transaction, id, term, &postings)?;
    }
    save(&transaction, id, state)?;
    transaction.commit().or_fault()?;
    Ok(state.through)
}

fn insert(db: &Connection, scope: ScopeId, term: Term, postings: &[Posting]) -> Result<(), Error> {
    let mut insert = db
        .prepare_cached(
            "INSERT INTO postings (scope, term, seq, segment, count, length) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
        )
        .or_fault()?;
    for posting in postings {
        let Posting { seq, segment, count, length } = *posting;
        insert.execute(params![scope.0, term.0 as i64, seq.0 as i64, segment.0, count, length]).or_fault()?;
    }
    db.prepare_cached(
        "INSERT INTO terms (scope, term, messages) VALUES (?1, ?2, ?3)
         ON CONFLICT (scope, term) DO UPDATE SET messages = messages + excluded.messages",
    )
    .and_then(|mut add| add.execute(params![scope.0, term.0 as i64, postings.len() as i64]))
    .or_fault()
    .map(drop)
}

/// Takes what is about to go with its segment out of the index.
pub(super) fn forget_segment(
    db: &Connection,
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
pub(super) fn forget(db: &Connection, scope: ScopeId, going: &[Record]) -> Result<(), Error> {
    let Some(mut state) = indexed(db, scope)? else { return Ok(()) };
    for record in going.iter().filter(|record| record.seq <= state.through) {
        let Some(text) = search::said(record) else { continue };
        let (counts, length) = search::counted(&text);
        state.corpus.messages = state.corpus.messages.saturating_sub(1);
        state.corpus.length = state.corpus.length.saturating_sub(u64::from(length));
        for term in counts.into_keys() {
            remove(db, scope, term, record.seq)?;
        }
    }
    save(db, scope, state)
}

fn remove(db: &Connection, scope: ScopeId, term: Term, seq: Seq) -> Result<(), Error> {
    db.prepare_cached("DELETE FROM postings WHERE scope = ?1 AND term = ?2 AND seq = ?3")
        .and_then(|mut delete| delete.execute(params![scope.0, term.0 as i64, seq.0 as i64]))
        .or_fault()?;
    db.prepare_cached("UPDATE terms SET messages = messages - 1 WHERE scope = ?1 AND term = ?2")
        .and_then(|mut update| update.execute(params![scope.0, term.0 as i64]))
        .or_fault()?;
    db.prepare_cached("DELETE FROM terms WHERE scope = ?1 AND term = ?2 AND messages <= 0")
        .and_then(|mut delete| delete.execute(params![scope.0, term.0 as i64]))
        .or_fault()
        .map(drop)
}

/// The index of a scope.
struct Index<'a> {
    db: &'a Connection,
    scope: ScopeId,
}

impl Postings for Index<'_> {
    fn corpus(&self) -> Result<Corpus, Error> {
        Ok(indexed(self.db, self.scope)?.unwrap_or(Indexed::NOTHING).corpus)
    }

    fn messages(&self, term: Term) -> Result<u64, Error> {
        let mut query =
            self.db.prepare_cached("SELECT messages FROM terms WHERE scope = ?1 AND term = ?2").or_fault()?;
        let found = query.query_row(params![self.scope.0, term.0 as i64], |row| row.get::<_, i64>(0));
        Ok(found.optional().or_fault()?.map_or(0, |messages| messages.max(0) as u64))
    }

    fn newest(&self, term: Term, visit: &mut dyn FnMut(Posting) -> Visit) -> Result<(), Error> {
        let mut query = self
            .db
            .prepare_cached(
                "SELECT seq, segment, count, length FROM postings WHERE scope = ?1 AND term = ?2 ORDER BY seq DESC",
            )
            .or_fault()?;
        let mut rows = query.query(params![self.scope.0, term.0 as i64]).or_fault()?;
        while let Some(row) = rows.next().or_fault()? {
            if visit(posting(row)?) == Visit::Enough {
                break;
            }
        }
        Ok(())
    }

    fn find(&self, term: Term, seq: Seq) -> Result<Option<Posting>, Error> {
        let mut query = self
            .db
            .prepare_cached(
                "SELECT seq, segment, count, length FROM postings WHERE scope = ?1 AND term = ?2 AND seq = ?3",
            )
            .or_fault()?;
        let mut rows = query.query(params![self.scope.0, term.0 as i64, seq.0 as i64]).or_fault()?;
        rows.next().or_fault()?.map(posting).transpose()
    }
}

fn posting(row: &rusqlite::Row<'_>) -> Result<Posting, Error> {
    let int = |at: usize| row.get::<_, i64>(at).or_fault();
    Ok(Posting {
        seq: seq_of(int(0)?),
        segment: segment::Number(small(int(1)?)?),
        count: small(int(2)?)?,
        length: small(int(3)?)?,
    })
}

/// Searches a scope by its index, which must be up to date.
pub(super) fn search(db: &Connection, scope: &Key, query: &Query) -> Result<Vec<Hit>, Error> {
    // One transaction, so that what is found is still there when it is read.
    let snapshot = db.unchecked_transaction().or_fault()?;
    let Some((id, _)) = rows::find(&snapshot, scope)? else { return Ok(Vec::new()) };
    let index = Index { db: &snapshot, scope: id };
    let asked = search::asked(&query.text);
    let ranked = search::rank(&index, &asked, &query.sight, query.limit.min(search::HITS_MAX))?;
    let mut hits = Vec::with_capacity(ranked.len());
    for ranked in ranked {
        if let Some(record) = query::entry(&snapshot, entry_id(id, ranked.seq))?
            && search::said(&record).is_some()
        {
            hits.push(Hit { record, session: ranked.session, score: ranked.score });
        }
    }
    Ok(hits)
}
