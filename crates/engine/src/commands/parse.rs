//! Reading slash commands.

use crate::request::Pick;
use crate::words::Command;
use segue_core::entry::Seq;
use segue_core::observed::Answer;
use segue_core::retention::KeepChoice;
use segue_core::session::{Number, Title};

/// How many decisions `/why` explains at most.
const WHY_MAX: usize = 20;

/// A slash command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Slash {
    /// `/new [TEXT]`, `/reset [TEXT]`.
    New(Option<String>),
    /// `/undo`.
    Undo,
    /// `/redo`.
    Redo,
    /// `/session list`.
    List,
    /// `/session list all`.
    ListAll,
    /// `/session resume N`.
    Resume(Number),
    /// `/session restore N`.
    Restore(Number),
    /// `/session move N`.
    Move(Number),
    /// `/session show [N]`.
    Show(Pick),
    /// `/session rename [N] TITLE`.
    Rename(Pick, Title),
    /// `/session fork [MESSAGE]`.
    Fork(Option<Seq>),
    /// `/session split MESSAGE`.
    Split(Seq),
    /// `/session keep N [off]`.
    Keep(Number, KeepChoice),
    /// `/session delete N`.
    Delete(Number),
    /// `/continue`, `/fresh`, `/older`.
    Answer(Answer),
    /// `/control [NAME]`.
    Control(Option<String>),
    /// `/recall QUERY`.
    Recall(String),
    /// `/agent list`.
    Agents,
    /// `/agent show [NAME]`.
    Agent(Option<String>),
    /// `/agent use NAME`, `/agent NAME`.
    AgentUse(String),
    /// `/skills`.
    Skills,
    /// `/skill NAME`.
    Skill(String),
    /// `/reload_skills`.
    ReloadSkills,
    /// `/reload_persona`.
    ReloadPersona,
    /// `/model [NAME]`.
    Model(Option<String>),
    /// `/status`.
    Status,
    /// `/why [COUNT]`.
    Why(usize),
    /// `/help`.
    Help,
}

/// What a text is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parsed {
    /// No command.
    Message,
    /// A command.
    Slash(Slash),
    /// A command without what it needs.
    Usage(Command),
    /// A command that is not known.
    Unknown,
}

/// Reads a text.
///
/// A command is a slash and a word of letters, at the very beginning. A path (`/usr/bin`) or a comment
/// (`//`, `/*`) is no command.
///
/// ```
/// use segue_engine::commands::{parse, Parsed, Slash};
/// assert_eq!(parse("/reset"), Parsed::Slash(Slash::New(None)));
/// assert_eq!(parse("/usr/bin/env is missing"), Parsed::Message);
/// ```
pub fn parse(text: &str) -> Parsed {
    // Chinese keyboards type a full-width slash, and some programs put marks in front that nobody sees.
    let text = text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '\u{200b}' | '\u{feff}'));
    let Some(line) = text.strip_prefix(['/', '／']) else { return Parsed::Message };
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    // Telegram and others say to which bot a command goes: `/new@segue_bot`.
    let word = word.split_once('@').map_or(word, |(word, _)| word);
    let is_word = |word: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if !word.starts_with(|c: char| c.is_ascii_alphabetic()) || !is_word(word) {
        return Parsed::Message;
    }
    let rest = rest.trim();
    match word.to_ascii_lowercase().as_str() {
        "new" | "reset" => Parsed::Slash(Slash::New((!rest.is_empty()).then(|| rest.to_owned()))),
        "undo" => Parsed::Slash(Slash::Undo),
        "redo" => Parsed::Slash(Slash::Redo),
        "recall" if rest.is_empty() => Parsed::Usage(Command::Recall),
        "recall" => Parsed::Slash(Slash::Recall(rest.to_owned())),
        "status" => Parsed::Slash(Slash::Status),
        "why" if rest.is_empty() => Parsed::Slash(Slash::Why(1)),
        "why" => match rest.parse().ok().filter(|count| (1..=WHY_MAX).contains(count)) {
            Some(count) => Parsed::Slash(Slash::Why(count)),
            None => Parsed::Usage(Command::Why),
        },
        "control" => match rest.split_whitespace().count() {
            0 => Parsed::Slash(Slash::Control(None)),
            1 => Parsed::Slash(Slash::Control(Some(rest.to_owned()))),
            _ => Parsed::Usage(Command::Control),
        },
        "agent" | "agents" => agent(rest),
        "skills" => Parsed::Slash(Slash::Skills),
        "skill" => match rest.split_whitespace().count() {
            1 => Parsed::Slash(Slash::Skill(rest.to_owned())),
            _ => Parsed::Usage(Command::Skill),
        },
        "reload_skills" | "reload-skills" => Parsed::Slash(Slash::ReloadSkills),
        "reload_persona" | "reload-persona" => Parsed::Slash(Slash::ReloadPersona),
        "model" => match rest.split_whitespace().count() {
            0 => Parsed::Slash(Slash::Model(None)),
            1 => Parsed::Slash(Slash::Model(Some(rest.to_owned()))),
            _ => Parsed::Usage(Command::Model),
        },
        "help" => Parsed::Slash(Slash::Help),
        "session" | "sessions" => session(rest),
        other => match Answer::named(other) {
            Some(answer) => Parsed::Slash(Slash::Answer(answer)),
            None => Parsed::Unknown,
        },
    }
}

