//! The combined decision matrix of 003 (R-8): a total table, first match wins.
//!
//! The eight rows of 003 are in it as they stand. Each of the others says why in a sentence.
//! `docs/decisions.md` is written from this table.

use crate::decision::{Action, Cause};
use crate::evidence::{Evidence, Health, Intent, Pause, Semantic, Window};

/// Where a row comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowOrigin {
    /// A row of 003's matrix, by its number there.
    Document(u8),
    /// 003 leaves it open; it is settled here.
    Settled,
}

/// A row: what it is about, what is done, how sure that is, and why.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// The bands of meaning that it covers; none stands for any.
    pub semantic: &'static [Semantic],
    /// The intents that it covers; none stands for any.
    pub intent: &'static [Intent],
    /// The bands of the window that it covers; none stands for any.
    pub window: &'static [Window],
    /// The pauses that it covers; none stands for any.
    pub pause: &'static [Pause],
    /// The states of health that it covers; none stands for any.
    pub health: &'static [Health],
    /// What is done.
    pub action: Action,
    /// What kind of evidence decides.
    pub cause: Cause,
    /// How sure it is, in percent.
    pub confidence: u8,
    /// Where it comes from.
    pub source: RowOrigin,
    /// Why.
    pub why: &'static str,
}

impl Row {
    /// Tells whether the row covers some evidence.
    pub fn covers(&self, evidence: &Evidence) -> bool {
        fn among<T: PartialEq>(bands: &[T], band: T) -> bool {
            bands.is_empty() || bands.contains(&band)
        }
        among(self.semantic, evidence.semantic)
            && among(self.intent, evidence.intent)
            && among(self.window, evidence.window)
            && among(self.pause, evidence.pause)
            && among(self.health, evidence.health)
    }
}

/// Finds the row for some evidence, with its number in [`MATRIX`], counted from 1.
///
/// ```
/// use segue_core::evidence::{Evidence, Health, Intent, Pause, Semantic, Window};
/// use segue_core::{decision::Action, matrix};
/// let evidence = Evidence {
///     semantic: Semantic::High,
///     intent: Intent::None,
///     window: Window::Healthy,
///     pause: Pause::Short,
///     health: Health::Good,
/// };
/// assert_eq!(matrix::row(&evidence).1.action, Action::Continue);
/// ```
pub fn row(evidence: &Evidence) -> (usize, &'static Row) {
    let found = MATRIX.iter().position(|row| row.covers(evidence));
    found.map_or((MATRIX.len(), &LAST), |at| (at + 1, &MATRIX[at]))
}

/// Going on is what is done where nothing speaks against it. The last row of the matrix covers everything
/// that is left, so this is never reached; a test says so.
const LAST: Row = Row {
    semantic: &[],
    intent: &[],
    window: &[],
    pause: &[],
    health: &[],
    action: Action::Continue,
    cause: Cause::None,
    confidence: 50,
    source: RowOrigin::Settled,
    why: "nothing speaks against it",
};

const OPEN: Row = Row { intent: &[Intent::None], ..LAST };

