//! What was read of a session for its last context, so that the next one only has to look at what is new.
//!
//! It is a copy of the log and never more than that: it holds only as long as the scope's head is the one that it was
//! read at, or was led to by turns of this engine that did nothing but add to the session. Everything else, and every
//! other program that writes, leads to reading again.

use super::laid::Laid;
use super::layout::Layout;
use super::rolling::{Foreseen, Notes};
use super::tail::Item;
use crate::history::Told;
use segue_core::decide::Decided;
use segue_core::decision::Action;
use segue_core::entry::{Kind, Seq};
use segue_core::pins::Pins;
use segue_core::scope::Key;
use segue_core::segment;
use segue_core::session::Number;
use segue_core::span::{Span, Spans};
use segue_core::state::State;
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
    /// How many messages the last context needed.
    pub(super) needed: usize,
    /// How the last context was laid out, if the next one can be laid out like that.
    pub(super) layout: Option<Layout>,
    /// The last context, if it was laid out like that.
    pub(super) laid: Option<Laid>,
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
        let unread = view.clone();
        Self {
            state,
            session,
            view,
            carried,
            turned,
            notes: Notes::default(),
            needed: 0,
            layout: None,
            laid: None,
            items: VecDeque::new(),
            bytes: 0,
            unread,
        }
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

    /// Tells about how many bytes it takes.
    fn weight(&self) -> usize {
        let contexts =
            self.layout.iter().map(|layout| &layout.base).chain(self.laid.iter().map(|laid| &laid.context));
        let front = contexts.flat_map(|context| &context.front);
        self.bytes + front.map(|front| front.text.len()).sum::<usize>()
    }

    /// Lets go of what the last context did not need.
    fn trim(&mut self) {
        if self.items.len() > 2 * self.needed + SPARE {
            self.keep_newest(self.needed);
        }
    }

    fn keep_newest(&mut self, count: usize) {
        self.items.drain(..self.items.len().saturating_sub(count));
        self.bytes = self.items.iter().map(|item| weight(&item.told)).sum();
        let oldest = self.items.front().map_or(self.state.head.next(), |item| item.told.seq);
        self.unread = before(&self.view, oldest);
    }

    /// Takes in what an append adds, if that does nothing but add to the session.
    fn follow(mut self, added: Added) -> Option<Self> {
        let (head, view) = (self.state.head, added.next.view(self.session));
        let mut items = added.items;
        items.retain(|item| view.hold(item.segment, item.told.seq));
        let is_next = added.prior == head && added.next.latest() == Some(self.session);
        let is_all = self.view.messages() as usize + items.len() == view.messages() as usize;
        if !is_next || !is_all || !same_until(&self.view, &view, head) {
            return None;
        }
        self.bytes += items.iter().map(|item| weight(&item.told)).sum::<usize>();
        self.items.extend(items);
        let seen = |segment| view.iter().any(|span| span.segment == segment);
        self.turned =
            added.turned.filter(|(segment, _)| seen(*segment)).map(|(_, turned)| turned).or(self.turned);
        if pins(&self.state, self.session) != pins(&added.next, self.session) {
            // Something else stands in front.
            (self.layout, self.laid) = (None, None);
        }
        self.state = added.next;
        self.view = view;
        if self.bytes > SESSION_BYTES_MAX {
            self.laid = None;
            self.keep_newest(self.items.len() / 2);
        }
        self.trim();
        Some(self)
    }

    /// Lays out the next context, if that is the last one with something added. Else it finds the notes that it will
    /// need and nobody has begun.
    fn foresee(&mut self) -> Option<Foreseen> {
        let layout = self.layout.take()?;
        self.laid = self.laid.take().and_then(|laid| laid.extended(&layout, self));
        let foreseen = match &self.laid {
            Some(laid) => {
                self.needed = self.needed.max(laid.needs());
                None
            }
            None => layout.foresee(self),
        };
        self.layout = Some(layout);
        foreseen
    }
}

/// Whether older messages are all that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IsAll {
    Yes,
    No,
}

/// What an append adds to a session.
struct Added {
    prior: Seq,
    next: Arc<State>,
    items: Vec<Item>,
    /// Where it was decided, and what.
    turned: Option<(segment::Number, Turned)>,
}

/// A session as it is once an append is done.
pub(crate) struct Stepped(Recent);

impl Stepped {
    /// Gets ready for the next context. Returns the notes that it will need and nobody has begun.
    pub(crate) fn foresee(&mut self) -> Option<Foreseen> {
        self.0.foresee()
    }
}

impl Added {
    fn of(append: &Append, decided: &Decided) -> Option<Self> {
        // What is erased may be a message that is known here.
        if !append.erase.is_empty() {
            return None;
        }
        let messages = append.records.iter().filter(|record| record.kind.role().is_some());
        let decision = append.records.iter().rev().find(|record| record.kind == Kind::Decision);
        let turned = decision
            .zip(decided.about)
            .map(|(record, about)| (record.segment, Turned { action: decided.action, about }));
        let (prior, next) = (append.prior.head, Arc::clone(&append.next));
        Some(Self { prior, next, items: messages.filter_map(Item::of).collect(), turned })
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

    /// Takes out what is known about the scope of an append, to go on with it. Who reads the scope meanwhile reads it
    /// anew. Nothing if the append does more than add to the session.
    pub(crate) fn step(&self, append: &Append, decided: &Decided) -> Option<Stepped> {
        let recent = self.take(append.scope())?;
        recent.follow(Added::of(append, decided)?).map(Stepped)
    }

    /// Keeps a session as it is after an append that was done.
    pub(crate) fn keep(&self, stepped: Stepped) {
        self.put(stepped.0);
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelf {
    fn take(&mut self, scope: &Key) -> Option<Recent> {
        let taken = self.known.remove(scope)?;
        self.bytes = self.bytes.saturating_sub(taken.weight());
        Some(taken)
    }

    fn put(&mut self, recent: Recent) {
        self.take(&recent.state.scope);
        let weight = recent.weight();
        while self.bytes + weight > BYTES_MAX
            && let Some(other) = self.known.keys().next().cloned()
        {
            // Any one will do: what is wanted again is read again.
            self.take(&other);
        }
        self.bytes += weight;
        self.known.insert(recent.state.scope.clone(), recent);
    }
}

fn pins(state: &State, session: Number) -> Option<&Pins> {
    state.sessions.get(&session).map(|session| &session.pins)
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
