//! Compares the index for searching with the messages that it was made of.

use super::fault::OrFault;
use super::index::{Indexed, Run, buckets, indexed, runs};
use super::query;
use super::rows::ScopeId;
use crate::error::Error;
use crate::search::{self, Corpus, Posting, Term};
use rusqlite::Connection;
use segue_core::entry::Seq;
use std::collections::BTreeMap;

/// Where terms stand.
type Places = BTreeMap<Term, Vec<Posting>>;

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
    let runs = runs(db, scope)?;
    let strays = "SELECT EXISTS (SELECT 1 FROM postings WHERE scope = ?1
                  AND run NOT IN (SELECT run FROM runs WHERE scope = ?1))";
    if db.query_row(strays, [scope.0], |row| row.get(0)).or_fault()? {
        return Ok(false);
    }
    let Some(Indexed { through, corpus }) = indexed(db, scope)? else { return Ok(runs.is_empty()) };
    if through > head {
        return Ok(false);
    }
    let mut all = Corpus::default();
    let first = runs.first().map_or(Seq(through.0 + 1), |run| run.begin);
    // No message stands before the first run.
    if made(db, scope, (Seq::ZERO, Seq(first.0.saturating_sub(1))))?.1 != Corpus::default() {
        return Ok(false);
    }
    for (at, run) in runs.iter().enumerate() {
        let last = runs.get(at + 1).map_or(through, |next| Seq(next.begin.0.saturating_sub(1)));
        let (expected, counted) = made(db, scope, (Seq(run.begin.0.saturating_sub(1)), last))?;
        all.messages += counted.messages;
        all.length += counted.length;
        if counted.messages as i64 != run.messages || !is_sound_run(db, scope, *run, expected)? {
            return Ok(false);
        }
    }
    Ok(all == corpus)
}

/// Makes what stands in the index for the messages behind an entry and up to another.
fn made(db: &Connection, scope: ScopeId, (after, through): (Seq, Seq)) -> Result<(Places, Corpus), Error> {
    let (mut places, mut corpus) = (Places::new(), Corpus::default());
    for record in query::messages(db, scope, after, through, usize::MAX)? {
        let Some(text) = search::said(&record) else { continue };
        let (counts, length) = search::counted(&text);
        corpus.messages += 1;
        corpus.length += u64::from(length);
        for (term, count) in counts {
            let posting = Posting { seq: record.seq, segment: record.segment, count, length };
            places.entry(term).or_default().push(posting);
        }
    }
    Ok((places, corpus))
}

fn is_sound_run(db: &Connection, scope: ScopeId, run: Run, expected: Places) -> Result<bool, Error> {
    let mut found = Vec::new();
    for bucket in buckets(db, scope, run.begin)? {
        let Some(places) = bucket.unpacked(run.begin) else { return Ok(false) };
        // Bytes too: there are several ways to write a number, and one that is ours.
        let again = search::fill(run.begin, places.iter().map(|(term, of)| (*term, of.as_slice())));
        if !again.eq([bucket]) {
            return Ok(false);
        }
        found.extend(places);
    }
    Ok(found.into_iter().eq(expected))
}
