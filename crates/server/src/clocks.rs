//! The clocks of hosts. A host that gives its messages time stamps of the past (a backlog that is delivered late, a recorded
//! conversation) runs on its own clock. What is done between two such messages without a time of its own is stamped on the
//! same clock: else the next message would seem to come months late.

use segue_core::{Timestamp, scope};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How far a host may be behind before it is said to have its own clock: messages are under way for a while.
const BEHIND_MIN: Duration = Duration::from_secs(60);

/// How many clocks are kept.
const CLOCKS_MAX: usize = 10_000;

/// How far the hosts of scopes are behind.
#[derive(Debug, Default)]
pub(crate) struct Clocks(Mutex<HashMap<scope::Key, Duration>>);

impl Clocks {
    /// Notes the time that a message was given, if it was given one.
    pub(crate) fn note(&self, scope: &scope::Key, given: Option<Timestamp>, now: Timestamp) {
        let behind = given.map_or(Duration::ZERO, |at| now.duration_since(at).unsigned_abs());
        let is_behind = given.is_some_and(|at| at < now) && behind >= BEHIND_MIN;
        let mut clocks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !is_behind {
            clocks.remove(scope);
            return;
        }
        if clocks.len() >= CLOCKS_MAX && !clocks.contains_key(scope) {
            // Any one goes: it is written anew with the next message.
            let one = clocks.keys().next().cloned();
            one.map(|one| clocks.remove(&one));
        }
        clocks.insert(scope.clone(), behind);
    }

    /// Returns the time of a scope's host.
    pub(crate) fn now(&self, scope: &scope::Key, now: Timestamp) -> Timestamp {
        let behind = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(scope).copied();
        behind.and_then(|behind| now.checked_sub(behind).ok()).unwrap_or(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_is_behind_stays_behind_until_it_says_otherwise() {
        let (clocks, scope) = (Clocks::default(), "s".parse().unwrap());
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let now = at("2026-11-18T12:00:00Z");
        assert_eq!(clocks.now(&scope, now), now);
        clocks.note(&scope, Some(at("2026-03-01T10:00:00Z")), now);
        assert_eq!(clocks.now(&scope, at("2026-11-18T12:00:05Z")), at("2026-03-01T10:00:05Z"));
        // A message that was under way for some seconds, one of the future, one without a time.
        for given in [Some(at("2026-11-18T11:59:50Z")), Some(at("2026-11-18T12:30:00Z")), None] {
            clocks.note(&scope, Some(at("2026-03-01T10:00:00Z")), now);
            clocks.note(&scope, given, now);
            assert_eq!(clocks.now(&scope, now), now, "{given:?}");
        }
    }
}
