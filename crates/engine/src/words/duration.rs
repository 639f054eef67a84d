//! Lengths of time, as people write them.

use super::Language;
use super::say::say;

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Days,
    Hours,
    Minutes,
    Seconds,
}

/// A number of units.
type Part = (i64, Unit);

/// From this many days on the hours do not matter.
const WHOLE_DAYS: i64 = 7;

/// Takes a length of time apart: the largest unit, and the next one if it says anything. What would be
/// negative is nothing.
fn parts(ms: i64) -> (Part, Option<Part>) {
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

/// Writes a length of time as people do, to two units: "13 h 5 min".
pub fn duration(l: Language, ms: i64) -> String {
    match parts(ms) {
        (first, None) => alone(l, first),
        (first, Some(second)) => format!("{} {}", part(l, first), part(l, second)),
    }
}

/// Writes how long something is ago, to one unit: "5 min ago".
pub fn age(l: Language, ms: i64) -> String {
    match parts(ms).0 {
        (_, Unit::Seconds) => say!(l, "just now", "刚刚"),
        first => {
            let first = alone(l, first);
            say!(l, "{first} ago", "{first}前")
        }
    }
}

/// Chinese says 5 分钟 where nothing follows, and 1 小时 5 分.
fn alone(l: Language, (count, unit): Part) -> String {
    match unit {
        Unit::Minutes => say!(l, "{count} min", "{count} 分钟"),
        Unit::Days | Unit::Hours | Unit::Seconds => part(l, (count, unit)),
    }
}

fn part(l: Language, (count, unit): Part) -> String {
    match unit {
        Unit::Days => say!(l, "{count} d", "{count} 天"),
        Unit::Hours => say!(l, "{count} h", "{count} 小时"),
        Unit::Minutes => say!(l, "{count} min", "{count} 分"),
        Unit::Seconds => say!(l, "{count} s", "{count} 秒"),
    }
}
