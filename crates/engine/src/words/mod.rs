//! What people read, in English and in Chinese.
//!
//! `core` says what happened as data; here it becomes a line of text. Each language is a file, and each
//! match in it is exhaustive, so that nothing new can happen without words for it in both.

mod command;
mod duration;
mod en;
mod mentioned;
mod nearest;
pub mod pins;
pub mod recall;
pub mod retention;
pub mod tasks;
#[cfg(test)]
mod tests;
mod told;
mod zh;

pub use command::Command;
pub(crate) use mentioned::mentioned;
pub use nearest::nearest;
pub use told::{explained, listed, nothing_said, set_aside, status};

use segue_core::decision::{Alternative, Reason};
use segue_core::notice::Notice;
use segue_core::refusal::Refusal;
use segue_core::scope;
use segue_core::session::{Key, Number};
use std::collections::BTreeMap;

/// How much of a command that is not known is repeated, in characters.
const TYPED_CHARS_MAX: usize = 40;

/// A language that people read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum Language {
    /// English.
    #[default]
    En,
    /// Chinese.
    Zh,
}

impl Language {
    /// Finds the language of a text by its script: Chinese if it holds a Han character.
    ///
    /// ```
    /// use segue_engine::words::Language;
    /// assert_eq!(Language::of("deploy 一下"), Language::Zh);
    /// assert_eq!(Language::of("deploy it"), Language::En);
    /// ```
    pub fn of(text: &str) -> Self {
        let han = |c: char| {
            matches!(c,
                '\u{3007}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
                | '\u{20000}'..='\u{323af}')
        };
        if text.chars().any(han) { Self::Zh } else { Self::En }
    }
}

/// What went wrong with a message before anything was decided about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// It is longer than the limit.
    TooLong {
        /// How long it is.
        bytes: usize,
        /// How long it may be.
        bytes_max: usize,
    },
    /// There is no text in it.
    Empty,
    /// Too many others are waiting.
    Busy,
    /// The command could not be carried out, through no fault of the user.
    Failed,
}

/// Tells the user what happened, in one line.
///
/// ```
/// use segue_core::{notice::Notice, session::Number};
/// use segue_engine::words::{self, Language};
/// let scope = "agent:main:cli:direct:me".parse()?;
/// let started = Notice::Started { session: Number(2), pruned: 0 };
/// let line = words::notice(Language::En, &scope, &started);
/// assert_eq!(line, "Started new session: agent:main:cli:direct:me#2");
/// # Ok::<(), segue_core::scope::KeyError>(())
/// ```
pub fn notice(language: Language, scope: &scope::Key, notice: &Notice) -> String {
    notice_naming(language, scope, &Titles::new(), notice)
}

/// The same, with the titles of sessions beside their keys (X-11).
pub fn notice_naming(language: Language, scope: &scope::Key, titles: &Titles, notice: &Notice) -> String {
    let keys = Keys { scope, titles, language };
    match language {
        Language::En => en::notice(&keys, notice),
        // A bracket needs no space behind it.
        Language::Zh => zh::notice(&keys, notice).replace("」 ", "」"),
    }
}

/// Tells the user why something was not done, in one line.
pub fn refusal(language: Language, scope: &scope::Key, refusal: &Refusal) -> String {
    let titles = Titles::new();
    let keys = Keys { scope, titles: &titles, language };
    match language {
        Language::En => en::refusal(&keys, refusal),
        Language::Zh => zh::refusal(&keys, refusal),
    }
}

/// Tells why something was decided, as a sentence.
pub fn reason(language: Language, reason: &Reason) -> String {
    match language {
        Language::En => en::reason(reason),
        Language::Zh => zh::reason(reason),
    }
}

/// Tells what would have tipped a decision, as a sentence.
pub fn tip(language: Language, alternative: &Alternative) -> String {
    match language {
        Language::En => en::tip(alternative),
        Language::Zh => zh::tip(alternative),
    }
}

