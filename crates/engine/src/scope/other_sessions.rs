//! The other sessions of a scope, as one looks for those that a message may belong to.
//!
//! To list them all takes as long as there are many, so that they are listed when a message asks for them, and kept with
//! the rest of what is known about the scope: an ordinary message lists none of them again.

use segue_core::session::Number;
use segue_core::state::State;
use segue_signals::Role;
use segue_store::search::{Reach, Visibility};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// How many of the sessions that were talked to last are known.
const NEWEST_MAX: usize = 64;

/// About how many bytes a session or a segment takes in the list.
const LISTED_BYTES: usize = 64;

/// How many bytes of what was said in other sessions are kept for a scope.
const READ_BYTES_MAX: usize = 1 << 20;

/// What was said in a session.
pub(crate) type SessionText = Arc<[(Role, String)]>;

/// The other sessions of a scope, once somebody asked for them.
#[derive(Debug, Clone, Default)]
pub(crate) struct OtherSessions(Arc<OnceLock<Others>>);

/// The other sessions of a scope.
#[derive(Debug)]
pub(crate) struct Others {
    pub(crate) count: usize,
    /// Those that were talked to last, newest first.
    pub(crate) newest: Vec<Number>,
    /// Whose which message is.
    pub(crate) visibility: Visibility,
    listed: usize,
    read: Mutex<Texts>,
}

/// What was read of other sessions.
#[derive(Debug, Default)]
struct Texts {
    of: HashMap<Number, SessionText>,
    bytes: usize,
}

impl OtherSessions {
    /// Returns the other sessions of a scope, whose state this was kept with.
    pub(crate) fn of(&self, state: &State) -> &Others {
        self.0.get_or_init(|| Others::of(state))
    }

    /// Returns them if somebody asked before.
    pub(crate) fn known(&self) -> Option<&Others> {
        self.0.get()
    }

    /// Tells about how many bytes it takes.
    pub(super) fn bytes(&self) -> usize {
        self.known().map_or(0, |others| others.listed * LISTED_BYTES + others.texts().bytes)
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
            count,
            newest: newest.into_iter().map(|Reverse((_, number))| number).collect(),
            visibility: Visibility::of(state, Reach::Archived),
            listed: state.sessions.len() + state.segments.len(),
            read: Mutex::default(),
        }
    }

    /// Returns what was said in a session, if that was read before.
    pub(crate) fn read(&self, session: Number) -> Option<SessionText> {
        self.texts().of.get(&session).map(Arc::clone)
    }

    /// Keeps what was said in a session.
    pub(crate) fn keep(&self, session: Number, said: &SessionText) {
        let bytes = said.iter().map(|(_, text)| text.len() + size_of::<(Role, String)>()).sum::<usize>();
        let mut texts = self.texts();
        if texts.bytes + bytes > READ_BYTES_MAX {
            // What is used is soon known again.
            *texts = Texts::default();
        }
        if bytes <= READ_BYTES_MAX && texts.of.insert(session, Arc::clone(said)).is_none() {
            texts.bytes += bytes;
        }
    }

    fn texts(&self) -> MutexGuard<'_, Texts> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

    use super::*;

    /// What is kept of other sessions is bounded by its bytes, and counted.
    #[test]
    fn what_was_read_of_other_sessions_is_bounded_by_bytes() {
        let state = State::empty("agent:main:cli:direct:me".parse().unwrap());
        let others = OtherSessions::default();
        assert_eq!(others.bytes(), 0);
        let said = |bytes: usize| SessionText::from([(Role::User, "x".repeat(bytes))]);
        for n in 1..=200 {
            others.of(&state).keep(Number(n), &said(100_000));
            assert!(others.bytes() <= READ_BYTES_MAX, "{}", others.bytes());
        }
        let newest = others.of(&state).read(Number(200)).unwrap();
        assert_eq!(newest[0].1.len(), 100_000);
        others.of(&state).keep(Number(201), &said(2 * READ_BYTES_MAX));
        assert!(others.of(&state).read(Number(201)).is_none() && others.bytes() <= READ_BYTES_MAX);
    }
}
