//! English.

mod reasons;
pub(super) mod tasks;

pub(super) use reasons::{reason, tip};

use super::duration::{Part, Unit, parts};
use super::{Command, Keys, Language, Trouble};
use segue_core::decision::Action;
use segue_core::notice::{Limit, Notice, Reversal, Since, Stake, Summary, WayBack};
use segue_core::refusal::Refusal;
use segue_core::retention::Wish;

pub(super) fn notice(keys: &Keys<'_>, notice: &Notice) -> String {
    let key = |session: &_| keys.of(*session);
    match notice {
        Notice::Started { session, pruned } => {
            format!("Started new session: {}{}", key(session), pruned_too(", ", *pruned))
        }
        Notice::Expired { session, previous, gap_ms, since, limit, pruned, way_back } => {
            let gap = duration(*gap_ms);
            let why = match (limit, since) {
                (Limit::Window { window_ms }, Since::Message) => {
                    format!("your last message was {gap} ago (more than {})", duration(*window_ms))
                }
                (Limit::Window { window_ms }, Since::Opening) => {
                    format!("nothing was said for {gap} (more than {})", duration(*window_ms))
                }
                (Limit::Day, Since::Message) => {
                    format!("a new day has begun since your last message, {gap} ago")
                }
                (Limit::Day, Since::Opening) => "a new day has begun".to_owned(),
            };
            let pruned = pruned_too("; ", *pruned);
            let back = match way_back {
                WayBack::Open => format!(" /undo goes back to {}.", key(previous)),
                WayBack::Gone => String::new(),
            };
            format!("New session {}: {why}{pruned}.{back}", key(session))
        }
        Notice::StartedOver { session, previous, pruned, way_back } => {
            let back = match way_back {
                WayBack::Open => format!(" /undo goes back to {}.", key(previous)),
                WayBack::Gone => String::new(),
            };
            format!("New session {}, as you asked{}.{back}", key(session), pruned_too("; ", *pruned))
        }
        Notice::Shifted { session, previous, like, pruned, way_back } => {
            let back = match way_back {
                WayBack::Open => format!(" /undo (or \"same topic\") goes back to {}.", key(previous)),
                WayBack::Gone => String::new(),
            };
            let like = like.map(|like| format!(" It is like {}.", keys.of(like))).unwrap_or_default();
            let pruned = pruned_too("; ", *pruned);
            format!("New session {}: this looks like a new topic{pruned}.{like}{back}", key(session))
        }
        Notice::Overflowed { session, previous, percent, summary, pruned, way_back } => {
            let along = match summary {
                Summary::Carried => ", and a summary came along",
                Summary::Left => "",
            };
            let back = match way_back {
                WayBack::Open => format!(" /undo goes back to {}.", key(previous)),
                WayBack::Gone => String::new(),
            };
            let pruned = pruned_too("; ", *pruned);
            format!("New session {}: the context was {percent} % full{along}{pruned}.{back}", key(session))
        }
        Notice::Task(notice) => tasks::notice(keys, notice),
        Notice::Question { stake: Stake::Unclear, .. } => format!("{} (continue / fresh)", tasks::UNCLEAR),
        Notice::Question { stake: Stake::Unfinished { .. }, .. } => {
            "You have an unfinished task. Would you like to continue or start fresh? (continue / fresh)"
                .to_owned()
        }
        Notice::Question { session, stake, older } => {
            let stake = match stake {
                Stake::Topic | Stake::Unclear | Stake::Unfinished { .. } => {
                    format!("This looks like a new topic. Continue in {}", key(session))
                }
                Stake::Pause { gap_ms } => {
                    format!("Your last message here was {} ago. Continue this topic", duration(*gap_ms))
                }
                Stake::Stuck => format!(
                    "We seem to be stuck. Rephrase it and continue in {}, or start fresh with a summary",
                    key(session)
                ),
            };
            match (older, matches!(notice, Notice::Question { stake: Stake::Stuck, .. })) {
                (Some(older), _) => format!(
                    "{stake}, start fresh, or go back to {}? (continue / fresh / older)",
                    keys.of(*older)
                ),
                (None, true) => format!("{stake}? (continue / fresh)"),
                (None, false) => format!("{stake}, or start fresh? (continue / fresh)"),
            }
        }
        Notice::Stays { session } => format!("Going on in {}.", key(session)),
        Notice::Fresh { session, previous, summary, pruned, way_back } => {
            let along = match summary {
                Summary::Carried => " and a summary",
                Summary::Left => "",
            };
            let back = match way_back {
                WayBack::Open => format!(" /undo goes back to {}.", key(previous)),
                WayBack::Gone => String::new(),
            };
            let pruned = pruned_too("; ", *pruned);
            format!("New session {}, with your message{along}{pruned}.{back}", key(session))
        }
        Notice::BackTo { session, previous } => {
            format!("Back in {}, with your message. /undo goes back to {}.", key(session), key(previous))
        }
        Notice::Rejoined { session, from, by: Reversal::User } => {
            format!("Same topic, then: back in {}. What was said in {} is here too.", key(session), key(from))
        }
        Notice::Rejoined { session, from, by: Reversal::Evidence } => format!(
            "This belongs to what we talked about before: {} is part of {} again. /new starts over.",
            key(from),
            key(session)
        ),
        Notice::Controlled { session, model: Some(model) } => {
            format!("{model} helps to decide in {} now.", key(session))
        }
        Notice::Controlled { session, model: None } => {
            format!("The usual model helps to decide in {} again.", key(session))
        }
        Notice::Pinned { session, pinned } => super::pins::notice(Language::En, keys, *session, pinned),
        Notice::Cleared { session } => {
            format!("Cleared {}: it is empty again. /undo brings its messages back.", key(session))
        }
        Notice::Resumed { session, messages } => {
            format!("Resumed {} ({}). Welcome back.", key(session), count(*messages, "message"))
        }
        Notice::Forked { session, parent, at, pruned, way_back } => {
            let past = match at {
                Some(at) => format!("with all of {} up to message {at}", key(parent)),
                None => format!("with all of {}", key(parent)),
            };
            let back = match way_back {
                WayBack::Open => " /undo takes it back.",
                WayBack::Gone => "",
            };
            format!("Forked: new session {}, {past}{}.{back}", key(session), pruned_too("; ", *pruned))
        }
        Notice::Split { session, at, pruned, way_back: WayBack::Gone, .. } => {
            let pruned = pruned_too("; ", *pruned);
            format!("Split: new session {} begins with message {at}{pruned}.", key(session))
        }
        Notice::Split { session, parent, at, pruned, way_back: WayBack::Open } => format!(
            "Split: new session {} begins with message {at}, what came before stays in {}{}. \
             /undo joins them again.",
            key(session),
            key(parent),
            pruned_too("; ", *pruned)
        ),
        Notice::Merged { from, into } => {
            format!("Merged {} into {}. Nothing was lost.", key(from), key(into))
        }
        Notice::Undone { session, from: Some(from) } => {
            format!(
                "Undone: back in {}. What was said in {} since then is here too.",
                key(session),
                key(from)
            )
        }
        Notice::Undone { session, from: None } => {
            format!("Undone: {} has its messages back.", key(session))
        }
        Notice::Renamed { session } => format!("Renamed {}.", key(session)),
        Notice::Deleted { session } => format!("Deleted {}.", key(session)),
        Notice::Pruned { sessions: 0 } => "There was nothing to prune.".to_owned(),
        Notice::Pruned { sessions } => format!("Pruned {}.", count(*sessions, "old session")),
        Notice::Aside => {
            "What was said here before cannot be read. It was set aside and nothing of it was deleted; \
             `segue doctor` tells where it is."
                .to_owned()
        }
        Notice::Going { sessions, past, on } => super::retention::going_en(keys, sessions, *past, *on),
        Notice::Wished { session, wish: Wish::Keep } => {
            format!("{} is kept, whatever its age. /session keep N off lets it go.", key(session))
        }
        Notice::Wished { session, wish: Wish::Release } => {
            format!("{} goes when its time has come, like the others.", key(session))
        }
        Notice::Erased { entries } => format!("Erased {} for good.", count(*entries, "message")),
    }
}

