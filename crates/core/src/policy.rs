//! Policies: the settings by which the rules decide.

use crate::observed::Share;
use jiff::SignedDuration;
use jiff::civil::Time;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

/// What `/new` does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// It begins a new session (000 section 1).
    #[default]
    Segmented,
    /// It empties the one session in place (000 section 5). Nothing but commands moves a session.
    Legacy,
}

/// Whether anything but a command may move a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AutoRoute {
    /// Yes.
    #[default]
    Auto,
    /// No.
    Never,
}

/// The timing of 000: a session stays fresh for a while, and not past the end of the day.
#[derive(Debug, Clone, PartialEq)]
pub struct Segmented {
    /// How long a session stays fresh without a message of the user.
    pub active_window: SignedDuration,
    /// When a day begins.
    pub day_boundary: Time,
    /// Where it begins.
    pub time_zone: TimeZone,
}

impl Default for Segmented {
    fn default() -> Self {
        Self {
            active_window: SignedDuration::from_hours(12),
            day_boundary: Time::midnight(),
            time_zone: TimeZone::UTC,
        }
    }
}

/// The timing of 003: the longer the pause, the less goes on by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Adaptive {
    /// From here the summary is given to the model again.
    pub reinject_from: SignedDuration,
    /// From here the user is asked.
    pub ask_from: SignedDuration,
    /// Past this a new session begins.
    pub new_after: SignedDuration,
}

impl Default for Adaptive {
    fn default() -> Self {
        Self {
            reinject_from: SignedDuration::from_hours(1),
            ask_from: SignedDuration::from_hours(4),
            new_after: SignedDuration::from_hours(24),
        }
    }
}

/// The timing of 001: work survives the night.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tasks {
    /// Past this the user is asked whether the work goes on.
    pub idle_timeout: SignedDuration,
    /// Past this a new session begins.
    pub stale_timeout: SignedDuration,
}

impl Default for Tasks {
    fn default() -> Self {
        Self {
            idle_timeout: SignedDuration::from_hours(24),
            stale_timeout: SignedDuration::from_hours(7 * 24),
        }
    }
}

/// When what a message is about may begin a session by itself (M-B4, M-E1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shift {
    /// The probability of a new topic above which it does.
    pub threshold: Share,
    /// How long it then does not happen again.
    pub cooldown: SignedDuration,
}

impl Default for Shift {
    fn default() -> Self {
        Self { threshold: Share::new(0.65), cooldown: SignedDuration::from_mins(1) }
    }
}

/// How the user is asked where a message belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionMode {
    /// The message goes on and is answered, with an offer to begin a session with it.
    Propose,
    /// The message is held until there is an answer.
    #[default]
    Hold,
}

impl QuestionMode {
    pub(crate) fn is_hold(&self) -> bool {
        *self == Self::Hold
    }
}

/// When the user is asked, and how long then not again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuestionPolicy {
    /// The probability of a new topic above which the user is asked; only `layered` asks by it.
    pub threshold: Share,
    /// The time between two questions.
    pub cooldown: SignedDuration,
    /// How; only `layered` proposes.
    pub manner: QuestionMode,
}

impl Default for QuestionPolicy {
    fn default() -> Self {
        let (threshold, cooldown) = (Share::new(0.45), SignedDuration::from_mins(2));
        Self { threshold, cooldown, manner: QuestionMode::Propose }
    }
}

/// Whose timing decides when a session is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Rule {
    /// That of 000.
    Segmented,
    /// That of 003.
    Adaptive,
    /// That of 001.
    Task,
    /// All of them: `task` while a task is open, else `segmented`, and inside its window `adaptive`.
    #[default]
    Layered,
}

impl Rule {
    /// All rules, by their names.
    pub const ALL: &[(&str, Self)] = &[
        ("segmented", Self::Segmented),
        ("adaptive", Self::Adaptive),
        ("task", Self::Task),
        ("layered", Self::Layered),
    ];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Segmented => "segmented",
            Self::Adaptive => "adaptive",
            Self::Task => "task",
            Self::Layered => "layered",
        }
    }
}

/// The version of the rules, which decision records carry: it changes when the same evidence would be decided
/// otherwise.
pub(crate) const RULES_VERSION: u32 = 2;

/// How many sessions of a scope are listed, the active one included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backlog(std::num::NonZeroU32);

impl Backlog {
    /// Makes a limit; at least the active session is kept, so 0 is none.
    pub fn new(limit: u32) -> Option<Self> {
        std::num::NonZeroU32::new(limit).map(Self)
    }

    /// Returns the number.
    pub fn get(self) -> usize {
        self.0.get() as usize
    }
}

impl Default for Backlog {
    fn default() -> Self {
        Self(std::num::NonZeroU32::MIN.saturating_add(19))
    }
}

/// What happens to sessions past the backlog's limit (P-8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Excess {
    /// They are archived: not listed, and not lost.
    #[default]
    Archive,
    /// They are deleted, as 004 has it.
    Delete,
}

impl Excess {
    /// All of them, by their names.
    pub const ALL: &[(&str, Self)] = &[("archive", Self::Archive), ("delete", Self::Delete)];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Archive => "archive",
            Self::Delete => "delete",
        }
    }
}

/// The settings of a scope.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Policy {
    /// What `/new` does.
    pub mode: Mode,
    /// Whether anything but a command may move a session.
    pub auto_route: AutoRoute,
    /// Whose timing decides.
    pub rule: Rule,
    /// The timing of 000.
    pub segmented: Segmented,
    /// The timing of 003.
    pub adaptive: Adaptive,
    /// The timing of 001.
    pub tasks: Tasks,
    /// When meaning alone begins a session.
    pub shift: Shift,
    /// How often the user may be asked.
    pub question: QuestionPolicy,
    /// How many sessions are listed.
    pub backlog: Backlog,
    /// What happens to those past that.
    pub excess: Excess,
}

impl Policy {
    /// Returns the name that decisions record.
    pub fn name(&self) -> &'static str {
        match self.mode {
            Mode::Segmented => self.rule.name(),
            Mode::Legacy => "legacy",
        }
    }
}