/// Tells what went wrong, in one line.
pub fn trouble(language: Language, trouble: Trouble) -> String {
    match language {
        Language::En => en::trouble(trouble),
        Language::Zh => zh::trouble(trouble),
    }
}

/// Writes a length of time as people do, to two units: "13 h 5 min".
pub fn duration(language: Language, ms: i64) -> String {
    match language {
        Language::En => en::duration(ms),
        Language::Zh => zh::duration(ms),
    }
}

/// Writes how long something is ago, to one unit: "5 min ago".
pub fn age(language: Language, ms: i64) -> String {
    match language {
        Language::En => en::age(ms),
        Language::Zh => zh::age(ms),
    }
}

/// Lists the slash commands, one a line.
pub fn help(language: Language) -> String {
    let about = |command| match language {
        Language::En => en::about(command),
        Language::Zh => zh::about(command),
    };
    let width = Command::ALL.iter().map(|command| command.syntax().len()).max().unwrap_or(0);
    let line = |command: &Command| format!("{:width$}  {}", command.syntax(), about(*command));
    Command::ALL.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// Tells how a command is used, in one line.
pub fn usage(language: Language, command: Command) -> String {
    match language {
        Language::En => en::usage(command),
        Language::Zh => zh::usage(command),
    }
}

/// Tells how a command is used that was given the number of a session that is not in the list (P-7).
pub fn out_of_range(language: Language, command: Command, sessions: usize) -> String {
    match language {
        Language::En => en::out_of_range(command, sessions),
        Language::Zh => zh::out_of_range(command, sessions),
    }
}

/// Answers a command that is not known, with the nearest one that is.
///
/// ```
/// use segue_engine::words::{self, Language};
/// let line = words::unknown_command(Language::En, "/sesion list");
/// assert_eq!(line, "There is no command /sesion list. Did you mean /session list?");
/// ```
pub fn unknown_command(language: Language, typed: &str) -> String {
    // Telegram and others say to which bot a command goes: `/new@segue_bot`.
    let words = typed.split_whitespace().take(2).filter_map(|word| word.split('@').next());
    let words: Vec<&str> = words.collect();
    // `/sesion list x` is near to `/session list`, and `/nwe some text` to `/new`.
    let near = (1..=words.len()).rev().find_map(|count| {
        let typed = words.get(..count).unwrap_or_default().join(" ");
        nearest(&typed, Command::ALL.iter().map(|command| command.name()))
    });
    // What was said after a command of one word is not repeated.
    let count = if near.is_some_and(|near| near.contains(' ')) { 2 } else { 1 };
    let typed = words.into_iter().take(count).collect::<Vec<_>>().join(" ");
    let typed: String = typed.chars().filter(|c| !c.is_control()).take(TYPED_CHARS_MAX).collect();
    match language {
        Language::En => en::unknown_command(&typed, near),
        Language::Zh => zh::unknown_command(&typed, near),
    }
}

/// The titles of sessions.
pub type Titles = BTreeMap<Number, String>;

/// The session keys of a scope, and what the sessions are called.
struct Keys<'a> {
    scope: &'a scope::Key,
    titles: &'a Titles,
    language: Language,
}

impl Keys<'_> {
    fn of(&self, session: Number) -> String {
        let key = Key::new(self.scope.clone(), session);
        session_named(self.language, &key, self.titles.get(&session).map(String::as_str))
    }
}

/// Names a session by its key, with its title beside it.
///
/// ```
/// use segue_engine::words::{Language, session_named};
/// let key = "agent:main:cli:direct:me#2".parse()?;
/// assert_eq!(session_named(Language::En, &key, Some("Lisbon")), "agent:main:cli:direct:me#2 \"Lisbon\"");
/// # Ok::<(), segue_core::session::KeyError>(())
/// ```
pub fn session_named(language: Language, key: &Key, title: Option<&str>) -> String {
    match (title, language) {
        (None, _) => key.to_string(),
        (Some(title), Language::En) => format!("{key} \"{title}\""),
        (Some(title), Language::Zh) => format!("{key}「{title}」"),
    }
}
