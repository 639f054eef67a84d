//! Policies: the settings by which the rules decide.

use jiff::SignedDuration;
use jiff::civil::Time;
use jiff::tz::TimeZone;

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

/// How many sessions of a scope are kept, the active one included.
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

/// The settings of a scope.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Policy {
    /// What `/new` does.
    pub mode: Mode,
    /// Whether anything but a command may move a session.
    pub auto_route: AutoRoute,
    /// When a session is no longer fresh.
    pub segmented: Segmented,
    /// How many sessions are kept.
    pub backlog: Backlog,
}

impl Policy {
    /// Returns the name that decisions record.
    pub fn name(&self) -> &'static str {
        match self.mode {
            Mode::Segmented => "segmented",
            Mode::Legacy => "legacy",
        }
    }
}
