//! What people read, in English and in Chinese.
//!
//! `core` says what happened as data; here it becomes a line of text. Each sentence has one place, with both languages side
//! by side, and each match is exhaustive, so that nothing new can happen without words for it in both.

pub mod chat;
mod command;
mod duration;
mod help;
mod listing;
mod mentioned;
mod nearest;
mod notice;
pub mod pins;
pub(crate) mod quoted;
mod reason;
pub mod recall;
mod refusal;
mod retention;
mod say;
pub mod tasks;
#[cfg(test)]
mod tests;

pub use command::Command;
pub use duration::{age, duration};
pub use help::{help, unknown_command, usage};
pub(crate) use listing::held;
pub use listing::{answers, archived, changed, decided, explained, listed, set_aside, status, subject};
pub(crate) use listing::{deleted_message, not_moderator, nothing_said};
pub(crate) use mentioned::mentioned;
pub use nearest::nearest;
pub use quoted::as_data;
pub(crate) use quoted::one_line;
pub use reason::{reason, tip};
pub use refusal::trouble;

use segue_core::notice::Notice;
use segue_core::observed::Answer;
use segue_core::refusal::Refusal;
use segue_core::scope;
use segue_core::session::{Key, Number};
use std::collections::BTreeMap;

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
    /// Finds the language of a text by its script: Chinese if it has at least half as many Han characters as words in other
    /// letters, and is not Japanese.
    ///
    /// ```
    /// use segue_engine::words::Language;
    /// assert_eq!(Language::of("deploy 一下"), Language::Zh);
    /// assert_eq!(Language::of("what does 人 mean?"), Language::En);
    /// assert_eq!(Language::of("東京に行きたい"), Language::En);
    /// ```
    pub fn of(text: &str) -> Self {
        Self::told_by(text).unwrap_or_default()
    }

    /// The same; nothing if the text is too short to tell, such as "ok", "2" or a command.
    pub(crate) fn told_by(text: &str) -> Option<Self> {
        let script = Script::of(text);
        if script.is_japanese() || script.hangul > script.han {
            Some(Self::En)
        } else if script.han > 0 && 2 * script.han >= script.words {
            Some(Self::Zh)
        } else {
            (script.words >= WORDS_MIN && !text.starts_with('/')).then_some(Self::En)
        }
    }
}

/// What a text is written in: how many words of letters it has, and how many characters of other scripts.
#[derive(Default)]
struct Script {
    words: usize,
    han: usize,
    hangul: usize,
    kana: usize,
    /// Of the Han characters those that Japanese hardly ever writes.
    chinese: usize,
}

impl Script {
    fn of(text: &str) -> Self {
        let mut script = Self::default();
        let mut in_word = false;
        for c in text.chars() {
            let is_han = is_han(c);
            let is_letter = c.is_alphabetic() && !is_han;
            script.words += usize::from(is_letter && !in_word);
            in_word = is_letter;
            if !c.is_ascii() {
                script.han += usize::from(is_han);
                script.hangul += usize::from(matches!(c, '\u{ac00}'..='\u{d7a3}'));
                script.kana += usize::from(is_kana(c));
                script.chinese += usize::from(CHINESE_ONLY.contains(c));
            }
        }
        script
    }

    /// Japanese has syllables beside its Han characters. One alone is decoration in Chinese (奶茶の店), and words of it are quoted
    /// there.
    fn is_japanese(&self) -> bool {
        (self.kana > 1 || self.kana > 0 && self.han == 0) && 3 * self.chinese < self.kana
    }
}

fn is_han(c: char) -> bool {
    matches!(c,
        '\u{3007}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{323af}')
}

/// A Japanese syllable. The dot between names and the mark of a long vowel are written in Chinese as well.
fn is_kana(c: char) -> bool {
    matches!(c, '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | '\u{31f0}'..='\u{31ff}' | '\u{ff66}'..='\u{ff9d}')
        && c != '\u{ff70}'
}

/// Frequent characters that Japanese does not write, or hardly ever.
const CHINESE_ONLY: &str =
    "你您们這这吗嗎么麼没說说个為爲對對问时间请請谢什還还让給给过现現怎呢吧哪啊她它很啥咱俩谁";

/// Fewer words than this may stand in any conversation: "ok", "thanks a lot".
const WORDS_MIN: usize = 4;

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
    /// The store did not say whether the command was carried out.
    Unknown,
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
pub(crate) fn notice_naming(
    language: Language,
    scope: &scope::Key,
    titles: &Titles,
    notice: &Notice,
) -> String {
    let line = notice::notice(&Keys { scope, titles, language, naming: Naming::Key }, notice);
    // A Chinese bracket needs no space behind it.
    line.replace("」 ", "」")
}

/// The same, without any key: people know sessions by their numbers.
pub(crate) fn numbered_notice(language: Language, scope: &scope::Key, notice: &Notice) -> String {
    let titles = &Titles::new();
    notice::notice(&Keys { scope, titles, language, naming: Naming::Number }, notice)
}

/// Tells the user why something was not done, in one line.
pub fn refusal(language: Language, scope: &scope::Key, refusal: &Refusal) -> String {
    refusal::refusal(&Keys { scope, titles: &Titles::new(), language, naming: Naming::Key }, refusal)
}

/// Names an answer to our question, for a button, and the command that gives it.
pub(crate) fn choice(language: Language, answer: Answer, older: Option<Number>) -> (String, &'static str) {
    let older = older.map(|older| session_named(language, older, None)).unwrap_or_default();
    match (answer, language) {
        (Answer::Continue, Language::En) => ("Go on here".to_owned(), "/continue"),
        (Answer::Continue, Language::Zh) => ("继续当前会话".to_owned(), "/continue"),
        (Answer::Fresh, Language::En) => ("Start fresh".to_owned(), "/fresh"),
        (Answer::Fresh, Language::Zh) => ("重新开始".to_owned(), "/fresh"),
        (Answer::Older, Language::En) => (format!("Go back to {older}"), "/older"),
        (Answer::Older, Language::Zh) => (format!("回到 {older}"), "/older"),
    }
}

/// The titles of sessions.
pub type Titles = BTreeMap<Number, String>;

/// The session keys of a scope, and what the sessions are called.
struct Keys<'a> {
    scope: &'a scope::Key,
    titles: &'a Titles,
    language: Language,
    naming: Naming,
}

/// How the session that `/new` begins is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Naming {
    /// By its whole key (P-5).
    Key,
    /// By its number.
    Number,
}

impl Keys<'_> {
    fn of(&self, session: Number) -> String {
        session_named(self.language, session, self.titles.get(&session).map(String::as_str))
    }

    /// Names the session that `/new` begins.
    fn started(&self, session: Number) -> String {
        match self.naming {
            Naming::Key => Key::new(self.scope.clone(), session).to_string(),
            Naming::Number => self.of(session),
        }
    }
}

/// Names a session by its number, with its title beside it.
///
/// ```
/// use segue_core::session::Number;
/// use segue_engine::words::{Language, session_named};
/// assert_eq!(session_named(Language::En, Number(2), Some("Lisbon")), "#2 \"Lisbon\"");
/// ```
pub fn session_named(language: Language, session: Number, title: Option<&str>) -> String {
    match (title, language) {
        (None, _) => format!("#{session}"),
        (Some(title), Language::En) => format!("#{session} \"{title}\""),
        (Some(title), Language::Zh) => format!("#{session}「{title}」"),
    }
}
