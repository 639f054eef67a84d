//! The tail of a session: its newest messages, read back page by page, as far as they are needed.

use super::budget::Budget;
use super::cache::{ContextCache, IsAll};
use super::clip::clip;
use super::rolling::{self, Range};
use crate::error::Error;
use crate::history::{StoredMessage, stored_message};
use crate::scope::session_profile::voice;
use crate::words::{Language, quoted};
use segue_core::entry::{Record, Seq};
use segue_core::segment;
use segue_signals::summary::Gleaned;
use segue_store::{Reading, Store, Take};
use std::sync::{Arc, OnceLock};

/// How many messages are read at once.
const PAGE: usize = 64;

/// A message of the tail.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    /// The segment that holds it.
    pub(crate) segment: segment::Number,
    /// What was said, clipped where it is too long. A summary that was carried over is quoted, wherever it stands.
    pub(crate) stored: Arc<StoredMessage>,
    /// A summary that was carried over, as it was written.
    carried: Option<Arc<str>>,
    /// What is found out about it when that is first asked for.
    known: Arc<Known>,
}

/// What is known about a message.
#[derive(Debug, Default)]
struct Known {
    /// What a summary takes from it.
    gleaned: OnceLock<Option<Gleaned>>,
    /// What it costs, and by which counter.
    cost: OnceLock<(&'static str, u64)>,
}

/// The newest messages of a session.
pub(super) struct Tail<'a> {
    cache: &'a mut ContextCache,
    budget: &'a Budget<'a>,
    /// The most that one message may cost.
    tokens_max: u64,
    /// The place behind the newest message.
    end: usize,
    /// What those that were taken cost, newest first.
    costs: Vec<u64>,
    /// Those that were clipped, with their places.
    clipped: Vec<(usize, Item)>,
    /// The places of those that are shown without what the model thought.
    unthought: Vec<usize>,
}

/// Whether there was enough in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Filled {
    Yes,
    No,
}

impl<'a> Tail<'a> {
    pub(super) fn new(cache: &'a mut ContextCache, budget: &'a Budget<'a>, tokens_max: u64) -> Self {
        let end = cache.view.messages() as usize;
        let costs = Vec::with_capacity(cache.needed + 2);
        Self { cache, budget, tokens_max, end, costs, clipped: Vec::new(), unthought: Vec::new() }
    }

    /// Takes messages until those before `end` cost more than the room is, or there are no more.
    pub(super) async fn fill(&mut self, store: &dyn Store, end: usize, room: u64) -> Result<(), Error> {
        while self.fill_from_memory(end, room) == Filled::No {
            if !self.page(store).await? {
                break;
            }
        }
        Ok(())
    }

    /// Takes messages as far as they were read before.
    pub(super) fn fill_from_memory(&mut self, end: usize, room: u64) -> Filled {
        let mut cost: u64 = self.costs.iter().skip(self.end.saturating_sub(end)).sum();
        while cost <= room {
            let Some(older) = self.take() else { return Filled::No };
            if self.from() < end {
                cost += older;
            }
        }
        Filled::Yes
    }

    async fn page(&mut self, store: &dyn Store) -> Result<bool, Error> {
        let unread = self.cache.unread();
        if unread.is_empty() {
            return Ok(false);
        }
        let reading = Reading::messages(unread.clone(), Take::Newest(PAGE));
        let records = store.read(&self.cache.state.scope, &reading).await?;
        let is_all = if records.len() < PAGE { IsAll::Yes } else { IsAll::No };
        self.cache.add_older(records.iter().filter_map(Item::of).collect(), is_all);
        Ok(!records.is_empty())
    }

    /// Takes the next older message and tells what it costs.
    fn take(&mut self) -> Option<u64> {
        let item = self.cache.nth_newest(self.costs.len())?;
        let is_in_front = self.cache.carried.as_ref().is_some_and(|carried| carried.seq == item.stored.seq);
        let mut cost = item.cost(self.budget);
        if cost > self.tokens_max
            && let Some(message) = &item.stored.message
        {
            let clipped = clip(self.budget, message, self.tokens_max);
            cost = self.budget.message(&clipped);
            if clipped.reasoning.len() < message.reasoning.len() {
                self.unthought.push(self.from().saturating_sub(1));
            }
            let text = clipped.text.clone();
            let stored = Arc::new(StoredMessage { text, message: Some(clipped), ..*item.stored });
            let carried = item.carried.clone();
            let item = Item { segment: item.segment, stored, carried, known: Arc::default() };
            self.clipped.push((self.from().saturating_sub(1), item));
        }
        let cost = if is_in_front { 0 } else { cost };
        self.costs.push(cost);
        Some(cost)
    }

    /// Returns the session that is read.
    pub(super) fn cache(&self) -> &ContextCache {
        self.cache
    }

