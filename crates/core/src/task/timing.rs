//! Coming back to a task (C-11, C-12).

use jiff::SignedDuration;

/// How long a task may rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// After more than this the person is asked whether to go on.
    pub idle: SignedDuration,
    /// After more than this the task is compacted.
    pub stale: SignedDuration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { idle: SignedDuration::from_hours(24), stale: SignedDuration::from_hours(7 * 24) }
    }
}

words! {
    /// What happens when the person comes back.
    Return {
        /// The task goes on where it stood.
        Resume = "resume",
        /// The person is asked: continue, or start fresh?
        AskContinueOrFresh = "ask_continue_or_fresh",
        /// It is too old: it is compacted, and the person is asked for a task.
        Stale = "stale",
    }
}

/// Decides what happens after some time without activity. A limit is passed only by more than it: exactly
/// 24 hours still resume, exactly 7 days still ask.
///
/// The gap is computed from the log, so that a restart does not shorten it (C-13).
///
/// ```
/// use jiff::SignedDuration;
/// use segue_core::task::timing::{Return, Timeouts, coming_back};
/// let after = |hours| coming_back(SignedDuration::from_hours(hours), Timeouts::default());
/// assert_eq!(after(24), Return::Resume);
/// assert_eq!(after(25), Return::AskContinueOrFresh);
/// assert_eq!(after(7 * 24 + 1), Return::Stale);
/// ```
pub fn coming_back(gap: SignedDuration, timeouts: Timeouts) -> Return {
    if gap > timeouts.stale {
        Return::Stale
    } else if gap > timeouts.idle {
        Return::AskContinueOrFresh
    } else {
        Return::Resume
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c11_both_sides_of_each_limit_and_exactly_on_it() {
        let step = SignedDuration::from_micros(1);
        let (day, week) = (SignedDuration::from_hours(24), SignedDuration::from_hours(168));
        for (gap, expected) in [
            (-day, Return::Resume),
            (SignedDuration::ZERO, Return::Resume),
            (day - step, Return::Resume),
            (day, Return::Resume),
            (day + step, Return::AskContinueOrFresh),
            (week - step, Return::AskContinueOrFresh),
            (week, Return::AskContinueOrFresh),
            (week + step, Return::Stale),
            (SignedDuration::MAX, Return::Stale),
        ] {
            assert_eq!(coming_back(gap, Timeouts::default()), expected, "{gap:?}");
        }
    }

    /// With the limits the wrong way round the older rule still wins, as in 001.
    #[test]
    fn c11_stale_is_looked_at_first() {
        let odd = Timeouts { idle: SignedDuration::from_hours(9), stale: SignedDuration::from_hours(3) };
        assert_eq!(coming_back(SignedDuration::from_hours(4), odd), Return::Stale);
        assert_eq!(coming_back(SignedDuration::from_hours(3), odd), Return::Resume);
    }
}