/// Reads `list`, `show [NAME]`, `use NAME`, or the name alone.
fn agent(rest: &str) -> Parsed {
    let words: Vec<&str> = rest.split_whitespace().collect();
    Parsed::Slash(match words.as_slice() {
        [] | ["list" | "ls"] => Slash::Agents,
        ["show"] => Slash::Agent(None),
        ["show", name] => Slash::Agent(Some((*name).to_owned())),
        ["use"] => return Parsed::Usage(Command::AgentUse),
        ["use", name] | [name] => Slash::AgentUse((*name).to_owned()),
        ["show", ..] => return Parsed::Usage(Command::AgentShow),
        _ => return Parsed::Usage(Command::AgentUse),
    })
}

fn session(rest: &str) -> Parsed {
    let (verb, rest) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let rest = rest.trim();
    let number = || number(rest);
    let seq = || rest.parse::<u64>().ok().filter(|n| *n > 0).map(Seq);
    let slash = match verb.to_ascii_lowercase().as_str() {
        "" => Ok(Slash::List),
        "list" | "ls" if rest.is_empty() => Ok(Slash::List),
        "list" | "ls" if rest.eq_ignore_ascii_case("all") => Ok(Slash::ListAll),
        "list" | "ls" => Err(Command::SessionList),
        "restore" => number().map(Slash::Restore).ok_or(Command::SessionRestore),
        "move" => number().map(Slash::Move).ok_or(Command::SessionMove),
        "resume" => number().map(Slash::Resume).ok_or(Command::SessionResume),
        "delete" => number().map(Slash::Delete).ok_or(Command::SessionDelete),
        "keep" => keep(rest).ok_or(Command::SessionKeep),
        "show" if rest.is_empty() => Ok(Slash::Show(Pick::Latest)),
        "show" => number().map(|n| Slash::Show(Pick::Numbered(n))).ok_or(Command::SessionShow),
        "fork" if rest.is_empty() => Ok(Slash::Fork(None)),
        "fork" => seq().map(|at| Slash::Fork(Some(at))).ok_or(Command::SessionFork),
        "split" => seq().map(Slash::Split).ok_or(Command::SessionSplit),
        "rename" => rename(rest).ok_or(Command::SessionRename),
        _ => return Parsed::Unknown,
    };
    match slash {
        Ok(slash) => Parsed::Slash(slash),
        Err(usage) => Parsed::Usage(usage),
    }
}

/// Reads the number of a session, as `2` or as `#2`.
fn number(text: &str) -> Option<Number> {
    text.strip_prefix('#').unwrap_or(text).parse().ok().filter(|n| *n > 0).map(Number)
}

/// Reads `N`, or `N off`.
fn keep(rest: &str) -> Option<Slash> {
    let (number, wish) = match rest.split_once(char::is_whitespace) {
        Some((number, off)) if off.trim().eq_ignore_ascii_case("off") => (number, KeepChoice::Release),
        Some(_) => return None,
        None => (rest, KeepChoice::Keep),
    };
    Some(Slash::Keep(self::number(number)?, wish))
}