    /// Returns the notes on the messages from one place to before another.
    pub(super) fn notes(&mut self, language: Language, from: usize, to: usize) -> Arc<str> {
        let write = |tail: &Self| rolling::write(language, tail.items(from, to));
        let Some(range) = self.range(language, from, to) else { return write(self) };
        if let Some(known) = self.cache.notes.get(range) {
            return known;
        }
        let notes = write(self);
        self.cache.notes.put(range, Arc::clone(&notes));
        notes
    }

    /// Names the messages from one place to before another, unless notes on them are not the session's alone: how a
    /// message is clipped is a matter of the budget.
    fn range(&self, language: Language, from: usize, to: usize) -> Option<Range> {
        let (first, last) = (self.item(from)?.stored.seq, self.item(to.checked_sub(1)?)?.stored.seq);
        let is_clipped = self.clipped.iter().any(|(place, _)| (from..to).contains(place));
        (!is_clipped).then_some(Range { first, last, language })
    }

    /// Counts the messages from a place on that are shown without what the model thought.
    pub(super) fn unthought_from(&self, place: usize) -> usize {
        self.unthought.iter().filter(|at| **at >= place).count()
    }

    /// Returns the place of the oldest message that was taken.
    pub(super) fn from(&self) -> usize {
        self.end.saturating_sub(self.costs.len())
    }

    /// Returns the place behind the newest message.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// Returns the costs of the messages that were taken and come before a place, oldest first.
    pub(super) fn costs_before(&self, end: usize) -> Vec<u64> {
        let behind = self.end.saturating_sub(end);
        self.costs.iter().skip(behind).rev().copied().collect()
    }

    /// Returns what those that were taken cost, newest first.
    pub(super) fn costs(&self) -> &[u64] {
        &self.costs
    }

    /// Tells whether all that were taken are shown as they were said.
    pub(super) fn is_unclipped(&self) -> bool {
        self.clipped.is_empty()
    }

    /// Returns how many messages were taken.
    pub(super) fn taken(&self) -> usize {
        self.costs.len()
    }

    /// Returns what the messages from a place on cost.
    pub(super) fn cost_from(&self, place: usize) -> u64 {
        self.costs.iter().take(self.end.saturating_sub(place)).sum()
    }

    /// Returns the messages from one place to before another, oldest first, as far as they were taken.
    pub(super) fn items(&self, from: usize, to: usize) -> impl Iterator<Item = &Item> {
        (from.max(self.from())..to.min(self.end)).filter_map(|place| self.item(place))
    }

    /// Returns a message that was taken.
    pub(super) fn item(&self, place: usize) -> Option<&Item> {
        let behind = self.end.checked_sub(place + 1).filter(|behind| *behind < self.costs.len())?;
        let clipped = self.clipped.iter().find(|(clipped, _)| *clipped == place);
        clipped.map(|(_, item)| item).or_else(|| self.cache.nth_newest(behind))
    }

    /// Finds the place of a message that was taken.
    pub(super) fn place_of(&self, seq: Seq) -> Option<usize> {
        (self.from()..self.end)
            .rev()
            .find(|place| self.item(*place).is_some_and(|item| item.stored.seq == seq))
    }
}

impl Item {
    /// Takes a message out of its entry; nothing if it is none.
    pub(crate) fn of(record: &Record) -> Option<Self> {
        let mut stored = stored_message(record)?;
        let mut carried = None;
        if let Some(message) = &mut stored.message
            && let Some(from) = message.carried_from
        {
            // After an undo or a merge it stands among the messages: it is no instruction there either.
            let quoted = quoted::carry_over(from, &message.text);
            carried = Some(Arc::from(std::mem::replace(&mut message.text, quoted.clone())));
            stored.text = quoted;
        }
        Some(Self { segment: record.segment, stored: Arc::new(stored), carried, known: Arc::default() })
    }

    /// Returns what a summary takes from the message.
    pub(super) fn gleaned(&self) -> Option<&Gleaned> {
        let read = || {
            let message = self.stored.message.as_ref()?;
            let text = self.carried.as_deref().unwrap_or(&message.text);
            Gleaned::of(voice(self.stored.role, message), text)
        };
        self.known.gleaned.get_or_init(read).as_ref()
    }

    /// Returns what the message costs. It is counted once, where that says the same every time.
    pub(crate) fn cost(&self, budget: &Budget<'_>) -> u64 {
        let Some(message) = &self.stored.message else { return 0 };
        // Which reasoning is shown is a matter of the model.
        let Some(name) = budget.counter.name().filter(|_| message.reasoning.is_empty()) else {
            return budget.message(message);
        };
        match self.known.cost.get_or_init(|| (name, budget.message(message))) {
            (counted, cost) if *counted == name => *cost,
            _ => budget.message(message),
        }
    }
}
