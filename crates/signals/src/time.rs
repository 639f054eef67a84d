//! R-6: what the clock says. Bands of the gap, and whether a day has ended.
//!
//! There is no clock here: both instants and the zone come in as arguments.

use jiff::{SignedDuration, Timestamp, civil, tz::TimeZone};

/// The bands of 003: `[0, 1 h)`, `[1 h, 4 h)`, `[4 h, 24 h]`, more than 24 h.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GapBand {
    /// Nothing changes.
    Continue,
    /// Go on, and put the summary before the model again.
    Reinject,
    /// Ask whether to go on or to start fresh.
    Ask,
    /// A new session, with an offer to go on instead.
    New,
}

/// Where the bands begin; a person may have their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    reinject_from: SignedDuration,
    ask_from: SignedDuration,
    new_after: SignedDuration,
}

/// Limits that cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("time limits must be positive and rise: re-inject, then ask, then new (for example 1h, 4h, 24h)")]
pub struct LimitsError;

impl Limits {
    /// The limits of 003: 1 h, 4 h and 24 h.
    pub const STANDARD: Self = Self {
        reinject_from: SignedDuration::from_hours(1),
        ask_from: SignedDuration::from_hours(4),
        new_after: SignedDuration::from_hours(24),
    };

    /// Makes limits of a person's own.
    ///
    /// # Errors
    /// Refuses limits that do not rise.
    pub fn new(
        reinject_from: SignedDuration,
        ask_from: SignedDuration,
        new_after: SignedDuration,
    ) -> Result<Self, LimitsError> {
        let rising =
            SignedDuration::ZERO < reinject_from && reinject_from <= ask_from && ask_from <= new_after;
        rising.then_some(Self { reinject_from, ask_from, new_after }).ok_or(LimitsError)
    }

    fn times(self, factor: i32) -> Self {
        let grow = |limit: SignedDuration| limit.checked_mul(factor).unwrap_or(SignedDuration::MAX);
        Self {
            reinject_from: grow(self.reinject_from),
            ask_from: grow(self.ask_from),
            new_after: grow(self.new_after),
        }
    }

    /// The band a gap falls into.
    #[must_use]
    pub fn band(self, gap: SignedDuration) -> GapBand {
        if gap > self.new_after {
            GapBand::New
        } else if gap >= self.ask_from {
            GapBand::Ask
        } else if gap >= self.reinject_from {
            GapBand::Reinject
        } else {
            GapBand::Continue
        }
    }
}

/// What the session is for; coding is left lying longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Anything else.
    General,
    /// Coding and debugging: the limits count twice.
    Coding,
}

/// How the conversation was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastWord {
    /// Nothing was left open.
    Settled,
    /// The last message is a question without an answer: the limits count twice.
    OpenQuestion,
}

/// What the clock says about a message.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeEvidence {
    /// How long the person was silent; never negative, also when a clock was set back.
    pub gap: SignedDuration,
    /// The band it falls into.
    pub band: GapBand,
    /// The limits that were used, after doubling.
    pub limits: Limits,
    /// One sentence for the decision record.
    pub evidence: String,
}

/// Judges the gap between the person's last message and now.
///
/// ```
/// use jiff::{Timestamp, tz::TimeZone};
/// use segue_signals::time::{GapBand, LastWord, Limits, Work, judge_gap};
/// let last: Timestamp = "2026-03-01T10:00:00Z".parse()?;
/// let now: Timestamp = "2026-03-01T15:00:00Z".parse()?;
/// let judge = |work| judge_gap(last, now, &TimeZone::UTC, Limits::STANDARD, work, LastWord::Settled);
/// assert_eq!(judge(Work::General).band, GapBand::Ask);
/// assert_eq!(judge(Work::Coding).band, GapBand::Reinject);
/// # Ok::<(), jiff::Error>(())
/// ```
#[must_use]
pub fn judge_gap(
    last: Timestamp,
    now: Timestamp,
    zone: &TimeZone,
    limits: Limits,
    work: Work,
    last_word: LastWord,
) -> TimeEvidence {
    let gap = now.duration_since(last).max(SignedDuration::ZERO);
    let (for_work, work_note) = match work {
        Work::General => (1, ""),
        Work::Coding => (2, ", limits x2 for coding"),
    };
    let (for_question, question_note) = match last_word {
        LastWord::Settled => (1, ""),
        LastWord::OpenQuestion => (2, ", limits x2 while a question is open"),
    };
    let limits = limits.times(for_work * for_question);
    let band = limits.band(gap);
    let said = match band {
        GapBand::Continue => "within the conversation".to_owned(),
        GapBand::Reinject => format!("at or past {}", words(limits.reinject_from)),
        GapBand::Ask => format!("at or past {}", words(limits.ask_from)),
        GapBand::New => format!("more than {}", words(limits.new_after)),
    };
    let local = |at: Timestamp| at.to_zoned(zone.clone()).strftime("%a %H:%M").to_string();
    let evidence = format!(
        "{} of silence ({} to {}): {said}{work_note}{question_note}",
        words(gap),
        local(last),
        local(now),
    );
    TimeEvidence { gap, band, limits, evidence }
}

/// A duration in the largest unit that says enough.
fn words(length: SignedDuration) -> String {
    let minutes = length.as_mins();
    match minutes {
        ..1 => format!("{} s", length.as_secs()),
        1..120 => format!("{minutes} min"),
        120..2_880 => format!("{} h", minutes / 60),
        _ => format!("{} d", minutes / 1_440),
    }
}

/// Whether a day has ended between two instants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Day {
    /// Both lie in the same day.
    Same,
    /// A new day has begun.
    Next,
}

