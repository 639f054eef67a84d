//! Where time and fresh ids come from: the only place that asks the machine for them.

use jiff::SignedDuration;
use segue_core::Timestamp;
use segue_core::session::Id;
use std::sync::atomic::{AtomicI64, Ordering};

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Returns the time now.
    fn now(&self) -> Timestamp;

    /// Returns microseconds since some moment, to measure how long something takes. A clock that stands still
    /// returns nothing but 0, so that the same input leads to the same bytes.
    fn ticks_us(&self) -> u64 {
        0
    }
}

/// Makes ids that nobody has made before.
pub trait Ids: Send + Sync {
    /// Makes an id for a session that is opened at a time.
    fn fresh(&self, at: Timestamp) -> Id;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods, reason = "this is the one place")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    #[allow(clippy::disallowed_methods, reason = "this is the one place")]
    fn ticks_us(&self) -> u64 {
        static BEGAN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
        let began = *BEGAN.get_or_init(std::time::Instant::now);
        u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

/// How far a time stamp may be ahead of the machine's clock before it is not believed.
const AHEAD_MAX: SignedDuration = SignedDuration::from_hours(24);

/// Whether time stamps of messages are compared with the machine's clock.
#[derive(Debug, Default)]
pub(crate) enum Stamps {
    /// One that is more than a day ahead is not believed: one year 9999 would stop the clock of its scope.
    #[default]
    Checked,
    /// The same for a recorded conversation, which has its own time: what is not believed counts as the stamp before it, in
    /// microseconds.
    Recorded(AtomicI64),
    /// All are believed: nothing of it is kept.
    Trusted,
}

impl Stamps {
    /// Returns the time that is believed.
    pub(crate) fn believed(&self, at: Timestamp, clock: &dyn Clock) -> Timestamp {
        let now = || clock.now();
        match self {
            Self::Trusted => at,
            Self::Checked | Self::Recorded(_) if at.duration_since(now()) <= AHEAD_MAX => {
                if let Self::Recorded(last) = self {
                    last.store(at.as_microsecond(), Ordering::Relaxed);
                }
                at
            }
            Self::Checked => now(),
            Self::Recorded(last) => {
                Timestamp::from_microsecond(last.load(Ordering::Relaxed)).unwrap_or_else(|_| now())
            }
        }
    }
}

/// Brings a time to what every store keeps: whole microseconds, as late as can be read back. What is hashed,
/// stored and compared is then one and the same time.
pub(crate) fn kept(at: Timestamp) -> Timestamp {
    let micros_max = Timestamp::MAX.as_second().saturating_mul(1_000_000);
    Timestamp::from_microsecond(at.as_microsecond().min(micros_max)).unwrap_or(at)
}

/// Random ids that sort by time (UUID version 7).
#[derive(Debug, Clone, Copy, Default)]
pub struct RandomIds;

impl Ids for RandomIds {
    fn fresh(&self, at: Timestamp) -> Id {
        let seconds = u64::try_from(at.as_second()).unwrap_or(0);
        let nanos = u32::try_from(at.subsec_nanosecond()).unwrap_or(0);
        Id(uuid::Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, seconds, nanos)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Issue 16, row 13: no stamp leads further ahead than a day, and one that does not fit leaves the others their times.
    #[test]
    fn a_recorded_time_is_believed_as_far_as_the_clock_goes() {
        let at = |second| Timestamp::from_second(second).unwrap();
        struct Still;
        impl Clock for Still {
            fn now(&self) -> Timestamp {
                Timestamp::from_second(1_000_000).unwrap()
            }
        }
        let recorded = Stamps::Recorded(AtomicI64::new(i64::MIN));
        assert_eq!(recorded.believed(Timestamp::MAX, &Still), at(1_000_000), "nothing came before it");
        for (given, believed) in
            [(500, 500), (600, 600), (90_000_000, 600), (700, 700), (1_080_000, 1_080_000)]
        {
            assert_eq!(recorded.believed(at(given), &Still), at(believed));
        }
        assert_eq!(Stamps::Checked.believed(at(90_000_000), &Still), at(1_000_000));
        assert_eq!(Stamps::Trusted.believed(Timestamp::MAX, &Still), Timestamp::MAX);
    }

    #[test]
    fn times_are_kept_in_microseconds() {
        let check = |given: &str, expected: &str| {
            assert_eq!(kept(given.parse().unwrap()).to_string(), expected);
        };
        check("2026-03-01T10:00:00Z", "2026-03-01T10:00:00Z");
        check("2026-03-01T10:00:00.123456789Z", "2026-03-01T10:00:00.123456Z");
        check("1969-12-31T23:59:59.999999999Z", "1970-01-01T00:00:00Z");
        for end in [Timestamp::MIN, Timestamp::MAX] {
            let time = kept(end);
            assert_eq!(Timestamp::from_microsecond(time.as_microsecond()).unwrap(), time);
            assert_eq!(kept(time), time);
        }
    }
}
