//! Sight: which messages of a scope a search may find, and whose they are.

use super::mixed::Mixed;
use segue_core::Timestamp;
use segue_core::entry::Seq;
use segue_core::segment;
use segue_core::session::Number;
use segue_core::span::Spans;
use segue_core::state::State;
use std::collections::HashMap;

/// How much a session of today is worth more than an old one, and after how many days half of that is gone.
const RECENCY_SHARE: f64 = 0.1;
const RECENCY_DAYS: f64 = 60.0;

/// How far a search goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reach {
    /// What the latest session does not see: that is in the context already.
    #[default]
    Archived,
    /// The latest session too.
    Everything,
}

/// Which messages may be found. What no session sees any more is never among them.
#[derive(Debug, Clone, Default)]
pub struct Sight {
    owners: HashMap<segment::Number, Vec<(Seq, Seq, Number)>, Mixed>,
    hidden: Spans,
    updated: HashMap<Number, Timestamp, Mixed>,
    now: Timestamp,
}

impl Sight {
    /// Makes the sight of a scope as it is.
    pub fn of(state: &State, reach: Reach) -> Self {
        let mut sight = Self { now: state.clock, ..Self::default() };
        if let (Reach::Archived, Some(latest)) = (reach, state.latest()) {
            sight.hidden = state.view(latest);
        }
        let mut sessions: Vec<Number> = state.all().map(|(number, _)| number).collect();
        // A fork shares its parent's past: that is the parent's.
        sessions.sort_unstable();
        for number in sessions {
            for span in state.view(number).iter() {
                sight.owners.entry(span.segment).or_default().push((span.first, span.last, number));
            }
            sight.updated.extend(state.updated_at(number).map(|at| (number, at)));
        }
        sight
    }

    /// Tells whose a message is, if it may be found.
    pub fn owner(&self, segment: segment::Number, seq: Seq) -> Option<Number> {
        if self.hidden.hold(segment, seq) {
            return None;
        }
        let owners = self.owners.get(&segment)?;
        owners.iter().find(|(first, last, _)| *first <= seq && seq <= *last).map(|(_, _, owner)| *owner)
    }

    /// Tells whose messages are, if they may be found. Those of a segment that follow each other are looked up at once.
    pub fn owners(&self, messages: impl Iterator<Item = (segment::Number, Seq)>) -> Vec<Option<Number>> {
        let mut last = None;
        let mut owner = |(segment, seq): (segment::Number, Seq)| {
            let owners = match last {
                Some((known, owners)) if known == segment => owners,
                _ => self.owners.get(&segment).map_or(&[][..], Vec::as_slice),
            };
            last = Some((segment, owners));
            let (_, _, owner) = owners.iter().find(|(first, last, _)| *first <= seq && seq <= *last)?;
            (!self.hidden.hold(segment, seq)).then_some(*owner)
        };
        messages.map(&mut owner).collect()
    }

    /// Tells what a session is worth for its age: 1 for one of today, a little less for an old one.
    #[must_use]
    pub fn recency(&self, session: Number) -> f64 {
        1.0 - RECENCY_SHARE + RECENCY_SHARE * 0.5_f64.powf(self.days(session) / RECENCY_DAYS)
    }

    /// Tells how many days ago a session was last written, seen from the last entry of the scope.
    fn days(&self, session: Number) -> f64 {
        let at = self.updated.get(&session).copied().unwrap_or(self.now);
        self.now.duration_since(at).as_secs_f64().max(0.0) / 86_400.0
    }
}
