//! What was observed about a message of the user before anything is decided.
//!
//! Plain data: `segue-signals` finds it in text, a model may add to it, and the decision record keeps it, so
//! that a decision can be made again from its record.

use crate::evidence::{Health, Semantic, Window};
use crate::session::Number;
use crate::task::intent::MessageIntent;
use serde::{Deserialize, Serialize};

/// Everything that was observed about a message. Nothing observed is the default, and moves nothing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Observed {
    /// The phrase that asks for a new session, as it stands in the lists of phrases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start_over: Option<String>,
    /// How the message reads as an answer to a question of ours.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// Whether its words show what it goes on with.
    #[serde(skip_serializing_if = "Grounds::is_none")]
    pub grounds: Grounds,
    /// Whether it answers what the agent asked.
    #[serde(skip_serializing_if = "Answers::is_nothing")]
    pub answers: Answers,
    /// Whether it takes back a rotation, in words.
    #[serde(skip_serializing_if = "Objection::is_absent")]
    pub objection: Objection,
    /// Whether it is about what the session is about.
    pub meaning: Meaning,
    /// Whether it is about what the session before the last rotation was about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<Share>,
    /// The earlier session that it is most about, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub earlier: Option<Earlier>,
    /// The earlier session that it names in plain words and wants to go back to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mentioned: Option<Mentioned>,
    /// How full the context window is.
    pub window: Filling,
    /// Whether the conversation gets anywhere.
    pub health: Condition,
    /// What makes a pause count for less.
    #[serde(skip_serializing_if = "PauseAllowance::is_usual")]
    pub patience: PauseAllowance,
    /// What it is to the task of its session, if that has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskReading>,
    /// Which model helped, and what it said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Helped>,
    /// How long it took to observe, in microseconds.
    #[serde(skip_serializing_if = "is_zero")]
    pub took_us: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// What a message is to the task of its session (C-9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskReading {
    /// What it is.
    pub intent: MessageIntent,
    /// How sure that is.
    pub confidence: Share,
    /// Who says so.
    pub source: IntentSource,
}

impl TaskReading {
    pub(crate) const SURE: Self =
        Self { intent: MessageIntent::Modification, confidence: Share(1000), source: IntentSource::Host };
}

/// Who says what a message is to the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IntentSource {
    /// The words of the message.
    Words,
    /// The host.
    Host,
    /// Nobody could tell.
    Unread,
}

/// A probability, in thousandths, so that what is recorded is what was compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "f64", from = "f64")]
pub struct Share(u16);

impl From<f64> for Share {
    fn from(value: f64) -> Self {
        Self::new(value)
    }
}

impl From<Share> for f64 {
    fn from(share: Share) -> Self {
        share.value()
    }
}

impl Share {
    /// Makes a share of a number from 0 to 1; what lies outside is brought to the nearer end.
    pub fn new(value: f64) -> Self {
        let thousandths = (value.clamp(0.0, 1.0) * 1000.0).round();
        Self(if value.is_nan() { 0 } else { thousandths as u16 })
    }

    /// Returns the number.
    pub fn value(self) -> f64 {
        f64::from(self.0) / 1000.0
    }

    /// Returns what is missing to 1.
    #[must_use]
    pub fn rest(self) -> Self {
        Self(1000u16.saturating_sub(self.0))
    }
}

/// An answer to "continue, or start fresh?".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Go on where it was sent.
    Continue,
    /// Begin a session with it.
    Fresh,
    /// It belongs to the older session.
    Older,
}

impl Answer {
    /// All answers.
    pub const ALL: [Self; 3] = [Self::Continue, Self::Fresh, Self::Older];

    /// Returns the id of the option, as a button carries it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Continue => "continue",
            Self::Fresh => "fresh",
            Self::Older => "older",
        }
    }

    /// Finds an answer by the id of its option.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|answer| answer.name() == name)
    }
}

