//! Freshness: whether a session can go on, by the clock alone (000 section 2).

use crate::Timestamp;
use crate::decision::Reason;
use crate::notice::{Limit, Since};
use crate::policy::Segmented;
use crate::segment;
use jiff::SignedDuration;
use jiff::civil::Date;

/// How long the user has been silent, and since what.
///
/// It is measured from the user's own last message, or from the opening of the segment if that is later, so
/// that a session that was just opened or resumed is fresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Silence {
    /// How long.
    pub gap: SignedDuration,
    /// The same in milliseconds.
    pub gap_ms: i64,
    /// Since what.
    pub since: Since,
    at: Timestamp,
}

impl Silence {
    /// Measures the silence before a message of the user.
    pub fn of(open: &segment::Open, now: Timestamp) -> Self {
        let (since, at) = match open.last_user_at {
            Some(at) if at >= open.opened_at => (Since::Message, at),
            _ => (Since::Opening, open.opened_at),
        };
        let gap = now.duration_since(at);
        Self { gap, gap_ms: millis(gap), since, at }
    }
}

/// Whether a session is fresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// It goes on.
    Fresh(Silence),
    /// It is over, because of what ran out.
    Expired(Silence, Limit),
}

/// What the end of a day does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DayEnd {
    /// It ends every session.
    Strict,
    /// It ends those in which nothing was said for more than an hour.
    AfterAnHour,
}

/// Tells whether the open segment's session is still fresh for a message of the user.
pub fn freshness(policy: &Segmented, day_end: DayEnd, open: &segment::Open, now: Timestamp) -> Freshness {
    let silence = Silence::of(open, now);
    let pause = match day_end {
        DayEnd::Strict => SignedDuration::ZERO,
        DayEnd::AfterAnHour => SignedDuration::from_hours(1),
    };
    if silence.gap > policy.active_window {
        Freshness::Expired(silence, Limit::window(policy.active_window))
    } else if silence.gap > pause && day(policy, silence.at) < day(policy, now) {
        Freshness::Expired(silence, Limit::Day)
    } else {
        Freshness::Fresh(silence)
    }
}

impl Freshness {
    /// Returns the reason to record.
    pub fn reason(self, policy: &Segmented) -> Reason {
        match self {
            Self::Fresh(Silence { gap_ms, since, .. }) => {
                Reason::WithinWindow { gap_ms, window_ms: millis(policy.active_window), since }
            }
            Self::Expired(silence, limit) => limit.reason(silence),
        }
    }
}

impl Limit {
    /// Makes the limit of a length of time.
    pub fn window(window: SignedDuration) -> Self {
        Self::Window { window_ms: millis(window) }
    }

    /// Returns the reason to record when it ran out.
    pub fn reason(self, Silence { gap_ms, since, .. }: Silence) -> Reason {
        match self {
            Self::Window { window_ms } => Reason::WindowPassed { gap_ms, window_ms, since },
            Self::Day => Reason::DayPassed { gap_ms, since },
        }
    }
}

fn millis(duration: SignedDuration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// Returns the day that a time belongs to: until the boundary it is still the day before.
fn day(policy: &Segmented, at: Timestamp) -> Date {
    let today = at.to_zoned(policy.time_zone.clone()).date();
    // Compared as instants: on the day when an hour comes twice, its local time does not tell before from
    // after.
    let begins = policy.time_zone.to_timestamp(today.to_datetime(policy.day_boundary));
    match begins {
        Ok(begins) if at < begins => today.yesterday().unwrap_or(today),
        _ => today,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Digest;
    use crate::entry::Seq;
    use crate::session;
    use jiff::civil::time;
    use jiff::tz::TimeZone;

    fn check(zone: &str, boundary: jiff::civil::Time, said: &str, now: &str) -> Option<Limit> {
        let said: Timestamp = said.parse().unwrap();
        let policy = Segmented {
            time_zone: TimeZone::get(zone).unwrap(),
            day_boundary: boundary,
            ..Segmented::default()
        };
        let open = segment::Open {
            number: segment::Number::FIRST,
            session: session::Number::FIRST,
            first: Seq(1),
            messages: 1,
            digest: Digest::NONE,
            opened_at: said,
            last_user_at: Some(said),
            updated_at: said,
            view_from: Seq(1),
            view_skips: 0,
        };
        match freshness(&policy, DayEnd::Strict, &open, now.parse().unwrap()) {
            Freshness::Fresh(_) => None,
            Freshness::Expired(_, limit) => Some(limit),
        }
    }

    const WINDOW: Option<Limit> = Some(Limit::Window { window_ms: 12 * 3_600_000 });
    const DAY: Option<Limit> = Some(Limit::Day);

    /// M-B2, M-B3: exactly 12 h does not roll, one second more does.
    #[test]
    fn m_b2_the_window_is_strict() {
        let at = |now| check("UTC", time(0, 0, 0, 0), "2026-03-01T08:00:00Z", now);
        assert_eq!(at("2026-03-01T20:00:00Z"), None);
        assert_eq!(at("2026-03-01T20:00:01Z"), WINDOW);
    }

    /// M-B2: 23:59 then 00:01 rolls, in the scope's time zone and at the configured hour.
    #[test]
    fn m_b2_the_day_ends_where_the_user_lives() {
        let midnight = time(0, 0, 0, 0);
        assert_eq!(check("UTC", midnight, "2026-03-01T23:59:00Z", "2026-03-02T00:01:00Z"), DAY);
        assert_eq!(check("UTC", midnight, "2026-03-01T23:59:00Z", "2026-03-02T00:00:00Z"), DAY);
        assert_eq!(check("Asia/Shanghai", midnight, "2026-03-01T23:59:00Z", "2026-03-02T00:01:00Z"), None);
        assert_eq!(check("Asia/Shanghai", midnight, "2026-03-01T15:59:00Z", "2026-03-01T16:01:00Z"), DAY);
        let four = time(4, 0, 0, 0);
        assert_eq!(check("UTC", four, "2026-03-01T23:59:00Z", "2026-03-02T00:01:00Z"), None);
        assert_eq!(check("UTC", four, "2026-03-02T03:59:00Z", "2026-03-02T04:00:00Z"), DAY);
    }

    /// M-B2: days of 23 and of 25 hours, and a day that the date line swallowed.
    #[test]
    fn m_b2_odd_days() {
        let midnight = time(0, 0, 0, 0);
        // Berlin, 29 March 2026: 01:30 local to 13:30 local are 11 hours.
        assert_eq!(check("Europe/Berlin", midnight, "2026-03-29T00:30:00Z", "2026-03-29T11:30:00Z"), None);
        // Berlin, 25 October 2026: 00:30 local to 12:00 local are 12.5 hours.
        assert_eq!(check("Europe/Berlin", midnight, "2026-10-24T22:30:00Z", "2026-10-25T11:00:00Z"), WINDOW);
        // Berlin again, with a day that begins at 02:30, which comes twice: it begins once.
        let half_past_two = time(2, 30, 0, 0);
        let at = |said, now| check("Europe/Berlin", half_past_two, said, now);
        assert_eq!(at("2026-10-25T00:20:00Z", "2026-10-25T00:35:00Z"), DAY);
        assert_eq!(at("2026-10-25T00:35:00Z", "2026-10-25T01:10:00Z"), None);
        assert_eq!(at("2026-10-25T01:10:00Z", "2026-10-25T01:35:00Z"), None);
        // Samoa went from 29 to 31 December 2011: the next minute is another day.
        assert_eq!(check("Pacific/Apia", midnight, "2011-12-30T09:59:30Z", "2011-12-30T10:00:30Z"), DAY);
    }
}
