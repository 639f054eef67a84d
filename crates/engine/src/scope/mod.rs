//! A live scope: everything that is known about it in memory, behind one lock.
//!
//! A scope is a handle behind an async mutex, not an actor. A turn borrows what its caller has (a token counter, a
//! request) and ends with its caller; an actor would need a message type for every operation, a task for every scope, and
//! rules for who stops it. The lock is fair, so turns of a scope are taken in the order in which they came.
//!
//! All that [`ScopeCache`] holds is true for one head of the log, that of its state. [`Entered::checked`] is the one check
//! against the store, [`ScopeCache::apply`] the one step that moves all of it forward. Everything else forgets.

mod change;
pub(crate) mod interrupts;
mod known_contents;
mod other_sessions;
mod registry;
pub(crate) mod session_profile;
mod watch;

pub(crate) use change::{Added, Change};
pub(crate) use known_contents::{content, content_mut, stored};
pub(crate) use other_sessions::{OtherSessions, SessionText};
pub use registry::CacheCounters;
pub(crate) use registry::{Entered, Registry};
pub(crate) use watch::Watch;

use crate::context::ContextCache;
use interrupts::Interrupts;
use known_contents::KnownContents;
use segue_core::entry::Seq;
use segue_core::scope::Key;
use segue_core::state::State;
use session_profile::{Reader, SessionProfile};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::sync::Mutex;

/// About how many bytes a state takes for each session, and for each segment.
const SESSION_BYTES: usize = 256;
const SEGMENT_BYTES: usize = 64;

/// About how many bytes the profile of a session takes.
const PROFILE_BYTES: usize = 16 << 10;

/// A live scope.
#[derive(Debug)]
pub(crate) struct Scope {
    key: Key,
    memory: Arc<Mutex<ScopeCache>>,
    /// Wakes the agents that work in the scope. It has no lock: to look at it costs one load.
    pub(crate) interrupts: Interrupts,
    /// The newest head that is known here, by reading or by writing.
    seen: AtomicU64,
}

/// What is known about a scope.
#[derive(Debug, Default)]
pub(crate) struct ScopeCache {
    /// The folded state. The rest holds for its head.
    state: Option<Arc<State>>,
    /// What the latest session is about.
    pub(crate) profile: Option<Box<SessionProfile>>,
    /// The newest messages of the latest session, and its last context.
    pub(crate) context: Option<Box<ContextCache>>,
    /// The contents that open tasks hold.
    pub(crate) contents: KnownContents,
    /// The sessions that are not the latest.
    pub(crate) others: OtherSessions,
}

impl Scope {
    fn new(key: Key) -> Self {
        Self { key, memory: Arc::default(), interrupts: Interrupts::default(), seen: AtomicU64::new(0) }
    }

    /// Takes down a head that was read. If nobody here wrote it, agents are woken.
    pub(crate) fn saw(&self, head: Seq) {
        if self.seen.fetch_max(head.0, Ordering::AcqRel) < head.0 {
            self.interrupts.wake();
        }
    }

    /// Takes down a head that is about to be written here.
    fn writes(&self, head: Seq) {
        self.seen.fetch_max(head.0, Ordering::AcqRel);
    }
}

impl ScopeCache {
    /// Moves everything forward by an append. Parts that it does more to than add messages are forgotten, and read
    /// again when they are needed.
    pub(crate) fn apply(mut self, reader: Reader<'_>, change: &Change) -> Self {
        let added = self.state.as_ref().and_then(|state| change.added(state));
        let (profile, context) = (self.profile.take(), self.context.take());
        if !added.as_ref().is_some_and(|added| change.is_only(added, self.state.as_deref())) {
            self.others = OtherSessions::default();
        }
        if let Some(added) = &added {
            self.profile = profile.and_then(|profile| profile.follow(reader, added));
            self.context = context.and_then(|context| context.follow(change, added));
            if let Some(context) = &mut self.context {
                context.lay_out_next();
            }
        }
        self.contents.apply(change);
        self.state = Some(Arc::clone(&change.next));
        self
    }

    /// Tells about how many bytes it takes.
    fn bytes(&self) -> usize {
        let state = self
            .state
            .as_ref()
            .map_or(0, |state| state.sessions.len() * SESSION_BYTES + state.segments.len() * SEGMENT_BYTES);
        let profile = self.profile.as_ref().map_or(0, |_| PROFILE_BYTES);
        let context = self.context.as_ref().map_or(0, |context| context.bytes());
        state + profile + context + self.contents.bytes() + self.others.bytes()
    }
}
