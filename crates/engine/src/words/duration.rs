//! Lengths of time, taken apart as people do.

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Days,
    Hours,
    Minutes,
    Seconds,
}

/// A number of units.
pub(super) type Part = (i64, Unit);

/// From this many days on the hours do not matter.
const WHOLE_DAYS: i64 = 7;

/// Takes a length of time apart: the largest unit, and the next one if it says anything. What would be
/// negative is nothing.
pub(super) fn parts(ms: i64) -> (Part, Option<Part>) {
    let seconds = ms.max(0) / 1000;
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    let second = |count: i64, unit: Unit| (count > 0).then_some((count, unit));
    if days >= WHOLE_DAYS {
        ((days, Unit::Days), None)
    } else if days > 0 {
        ((days, Unit::Days), second(hours % 24, Unit::Hours))
    } else if hours > 0 {
        ((hours, Unit::Hours), second(minutes % 60, Unit::Minutes))
    } else if minutes > 0 {
        ((minutes, Unit::Minutes), None)
    } else {
        ((seconds, Unit::Seconds), None)
    }
}
