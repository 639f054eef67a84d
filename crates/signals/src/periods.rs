//! Periods: the days that a question names, "on 7 May 2023", "last spring", 上周三.

use crate::numerals;
use jiff::civil::{Date, Weekday, date};
use jiff::{Span, ToSpan};

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const WEEKDAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
const WEEKDAYS_ZH: &str = "一二三四五六日";
/// "May" and "march" are words too: without a day or a year they are months only behind one of these.
const BEFORE_MONTHS: [&str; 7] = ["in", "last", "this", "since", "of", "during", "until"];

/// Days from one to another, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// The first day.
    pub first: Date,
    /// The last day.
    pub last: Date,
}

impl Period {
    fn day(day: Date) -> Self {
        Self { first: day, last: day }
    }

    fn days(first: Date, span: Span) -> Option<Self> {
        Some(Self { first, last: first.checked_add(span).ok()?.yesterday().ok()? })
    }

    fn month(year: i16, month: i8) -> Option<Self> {
        let first = Date::new(year, month, 1).ok()?;
        Some(Self { first, last: first.last_of_month() })
    }

    fn year(year: i16) -> Self {
        Self { first: date(year, 1, 1), last: date(year, 12, 31) }
    }

    /// The last season that is over.
    fn season(first_month: i8, today: Date) -> Option<Self> {
        let of = |year: i16| Self::days(Date::new(year, first_month, 1).ok()?, 3.months());
        of(today.year()).filter(|season| season.last < today).or_else(|| of(today.year() - 1))
    }

    /// A day, or a month, of the year that is named, else of the last one in which it is not in the future.
    fn named(year: Option<i16>, month: i8, day: Option<i8>, today: Date) -> Option<Self> {
        let of = |year: i16| match day {
            Some(day) => Date::new(year, month, day).ok().map(Self::day),
            None => Self::month(year, month),
        };
        match year {
            Some(year) => of(year),
            None => of(today.year()).filter(|period| period.first <= today).or_else(|| of(today.year() - 1)),
        }
    }

    /// The week, month or year that is so many before this one.
    fn before(unit: Unit, count: i64, today: Date) -> Option<Self> {
        match unit {
            Unit::Day => today.checked_sub(count.days()).ok().map(Self::day),
            Unit::Week => {
                let monday = today.checked_sub(i64::from(today.weekday().to_monday_zero_offset()).days());
                Self::days(monday.ok()?.checked_sub(count.weeks()).ok()?, 1.week())
            }
            Unit::Month => {
                let day = today.first_of_month().checked_sub(count.months()).ok()?;
                Self::month(day.year(), day.month())
            }
            Unit::Year => Some(Self::year(today.year().checked_sub(i16::try_from(count).ok()?)?)),
        }
    }
}

#[derive(Clone, Copy)]
enum Unit {
    Day,
    Week,
    Month,
    Year,
}

/// Finds the periods that a question names, seen from a day.
///
/// ```
/// use segue_signals::periods::periods;
/// let today = jiff::civil::date(2026, 3, 12);
/// let may = periods("What did I buy on 7 May 2023?", today);
/// assert_eq!(may[0].first.to_string(), "2023-05-07");
/// assert_eq!(periods("上周三聊了什么", today)[0].first.to_string(), "2026-03-04");
/// assert!(periods("may I ask something?", today).is_empty());
/// ```
#[must_use]
pub fn periods(text: &str, today: Date) -> Vec<Period> {
    let lower = text.to_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let mut found = english(&words, today);
    found.extend(chinese(&numerals::in_digits(&lower), today));
    found
}

fn english(words: &[&str], today: Date) -> Vec<Period> {
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let word_at = |offset: isize| at.checked_add_signed(offset).and_then(|at| words.get(at)).copied();
        let (before, after) = (word_at(-1).unwrap_or(""), word_at(1).unwrap_or(""));
        let period = match *word {
            "yesterday" => Period::before(Unit::Day, 1, today),
            "today" => Some(Period::day(today)),
            "last" | "previous" => relative(after, 1, today),
            "this" => unit(after).and_then(|unit| Period::before(unit, 0, today)),
            "ago" => {
                let count = word_at(-2).and_then(count);
                count.zip(unit(before)).and_then(|(count, unit)| Period::before(unit, count, today))
            }
            _ => match month(word) {
                Some(month) => dated(month, (word_at(-2), before), (after, word_at(2)), today),
                None => numbered(word, (before, after), word_at(2), today),
            },
        };
        found.extend(period);
    }
    found
}

fn unit(word: &str) -> Option<Unit> {
    Some(match word {
        "day" | "days" => Unit::Day,
        "week" | "weeks" => Unit::Week,
        "month" | "months" => Unit::Month,
        "year" | "years" => Unit::Year,
        _ => return None,
    })
}

