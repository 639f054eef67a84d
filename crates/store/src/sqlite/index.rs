//! Making the index for searching.
//!
//! A turn writes nothing here. A search first brings the index of its scope up to date, in steps between which turns
//! get their chance; what is erased or deleted leaves the index in the same transaction.
//!
//! Each step writes a run: what some messages in a row say, in the order of its terms and therefore from one end to
//! the other. Small runs are merged, so that a search has few of them to look at.

use super::fault::OrFault;
use super::query;
use super::rows::{self, ScopeId, seq_of};
use crate::error::Error;
use crate::search::{self, Bucket, Corpus, Posting, Slot, Term};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};
use segue_core::entry::{Record, Seq};
use segue_core::scope::Key;
use std::collections::BTreeMap;

/// How many messages are indexed in one transaction, so that no turn waits for long.
const MESSAGES_MAX: usize = 8_192;

/// How many messages a run has at most that is merged from others.
const RUN_MESSAGES_MAX: i64 = 8_192;

/// How far the index of a scope goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Indexed {
    pub through: Seq,
    pub corpus: Corpus,
}

impl Indexed {
    pub(super) const NOTHING: Self = Self { through: Seq::ZERO, corpus: Corpus { messages: 0, length: 0 } };
}

/// Some messages in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Run {
    /// The entry that it begins with; it ends before the next run.
    pub begin: Seq,
    pub messages: i64,
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

/// Lists the runs of a scope, in order.
pub(super) fn runs(db: &Connection, scope: ScopeId) -> Result<Vec<Run>, Error> {
    let mut query =
        db.prepare_cached("SELECT run, messages FROM runs WHERE scope = ?1 ORDER BY run").or_fault()?;
    let run = |row: &rusqlite::Row<'_>| Ok(Run { begin: seq_of(row.get(0)?), messages: row.get(1)? });
    query.query_map([scope.0], run).and_then(Iterator::collect).or_fault()
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
    let begin = Seq(state.through.0 + 1);
    state.through =
        if messages.len() < MESSAGES_MAX { head } else { messages.last().map_or(head, |record| record.seq) };
    let mut found: Vec<(Term, Posting)> = Vec::new();
    let before = state.corpus.messages;
    for record in &messages {
        let Some(text) = search::said(record) else { continue };
        let (counts, length) = search::counted(&text);
        state.corpus.messages += 1;
        state.corpus.length += u64::from(length);
        let posting = |count| Posting { seq: record.seq, segment: record.segment, count, length };
        found.extend(counts.into_iter().map(|(term, count)| (term, posting(count))));
    }
    if state.corpus.messages > before {
        found.sort_unstable_by_key(|(term, posting)| (*term, posting.seq));
        write(&transaction, id, Run { begin, messages: (state.corpus.messages - before) as i64 }, &found)?;
        merge(&transaction, id)?;
    }
    save(&transaction, id, state)?;
    transaction.commit().or_fault()?;
    Ok(state.through)
}

/// Writes a run; its terms come in order, so that the tree only grows at one place.
fn write(db: &Connection, scope: ScopeId, run: Run, found: &[(Term, Posting)]) -> Result<(), Error> {
    db.prepare_cached("INSERT INTO runs (scope, run, messages) VALUES (?1, ?2, ?3)")
        .and_then(|mut put| put.execute(params![scope.0, run.begin.0 as i64, run.messages]))
        .or_fault()?;
    let mut postings: Vec<Posting> = Vec::with_capacity(found.len());
    postings.extend(found.iter().map(|(_, posting)| *posting));
    let mut rest = postings.as_slice();
    let terms = found.chunk_by(|(a, _), (b, _)| a == b).map(|of| {
        let (postings, others) = rest.split_at(of.len());
        rest = others;
        (of[0].0, postings)
    });
    put(db, scope, run.begin, search::fill(run.begin, terms))
}

fn put(
    db: &Connection,
    scope: ScopeId,
    run: Seq,
    buckets: impl Iterator<Item = Bucket>,
) -> Result<(), Error> {
    let mut put = db
        .prepare_cached(
            "INSERT INTO postings (scope, run, term, directory, places) VALUES (?1, ?2, ?3, ?4, ?5)",
        )
        .or_fault()?;
    for Bucket { first, directory, places } in buckets {
        put.execute(params![scope.0, run.0 as i64, first.0 as i64, directory, places]).or_fault()?;
    }
    Ok(())
}

