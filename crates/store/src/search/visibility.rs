//! Visibility: which messages of a scope a search may find, and whose they are.

use super::mixed::Mixed;
use segue_core::Timestamp;
use segue_core::digest::Digest;
use segue_core::entry::Seq;
use segue_core::segment;
use segue_core::session::Number;
use segue_core::span::{Span, Spans};
use segue_core::state::State;
use std::collections::{BTreeSet, HashMap};

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
pub struct Visibility {
    owners: HashMap<segment::Number, Vec<Owned>, Mixed>,
    updated: HashMap<Number, Timestamp, Mixed>,
    now: Timestamp,
}

/// A part of a segment, and whose it is.
#[derive(Debug, Clone, Copy)]
struct Owned {
    first: Seq,
    last: Seq,
    owner: Option<Number>,
}

impl Visibility {
    /// Makes the sight of a scope as it is.
    pub fn of(state: &State, reach: Reach) -> Self {
        let mut visibility = Self { now: state.clock, ..Self::default() };
        let mut pages = BTreeSet::new();
        // What comes first counts: nobody owns what is hidden.
        if let (Reach::Archived, Some(latest)) = (reach, state.latest()) {
            visibility.give(&state.view(latest), None, &mut pages);
        }
        let mut sessions: Vec<Number> = state.all().map(|(number, _)| number).collect();
        // A fork shares its parent's past: that is the parent's.
        sessions.sort_unstable();
        for number in sessions {
            visibility.give(&state.view(number), Some(number), &mut pages);
            visibility.updated.extend(state.updated_at(number).map(|at| (number, at)));
        }
        visibility
    }

    /// Tells whose a message is, if it may be found.
    pub fn owner(&self, segment: segment::Number, seq: Seq) -> Option<Number> {
        owner(self.owners.get(&segment)?, seq)
    }

    /// Gives what a view sees to a session. Pages that an earlier view had are that one's.
    fn give(&mut self, view: &Spans, owner: Option<Number>, pages: &mut BTreeSet<Digest>) {
        view.each_new_with_messages(pages, |Span { segment, first, last, .. }| {
            let parts = self.owners.entry(*segment).or_default();
            if !parts.iter().any(|part| part.first <= *first && *last <= part.last) {
                parts.push(Owned { first: *first, last: *last, owner });
            }
        });
    }

    /// Tells whose messages are, if they may be found. Those of a segment that follow each other are looked up at once.
    pub fn owners(
        &self,
        messages: impl Iterator<Item = (segment::Number, Seq)>,
    ) -> impl Iterator<Item = Option<Number>> {
        let mut last: Option<(segment::Number, &[Owned])> = None;
        messages.map(move |(segment, seq)| {
            let owners = match last {
                Some((known, owners)) if known == segment => owners,
                _ => self.owners.get(&segment).map_or(&[][..], Vec::as_slice),
            };
            last = Some((segment, owners));
            owner(owners, seq)
        })
    }

    /// Tells what a session is worth for its age: 1 for one of today, a little less for an old one.
    #[must_use]
    pub(crate) fn recency(&self, session: Number) -> f64 {
        1.0 - RECENCY_SHARE + RECENCY_SHARE * 0.5_f64.powf(self.days(session) / RECENCY_DAYS)
    }

    /// Tells how many days ago a session was last written, seen from the last entry of the scope.
    fn days(&self, session: Number) -> f64 {
        let at = self.updated.get(&session).copied().unwrap_or(self.now);
        self.now.duration_since(at).as_secs_f64().max(0.0) / 86_400.0
    }
}

fn owner(parts: &[Owned], seq: Seq) -> Option<Number> {
    parts.iter().find(|part| part.first <= seq && seq <= part.last)?.owner
}

#[cfg(test)]
mod tests {
    use super::*;
    use segue_core::decide::{Circumstances, Command, decide};
    use segue_core::facts::Facts;
    use segue_core::message::{Message, Role};
    use segue_core::policy::Policy;
    use segue_core::session::Id;

    /// Issue 16, row 18: what forks of forks share is looked at once.
    #[test]
    fn a_chain_of_forks_is_seen_in_parts_that_grow_with_its_own() {
        const FORKS: u32 = 600;
        let mut state = State::empty("agent:main:cli:direct:me".parse().unwrap());
        let mut run = |command: Command, n: u32| {
            let fresh = Id(uuid::Uuid::from_u128(n.into()));
            let at = Circumstances { now: Timestamp::UNIX_EPOCH, fresh, spoken: None };
            state = decide(&state, &Policy::default(), &command, &Facts::default(), &at).unwrap().state;
            state.clone()
        };
        let say = || Command::Say { role: Role::User, message: Message::text("hello") };
        run(say(), 0);
        for n in 1..=FORKS {
            run(Command::Fork { session: Number(n), at: None }, n);
            run(say(), n);
        }
        let state = run(say(), FORKS + 1);
        let visibility = Visibility::of(&state, Reach::Everything);
        let parts: usize = visibility.owners.values().map(Vec::len).sum();
        assert_eq!(parts, FORKS as usize + 1, "each segment has one owner");
        let hidden = Visibility::of(&state, Reach::Archived);
        assert!(
            state.view(Number(FORKS)).iter().all(|span| hidden.owner(span.segment, span.first).is_none())
        );
        let owner = |session| state.view(Number(session)).iter().last().map(|span| (span.segment, span.last));
        let (segment, seq) = owner(300).unwrap();
        assert_eq!(visibility.owner(segment, seq), Some(Number(300)));
    }
}
