//! Postings: where the terms of a query stand. A store gives them, and ranking is made of nothing else.

use super::terms::Term;
use super::{counted, said};
use segue_core::entry::{Record, Seq};
use segue_core::segment;

/// How many postings of a term are looked at; the newest ones.
pub(crate) const POSTINGS_MAX: usize = 4_000;

/// A term in a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Posting {
    /// The message.
    pub seq: Seq,
    /// Its segment.
    pub segment: segment::Number,
    /// How often the message has the term; a store may say 1 where more than [`POSTINGS_MAX`] messages have it.
    pub count: u32,
    /// How many terms the message has.
    pub length: u32,
}

/// The messages that have a term.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TermPostings {
    /// How many messages have it.
    pub messages: u64,
    /// The newest of them in the order of the log, at most [`POSTINGS_MAX`]. Of a common term a store may leave those out that no
    /// rarer term of the query has.
    pub newest: Vec<Posting>,
}

impl TermPostings {
    /// Takes postings in the order of the log, however many.
    pub fn of(mut all: Vec<Posting>) -> Self {
        let messages = all.len() as u64;
        all.drain(..all.len().saturating_sub(POSTINGS_MAX));
        Self { messages, newest: all }
    }
}

/// Where the terms of a query stand in a scope.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Postings {
    /// How many messages the scope has, of those that can be found.
    pub messages: u64,
    /// How many terms they have together.
    pub length: u64,
    /// For each term, in the order that they were asked for.
    pub terms: Vec<TermPostings>,
}

/// Counts postings of some terms over messages, for stores that have no index.
#[derive(Debug)]
pub(super) struct Counting<'a> {
    asked: &'a [Term],
    found: Vec<Vec<Posting>>,
    messages: u64,
    length: u64,
}

impl<'a> Counting<'a> {
    pub(super) fn new(asked: &'a [Term]) -> Self {
        Self { asked, found: vec![Vec::new(); asked.len()], messages: 0, length: 0 }
    }

    /// Takes an entry in; entries come in the order of the log.
    pub(super) fn add(&mut self, record: &Record) {
        let Some(text) = said(record) else { return };
        let (counts, length) = counted(&text);
        self.messages += 1;
        self.length += u64::from(length);
        for (term, found) in self.asked.iter().zip(&mut self.found) {
            if let Some(count) = counts.get(term) {
                let Record { seq, segment, .. } = *record;
                found.push(Posting { seq, segment, count: *count, length });
            }
        }
    }

    pub(super) fn finish(self) -> Postings {
        let terms = self.found.into_iter().map(TermPostings::of).collect();
        Postings { messages: self.messages, length: self.length, terms }
    }
}
