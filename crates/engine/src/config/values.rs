//! Values: what a setting can be, read from TOML.

use crate::memory::Keep;
use crate::words;
use jiff::civil::Time;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use jiff::{SignedDuration, Span, SpanRelativeTo};
use segue_core::policy::{AutoRoute, QuestionMode};
use serde::{Deserialize, Serialize};
use toml::Value;

/// The language of notices and questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// English.
    En,
    /// Chinese.
    Zh,
    /// That of the user.
    #[default]
    Auto,
}

impl Language {
    pub(super) const ALL: &[(&str, Self)] = &[("en", Self::En), ("zh", Self::Zh), ("auto", Self::Auto)];

    /// Settles the language of an answer to a text.
    pub fn for_text(self, text: &str) -> words::Language {
        match self {
            Self::En => words::Language::En,
            Self::Zh => words::Language::Zh,
            Self::Auto => words::Language::of(text),
        }
    }
}

/// What happens to a slash command that is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UnknownCommand {
    /// The nearest one is suggested.
    #[default]
    Suggest,
    /// It is handed on as an ordinary message.
    Pass,
}

impl UnknownCommand {
    pub(super) const ALL: &[(&str, Self)] = &[("suggest", Self::Suggest), ("pass", Self::Pass)];
}

/// The choices of `memory.keep`.
pub(super) const KEEPS: &[(&str, Keep)] =
    &[("personal", Keep::Personal), ("all", Keep::All), ("nothing", Keep::Nothing)];

/// How long a session is kept after its last message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Age {
    /// For good.
    #[default]
    Never,
    /// For so long.
    Past(SignedDuration),
}

/// Reads "never" or a length of time.
pub(super) fn age(value: &Value) -> Option<Age> {
    match value.as_str().map(str::trim) {
        Some("never") => Some(Age::Never),
        _ => duration(value).map(Age::Past),
    }
}

/// The choices of `question`.
pub(super) const MANNERS: &[(&str, QuestionMode)] =
    &[("propose", QuestionMode::Propose), ("hold", QuestionMode::Hold)];

/// The choices of `auto_route`.
pub(super) const AUTO_ROUTES: &[(&str, AutoRoute)] =
    &[("auto", AutoRoute::Auto), ("never", AutoRoute::Never)];

/// The model that helps to decide. On a record it is its name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum ControlModel {
    /// The judgement that is built in.
    #[default]
    Builtin,
    /// A model of the configuration, by its name.
    Named(String),
}

impl ControlModel {
    /// Tells which model a name means.
    pub fn of(name: &str) -> Self {
        match name.trim() {
            "builtin" | "" => Self::Builtin,
            name => Self::Named(name.to_owned()),
        }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        match self {
            Self::Builtin => "builtin",
            Self::Named(name) => name,
        }
    }
}

impl From<String> for ControlModel {
    fn from(name: String) -> Self {
        Self::of(&name)
    }
}

impl From<ControlModel> for String {
    fn from(model: ControlModel) -> Self {
        model.name().to_owned()
    }
}

/// Reads a length of time, such as "12h", "90m" or "7d": longer than nothing, days of 24 hours.
pub(super) fn duration(value: &Value) -> Option<SignedDuration> {
    let span: Span = value.as_str()?.trim().parse().ok()?;
    let duration = span.to_duration(SpanRelativeTo::days_are_24_hours()).ok()?;
    duration.is_positive().then_some(duration)
}

/// Reads a time of day, such as "04:00", quoted or as TOML has it.
pub(super) fn time_of_day(value: &Value) -> Option<Time> {
    match value {
        Value::String(text) => {
            let (hour, minute) = text.trim().split_once(':')?;
            let number = |part: &str| {
                let digits = (1..=2).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
                part.parse::<i8>().ok().filter(|_| digits)
            };
            Time::new(number(hour)?, number(minute)?, 0, 0).ok()
        }
        Value::Datetime(at) if at.date.is_none() && at.offset.is_none() => {
            let time = at.time?;
            let second = time.second.unwrap_or(0);
            Time::new(time.hour.try_into().ok()?, time.minute.try_into().ok()?, second.try_into().ok()?, 0)
                .ok()
        }
        _ => None,
    }
}

/// Finds a time zone by its IANA name, in the data that is built in: the same answer on every machine.
pub(super) fn time_zone(name: &str) -> Option<TimeZone> {
    TimeZoneDatabase::bundled().get(name.trim()).ok()
}

/// Finds the time zone that was probably meant: one spelled nearly so, or one of that city.
pub(super) fn near_time_zone(name: &str) -> Option<String> {
    let database = TimeZoneDatabase::bundled();
    let names: Vec<String> = database.available().map(|name| name.to_string()).collect();
    let near = words::nearest(name, names.iter().map(String::as_str)).map(str::to_owned);
    let city = |full: &str| full.rsplit('/').next().unwrap_or(full).to_lowercase();
    let wanted = city(name).replace(' ', "_");
    near.or_else(|| names.iter().find(|full| city(full) == wanted).cloned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Value {
        Value::String(text.to_owned())
    }

    #[test]
    fn reads_lengths_of_time() {
        let minutes = |t: &str| duration(&text(t)).map(|d| d.as_mins());
        assert_eq!(minutes("12h"), Some(720));
        assert_eq!(minutes("90m"), Some(90));
        assert_eq!(minutes("7d"), Some(7 * 24 * 60));
        assert_eq!(minutes("1d 12h"), Some(36 * 60));
        for bad in ["", "12", "-1h", "1h ago", "0h", "1mo", "1y", "soon", "99999999999d"] {
            assert_eq!(minutes(bad), None, "{bad}");
        }
        assert_eq!(duration(&Value::Integer(12)), None);
    }

    #[test]
    fn reads_times_of_day() {
        let at = |t: &str| time_of_day(&text(t)).map(|time| (time.hour(), time.minute()));
        assert_eq!(at("00:00"), Some((0, 0)));
        assert_eq!(at("4:30"), Some((4, 30)));
        assert_eq!(at("23:59"), Some((23, 59)));
        for bad in ["", "24:00", "4", "04:60", "-1:00", "+4:00", "4:00:00", "noon"] {
            assert_eq!(at(bad), None, "{bad}");
        }
    }

    #[test]
    fn suggests_time_zones() {
        assert!(time_zone("Asia/Shanghai").is_some() && time_zone("UTC").is_some());
        assert!(time_zone("Mars/Olympus").is_none());
        assert_eq!(near_time_zone("Europe/Berln").as_deref(), Some("Europe/Berlin"));
        assert_eq!(near_time_zone("Shanghai").as_deref(), Some("Asia/Shanghai"));
        assert_eq!(near_time_zone("New York").as_deref(), Some("America/New_York"));
        assert_eq!(near_time_zone("Mars/Olympus"), None);
    }
}
