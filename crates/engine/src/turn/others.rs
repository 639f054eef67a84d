//! The other sessions of a scope, as one looks for those that a message may belong to.
//!
//! To list them all takes as long as there are many, so that what was found is kept until a boundary changes a session: an
//! ordinary message lists none of them again. What was read of a session is kept until it has another number of messages: late
//! replies reach a session without a boundary.

use segue_core::scope::Key;
use segue_core::session::{Number, Session};
use segue_core::shared_map::SharedMap;
use segue_core::state::State;
use segue_signals::Role;
use segue_store::search::{Reach, Visibility};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// How many of the sessions that were talked to last are known.
pub(super) const NEWEST_MAX: usize = 64;

/// How many scopes are kept, and how many sessions of them in all.
const SCOPES_MAX: usize = 256;
const SESSIONS_MAX: usize = 200_000;

/// What was said in a session.
pub(super) type SessionText = Arc<[(Role, String)]>;

type Sessions = SharedMap<Number, Arc<Session>>;

/// The other sessions of the scopes that were looked at last.
#[derive(Default)]
pub(crate) struct OtherSessions(Mutex<HashMap<Key, Arc<Others>>>);

/// The other sessions of a scope.
pub(super) struct Others {
    /// Of which sessions, and which of them was the latest.
    sessions: Weak<Sessions>,
    latest: Option<Number>,
    pub(super) count: usize,
    /// Those that were talked to last, newest first.
    pub(super) newest: Vec<Number>,
    /// Whose which message is.
    pub(super) visibility: Visibility,
    read: Mutex<HashMap<Number, (u32, SessionText)>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl OtherSessions {
    pub(super) fn of(&self, state: &State) -> Arc<Others> {
        let mut scopes = lock(&self.0);
        if let Some(known) = scopes.get(&state.scope).filter(|known| known.holds_for(state)) {
            return Arc::clone(known);
        }
        if scopes.len() >= SCOPES_MAX
            || scopes.values().map(|others| others.count).sum::<usize>() > SESSIONS_MAX
        {
            // What is used is soon known again.
            scopes.clear();
        }
        let others = Arc::new(Others::of(state));
        scopes.insert(state.scope.clone(), Arc::clone(&others));
        others
    }

    /// Forgets what was read of a scope of which something was erased.
    pub(crate) fn forget(&self, scope: &Key) {
        lock(&self.0).remove(scope);
    }
}

impl Others {
    fn of(state: &State) -> Self {
        let latest = state.latest();
        let others = state.all().map(|(number, _)| number).filter(|number| Some(*number) != latest);
        let mut newest: Vec<_> = others.map(|number| Reverse((state.updated_at(number), number))).collect();
        let count = newest.len();
        if count > NEWEST_MAX {
            newest.select_nth_unstable(NEWEST_MAX);
            newest.truncate(NEWEST_MAX);
        }
        newest.sort_unstable();
        Self {
            sessions: Arc::downgrade(&state.sessions),
            latest,
            count,
            newest: newest.into_iter().map(|Reverse((_, number))| number).collect(),
            visibility: Visibility::of(state, Reach::Archived),
            read: Mutex::default(),
        }
    }

    fn holds_for(&self, state: &State) -> bool {
        self.latest == state.latest() && std::ptr::eq(self.sessions.as_ptr(), Arc::as_ptr(&state.sessions))
    }

    pub(super) fn read(&self, state: &State, session: Number) -> Option<SessionText> {
        let read = lock(&self.read);
        let (messages, said) = read.get(&session)?;
        (*messages == state.messages_of(session)).then(|| Arc::clone(said))
    }

    pub(super) fn keep(&self, state: &State, session: Number, said: &SessionText) {
        lock(&self.read).insert(session, (state.messages_of(session), Arc::clone(said)));
    }
}
