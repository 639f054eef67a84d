//! The circuit breaker: a model that keeps failing is left alone for a while.

use segue_core::Timestamp;

/// After how many failures in a row a model is left alone.
pub(crate) const FAILURES_MAX: u32 = 3;

/// For how long.
pub const REST_MS: i64 = 60_000;

/// The circuit breaker of one model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Breaker {
    failures: u32,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum State {
    /// It may be asked.
    #[default]
    Closed,
    /// It is left alone since then.
    Open(Timestamp),
    /// One question is on its way since then.
    Trial(Timestamp),
}

/// Whether a model may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// It may.
    Granted,
    /// It is left alone.
    Refused,
}

impl Breaker {
    /// Asks to ask. After the rest one question is let through, to see whether the model works again. One
    /// that is never reported back, because its message was dropped, blocks no longer than a rest.
    pub fn admit(&mut self, now: Timestamp) -> Admission {
        match self.state {
            State::Closed => Admission::Granted,
            State::Open(since) | State::Trial(since) if is_rested(since, now) => {
                self.state = State::Trial(now);
                Admission::Granted
            }
            State::Open(_) | State::Trial(_) => Admission::Refused,
        }
    }

    /// Reports an answer.
    pub fn succeeded(&mut self) {
        *self = Self::default();
    }

    /// Reports a failure.
    pub fn failed(&mut self, now: Timestamp) {
        self.failures = self.failures.saturating_add(1);
        if self.failures >= FAILURES_MAX {
            self.state = State::Open(now);
        }
    }

    /// Tells whether the model is left alone now.
    pub fn is_open(&self, now: Timestamp) -> bool {
        match self.state {
            State::Closed => false,
            State::Open(since) | State::Trial(since) => !is_rested(since, now),
        }
    }
}

/// A clock that was set back must not stop a model for longer than a rest.
fn is_rested(since: Timestamp, now: Timestamp) -> bool {
    now.as_millisecond().abs_diff(since.as_millisecond()) >= REST_MS.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: i64) -> Timestamp {
        Timestamp::from_millisecond(1_700_000_000_000 + ms).unwrap()
    }

    fn failed(times: u32) -> Breaker {
        let mut breaker = Breaker::default();
        for _ in 0..times {
            assert_eq!(breaker.admit(at(0)), Admission::Granted);
            breaker.failed(at(0));
        }
        breaker
    }

    #[test]
    fn opens_after_three_failures_in_a_row() {
        let mut breaker = failed(2);
        breaker.succeeded();
        assert_eq!(breaker, Breaker::default());
        assert_eq!(failed(2).admit(at(1)), Admission::Granted);
        assert_eq!(failed(3).admit(at(1)), Admission::Refused);
        assert!(failed(3).is_open(at(1)) && !failed(2).is_open(at(1)));
    }

    #[test]
    fn one_trial_after_the_rest() {
        let mut breaker = failed(3);
        assert_eq!(breaker.admit(at(REST_MS - 1)), Admission::Refused);
        assert_eq!(breaker.admit(at(REST_MS)), Admission::Granted);
        assert_eq!(breaker.admit(at(REST_MS)), Admission::Refused);
        let mut worse = breaker;
        worse.failed(at(REST_MS + 5));
        assert_eq!(worse.admit(at(2 * REST_MS)), Admission::Refused);
        assert_eq!(worse.admit(at(2 * REST_MS + 5)), Admission::Granted);
        breaker.succeeded();
        assert_eq!(breaker.admit(at(REST_MS)), Admission::Granted);
        assert_eq!(breaker.admit(at(REST_MS)), Admission::Granted);
    }

    #[test]
    fn a_trial_that_was_dropped_and_a_clock_set_back_block_no_longer_than_a_rest() {
        let mut breaker = failed(3);
        assert_eq!(breaker.admit(at(REST_MS)), Admission::Granted);
        assert_eq!(breaker.admit(at(2 * REST_MS)), Admission::Granted);
        assert_eq!(failed(3).admit(at(-10 * REST_MS)), Admission::Granted);
    }
}
