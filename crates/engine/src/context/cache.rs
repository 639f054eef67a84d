//! The context cache: what was read of the latest session for its last context, so that the next one only has to look
//! at what is new.
//!
//! It is a part of the scope's memory and holds for the head of that. Turns that do nothing but add to the session move
//! it forward; everything else leads to reading again.

use super::last::LastContext;
use super::layout::Layout;
use super::rolling::Notes;
use super::tail::Item;
use crate::history::StoredMessage;
use crate::scope::{Added, Change};
use segue_core::decision::Action;
use segue_core::entry::Seq;
use segue_core::pins::Pins;
use segue_core::segment;
use segue_core::session::Number;
use segue_core::span::{Span, Spans};
use segue_core::state::State;
use std::collections::VecDeque;
use std::sync::Arc;

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
pub(crate) struct Turned {
    pub(crate) action: Action,
    pub(crate) about: Seq,
}

/// The latest session of a scope, as far as it was read.
#[derive(Debug)]
pub(crate) struct ContextCache {
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
    pub(super) last: Option<LastContext>,
    /// The newest messages, newest last.
    items: VecDeque<Item>,
    bytes: usize,
    /// What was not read yet.
    unread: Spans,
}

impl ContextCache {
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
            last: None,
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
            (Some(oldest), IsAll::No) => before(&self.unread, oldest.stored.seq),
            (Some(_), IsAll::Yes) | (None, _) => Spans::default(),
        };
        for item in older.into_iter().rev() {
            self.bytes += weight(&item.stored);
            self.items.push_front(item);
        }
    }

    /// Tells about how many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        let contexts =
            self.layout.iter().map(|layout| &layout.base).chain(self.last.iter().map(|last| &last.context));
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
        self.bytes = self.items.iter().map(|item| weight(&item.stored)).sum();
        let oldest = self.items.front().map_or(self.state.head.next(), |item| item.stored.seq);
        self.unread = before(&self.view, oldest);
    }

    /// Takes in what an append adds to the session.
    pub(crate) fn follow(mut self: Box<Self>, change: &Change, added: &Added) -> Option<Box<Self>> {
        if self.session != added.session {
            return None;
        }
        self.bytes += added.items.iter().map(|item| weight(&item.stored)).sum::<usize>();
        self.items.extend(added.items.iter().cloned());
        let seen = |segment| added.view.iter().any(|span| span.segment == segment);
        self.turned =
            change.turned.filter(|(segment, _)| seen(*segment)).map(|(_, turned)| turned).or(self.turned);
        if pins(&self.state, self.session) != pins(&change.next, self.session) {
            // Something else stands in front.
            (self.layout, self.last) = (None, None);
        }
        self.state = Arc::clone(&change.next);
        self.view = added.view.clone();
        if self.bytes > SESSION_BYTES_MAX {
            self.last = None;
            self.keep_newest(self.items.len() / 2);
        }
        self.trim();
        Some(self)
    }

    /// Lays out the next context, if that is the last one with something added. Else it writes the notes that it will
    /// need.
    pub(crate) fn lay_out_next(&mut self) {
        let Some(layout) = self.layout.take() else { return };
        self.last = self.last.take().and_then(|last| last.extended(&layout, self));
        match &self.last {
            Some(last) => self.needed = self.needed.max(last.needs()),
            None => layout.write_notes_ahead(self),
        }
        self.layout = Some(layout);
    }
}

/// Whether older messages are all that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IsAll {
    Yes,
    No,
}

fn pins(state: &State, session: Number) -> Option<&Pins> {
    state.sessions.get(&session).map(|session| &session.pins)
}

/// About how many bytes a message takes; its text is there twice.
fn weight(stored: &StoredMessage) -> usize {
    let calls = stored.message.iter().flat_map(|message| &message.tool_calls);
    MESSAGE_BYTES + 2 * stored.text.len() + calls.map(|call| call.arguments.len()).sum::<usize>()
}

/// Returns what a view sees before an entry. Its messages are not counted anew: it is only read by.
fn before(view: &Spans, seq: Seq) -> Spans {
    let earlier = view.iter().filter(|span| span.first < seq);
    earlier
        .fold(Spans::default(), |all, span| all.with(Span { last: span.last.min(seq.previous()), ..*span }))
}