/// Whether the words of a message show what it goes on with. "Evening" may go on with anything: past the window of activity that
/// does not count as the same topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grounds {
    /// They do.
    Words,
    /// They do not.
    #[default]
    None,
}

impl Grounds {
    fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// Whether a message answers what the agent asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answers {
    /// The agent's last message asked something, and this may be the answer.
    Agent,
    /// Nothing was asked, or it is about something else.
    #[default]
    Nothing,
}

impl Answers {
    fn is_nothing(&self) -> bool {
        *self == Self::Nothing
    }
}

/// Whether a message takes back a rotation, in words: "no, same topic".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Objection {
    /// It does, and says nothing else.
    Whole,
    /// It does, and goes on.
    Leading,
    /// It does not.
    #[default]
    Absent,
}

impl Objection {
    fn is_absent(&self) -> bool {
        *self == Self::Absent
    }
}

/// Whether a message is about what the session is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Meaning {
    /// The band.
    pub band: Semantic,
    /// The probability that it belongs; nothing if it cannot be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub belongs: Option<Share>,
    /// What speaks for it, in a few words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub evidence: String,
}

impl Default for Meaning {
    fn default() -> Self {
        Self { band: Semantic::Unknown, belongs: None, evidence: String::new() }
    }
}

impl Meaning {
    /// Returns the probability that something else begins.
    pub fn shifts(&self) -> Option<Share> {
        self.belongs.map(Share::rest)
    }
}

/// An earlier session that a message may belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Earlier {
    /// The session.
    pub session: Number,
    /// The probability that the message belongs there.
    pub belongs: Share,
}

/// A session that a message names: "back to the Japan trip".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mentioned {
    /// The session.
    pub session: Number,
    /// What the message calls it.
    pub phrase: String,
}

/// How full the context window is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filling {
    /// The band.
    pub band: Window,
    /// The share that is used, in percent; more than 100 if it does not fit.
    pub percent: u32,
}

impl Default for Filling {
    fn default() -> Self {
        Self { band: Window::Healthy, percent: 0 }
    }
}

/// Whether the conversation gets anywhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Condition {
    /// The band.
    pub band: Health,
    /// What is wrong; not in the user's words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<ConversationProblem>,
}

impl Default for Condition {
    fn default() -> Self {
        Self { band: Health::Good, findings: Vec::new() }
    }
}

/// What is wrong with a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConversationProblem {
    /// The same error came up again and again.
    ErrorLoop,
    /// Short negative messages in a row.
    Frustration,
    /// The agent contradicted itself.
    Contradiction,
    /// The agent offers no next step.
    DeadEnd,
}

/// What makes a pause count for less: each of them doubles the limits of `adaptive`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PauseAllowance {
    /// What the session is for.
    pub work: Work,
    /// How it was left.
    pub last_word: LastWord,
}

impl PauseAllowance {
    fn is_usual(&self) -> bool {
        *self == Self::default()
    }

    /// Returns how many times longer a pause may be.
    pub fn factor(self) -> i32 {
        let work = match self.work {
            Work::General => 1,
            Work::Coding => 2,
        };
        let word = match self.last_word {
            LastWord::Settled => 1,
            LastWord::OpenQuestion => 2,
        };
        work * word
    }
}

/// What a session is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// Anything else.
    #[default]
    General,
    /// Coding and debugging.
    Coding,
}

/// How a conversation was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LastWord {
    /// Nothing was left open.
    #[default]
    Settled,
    /// A question was not answered.
    OpenQuestion,
}

/// Which model helped to observe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Helped {
    /// Its name in the configuration; `builtin` if no other answered.
    pub name: String,
    /// Where that name stands: `session`, `agent`, `defaults`, `fallback` or `builtin`.
    pub source: String,
    /// The hash of the prompt, if one was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_hash: Option<String>,
    /// What went wrong on the way to it, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub troubles: Vec<String>,
}
