//! What was read of a session for its last context, so that the next one only has to look at what is new.
//!
//! It is a copy of the log and never more than that: it holds only as long as the scope's head is the one that it was
//! read at, or was led to by turns of this engine that did nothing but add to the session. Everything else, and every
//! other program that writes, leads to reading again.

use super::rolling::Notes;
use super::tail::Item;
use crate::history::Told;
use segue_core::decide::Decided;
use segue_core::decision::Action;
use segue_core::entry::{Kind, Seq};
use segue_core::scope::Key;
use segue_core::segment;
use segue_core::session::Number;
use segue_core::span::{Span, Spans};
use segue_core::state::State;
use segue_signals::Classifier;
use segue_store::Append;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// About how many bytes are kept of all sessions together.
const BYTES_MAX: usize = 64 << 20;

/// About how many bytes are kept of one session.
const SESSION_BYTES_MAX: usize = 4 << 20;

/// What a message takes besides its text, in bytes, about.
const MESSAGE_BYTES: usize = 256;

/// How many messages more than a context needed are kept.
const SPARE: usize = 128;

/// The summary that a session began with.
#[derive(Debug, Clone)]
pub(super) struct CarriedOver {
    pub(super) seq: Seq,
    pub(super) segment: segment::Number,
    pub(super) text: String,
    pub(super) from: Number,
}

/// What was decided last, and about which message.
#[derive(Debug, Clone, Copy)]
pub(super) struct Turned {
    pub(super) action: Action,
    pub(super) about: Seq,
}

/// The latest session of a scope, as far as it was read.
#[derive(Debug)]
pub(super) struct Recent {
    /// The scope, as it was when this was true.
    pub(super) state: Arc<State>,
    /// The session.
    pub(super) session: Number,
    /// What the session sees.
    pub(super) view: Spans,
    /// The summary that the session began with.
    pub(super) carried: Option<CarriedOver>,
    /// What was decided last.
    pub(super) turned: Option<Turned>,
    /// The notes on what is not shown.
    pub(super) notes: Notes,
    /// The newest messages, newest last.
    items: VecDeque<Item>,
    bytes: usize,
    /// What was not read yet.
    unread: Spans,
}

impl Recent {
    /// Begins with nothing but what stands in front.
    pub(super) fn new(
        state: Arc<State>,
        session: Number,
        carried: Option<CarriedOver>,
        turned: Option<Turned>,
    ) -> Self {
        let view = state.view(session);
        let (unread, notes) = (view.clone(), Notes::default());
        Self { state, session, view, carried, turned, notes, items: VecDeque::new(), bytes: 0, unread }
    }

    /// Returns what was not read yet.
    pub(super) fn unread(&self) -> &Spans {
        &self.unread
    }

    /// Returns a message that was read, counted from the newest, which is 0.
    pub(super) fn nth_newest(&self, nth: usize) -> Option<&Item> {
        self.items.iter().nth_back(nth)
    }

    /// Takes in older messages, oldest first.
    pub(super) fn add_older(&mut self, older: Vec<Item>, is_all: IsAll) {
        self.unread = match (older.first(), is_all) {
            (Some(oldest), IsAll::No) => before(&self.unread, oldest.told.seq),
            (Some(_), IsAll::Yes) | (None, _) => Spans::default(),
        };
        for item in older.into_iter().rev() {
            self.bytes += weight(&item.told);
            self.items.push_front(item);
        }
    }

    /// Lets go of what a context that needed so many messages did not need.
    pub(super) fn trim(&mut self, needed: usize) {
        if self.items.len() <= 2 * needed + SPARE {
            return;
        }
        self.keep_newest(needed);
    }

    fn keep_newest(&mut self, count: usize) {
        self.items.drain(..self.items.len().saturating_sub(count));
        self.bytes = self.items.iter().map(|item| weight(&item.told)).sum();
        let oldest = self.items.front().map_or(self.state.head.next(), |item| item.told.seq);
        self.unread = before(&self.view, oldest);
    }

    /// Takes in a step, if it did nothing but add to the session.
    fn follow(&mut self, step: Step) -> Result<(), Elsewhere> {
        let (head, view) = (self.state.head, step.next.view(self.session));
        let mut added = step.added?;
        added.retain(|item| view.hold(item.segment, item.told.seq));
        let is_next = step.prior == head && step.next.latest() == Some(self.session);
        let is_all = self.view.messages() as usize + added.len() == view.messages() as usize;
        if !is_next || !is_all || !same_until(&self.view, &view, head) {
            return Err(Elsewhere);
        }
        self.bytes += added.iter().map(|item| weight(&item.told)).sum::<usize>();
        self.items.extend(added);
        let seen = |segment| view.iter().any(|span| span.segment == segment);
        self.turned =
            step.turned.filter(|(segment, _)| seen(*segment)).map(|(_, turned)| turned).or(self.turned);
        self.state = step.next;
        self.view = view;
        if self.bytes > SESSION_BYTES_MAX {
            self.keep_newest(self.items.len() / 2);
        }
        Ok(())
    }
}

