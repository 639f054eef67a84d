//! Decisions: what was decided for a turn, and why.

use crate::entry::Seq;
use crate::notice::{Notice, Since};
use crate::session::Number;
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
    /// Why.
    pub reasons: Vec<Reason>,
    /// What the user was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<Notice>,
    /// What the user was told when a command was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
}
