//! Postings in memory, of the terms of one query: for stores that keep no index.

use super::rank::{Corpus, Postings, Visit, meet};
use super::terms::{Term, Weighed};
use super::{Posting, counted, said};
use crate::error::Error;
use segue_core::entry::{Record, Seq};
use std::collections::HashMap;

/// Postings of some terms, in the order of the log.
#[derive(Debug, Default)]
pub(crate) struct Pile {
    corpus: Corpus,
    postings: HashMap<Term, Vec<Posting>>,
}

impl Pile {
    /// Makes a pile for the terms of a query.
    pub(crate) fn of(asked: &[Weighed]) -> Self {
        let postings = asked.iter().map(|asked| (asked.term, Vec::new())).collect();
        Self { corpus: Corpus::default(), postings }
    }

    /// Takes an entry in; entries come in the order of the log.
    pub(crate) fn add(&mut self, record: &Record) {
        let Some(text) = said(record) else { return };
        let (counts, length) = counted(&text);
        self.corpus.messages += 1;
        self.corpus.length += u64::from(length);
        for (term, count) in counts {
            if let Some(postings) = self.postings.get_mut(&term) {
                postings.push(Posting { seq: record.seq, segment: record.segment, count, length });
            }
        }
    }
}

impl Postings for Pile {
    fn corpus(&self) -> Result<Corpus, Error> {
        Ok(self.corpus)
    }

    fn messages(&self, term: Term) -> Result<u64, Error> {
        Ok(self.postings.get(&term).map_or(0, |postings| postings.len() as u64))
    }

    fn newest(&self, term: Term, visit: &mut dyn FnMut(Posting) -> Visit) -> Result<(), Error> {
        for posting in self.postings.get(&term).into_iter().flatten().rev() {
            if visit(*posting) == Visit::Enough {
                break;
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
        if let Some(postings) = self.postings.get(&term) {
            meet(postings, messages, visit);
        }
        Ok(())
    }
}
