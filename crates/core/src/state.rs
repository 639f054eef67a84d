//! The state of a scope: small, and always what the fold of its log says.

use crate::Timestamp;
use crate::digest::Digest;
use crate::entry::Seq;
use crate::extras::ScopeExtras;
use crate::refusal::Refusal;
use crate::scope;
use crate::segment;
use crate::session::{self, Number, Session};
use crate::shared_map::{Entry, Numbered, SharedMap};
use crate::span::{Span, Spans};
use crate::task::refusal::TaskRefusal;
use crate::undo::Boundaries;
use std::sync::Arc;

/// Everything that is needed to decide what happens to the next message of a scope.
///
/// Cloning is cheap: the parts that an ordinary message does not change are shared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct State {
    /// The scope.
    pub scope: scope::Key,
    /// The last entry of the log.
    pub head: Seq,
    /// The latest time stamp so far. Time never runs backwards in a scope: an earlier stamp is kept as
    /// given and counts as this one for every rule.
    pub clock: Timestamp,
    /// The number of the next session.
    pub next_session: Number,
    /// The number of the next segment.
    pub next_segment: segment::Number,
    /// The last seal, chained to all seals before it.
    pub chain: Digest,
    /// How many messages are kept.
    pub messages: u64,
    /// The open segment, and by it the latest session; nothing before the first message.
    pub open: Option<segment::Open>,
    /// A late reply's segment, while its entries are being written.
    pub side: Option<segment::Open>,
    /// The sessions, merged ones included.
    pub sessions: Arc<SharedMap<Number, Arc<Session>>>,
    /// The sealed segments.
    pub segments: Arc<SharedMap<segment::Number, segment::Sealed>>,
    /// What can be undone.
    pub boundaries: Arc<Boundaries>,
    /// What is kept in mind between messages.
    pub extras: Arc<ScopeExtras>,
}

impl Numbered for Number {
    fn number(self) -> u32 {
        self.0
    }
}

/// Entries that differ only above 32 bits stand side by side.
impl Numbered for Seq {
    fn number(self) -> u32 {
        self.0 as u32
    }
}

impl Numbered for segment::Number {
    fn number(self) -> u32 {
        self.0
    }
}

impl Entry for Arc<Session> {
    fn is_listed(&self) -> bool {
        Session::is_listed(self)
    }

    fn is_live(&self) -> bool {
        Session::is_live(self)
    }
}

/// Sealed segments are in no list.
impl Entry for segment::Sealed {
    fn is_listed(&self) -> bool {
        false
    }

    fn is_live(&self) -> bool {
        true
    }
}

impl State {
    /// Makes the state of a scope in which nothing has happened.
    pub fn empty(scope: scope::Key) -> Self {
        Self {
            scope,
            head: Seq::ZERO,
            clock: Timestamp::MIN,
            next_session: Number::FIRST,
            next_segment: segment::Number::FIRST,
            chain: Digest::NONE,
            messages: 0,
            open: None,
            side: None,
            sessions: Arc::default(),
            segments: Arc::default(),
            boundaries: Arc::default(),
            extras: Arc::default(),
        }
    }

    /// Returns the time that counts for every rule: never earlier than what the scope has seen.
    pub fn effective(&self, now: Timestamp) -> Timestamp {
        self.clock.max(now)
    }

    /// Returns the number of the latest session.
    pub fn latest(&self) -> Option<Number> {
        self.open.as_ref().map(|open| open.session)
    }

    /// Finds a session that can still be talked to, listed or archived.
    pub fn live(&self, number: Number) -> Option<&Arc<Session>> {
        self.sessions.get(&number).filter(|session| session.is_live())
    }

    /// Lists the sessions that are not archived, newest-created first.
    pub fn list(&self) -> impl Iterator<Item = (Number, &Arc<Session>)> {
        self.sessions.listed().rev().map(|(number, session)| (*number, session))
    }

    /// Counts the sessions that are not archived.
    pub fn listed(&self) -> usize {
        self.sessions.listed_len()
    }

    /// Counts the sessions that are archived.
    pub fn archived(&self) -> usize {
        self.sessions.live_len().saturating_sub(self.listed())
    }

    /// Returns every session that can still be talked to, archived ones too, newest-created first.
    pub fn all(&self) -> impl Iterator<Item = (Number, &Arc<Session>)> {
        self.sessions.iter().rev().filter(|(_, s)| s.is_live()).map(|(n, s)| (*n, s))
    }

    /// Returns the key of a session.
    pub fn key(&self, number: Number) -> session::Key {
        session::Key::new(self.scope.clone(), number)
    }

    /// Returns all that a session sees, the open segment included.
    pub fn view(&self, number: Number) -> Spans {
        let Some(session) = self.sessions.get(&number) else { return Spans::default() };
        match self.open.as_ref().filter(|open| open.session == number) {
            Some(open) => session.spans.with(self.tail(open)),
            None => session.spans.clone(),
        }
    }

    /// Counts the messages that a session sees.
    pub fn messages_of(&self, number: Number) -> u32 {
        self.view(number).messages()
    }

    /// Tells when anything was last written into a session.
    pub fn updated_at(&self, number: Number) -> Option<Timestamp> {
        let sealed = self.sessions.get(&number)?.updated_at;
        match self.open.as_ref().filter(|open| open.session == number) {
            Some(open) => Some(sealed.max(open.updated_at)),
            None => Some(sealed),
        }
    }

    /// Refuses to make one session of two that both have an open task: neither task may be lost.
    pub(crate) fn two_tasks(&self, a: Number, b: Number) -> Result<(), Refusal> {
        match (self.extras.open_task(a), self.extras.open_task(b)) {
            (Some(_), Some(_)) => Err(Refusal::Task(TaskRefusal::TwoTasks(a, b))),
            _ => Ok(()),
        }
    }

    /// Returns the part of the open segment that its session sees.
    pub(crate) fn tail(&self, open: &segment::Open) -> Span {
        Span {
            segment: open.number,
            first: open.view_from,
            last: self.head,
            before: open.view_skips,
            through: open.messages,
        }
    }
}
