//! Where the terms of a query stand, read so that a common word costs little more than a rare one.
//!
//! FTS5 tells quickly how many messages have a term, and less quickly which. What else is to be known of a message (its segment, how
//! long it is) is in a table of its own. So the rarest terms come first, and messages are looked up only until there are enough:
//! those of common terms count where a rarer term led to them.

use super::db::Db;
use super::fault::OrFault;
use super::rows::{self, ScopeId, entry_id, seq_of, small};
use super::search::{self, Indexed};
use crate::error::Error;
use crate::search::{POSTINGS_MAX, Posting, Postings, Term, TermPostings};
use rusqlite::params;
use segue_core::entry::Seq;
use segue_core::scope::Key;
use segue_core::segment;
use std::collections::BTreeSet;

/// How many messages are looked up; ranking weighs fewer.
const LOOKED_UP_MAX: usize = 2_500;

/// A term of a query, as far as it was read.
struct Found {
    /// How many messages have it.
    messages: u64,
    /// The newest of them in the order of the log, with how often they have it.
    newest: Vec<(Seq, u32)>,
}

/// Reads where the terms of a query stand in a scope, whose index must be up to date.
pub(super) fn postings(db: &Db, scope: &Key, terms: &[Term]) -> Result<Postings, Error> {
    let counts =
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.search_counts USING fts5vocab(main, search_index, row)";
    db.prepare_cached(counts).and_then(|mut create| create.execute([])).or_fault()?;
    // One transaction, so that all is of one moment.
    let _snapshot = db.unchecked_transaction().or_fault()?;
    let Some((id, _)) = rows::find(db, scope)? else {
        return Ok(Postings { terms: vec![TermPostings::default(); terms.len()], ..Postings::default() });
    };
    let (key, state) = (search::key(db)?, search::indexed(db, id)?.unwrap_or(Indexed::NOTHING));
    let found: Vec<Found> =
        terms.iter().map(|term| find(db, &key.token(scope, *term))).collect::<Result<_, _>>()?;
    let looked_up = look_up(db, id, &wanted(&found))?;
    let of_term =
        |found: Found| TermPostings { messages: found.messages, newest: meet(&found.newest, &looked_up) };
    let terms = found.into_iter().map(of_term).collect();
    Ok(Postings { messages: state.messages, length: state.length, terms })
}

/// Finds the messages that have a token. A token belongs to one scope.
fn find(db: &Db, token: &str) -> Result<Found, Error> {
    let mut count = db.prepare_cached("SELECT doc FROM temp.search_counts WHERE term = ?1").or_fault()?;
    let mut rows = count.query([token]).or_fault()?;
    let messages = match rows.next().or_fault()? {
        Some(row) => row.get::<_, i64>(0).or_fault()?.unsigned_abs(),
        None => return Ok(Found { messages: 0, newest: Vec::new() }),
    };
    let newest = match messages <= POSTINGS_MAX as u64 {
        true => counted(db, token)?,
        false => newest(db, token)?,
    };
    Ok(Found { messages, newest })
}

/// Reads all messages that have a token, and how often they have it.
fn counted(db: &Db, token: &str) -> Result<Vec<(Seq, u32)>, Error> {
    let mut query = db.prepare_cached("SELECT doc FROM search_terms WHERE term = ?1").or_fault()?;
    let mut rows = query.query([token]).or_fault()?;
    let mut found: Vec<(Seq, u32)> = Vec::new();
    while let Some(row) = rows.next().or_fault()? {
        let seq = seq_of(row.get(0).or_fault()?);
        match found.last_mut().filter(|(last, _)| *last == seq) {
            Some((_, count)) => *count += 1,
            None => found.push((seq, 1)),
        }
    }
    Ok(found)
}

/// Reads the newest messages that have a token. How often they have it is not asked: a word that so many have says little.
fn newest(db: &Db, token: &str) -> Result<Vec<(Seq, u32)>, Error> {
    let sql = "SELECT rowid FROM search_index WHERE search_index MATCH ?1 ORDER BY rowid DESC LIMIT ?2";
    let mut query = db.prepare_cached(sql).or_fault()?;
    let mut rows = query.query(params![format!("\"{token}\""), POSTINGS_MAX as i64]).or_fault()?;
    let mut found = Vec::with_capacity(POSTINGS_MAX);
    while let Some(row) = rows.next().or_fault()? {
        found.push((seq_of(row.get(0).or_fault()?), 1));
    }
    found.reverse();
    Ok(found)
}

/// Chooses the messages to look up: the newest of the rarest terms.
fn wanted(found: &[Found]) -> BTreeSet<Seq> {
    let mut by_rarity: Vec<&Found> = found.iter().collect();
    by_rarity.sort_by_key(|found| found.messages);
    let seqs = by_rarity.iter().flat_map(|found| found.newest.iter().rev()).map(|(seq, _)| *seq);
    let mut wanted = BTreeSet::new();
    for seq in seqs {
        if wanted.len() == LOOKED_UP_MAX {
            break;
        }
        wanted.insert(seq);
    }
    wanted
}

/// Looks up messages, in the order of the log.
fn look_up(db: &Db, scope: ScopeId, wanted: &BTreeSet<Seq>) -> Result<Vec<Posting>, Error> {
    let mut query =
        db.prepare_cached("SELECT segment, length FROM search_messages WHERE id = ?1").or_fault()?;
    let mut found = Vec::with_capacity(wanted.len());
    for seq in wanted {
        let mut rows = query.query([entry_id(scope, *seq)]).or_fault()?;
        if let Some(row) = rows.next().or_fault()? {
            let segment = segment::Number(small(row.get(0).or_fault()?)?);
            found.push(Posting { seq: *seq, segment, count: 0, length: small(row.get(1).or_fault()?)? });
        }
    }
    Ok(found)
}

/// Returns the postings of messages that were looked up; both are in the order of the log.
fn meet(counts: &[(Seq, u32)], looked_up: &[Posting]) -> Vec<Posting> {
    let mut known = looked_up.iter().peekable();
    let of_message = |(seq, count): &(Seq, u32)| {
        while known.next_if(|posting| posting.seq < *seq).is_some() {}
        known.next_if(|posting| posting.seq == *seq).map(|posting| Posting { count: *count, ..*posting })
    };
    counts.iter().filter_map(of_message).collect()
}