/// Reads `[N] TITLE`: a number alone is a title.
fn rename(rest: &str) -> Option<Slash> {
    let numbered = rest
        .split_once(char::is_whitespace)
        .and_then(|(first, title)| Some((Pick::Numbered(number(first)?), Title::new(title)?)));
    let (pick, title) = match numbered {
        Some(found) => found,
        None => (Pick::Latest, Title::new(rest)?),
    };
    Some(Slash::Rename(pick, title))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slash(text: &str) -> Slash {
        match parse(text) {
            Parsed::Slash(slash) => slash,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn commands_are_read_in_all_their_forms() {
        assert_eq!(slash("/new"), Slash::New(None));
        assert_eq!(slash("  /NEW@segue_bot  "), Slash::New(None));
        assert_eq!(slash("／new"), Slash::New(None));
        assert_eq!(slash("\u{200b}/new"), Slash::New(None));
        assert_eq!(slash("/reset fix the parser"), Slash::New(Some("fix the parser".into())));
        assert_eq!(slash("/recall the harbour"), Slash::Recall("the harbour".into()));
        assert_eq!(slash("/agent"), Slash::Agents);
        assert_eq!(slash("/agent list"), Slash::Agents);
        assert_eq!(slash("/agent show"), Slash::Agent(None));
        assert_eq!(slash("/agent use list"), Slash::AgentUse("list".into()));
        assert_eq!(slash("/agent work"), Slash::AgentUse("work".into()));
        assert_eq!(slash("/reload_skills"), Slash::ReloadSkills);
        assert_eq!(slash("/model"), Slash::Model(None));
        assert_eq!(slash("/model fast"), Slash::Model(Some("fast".into())));
        assert_eq!(slash("/session"), Slash::List);
        assert_eq!(slash("/session resume 2"), Slash::Resume(Number(2)));
        assert_eq!(slash("/session resume #2"), Slash::Resume(Number(2)));
        assert_eq!(slash("/session list all"), Slash::ListAll);
        assert_eq!(slash("/session move 3"), Slash::Move(Number(3)));
        assert_eq!(slash("/redo"), Slash::Redo);
        assert_eq!(slash("/session show"), Slash::Show(Pick::Latest));
        assert_eq!(slash("/session keep 2"), Slash::Keep(Number(2), KeepChoice::Keep));
        assert_eq!(slash("/session keep 2 off"), Slash::Keep(Number(2), KeepChoice::Release));
        assert_eq!(slash("/session fork 12"), Slash::Fork(Some(Seq(12))));
        let title = |t| Title::new(t).unwrap();
        assert_eq!(
            slash("/session rename 2 the parser"),
            Slash::Rename(Pick::Numbered(Number(2)), title("the parser"))
        );
        assert_eq!(slash("/session rename 2"), Slash::Rename(Pick::Latest, title("2")));
    }

    /// P-7: bounds and non-numbers give a usage line.
    #[test]
    fn p7_what_is_missing_gives_a_usage_line() {
        for (text, usage) in [
            ("/session resume", Command::SessionResume),
            ("/session resume x", Command::SessionResume),
            ("/session resume 0", Command::SessionResume),
            ("/session resume -1", Command::SessionResume),
            ("/session resume 99999999999999999999", Command::SessionResume),
            ("/session keep", Command::SessionKeep),
            ("/session keep 2 on", Command::SessionKeep),
            ("/session rename", Command::SessionRename),
            ("/session split soon", Command::SessionSplit),
            ("/why not", Command::Why),
            ("/recall ", Command::Recall),
            ("/agent use", Command::AgentUse),
            ("/agent use a b", Command::AgentUse),
            ("/skill", Command::Skill),
            ("/model a b", Command::Model),
        ] {
            assert_eq!(parse(text), Parsed::Usage(usage), "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_a_command_is_a_message() {
        for text in ["hello", "/usr/bin/env", "// comment", "/* c */", "/", "/ new", "/3", "a /new", "/新"] {
            assert_eq!(parse(text), Parsed::Message, "{text}");
        }
    }

    #[test]
    fn what_is_not_known_is_said_to_be_so() {
        for text in ["/nwe", "/sesion list", "/session frobnicate", "/xyzzy"] {
            assert_eq!(parse(text), Parsed::Unknown, "{text}");
        }
    }
}