/// The matrix.
pub const MATRIX: &[Row] = &[
    Row {
        semantic: &[Semantic::Low],
        intent: &[Intent::New],
        action: Action::New,
        cause: Cause::Intent,
        confidence: 100,
        source: RowOrigin::Document(1),
        why: "the user asks for it, and it is about something else",
        ..LAST
    },
    Row {
        intent: &[Intent::New],
        action: Action::New,
        cause: Cause::Intent,
        confidence: 100,
        why: "003 calls explicit intent critical: it overrides all other signals",
        ..LAST
    },
    Row {
        window: &[Window::Emergency],
        action: Action::NewCarryOver,
        cause: Cause::Context,
        confidence: 100,
        why: "above 95 percent 003 forces a new session; the summary goes along so that nothing is lost",
        ..OPEN
    },
    Row {
        semantic: &[Semantic::Low],
        window: &[Window::Healthy],
        pause: &[Pause::Short],
        health: &[Health::Good],
        action: Action::Ask,
        cause: Cause::Semantic,
        confidence: 50,
        source: RowOrigin::Document(2),
        why: "something else in the middle of a conversation: the user knows which it is",
        ..OPEN
    },
    Row {
        semantic: &[Semantic::Low],
        window: &[Window::Healthy],
        pause: &[Pause::Long],
        action: Action::New,
        cause: Cause::Semantic,
        confidence: 80,
        source: RowOrigin::Document(3),
        why: "something else after a long pause",
        ..OPEN
    },
    Row {
        semantic: &[Semantic::High],
        window: &[Window::Healthy],
        pause: &[Pause::Short],
        health: &[Health::Good],
        action: Action::Continue,
        confidence: 100,
        source: RowOrigin::Document(4),
        why: "the same thing, without a pause",
        ..OPEN
    },
    Row {
        semantic: &[Semantic::High],
        window: &[Window::Warning],
        pause: &[Pause::Short],
        health: &[Health::Good],
        action: Action::ContinueSummarize,
        cause: Cause::Context,
        confidence: 90,
        source: RowOrigin::Document(5),
        why: "the same thing, and the window begins to fill",
        ..OPEN
    },
    Row {
        semantic: &[Semantic::High],
        window: &[Window::Critical],
        action: Action::NewCarryOver,
        cause: Cause::Context,
        confidence: 90,
        source: RowOrigin::Document(6),
        why: "the same thing, and the window is nearly full",
        ..OPEN
    },
    Row {
        semantic: &[Semantic::Low],
        window: &[Window::Warning, Window::Critical],
        pause: &[Pause::Long],
        action: Action::New,
        cause: Cause::Semantic,
        confidence: 80,
        why: "as with a healthy window: something else after a long pause; a fuller window speaks for it even more",
        ..OPEN
    },
    Row {
        health: &[Health::Bad],
        action: Action::Ask,
        cause: Cause::Health,
        confidence: 50,
        source: RowOrigin::Document(7),
        why: "the conversation is stuck: rephrasing or a new start is for the user to choose",
        ..OPEN
    },
    Row {
        semantic: &[Semantic::Medium],
        window: &[Window::Healthy],
        pause: &[Pause::Medium],
        health: &[Health::Good],
        action: Action::ContinueReinject,
        confidence: 60,
        source: RowOrigin::Document(8),
        why: "it leans to going on; after one to four hours the summary is given again (003, time)",
        ..OPEN
    },
    Row {
        semantic: &[Semantic::Low],
        window: &[Window::Critical],
        action: Action::New,
        cause: Cause::Context,
        confidence: 80,
        why: "the window is nearly full and the message is about something else: its summary would only be ballast",
        ..OPEN
    },
    Row {
        window: &[Window::Critical],
        action: Action::NewCarryOver,
        cause: Cause::Context,
        confidence: 80,
        why: "above 80 percent 003 recommends a new session with the summary, whatever the message is about",
        ..OPEN
    },
    Row {
        semantic: &[Semantic::Low],
        action: Action::Ask,
        cause: Cause::Semantic,
        confidence: 50,
        why: "something else without a long pause: as in row 2 the user knows which it is",
        ..OPEN
    },
    Row {
        pause: &[Pause::Long],
        action: Action::Ask,
        cause: Cause::Temporal,
        confidence: 60,
        why: "after four to 24 hours 003 asks, unless the message is plainly about something else",
        ..OPEN
    },
    Row {
        window: &[Window::Warning],
        action: Action::ContinueSummarize,
        cause: Cause::Context,
        confidence: 80,
        why: "it goes on, and from 60 percent older messages are summarised",
        ..OPEN
    },
    Row {
        pause: &[Pause::Medium],
        action: Action::ContinueReinject,
        cause: Cause::Temporal,
        confidence: 80,
        why: "it goes on, and after one to four hours the summary is given again",
        ..OPEN
    },
    Row {
        semantic: &[Semantic::Medium, Semantic::Unknown],
        action: Action::Continue,
        confidence: 80,
        why: "doubt or too little text is no reason for a boundary",
        ..OPEN
    },
];