/// Merges the last runs of a scope while the one before them is not much larger than they are together. So there
/// are few runs, and each message was written as often as the logarithm of their number says.
fn merge(db: &Connection, scope: ScopeId) -> Result<(), Error> {
    let mut runs = runs(db, scope)?;
    let Some(last) = runs.pop() else { return Ok(()) };
    let mut merged = vec![last];
    let mut messages = last.messages;
    while let Some(before) = runs.pop()
        && before.messages < 2 * messages
        && before.messages + messages <= RUN_MESSAGES_MAX
    {
        messages += before.messages;
        merged.push(before);
    }
    if merged.len() == 1 {
        return Ok(());
    }
    merged.reverse();
    let mut found: Vec<(Term, Posting)> = Vec::new();
    for run in &merged {
        for bucket in buckets(db, scope, run.begin)? {
            for (term, postings) in bucket.unpacked(run.begin).ok_or_else(damaged)? {
                found.extend(postings.into_iter().map(|posting| (term, posting)));
            }
        }
        drop_run(db, scope, run.begin)?;
    }
    // Stable: what one run has of a term stays behind what the run before has of it.
    found.sort_by_key(|(term, _)| *term);
    write(db, scope, Run { begin: merged[0].begin, messages }, &found)
}

/// Reads all that stands in a run, in the order of its terms.
pub(super) fn buckets(db: &Connection, scope: ScopeId, run: Seq) -> Result<Vec<Bucket>, Error> {
    let mut query = db
        .prepare_cached(
            "SELECT term, directory, places FROM postings WHERE scope = ?1 AND run = ?2 ORDER BY term",
        )
        .or_fault()?;
    let mut rows = query.query(params![scope.0, run.0 as i64]).or_fault()?;
    let mut buckets = Vec::new();
    while let Some(row) = rows.next().or_fault()? {
        buckets.push(bucket(row)?);
    }
    Ok(buckets)
}

fn bucket(row: &rusqlite::Row<'_>) -> Result<Bucket, Error> {
    Ok(Bucket {
        first: Term(row.get::<_, i64>(0).or_fault()? as u64),
        directory: row.get(1).or_fault()?,
        places: row.get(2).or_fault()?,
    })
}

/// Finds the bucket that has a term, if any has it.
const BUCKET: &str = "SELECT term, directory, places FROM postings
     WHERE scope = ?1 AND run = ?2 AND term <= ?3 ORDER BY term DESC LIMIT 1";

fn drop_run(db: &Connection, scope: ScopeId, run: Seq) -> Result<(), Error> {
    for sql in [
        "DELETE FROM postings WHERE scope = ?1 AND run = ?2",
        "DELETE FROM runs WHERE scope = ?1 AND run = ?2",
    ] {
        db.prepare_cached(sql)
            .and_then(|mut delete| delete.execute(params![scope.0, run.0 as i64]))
            .or_fault()?;
    }
    Ok(())
}

fn drop_all(db: &Connection, scope: ScopeId) -> Result<(), Error> {
    for sql in [
        "DELETE FROM postings WHERE scope = ?1",
        "DELETE FROM runs WHERE scope = ?1",
        "DELETE FROM indexed WHERE scope = ?1",
    ] {
        db.execute(sql, [scope.0]).or_fault()?;
    }
    Ok(())
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
    match take_out(db, scope, going) {
        // Where it cannot be read all of it goes: nothing may outlive its erasure, and the next search makes it anew.
        Err(Error::Damaged { .. }) => drop_all(db, scope),
        done => done,
    }
}