/// Says whether the day boundary (midnight, or another hour) of the zone lies between two instants.
///
/// Works on local dates, so that a day of 23 or 25 hours is still one day.
#[must_use]
pub fn judge_day(last: Timestamp, now: Timestamp, zone: &TimeZone, boundary: civil::Time) -> Day {
    let day = |at: Timestamp| {
        let local = at.to_zoned(zone.clone()).datetime();
        let date = local.date();
        // Before the boundary it is still yesterday.
        if local.time() < boundary { date.yesterday().unwrap_or(date) } else { date }
    };
    if day(now) > day(last) { Day::Next } else { Day::Same }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    fn band(seconds: i64) -> GapBand {
        Limits::STANDARD.band(SignedDuration::from_secs(seconds))
    }

    #[test]
    fn r6_bands_are_strict_as_pinned() {
        assert_eq!(band(0), GapBand::Continue);
        assert_eq!(band(3_599), GapBand::Continue);
        assert_eq!(band(3_600), GapBand::Reinject);
        assert_eq!(band(4 * 3_600 - 1), GapBand::Reinject);
        assert_eq!(band(4 * 3_600), GapBand::Ask);
        assert_eq!(band(24 * 3_600), GapBand::Ask);
        assert_eq!(band(24 * 3_600 + 1), GapBand::New);
    }

    #[test]
    fn r6_coding_and_an_open_question_each_double_the_limits() {
        let judge = |hours, work, word| {
            let now = at("2026-03-01T00:00:00Z") + SignedDuration::from_hours(hours);
            judge_gap(at("2026-03-01T00:00:00Z"), now, &TimeZone::UTC, Limits::STANDARD, work, word).band
        };
        assert_eq!(judge(30, Work::General, LastWord::Settled), GapBand::New);
        assert_eq!(judge(30, Work::Coding, LastWord::Settled), GapBand::Ask);
        assert_eq!(judge(30, Work::General, LastWord::OpenQuestion), GapBand::Ask);
        assert_eq!(judge(60, Work::Coding, LastWord::OpenQuestion), GapBand::Ask);
        assert_eq!(judge(97, Work::Coding, LastWord::OpenQuestion), GapBand::New);
    }

    #[test]
    fn r6_a_person_may_have_limits_of_their_own_if_they_rise() {
        let hours = SignedDuration::from_hours;
        let own = Limits::new(hours(8), hours(48), hours(72)).unwrap();
        assert_eq!(own.band(hours(30)), GapBand::Reinject);
        assert_eq!(Limits::new(hours(4), hours(1), hours(24)), Err(LimitsError));
        assert_eq!(Limits::new(hours(0), hours(1), hours(24)), Err(LimitsError));
        assert_eq!(own.times(i32::MAX).times(i32::MAX).band(hours(1)), GapBand::Continue);
    }

    #[test]
    fn r6_a_clock_set_back_is_no_gap() {
        let zone = TimeZone::UTC;
        let back = judge_gap(
            at("2026-03-01T10:00:00Z"),
            at("2026-03-01T09:00:00Z"),
            &zone,
            Limits::STANDARD,
            Work::General,
            LastWord::Settled,
        );
        assert_eq!((back.gap, back.band), (SignedDuration::ZERO, GapBand::Continue));
    }

    #[test]
    fn r6_days_end_in_the_scopes_zone() {
        let (late, early) = (at("2026-03-01T22:59:00Z"), at("2026-03-01T23:01:00Z"));
        let berlin = TimeZone::get("Europe/Berlin").unwrap();
        let midnight = civil::time(0, 0, 0, 0);
        assert_eq!(judge_day(late, early, &berlin, midnight), Day::Next);
        assert_eq!(judge_day(late, early, &TimeZone::UTC, midnight), Day::Same);
        assert_eq!(judge_day(late, early, &berlin, civil::time(4, 0, 0, 0)), Day::Same);
        assert_eq!(judge_day(early, late, &berlin, midnight), Day::Same);
    }

    #[test]
    fn r6_daylight_saving_makes_days_of_23_and_25_hours_but_gaps_stay_gaps() {
        let zone = TimeZone::get("America/New_York").unwrap();
        let midnight = civil::time(0, 0, 0, 0);
        // 8 March 2026: 02:00 becomes 03:00. Local midnight is 05:00Z before, 04:00Z after.
        assert_eq!(
            judge_day(at("2026-03-08T05:00:00Z"), at("2026-03-09T03:59:00Z"), &zone, midnight),
            Day::Same
        );
        assert_eq!(
            judge_day(at("2026-03-08T05:00:00Z"), at("2026-03-09T04:00:00Z"), &zone, midnight),
            Day::Next
        );
        // A boundary at 02:30 does not exist on that day; the day still turns once.
        let half_past_two = civil::time(2, 30, 0, 0);
        assert_eq!(
            judge_day(at("2026-03-08T06:59:00Z"), at("2026-03-08T07:00:00Z"), &zone, half_past_two),
            Day::Next
        );
        // 1 November 2026 has 25 hours, and 24 of them are not "more than 24".
        let gap = judge_gap(
            at("2026-11-01T04:00:00Z"),
            at("2026-11-02T04:00:00Z"),
            &zone,
            Limits::STANDARD,
            Work::General,
            LastWord::Settled,
        );
        assert_eq!(gap.band, GapBand::Ask);
        assert_eq!(
            judge_day(at("2026-11-01T04:00:00Z"), at("2026-11-02T04:59:00Z"), &zone, midnight),
            Day::Same
        );
    }
}
