//! Searching a scope by its index.

use super::fault::OrFault;
use super::index::{self, Indexed, Run, indexed};
use super::query;
use super::rows::{self, ScopeId, entry_id};
use crate::error::Error;
use crate::search::{self, Corpus, Hit, Posting, Postings, Query, Term, Visit};
use rusqlite::Connection;
use segue_core::entry::Seq;
use segue_core::scope::Key;

/// The index of a scope.
struct Index<'a> {
    db: &'a Connection,
    scope: ScopeId,
    runs: Vec<Run>,
}

impl Postings for Index<'_> {
    fn corpus(&self) -> Result<Corpus, Error> {
        Ok(indexed(self.db, self.scope)?.unwrap_or(Indexed::NOTHING).corpus)
    }

    fn messages(&self, term: Term) -> Result<u64, Error> {
        self.runs.iter().map(|run| index::count(self.db, self.scope, run.begin, term)).sum()
    }

    fn newest(&self, term: Term, visit: &mut dyn FnMut(Posting) -> Visit) -> Result<(), Error> {
        for run in self.runs.iter().rev() {
            for posting in index::places(self.db, self.scope, run.begin, term)?.into_iter().rev() {
                if visit(posting) == Visit::Enough {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    fn among(
        &self,
        term: Term,
        messages: &[Seq],
        visit: &mut dyn FnMut(usize, Posting),
    ) -> Result<(), Error> {
        for (at, run) in self.runs.iter().enumerate() {
            let from = messages.partition_point(|seq| *seq < run.begin);
            let next = self.runs.get(at + 1);
            let to = next.map_or(messages.len(), |next| messages.partition_point(|seq| *seq < next.begin));
            if from == to {
                continue;
            }
            let postings = index::places(self.db, self.scope, run.begin, term)?;
            search::meet(&postings, &messages[from..to], &mut |at, posting| visit(from + at, posting));
        }
        Ok(())
    }
}

/// Searches a scope by its index, which must be up to date.
pub(super) fn search(db: &Connection, scope: &Key, query: &Query) -> Result<Vec<Hit>, Error> {
    // One transaction, so that what is found is still there when it is read.
    let snapshot = db.unchecked_transaction().or_fault()?;
    let Some((id, _)) = rows::find(&snapshot, scope)? else { return Ok(Vec::new()) };
    let index = Index { db: &snapshot, scope: id, runs: index::runs(&snapshot, id)? };
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
