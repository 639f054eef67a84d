//! The tail of a session: its newest messages, read back page by page, as far as they are needed.

use super::budget::Budget;
use super::clip::clip;
use super::recent::{IsAll, Recent};
use super::rolling::{self, Range};
use crate::error::Error;
use crate::history::{Told, told};
use crate::mind::voice;
use crate::words::Language;
use segue_core::entry::{Record, Seq};
use segue_core::segment;
use segue_signals::Classifier;
use segue_signals::summary::Gleaned;
use segue_store::{Reading, Store, Take};
use std::sync::{Arc, OnceLock};

/// How many messages are read at once.
const PAGE: usize = 64;

/// A message of the tail.
#[derive(Debug, Clone)]
pub(super) struct Item {
    /// The segment that holds it.
    pub(super) segment: segment::Number,
    /// What was said, clipped where it is too long.
    pub(super) told: Arc<Told>,
    /// What a summary takes from it, once one was written.
    gleaned: Arc<OnceLock<Option<Gleaned>>>,
}

/// The newest messages of a session.
pub(super) struct Tail<'a> {
    store: &'a dyn Store,
    recent: &'a mut Recent,
    budget: &'a Budget<'a>,
    /// The most that one message may cost.
    tokens_max: u64,
    /// The place of the oldest message that was taken.
    from: usize,
    /// What was taken, newest first.
    items: Vec<Item>,
    costs: Vec<u64>,
    /// The places of those that were clipped.
    clipped: Vec<usize>,
    /// The places of those that are shown without what the model thought.
    unthought: Vec<usize>,
}

impl<'a> Tail<'a> {
    pub(super) fn new(
        store: &'a dyn Store,
        recent: &'a mut Recent,
        budget: &'a Budget<'a>,
        tokens_max: u64,
    ) -> Self {
        let from = recent.view.messages() as usize;
        Self {
            store,
            recent,
            budget,
            tokens_max,
            from,
            items: Vec::new(),
            costs: Vec::new(),
            clipped: Vec::new(),
            unthought: Vec::new(),
        }
    }

    /// Takes messages until those before `end` cost more than the room is, or there are no more.
    pub(super) async fn fill(&mut self, end: usize, room: u64) -> Result<(), Error> {
        let mut cost: u64 = self.costs.iter().skip(self.end().saturating_sub(end)).sum();
        while cost <= room {
            let Some(item) = self.recent.nth_newest(self.items.len()).cloned() else {
                if self.page().await? { continue } else { return Ok(()) }
            };
            let older = self.take(item);
            if self.from < end {
                cost += older;
            }
        }
        Ok(())
    }

    async fn page(&mut self) -> Result<bool, Error> {
        let unread = self.recent.unread();
        if unread.is_empty() {
            return Ok(false);
        }
        let reading = Reading { take: Take::Newest(PAGE), ..Reading::messages(unread.clone()) };
        let records = self.store.read(&self.recent.state.scope, &reading).await?;
        let is_all = if records.len() < PAGE { IsAll::Yes } else { IsAll::No };
        self.recent.add_older(records.iter().filter_map(Item::of).collect(), is_all);
        Ok(!records.is_empty())
    }

    /// Takes a message and tells what it costs.
    fn take(&mut self, mut item: Item) -> u64 {
        let is_in_front = self.recent.carried.as_ref().is_some_and(|carried| carried.seq == item.told.seq);
        self.from = self.from.saturating_sub(1);
        let mut cost = 0;
        if let Some(message) = &item.told.message {
            cost = self.budget.message(message);
            if cost > self.tokens_max {
                let clipped = clip(self.budget, message, self.tokens_max);
                cost = self.budget.message(&clipped);
                let text = clipped.text.clone();
                self.clipped.push(self.from);
                if clipped.reasoning.len() < message.reasoning.len() {
                    self.unthought.push(self.from);
                }
                item.told = Arc::new(Told { text, message: Some(clipped), ..*item.told });
                item.gleaned = Arc::default();
            }
        }
        let cost = if is_in_front { 0 } else { cost };
        self.items.push(item);
        self.costs.push(cost);
        cost
    }

    /// Returns the session that is read.
    pub(super) fn recent(&self) -> &Recent {
        self.recent
    }

    /// Returns the notes on the messages from one place to before another.
    pub(super) fn notes(
        &mut self,
        classifier: &Classifier,
        language: Language,
        from: usize,
        to: usize,
    ) -> Arc<str> {
        let ends = self.item(from).zip(to.checked_sub(1).and_then(|last| self.item(last)));
        let range = ends.map(|(first, last)| Range { first: first.told.seq, last: last.told.seq, language });
        // How a message is clipped is a matter of the budget: then the notes are not the session's alone.
        let is_clipped = self.clipped.iter().any(|place| (from..to).contains(place));
        let range = range.filter(|_| !is_clipped);
        if let Some(notes) = range.and_then(|range| self.recent.notes.get(range)) {
            return notes;
        }
        let notes = rolling::write(classifier, language, self.items(from, to));
        if let Some(range) = range {
            self.recent.notes.put(range, Arc::clone(&notes));
        }
        notes
    }

    /// Counts the messages from a place on that are shown without what the model thought.
    pub(super) fn unthought_from(&self, place: usize) -> usize {
        self.unthought.iter().filter(|at| **at >= place).count()
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

    /// Returns how many messages were taken.
    pub(super) fn taken(&self) -> usize {
        self.items.len()
    }

    /// Returns what the messages from a place on cost.
    pub(super) fn cost_from(&self, place: usize) -> u64 {
        self.costs.iter().take(self.end().saturating_sub(place)).sum()
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

impl Item {
    /// Takes a message out of its entry; nothing if it is none.
    pub(super) fn of(record: &Record) -> Option<Self> {
        Some(Self { segment: record.segment, told: Arc::new(told(record)?), gleaned: Arc::default() })
    }

    /// Returns what a summary takes from the message.
    pub(super) fn gleaned(&self, classifier: &Classifier) -> Option<&Gleaned> {
        let read = || {
            let message = self.told.message.as_ref()?;
            Gleaned::of(classifier, voice(self.told.role, message), &message.text)
        };
        self.gleaned.get_or_init(read).as_ref()
    }
}