fn take_out(db: &Connection, scope: ScopeId, going: &[Record]) -> Result<(), Error> {
    let Some(mut state) = indexed(db, scope)? else { return Ok(()) };
    let mut runs = runs(db, scope)?;
    // By run and term, so that each bucket is written once, however many messages go.
    let mut gone: BTreeMap<Seq, BTreeMap<Term, Vec<Seq>>> = BTreeMap::new();
    for record in going.iter().filter(|record| record.seq <= state.through) {
        let Some(text) = search::said(record) else { continue };
        let at = runs.partition_point(|run| run.begin <= record.seq);
        let run = at.checked_sub(1).and_then(|at| runs.get_mut(at)).ok_or_else(damaged)?;
        run.messages -= 1;
        let (counts, length) = search::counted(&text);
        state.corpus.messages = state.corpus.messages.saturating_sub(1);
        state.corpus.length = state.corpus.length.saturating_sub(u64::from(length));
        let gone = gone.entry(run.begin).or_default();
        counts.into_keys().for_each(|term| gone.entry(term).or_default().push(record.seq));
    }
    for (run, terms) in gone {
        remove(db, scope, run, terms)?;
    }
    for run in runs {
        db.prepare_cached("UPDATE runs SET messages = ?3 WHERE scope = ?1 AND run = ?2 AND messages <> ?3")
            .and_then(|mut update| update.execute(params![scope.0, run.begin.0 as i64, run.messages]))
            .or_fault()?;
    }
    save(db, scope, state)
}

/// Takes messages out of the buckets of a run.
fn remove(
    db: &Connection,
    scope: ScopeId,
    run: Seq,
    mut gone: BTreeMap<Term, Vec<Seq>>,
) -> Result<(), Error> {
    while let Some(term) = gone.keys().next().copied() {
        let mut query = db.prepare_cached(BUCKET).or_fault()?;
        let mut rows = query.query(params![scope.0, run.0 as i64, term.0 as i64]).or_fault()?;
        let bucket = bucket(rows.next().or_fault()?.ok_or_else(damaged)?)?;
        drop(rows);
        let mut left = bucket.unpacked(run).ok_or_else(damaged)?;
        for (term, postings) in &mut left {
            if let Some(seqs) = gone.remove(term) {
                postings.retain(|posting| !seqs.contains(&posting.seq));
            }
        }
        if gone.remove(&term).is_some() {
            return Err(damaged());
        }
        left.retain(|(_, postings)| !postings.is_empty());
        // The name of a bucket is its first term, which may be gone.
        db.prepare_cached("DELETE FROM postings WHERE scope = ?1 AND run = ?2 AND term = ?3")
            .and_then(|mut delete| delete.execute(params![scope.0, run.0 as i64, bucket.first.0 as i64]))
            .or_fault()?;
        put(
            db,
            scope,
            run,
            search::fill(run, left.iter().map(|(term, postings)| (*term, postings.as_slice()))),
        )?;
    }
    Ok(())
}

/// Tells how many messages of a run have a term.
pub(super) fn count(db: &Connection, scope: ScopeId, run: Seq, term: Term) -> Result<u64, Error> {
    Ok(slot(db, scope, run, term, |slot, _| Some(slot.messages))?.unwrap_or(0))
}

/// Reads where a term stands in a run.
pub(super) fn places(db: &Connection, scope: ScopeId, run: Seq, term: Term) -> Result<Vec<Posting>, Error> {
    let postings =
        |slot: Slot, row: &rusqlite::Row<'_>| slot.postings(run, row.get_ref(2).ok()?.as_blob().ok()?);
    Ok(slot(db, scope, run, term, postings)?.unwrap_or_default())
}

/// Takes something from the slot of a term; nothing if no message of the run has it.
fn slot<T>(
    db: &Connection,
    scope: ScopeId,
    run: Seq,
    term: Term,
    take: impl FnOnce(Slot, &rusqlite::Row<'_>) -> Option<T>,
) -> Result<Option<T>, Error> {
    let mut query = db.prepare_cached(BUCKET).or_fault()?;
    let mut rows = query.query(params![scope.0, run.0 as i64, term.0 as i64]).or_fault()?;
    let Some(row) = rows.next().or_fault()? else { return Ok(None) };
    let first = Term(row.get::<_, i64>(0).or_fault()? as u64);
    let directory = row.get_ref(1).or_fault()?.as_blob().map_err(|_| damaged())?;
    for slot in search::slots(first, directory) {
        let slot = slot.ok_or_else(damaged)?;
        if slot.term == term {
            return take(slot, row).ok_or_else(damaged).map(Some);
        }
        if slot.term > term {
            break;
        }
    }
    Ok(None)
}

fn damaged() -> Error {
    Error::damaged("the index for searching", "it cannot be read")
}