pub(super) fn refusal(keys: &Keys<'_>, refusal: &Refusal) -> String {
    let key = |session: &_| keys.of(*session);
    match refusal {
        Refusal::NoSession(session) => {
            format!("There is no session {}. /session list shows those there are.", key(session))
        }
        Refusal::Merged { from, into } => {
            format!("{} is part of {} now. Use that one.", key(from), key(into))
        }
        Refusal::NothingSaid => "Nothing has been said here yet. Say something first.".to_owned(),
        Refusal::AlreadyActive(session) => format!("You are in {} already.", key(session)),
        Refusal::Active(session) => format!(
            "{} is the session you are in, so it cannot be deleted. Start another one with /new first.",
            key(session)
        ),
        Refusal::NothingToUndo => "There is nothing to undo.".to_owned(),
        Refusal::NotInSession { session, seq } => {
            format!("{} has no message {seq}. /session show lists its messages.", key(session))
        }
        Refusal::NothingBefore(seq) => {
            format!("Message {seq} is the first of its session: there is nothing to split it from.")
        }
        Refusal::SameSession => "A session cannot be merged with itself.".to_owned(),
        Refusal::NothingAsked => "There is no question to answer.".to_owned(),
        Refusal::NothingOffered => "No older session was offered. Answer continue or fresh.".to_owned(),
        Refusal::NotRemembered(entry) => {
            format!("Nothing is remembered as {entry}. `segue memory list` shows what is.")
        }
        Refusal::NothingToErase => "There is nothing left to erase.".to_owned(),
        Refusal::Task(refusal) => tasks::refusal(keys, refusal),
        Refusal::Damaged(what) => format!(
            "The history of this chat is damaged ({what}). Nothing was changed. Please run `segue verify`."
        ),
    }
}

