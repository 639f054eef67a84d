//! The tail of a session: its newest messages, read back page by page, as far as they are needed.

use super::budget::Budget;
use super::clip::clip;
use crate::error::Error;
use crate::history::{Told, told};
use segue_core::entry::{Record, Seq};
use segue_core::scope;
use segue_core::segment;
use segue_core::span::{Span, Spans};
use segue_store::{Reading, Store, Take};
use std::borrow::Cow;

/// How many messages are read at once.
const PAGE: usize = 64;

/// A message of the tail.
#[derive(Debug, Clone)]
pub(super) struct Item {
    /// The segment that holds it.
    pub(super) segment: segment::Number,
    /// What was said, clipped where it is too long.
    pub(super) told: Told,
}

/// The newest messages of a session.
pub(super) struct Tail<'a> {
    store: &'a dyn Store,
    scope: &'a scope::Key,
    budget: &'a Budget<'a>,
    /// The most that one message may cost.
    tokens_max: u64,
    /// A message that stands in front of all others and costs nothing here.
    in_front: Option<Seq>,
    /// What was not read yet.
    unread: Spans,
    /// The place of the oldest message that was read.
    from: usize,
    /// What was read, newest first.
    items: Vec<Item>,
    costs: Vec<u64>,
}

impl<'a> Tail<'a> {
    pub(super) fn new(
        store: &'a dyn Store,
        scope: &'a scope::Key,
        view: Spans,
        budget: &'a Budget<'a>,
        tokens_max: u64,
        in_front: Option<Seq>,
    ) -> Self {
        let from = view.messages() as usize;
        Self {
            store,
            scope,
            budget,
            tokens_max,
            in_front,
            unread: view,
            from,
            items: Vec::new(),
            costs: Vec::new(),
        }
    }

    /// Reads back until the messages before `end` cost more than the room is, or there are no more.
    pub(super) async fn fill(&mut self, end: usize, room: u64) -> Result<(), Error> {
        while self.cost_before(end) <= room && self.page().await? {}
        Ok(())
    }

    async fn page(&mut self) -> Result<bool, Error> {
        if self.unread.is_empty() {
            return Ok(false);
        }
        let reading = Reading { take: Take::Newest(PAGE), ..Reading::messages(self.unread.clone()) };
        let records = self.store.read(self.scope, &reading).await?;
        self.unread = match records.first() {
            Some(oldest) if records.len() == PAGE => before(&self.unread, oldest.seq),
            Some(_) | None => Spans::default(),
        };
        for record in records.iter().rev() {
            self.take(record);
        }
        Ok(!records.is_empty())
    }

    fn take(&mut self, record: &Record) {
        let Some(mut told) = told(record) else { return };
        let clipped =
            told.message.as_ref().and_then(|message| match clip(self.budget, message, self.tokens_max) {
                Cow::Owned(clipped) => Some(clipped),
                Cow::Borrowed(_) => None,
            });
        if let Some(clipped) = clipped {
            told.text.clone_from(&clipped.text);
            told.message = Some(clipped);
        }
        let free = self.in_front == Some(told.seq);
        let cost = told.message.as_ref().filter(|_| !free).map_or(0, |message| self.budget.message(message));
        self.items.push(Item { segment: record.segment, told });
        self.costs.push(cost);
        self.from = self.from.saturating_sub(1);
    }

    /// Returns the place of the oldest message that was read.
    pub(super) fn from(&self) -> usize {
        self.from
    }

    /// Returns the place behind the newest message.
    pub(super) fn end(&self) -> usize {
        self.from + self.items.len()
    }

    /// Returns the costs of the messages that were read and come before a place, oldest first.
    pub(super) fn costs_before(&self, end: usize) -> Vec<u64> {
        let behind = self.end().saturating_sub(end);
        self.costs.iter().skip(behind).rev().copied().collect()
    }

    fn cost_before(&self, end: usize) -> u64 {
        self.costs.iter().skip(self.end().saturating_sub(end)).sum()
    }

    /// Returns the messages from one place to before another, oldest first, as far as they were read.
    pub(super) fn items(&self, from: usize, to: usize) -> impl Iterator<Item = &Item> {
        let behind = self.end().saturating_sub(to);
        let count = to.saturating_sub(from.max(self.from));
        self.items.iter().skip(behind).take(count).collect::<Vec<_>>().into_iter().rev()
    }

    /// Returns a message that was read.
    pub(super) fn item(&self, place: usize) -> Option<&Item> {
        self.items(place, place + 1).next()
    }

    /// Finds the place of a message that was read.
    pub(super) fn place_of(&self, seq: Seq) -> Option<usize> {
        let behind = self.items.iter().position(|item| item.told.seq == seq)?;
        self.end().checked_sub(behind + 1)
    }
}

/// Returns what a view sees before an entry. Its messages are not counted anew: it is only read by.
fn before(view: &Spans, seq: Seq) -> Spans {
    let earlier = view.iter().filter(|span| span.first < seq);
    earlier
        .fold(Spans::default(), |all, span| all.with(Span { last: span.last.min(seq.previous()), ..*span }))
}
