//! Full-text search over the messages of one scope, in English and Chinese.
//!
//! Cutting text into terms and ranking are here and nowhere else: a store only gives postings, so that every store gives
//! the same hits. The log of a store that has no index is scanned.

mod asking;
mod mixed;
mod postings;
mod rank;
mod stem;
mod terms;
mod token;
mod visibility;

pub(crate) use postings::POSTINGS_MAX;
pub use postings::{Posting, Postings, TermPostings};
pub use rank::Matches;
pub use terms::{Term, places, share, terms};
pub use token::TokenKey;
pub use visibility::{Reach, Visibility};

use crate::error::Error;
use crate::store::{Log, Store};
use postings::Counting;
use segue_core::entry::{Body, Record, Seq};
use segue_core::scope::Key;
use segue_core::session::Number;
use std::collections::HashMap;
use std::sync::Arc;

/// How many hits a search gives at most, whatever is asked.
pub(crate) const HITS_MAX: usize = 200;

/// How many entries a scan reads at once.
const PAGE: usize = 1_000;

/// What is looked for.
#[derive(Debug, Clone)]
pub struct Query {
    /// The words, as a person typed them.
    pub text: String,
    /// Which messages may be found, and whose they are.
    pub visibility: Arc<Visibility>,
    /// How many hits, at most.
    pub limit: usize,
}

/// A message that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The message.
    pub record: Record,
    /// The session that it belongs to; the oldest one where several share it.
    pub session: Number,
    /// How well it and its session match, from 0 to 1.
    pub score: f64,
}

/// Returns what an entry says for searching; nothing if it is no message, was erased, or repeats another session.
pub fn said(record: &Record) -> Option<String> {
    record.kind.role()?;
    match record.body() {
        // What was carried over is found where it was said.
        Ok(Body::Message(_, message)) if message.carried_from.is_none() => Some(message.text),
        _ => None,
    }
}

/// Counts the terms of a text, and how many there are in all.
fn counted(text: &str) -> (HashMap<Term, u32>, u32) {
    let mut counts = HashMap::new();
    let mut length = 0_u32;
    for term in terms::terms(text) {
        *counts.entry(term).or_insert(0) += 1;
        length += 1;
    }
    (counts, length)
}

/// Finds the messages of a scope that match a query, the best first; never one that was erased, or that the query's sight
/// does not hold. All stores give the same hits.
///
/// The log of a store without an index is scanned, which takes as long as the log is.
pub async fn find(store: &dyn Store, scope: &Key, query: &Query) -> Result<Vec<Hit>, Error> {
    let found = matches(store, scope, &query.text, &query.visibility).await?;
    let mut hits = Vec::new();
    for ranked in rank::rank(&found, &query.visibility, query.limit.min(HITS_MAX)) {
        // Someone may have erased it meanwhile.
        if let Some(record) = store.get(scope, ranked.seq).await?
            && said(&record).is_some()
        {
            hits.push(Hit { record, session: ranked.session, score: ranked.score });
        }
    }
    Ok(hits)
}

/// Weighs the messages of a scope that have words of a query and are in sight.
pub async fn matches(
    store: &dyn Store,
    scope: &Key,
    text: &str,
    visibility: &Visibility,
) -> Result<Matches, Error> {
    let asked = terms::asked(text);
    let wanted: Vec<Term> = asked.iter().map(|asked| asked.term).collect();
    let postings = match store.search() {
        Some(index) => index.postings(scope, &wanted).await?,
        None => scan(store, scope, &wanted).await?,
    };
    Ok(rank::matches(&postings, &asked, visibility))
}

/// Reads where terms stand in the log of a scope, page by page.
pub async fn scan<S: Log + ?Sized>(store: &S, scope: &Key, wanted: &[Term]) -> Result<Postings, Error> {
    let mut counting = Counting::new(wanted);
    let mut after = Seq::ZERO;
    loop {
        let page = store.tail(scope, after, PAGE).await?;
        let Some(last) = page.last() else { break };
        after = last.seq;
        page.iter().for_each(|record| counting.add(record));
    }
    Ok(counting.finish())
}