pub(super) fn trouble(trouble: Trouble) -> String {
    match trouble {
        Trouble::TooLong { bytes, bytes_max } => format!(
            "This message is too long ({bytes} bytes, at most {bytes_max}). \
             It was not kept: please send it in parts."
        ),
        Trouble::Empty => "There is no text in this message, so there is nothing to keep.".to_owned(),
        Trouble::Busy => {
            "Too many messages are waiting just now. This one was not kept: please send it again.".to_owned()
        }
        Trouble::Failed => "Sorry, that did not work. Nothing was changed: please try again.".to_owned(),
    }
}

pub(super) fn about(command: Command) -> &'static str {
    match command {
        Command::New => "start a new session; MESSAGE is its first message",
        Command::Reset => "the same as /new",
        Command::Undo => "take back the last new session, resume, fork or split",
        Command::SessionList => "list the sessions of this chat",
        Command::SessionResume => "go on with session N of the list",
        Command::SessionShow => "show the messages of session N, or of this one",
        Command::SessionRename => "give session N, or this one, a title",
        Command::SessionFork => "start a new session with the past of this one, up to message M",
        Command::SessionSplit => "move message M and all after it to a new session",
        Command::SessionKeep => "keep session N, whatever its age; with off, not any more",
        Command::SessionDelete => "delete session N",
        Command::Continue => "answer our question: go on here",
        Command::Fresh => "answer our question: start fresh with that message",
        Command::Older => "answer our question: it belongs to the older session",
        Command::Control => "let model NAME help to decide in this session; without NAME the usual one",
        Command::AgentList => "list the agents",
        Command::AgentShow => "show agent NAME, or the one that answers here",
        Command::AgentUse => "let agent NAME answer in this session",
        Command::Skills => "list the skills of this session",
        Command::Skill => "show skill NAME, as this session took it in",
        Command::ReloadSkills => "take the skills in as they are now",
        Command::ReloadPersona => "take the persona in as it is now",
        Command::Model => "tell which model answers here, or let model NAME answer",
        Command::Recall => "look for QUERY in the earlier sessions of this chat",
        Command::Status => "tell where this conversation stands",
        Command::Why => "tell why the last messages went where they went",
        Command::Help => "show this list",
    }
}

pub(super) fn usage(command: Command) -> String {
    let syntax = command.syntax();
    match command {
        Command::New | Command::Reset => format!("Usage: {syntax}"),
        Command::SessionResume
        | Command::SessionShow
        | Command::SessionRename
        | Command::SessionKeep
        | Command::SessionDelete => {
            format!("Usage: {syntax} (N is a number from /session list)")
        }
        Command::SessionFork | Command::SessionSplit => {
            format!("Usage: {syntax} (M is the number of a message from /session show)")
        }
        Command::Recall => format!("Usage: {syntax} (QUERY is what to look for)"),
        Command::Why => format!("Usage: {syntax} (COUNT is how many decisions to show)"),
        Command::Control => format!("Usage: {syntax} (NAME is a model of the configuration, or builtin)"),
        Command::AgentShow | Command::AgentUse => format!("Usage: {syntax} (NAME is one of /agent list)"),
        Command::Skill => format!("Usage: {syntax} (NAME is one of /skills)"),
        Command::Model => format!("Usage: {syntax} (NAME is a model of the configuration)"),
        Command::Undo
        | Command::AgentList
        | Command::Skills
        | Command::ReloadSkills
        | Command::ReloadPersona
        | Command::Continue
        | Command::Fresh
        | Command::Older
        | Command::SessionList
        | Command::Status
        | Command::Help => {
            format!("Usage: {syntax} (nothing more)")
        }
    }
}

pub(super) fn out_of_range(command: Command, sessions: usize) -> String {
    match sessions {
        0 => "There are no sessions here yet. Say something first.".to_owned(),
        1 => format!("Usage: {} (there is only session 1)", command.syntax()),
        _ => format!("Usage: {} (N is from 1 to {sessions}, see /session list)", command.syntax()),
    }
}

pub(super) fn unknown_command(typed: &str, near: Option<&str>) -> String {
    match near {
        Some(near) => format!("There is no command {typed}. Did you mean {near}?"),
        None => format!("There is no command {typed}. /help lists those there are."),
    }
}

pub(super) fn duration(ms: i64) -> String {
    match parts(ms) {
        (first, None) => part(first),
        (first, Some(second)) => format!("{} {}", part(first), part(second)),
    }
}

pub(super) fn age(ms: i64) -> String {
    match parts(ms).0 {
        (_, Unit::Seconds) => "just now".to_owned(),
        first => format!("{} ago", part(first)),
    }
}

fn part((count, unit): Part) -> String {
    match unit {
        Unit::Days => format!("{count} d"),
        Unit::Hours => format!("{count} h"),
        Unit::Minutes => format!("{count} min"),
        Unit::Seconds => format!("{count} s"),
    }
}

fn pruned_too(joint: &str, pruned: u32) -> String {
    match pruned {
        0 => String::new(),
        _ => format!("{joint}{} pruned", count(pruned, "old session")),
    }
}

fn count(count: u32, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

fn action(action: Action) -> &'static str {
    match action {
        Action::New | Action::NewCarryOver => "a new session",
        Action::Ask => "a question",
        _ => "the same session",
    }
}