/// Whether older messages are all that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IsAll {
    Yes,
    No,
}

/// The session went on in another way than by what was added.
struct Elsewhere;

/// What an append adds.
pub(crate) struct Step {
    prior: Seq,
    next: Arc<State>,
    added: Result<Vec<Item>, Elsewhere>,
    /// Where it was decided, and what.
    turned: Option<(segment::Number, Turned)>,
    summing: Summing,
}

/// Whether a session is longer than what is shown of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Summing {
    /// So every message will be summed up one day.
    Begun,
    /// It may never be.
    NotYet,
}

impl Step {
    /// Reads what was added as a summary will need it, if there is to be one.
    pub(crate) fn read(&self, classifier: &Classifier) {
        if let (Summing::Begun, Ok(added)) = (self.summing, &self.added) {
            for item in added {
                item.gleaned(classifier);
            }
        }
    }

    fn of(append: &Append, decided: &Decided, summing: Summing) -> Self {
        let added = match append.erase.as_slice() {
            [] => Ok(append.records.iter().filter_map(Item::of).collect()),
            // What is erased may be a message that is known here.
            [_, ..] => Err(Elsewhere),
        };
        let decision = append.records.iter().rev().find(|record| record.kind == Kind::Decision);
        let turned = decision
            .zip(decided.about)
            .map(|(record, about)| (record.segment, Turned { action: decided.action, about }));
        Self { prior: append.prior.head, next: Arc::clone(&append.next), added, turned, summing }
    }
}

/// What was read of the latest sessions of scopes.
#[derive(Debug, Default)]
pub(crate) struct Recents(Mutex<Shelf>);

#[derive(Debug, Default)]
struct Shelf {
    known: HashMap<Key, Recent>,
    bytes: usize,
}

impl Recents {
    /// Takes out what is known about a scope, which may be out of date. Who reads the scope meanwhile reads it anew.
    pub(super) fn take(&self, scope: &Key) -> Option<Recent> {
        self.shelf().take(scope)
    }

    /// Keeps what was read, unless something newer is known by now.
    pub(super) fn put(&self, recent: Recent) {
        let mut shelf = self.shelf();
        let known = shelf.known.get(&recent.state.scope);
        if known.is_none_or(|known| known.state.head <= recent.state.head) {
            shelf.put(recent);
        }
    }

    /// Tells what an append would add, if anything is known about its scope.
    pub(crate) fn step(&self, append: &Append, decided: &Decided) -> Option<Step> {
        let summing = match self.shelf().known.get(append.scope())?.notes.is_empty() {
            true => Summing::NotYet,
            false => Summing::Begun,
        };
        Some(Step::of(append, decided, summing))
    }

    /// Takes in an append that was done. Whatever did more than add to the session makes it unknown.
    pub(crate) fn follow(&self, step: Step) {
        let mut shelf = self.shelf();
        let Some(mut recent) = shelf.take(&step.next.scope) else { return };
        if recent.follow(step).is_ok() {
            shelf.put(recent);
        }
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelf {
    fn take(&mut self, scope: &Key) -> Option<Recent> {
        let taken = self.known.remove(scope)?;
        self.bytes = self.bytes.saturating_sub(taken.bytes);
        Some(taken)
    }

    fn put(&mut self, recent: Recent) {
        self.take(&recent.state.scope);
        while self.bytes + recent.bytes > BYTES_MAX
            && let Some(other) = self.known.keys().next().cloned()
        {
            // Any one will do: what is wanted again is read again.
            self.take(&other);
        }
        self.bytes += recent.bytes;
        self.known.insert(recent.state.scope.clone(), recent);
    }
}

/// About how many bytes a message takes; its text is there twice.
fn weight(told: &Told) -> usize {
    let calls = told.message.iter().flat_map(|message| &message.tool_calls);
    MESSAGE_BYTES + 2 * told.text.len() + calls.map(|call| call.arguments.len()).sum::<usize>()
}

/// Returns what a view sees before an entry. Its messages are not counted anew: it is only read by.
fn before(view: &Spans, seq: Seq) -> Spans {
    let earlier = view.iter().filter(|span| span.first < seq);
    earlier
        .fold(Spans::default(), |all, span| all.with(Span { last: span.last.min(seq.previous()), ..*span }))
}

/// Tells whether two views see the same entries up to one.
fn same_until(a: &Spans, b: &Spans, seq: Seq) -> bool {
    let part = |span: &Span| (span.first <= seq).then(|| (span.segment, span.first, span.last.min(seq)));
    a.iter().filter_map(part).eq(b.iter().filter_map(part))
}