fn count(word: &str) -> Option<i64> {
    const COUNTS: [&str; 7] = ["zero", "one", "two", "three", "four", "five", "six"];
    match word {
        "a" | "an" => Some(1),
        "couple" => Some(2),
        _ => COUNTS.iter().position(|count| *count == word).map_or_else(
            || word.parse().ok().filter(|count| (0..1_000).contains(count)),
            |count| Some(count as i64),
        ),
    }
}

/// What stands behind "last".
fn relative(word: &str, back: i64, today: Date) -> Option<Period> {
    let season = |first_month| Period::season(first_month, today);
    match word {
        "night" => Period::before(Unit::Day, 1, today),
        "spring" => season(3),
        "summer" => season(6),
        "autumn" | "fall" => season(9),
        "winter" => season(12),
        _ => match (unit(word), WEEKDAYS.iter().position(|day| *day == word)) {
            (Some(unit), _) => Period::before(unit, back, today),
            (None, Some(day)) => {
                let day = Weekday::from_monday_zero_offset(day as i8).ok()?;
                today.nth_weekday(-1, day).ok().map(Period::day)
            }
            (None, None) => None,
        },
    }
}

fn month(word: &str) -> Option<i8> {
    let is = |month: &&str| *month == word || word.len() >= 3 && word.len() <= 4 && month.starts_with(word);
    MONTHS.iter().position(is).map(|month| month as i8 + 1)
}

fn day(word: &str) -> Option<i8> {
    let digits = word.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let is_ordinal = matches!(&word[digits.len()..], "" | "st" | "nd" | "rd" | "th");
    digits.parse().ok().filter(|day| is_ordinal && (1..=31).contains(day))
}

fn year(word: &str) -> Option<i16> {
    word.parse().ok().filter(|year| (1970..2200).contains(year))
}

/// A month with the words in front of it and behind it: "7th of May 2023", "May 7, 2023", "in May".
fn dated(
    month: i8,
    (before_last, before): (Option<&str>, &str),
    (after, after_next): (&str, Option<&str>),
    today: Date,
) -> Option<Period> {
    let in_front = if before == "of" { before_last.and_then(day) } else { day(before) };
    let behind = day(after);
    let year = year(after).or_else(|| behind.and(after_next).and_then(year));
    let is_named = in_front.is_some() || behind.is_some() || year.is_some();
    let is_word = matches!(month, 3 | 5) && !BEFORE_MONTHS.contains(&before);
    (is_named || !is_word).then(|| Period::named(year, month, in_front.or(behind), today)).flatten()
}

/// A year by itself, or the first part of 2023-05-07.
fn numbered(word: &str, (before, after): (&str, &str), next: Option<&str>, today: Date) -> Option<Period> {
    let year = year(word)?;
    match (after.parse::<i8>(), next.and_then(day)) {
        (Ok(month @ 1..=12), Some(day)) => Period::named(Some(year), month, Some(day), today),
        _ if before == "in" || before == "of" => Some(Period::year(year)),
        _ => None,
    }
}

fn chinese(text: &str, today: Date) -> Vec<Period> {
    let mut found = Vec::new();
    for (word, unit, back) in [
        ("今天", Unit::Day, 0),
        ("昨天", Unit::Day, 1),
        ("昨晚", Unit::Day, 1),
        ("前天", Unit::Day, 2),
        ("上个月", Unit::Month, 1),
        ("上月", Unit::Month, 1),
        ("这个月", Unit::Month, 0),
        ("本周", Unit::Week, 0),
    ] {
        if text.contains(word) {
            found.extend(Period::before(unit, back, today));
        }
    }
    for (word, back) in [("去年", 1), ("前年", 2), ("今年", 0)] {
        let Some((_, rest)) = text.split_once(word) else { continue };
        let year = today.year() - back;
        found.extend(season_zh(rest, year).or_else(|| {
            // 去年5月: below, with its year.
            let month = leading(rest).filter(|(_, rest)| rest.starts_with('月'));
            Some(month.map_or(Period::year(year), |(month, _)| {
                Period::month(year, month as i8).unwrap_or(Period::year(year))
            }))
        }));
    }
    for word in ["上周", "上星期", "上个星期", "上礼拜"] {
        let Some((_, rest)) = text.split_once(word) else { continue };
        let Some(week) = Period::before(Unit::Week, 1, today) else { continue };
        let day = rest.chars().next().map(|c| if c == '天' { '日' } else { c });
        let day = day.and_then(|c| WEEKDAYS_ZH.chars().position(|day| day == c));
        let day = day.and_then(|day| week.first.checked_add((day as i64).days()).ok());
        found.push(day.map_or(week, Period::day));
    }
    found.extend(text.match_indices('月').filter_map(|(at, _)| month_zh(text, at, today)));
    for (word, unit) in
        [("天前", Unit::Day), ("周前", Unit::Week), ("个星期前", Unit::Week), ("个月前", Unit::Month)]
    {
        let Some((front, _)) = text.split_once(word) else { continue };
        let one = || front.chars().next_back().and_then(numerals::digit);
        let count = trailing(front).map(|(count, _)| count).or_else(|| one().map(|digit| digit as i64));
        found.extend(count.and_then(|count| Period::before(unit, count, today)));
    }
    found
}

