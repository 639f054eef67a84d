//! Decisions: what was decided for a turn, and why.

use crate::entry::Seq;
use crate::evidence::Semantic;
use crate::notice::{Notice, Since};
use crate::observed::{Answer, ConversationProblem, IntentSource, Observed, Share};
use crate::session::Number;
use crate::task::intent::MessageIntent;
use crate::task::state::StateName;
use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! words {
    ($(#[$outer:meta])* $name:ident { $($(#[$doc:meta])* $word:ident = $text:literal,)* }) => {
        $(#[$outer])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$doc])* $word,)* }

        impl $name {
            /// Returns the word, as it stands in JSON.
            pub fn name(self) -> &'static str {
                match self { $(Self::$word => $text,)* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

words! {
    /// What happens to a message or command.
    Action {
        /// It goes on in the session.
        Continue = "continue",
        /// It goes on, and older messages are summarised.
        ContinueSummarize = "continue_summarize",
        /// It goes on, and the summary is given to the model again.
        ContinueReinject = "continue_reinject",
        /// The user is asked.
        Ask = "ask",
        /// A new session begins.
        New = "new",
        /// A new session begins with a summary of the old one.
        NewCarryOver = "new_carry_over",
        /// A session is forked.
        Fork = "fork",
        /// An older session is latest again.
        Resume = "resume",
        /// Two sessions become one.
        Merge = "merge",
        /// A session is split.
        Split = "split",
        /// A legacy session is emptied.
        Clear = "clear",
        /// A command that moves no session.
        Command = "command",
        /// Nothing: it was refused.
        Refused = "refused",
    }
}

impl Action {
    /// Tells whether sessions begin, end or change places.
    pub fn is_boundary(self) -> bool {
        !self.goes_on() && !matches!(self, Self::Command | Self::Refused)
    }

    /// Tells whether the latest session simply goes on.
    pub fn goes_on(self) -> bool {
        match self {
            Self::Continue | Self::ContinueSummarize | Self::ContinueReinject | Self::Ask => true,
            Self::New
            | Self::NewCarryOver
            | Self::Fork
            | Self::Resume
            | Self::Merge
            | Self::Split
            | Self::Clear
            | Self::Command
            | Self::Refused => false,
        }
    }
}

words! {
    /// What kind of evidence decided.
    Cause {
        /// A command.
        Command = "command",
        /// Words that ask for a new session.
        Intent = "intent",
        /// Time.
        Temporal = "temporal",
        /// Meaning.
        Semantic = "semantic",
        /// The context window.
        Context = "context",
        /// A conversation that is stuck.
        Health = "health",
        /// The state of a task.
        Task = "task",
        /// Nothing in particular.
        None = "none",
    }
}

/// How sure a decision is, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Confidence(f64);

impl Confidence {
    /// As sure as can be.
    pub const CERTAIN: Self = Self(1.0);

    /// Makes a confidence; what lies outside 0 to 1 is brought to the nearer end.
    pub fn new(value: f64) -> Self {
        Self(if value.is_nan() { 0.0 } else { value.clamp(0.0, 1.0) })
    }

    /// Returns the number.
    pub fn value(self) -> f64 {
        self.0
    }
}

/// Why something was decided, in a form that can be told in any language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// It is the first message of the scope.
    FirstMessage,
    /// The user's last message is recent enough.
    WithinWindow {
        /// How long ago it was.
        gap_ms: i64,
        /// How long a session stays fresh.
        window_ms: i64,
        /// Since what.
        #[serde(default, skip_serializing_if = "Since::is_message")]
        since: Since,
    },
    /// The user's last message is too long ago.
    WindowPassed {
        /// How long ago it was.
        gap_ms: i64,
        /// How long a session stays fresh.
        window_ms: i64,
        /// Since what.
        #[serde(default, skip_serializing_if = "Since::is_message")]
        since: Since,
    },
    /// A new day has begun since the user's last message.
    DayPassed {
        /// How long ago that message was.
        gap_ms: i64,
        /// Since what.
        #[serde(default, skip_serializing_if = "Since::is_message")]
        since: Since,
    },
    /// In legacy mode only commands move a session.
    LegacyMode,
    /// `auto_route = "never"`: only commands move a session.
    AutoRouteOff,
    /// The user asked for it, in words.
    AskedInWords {
        /// The phrase, as it stands in the lists of phrases; not the user's own text.
        phrase: String,
    },
    /// A command asked for it.
    Commanded {
        /// The command, without what it was given.
        command: String,
    },
    /// What the message is about, beside what the session is about.
    Belongs {
        /// The band.
        band: Semantic,
        /// The probability that it belongs.
        belongs: Share,
    },
    /// The message is about something else, surely enough.
    Shifted {
        /// The probability of something else.
        shifts: Share,
        /// The probability above which a session begins.
        threshold: Share,
    },
    /// The user was silent for long enough to matter.
    Paused {
        /// How long.
        gap_ms: i64,
        /// From where on it matters.
        limit_ms: i64,
        /// Since what.
        #[serde(default, skip_serializing_if = "Since::is_message")]
        since: Since,
    },
    /// Work may lie for longer than the user was silent.
    WithinIdle {
        /// How long the user was silent.
        gap_ms: i64,
        /// How long work may lie.
        limit_ms: i64,
        /// Since what.
        #[serde(default, skip_serializing_if = "Since::is_message")]
        since: Since,
    },
    /// The context window fills.
    WindowAt {
        /// How full it is, in percent.
        percent: u32,
    },
    /// The conversation gets nowhere.
    Stuck {
        /// What is wrong.
        findings: Vec<ConversationProblem>,
    },
    /// The message is about what an earlier session was about.
    LikeEarlier {
        /// The session.
        session: Number,
        /// The probability that it belongs there.
        belongs: Share,
    },
    /// A session began because of its topic a moment ago; not again so soon.
    ShiftedLately {
        /// How long ago.
        ago_ms: i64,
        /// How long it does not happen again.
        cooldown_ms: i64,
    },
    /// The user was asked a moment ago; not again so soon.
    AskedLately {
        /// How long ago.
        ago_ms: i64,
        /// How long nobody is asked again.
        cooldown_ms: i64,
    },
    /// The user answered our question.
    Answered {
        /// The answer.
        answer: Answer,
    },
    /// The agent's last message asked something, and this answers it.
    AnswersAgent,
    /// The user took the rotation back, in words.
    Objected,
    /// The message belongs to the session before the rotation: it was a mistake.
    BelongsBefore {
        /// The session before.
        session: Number,
        /// The probability that it belongs there.
        belongs: Share,
    },
    /// What the message is to the task of its session.
    ForTheTask {
        /// Where the task stood.
        state: StateName,
        /// What the message is to it.
        intent: MessageIntent,
        /// Who says so.
        source: IntentSource,
        /// What is done, in a word of the table of intents.
        does: String,
    },
    /// A model was asked.
    ModelAsked {
        /// Its name in the configuration.
        name: String,
    },
}

/// What else could have happened, and what would have led to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alternative {
    /// What would have happened.
    pub action: Action,
    /// What it would have taken.
    pub tip: Counterfactual,
}

/// The thresholds that were in force for a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thresholds {
    /// The silence past which a session is over.
    pub silence_ms: i64,
    /// The probability of something else above which a session begins.
    pub shift: Share,
}

/// What would have tipped a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Counterfactual {
    /// A longer silence.
    SilenceOver {
        /// Longer than this.
        limit_ms: i64,
        /// It was this.
        was_ms: i64,
    },
    /// A shorter silence.
    SilenceUpTo {
        /// Up to this.
        limit_ms: i64,
        /// It was this.
        was_ms: i64,
    },
    /// A message that belongs less.
    BelongsBelow {
        /// Less than this.
        border: Share,
        /// It was this.
        was: Share,
    },
    /// A message that belongs more.
    BelongsFrom {
        /// As much as this.
        border: Share,
        /// It was this.
        was: Share,
    },
}

/// What was decided for a turn, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// The message or command that it was decided for.
    pub about: Seq,
    /// The session that the message ended up in.
    pub session: Number,
    /// What happens.
    pub action: Action,
    /// What kind of evidence decided.
    pub cause: Cause,
    /// How sure it is.
    pub confidence: Confidence,
    /// The policy that was in force.
    pub policy: String,
    /// The version of the rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    /// The rule that said so.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rule: String,
    /// Why.
    pub reasons: Vec<Reason>,
    /// What was observed about the message, if anything was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signals: Option<Box<Observed>>,
    /// The thresholds that were in force.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thresholds: Option<Thresholds>,
    /// What would have tipped it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<Alternative>,
    /// What the user was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<Notice>,
    /// What the user was told besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub also: Option<Notice>,
    /// What the user was told when a command was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
    /// Where the task of the session stood after it, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<StateName>,
}
