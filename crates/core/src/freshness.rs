//! Freshness: whether a session can go on, by the clock alone (000 section 2).

use crate::Timestamp;
use crate::decision::Reason;
use crate::notice::{Limit, Since};
use crate::policy::Segmented;
use crate::segment;
use jiff::civil::Date;

/// Whether a session is fresh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Freshness {
    /// It goes on.
    Fresh {
        /// How long it has been.
        gap_ms: i64,
        /// Since what.
        since: Since,
    },
    /// It is over.
    Expired {
        /// How long it has been.
        gap_ms: i64,
        /// Since what.
        since: Since,
        /// What ran out.
        limit: Limit,
    },
}

/// Tells whether the open segment's session is still fresh for a message of the user.
///
/// The gap is measured from the user's own last message, or from the opening of the segment if that is
/// later, so that a session that was just opened or resumed is fresh.
pub fn freshness(policy: &Segmented, open: &segment::Open, now: Timestamp) -> Freshness {
    let (since, at) = match open.last_user_at {
        Some(at) if at >= open.opened_at => (Since::Message, at),
        _ => (Since::Opening, open.opened_at),
    };
    let gap = now.duration_since(at);
    let gap_ms = millis(gap);
    if gap > policy.active_window {
        let limit = Limit::Window { window_ms: millis(policy.active_window) };
        Freshness::Expired { gap_ms, since, limit }
    } else if day(policy, at) < day(policy, now) {
        Freshness::Expired { gap_ms, since, limit: Limit::Day }
    } else {
        Freshness::Fresh { gap_ms, since }
    }
}

impl Freshness {
    /// Returns the reason to record.
    pub fn reason(self, policy: &Segmented) -> Reason {
        match self {
            Self::Fresh { gap_ms, since } => {
                Reason::WithinWindow { gap_ms, window_ms: millis(policy.active_window), since }
            }
            Self::Expired { gap_ms, since, limit: Limit::Window { window_ms } } => {
                Reason::WindowPassed { gap_ms, window_ms, since }
            }
            Self::Expired { gap_ms, since, limit: Limit::Day } => Reason::DayPassed { gap_ms, since },
        }
    }
}

fn millis(duration: jiff::SignedDuration) -> i64 {
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
        match freshness(&policy, &open, now.parse().unwrap()) {
            Freshness::Fresh { .. } => None,
            Freshness::Expired { limit, .. } => Some(limit),
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