/// 2023年5月7日, 5月7号, 5月: what stands around 月.
fn month_zh(text: &str, at: usize, today: Date) -> Option<Period> {
    let (month, front) = trailing(&text[..at])?;
    let (year, is_past) = match front.strip_suffix('年').and_then(trailing) {
        Some((year, _)) => (i16::try_from(year).ok(), false),
        None => (None, front.ends_with(['去', '前', '今']) || front.ends_with("年")),
    };
    let day = leading(&text[at + '月'.len_utf8()..])
        .filter(|(_, rest)| rest.starts_with(['日', '号']))
        .map(|(day, _)| day as i8);
    let month = i8::try_from(month).ok().filter(|month| (1..=12).contains(month))?;
    (!is_past).then(|| Period::named(year, month, day, today)).flatten()
}

fn season_zh(rest: &str, year: i16) -> Option<Period> {
    let first = match rest.chars().next()? {
        '春' => 3,
        '夏' => 6,
        '秋' => 9,
        '冬' => 12,
        _ => return None,
    };
    Period::days(Date::new(year, first, 1).ok()?, 3.months())
}

/// The number that a text begins with, and the rest.
fn leading(text: &str) -> Option<(i64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok().filter(|number| *number < 10_000)?, &text[end..]))
}

/// The number that a text ends with, and what is in front of it.
fn trailing(text: &str) -> Option<(i64, &str)> {
    let begin = text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    Some((text[begin..].parse().ok().filter(|number| *number < 10_000)?, &text[..begin]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Thursday, 12 March 2026.
    fn shown(text: &str) -> Vec<String> {
        let show = |period: &Period| match period.first == period.last {
            true => period.first.to_string(),
            false => format!("{}..{}", period.first, period.last),
        };
        periods(text, date(2026, 3, 12)).iter().map(show).collect()
    }

    #[test]
    fn days_months_and_years_are_read_in_english() {
        for (text, expected) in [
            ("on 7 May 2023", "2023-05-07"),
            ("on the 7th of May", "2025-05-07"),
            ("May 7, 2023?", "2023-05-07"),
            ("since Feb 3rd", "2026-02-03"),
            ("in august", "2025-08-01..2025-08-31"),
            ("in May 2024", "2024-05-01..2024-05-31"),
            ("at 2023-05-07", "2023-05-07"),
            ("back in 2022", "2022-01-01..2022-12-31"),
            ("what did we say yesterday", "2026-03-11"),
            ("last spring", "2025-03-01..2025-05-31"),
            ("last summer", "2025-06-01..2025-08-31"),
            ("last winter", "2025-12-01..2026-02-28"),
            ("last week", "2026-03-02..2026-03-08"),
            ("last tuesday", "2026-03-10"),
            ("last month", "2026-02-01..2026-02-28"),
            ("two months ago", "2026-01-01..2026-01-31"),
            ("3 days ago", "2026-03-09"),
        ] {
            assert_eq!(shown(text), [expected], "{text}");
        }
    }

    #[test]
    fn days_months_and_years_are_read_in_chinese() {
        for (text, expected) in [
            ("2023年5月7日说了什么", "2023-05-07"),
            ("五月七号", "2025-05-07"),
            ("上周三聊的", "2026-03-04"),
            ("上周", "2026-03-02..2026-03-08"),
            ("昨天", "2026-03-11"),
            ("去年夏天", "2025-06-01..2025-08-31"),
            ("去年五月", "2025-05-01..2025-05-31"),
            ("十二月", "2025-12-01..2025-12-31"),
            ("三天前", "2026-03-09"),
            ("上个月", "2026-02-01..2026-02-28"),
            ("两个月前", "2026-01-01..2026-01-31"),
        ] {
            assert_eq!(shown(text), [expected], "{text}");
        }
    }

    #[test]
    fn what_is_no_date_names_nothing() {
        for text in [
            "may I march in?",
            "the last one",
            "model 2000",
            "13月",
            "2月30日",
            "31 february 2024",
            "",
            "个月前",
        ] {
            assert_eq!(shown(text), [""; 0], "{text}");
        }
    }
}
