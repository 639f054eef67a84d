//! Leases: one of many processes does a piece of work.

use segue_core::Timestamp;
use std::collections::BTreeMap;
use std::time::Duration;

/// The answer to who asked for a lease.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Leased {
    /// The caller has the lease.
    Held {
        /// Until when, unless it is renewed.
        until: Timestamp,
    },
    /// Somebody else has it.
    Taken {
        /// Who.
        by: String,
        /// Until when, unless it is renewed.
        until: Timestamp,
    },
}

impl Leased {
    /// Tells whether the caller has the lease.
    #[must_use]
    pub fn is_held(&self) -> bool {
        matches!(self, Self::Held { .. })
    }
}

/// Returns when a lease ends that begins now.
pub(crate) fn ends_at(now: Timestamp, ttl: Duration) -> Timestamp {
    now.saturating_add(ttl).unwrap_or(Timestamp::MAX)
}

/// Leases in memory, for stores that one process has to itself.
#[derive(Debug, Default)]
pub(crate) struct Table(BTreeMap<String, (String, Timestamp)>);

impl Table {
    pub(crate) fn lease(&mut self, name: &str, holder: &str, ttl: Duration, now: Timestamp) -> Leased {
        match self.0.get(name) {
            Some((by, until)) if by != holder && now < *until => {
                Leased::Taken { by: by.clone(), until: *until }
            }
            _ => {
                let until = ends_at(now, ttl);
                self.0.insert(name.to_owned(), (holder.to_owned(), until));
                Leased::Held { until }
            }
        }
    }

    pub(crate) fn release(&mut self, name: &str, holder: &str) {
        if self.0.get(name).is_some_and(|(by, _)| by == holder) {
            self.0.remove(name);
        }
    }
}
