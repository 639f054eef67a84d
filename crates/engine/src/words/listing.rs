//! Sessions and decisions as lines: what `/session list`, `/status` and `/why` answer.

use super::say::{say, word};
use super::{Language, age, duration, reason, session_named, tip};
use crate::history::{Explained, Listed};
use crate::outcome::Outcome;
use segue_core::Timestamp;
use segue_core::decision::Action;
use segue_core::entry::CommandBy;
use segue_core::observed::Answer;
use segue_core::state::State;

fn ago(language: Language, at: Timestamp, now: Timestamp) -> String {
    age(language, i64::try_from(now.duration_since(at).as_millis()).unwrap_or(i64::MAX))
}

/// Tells that a scope is empty.
pub(crate) fn nothing_said(language: Language) -> String {
    match language {
        Language::En => "Nothing has been said here yet.",
        Language::Zh => "这里还没有任何消息。",
    }
    .to_owned()
}

fn title(language: Language, session: &Listed) -> &str {
    match (&session.title, language) {
        (Some(title), _) => title,
        (None, Language::En) if session.messages > 0 => "(untitled)",
        (None, Language::Zh) if session.messages > 0 => "（无标题）",
        (None, Language::En) => "(empty)",
        (None, Language::Zh) => "（空）",
    }
}

/// Tells whether a session is kept or will go by itself, to stand behind its age.
fn fate(language: Language, session: &Listed, now: Timestamp) -> String {
    let left =
        session.goes_at.map(|due| i64::try_from(due.duration_since(now).as_millis()).unwrap_or(i64::MAX));
    match (session.kept, left, language) {
        _ if session.archived && !session.kept => match language {
            Language::En => ", archived".to_owned(),
            Language::Zh => "，已归档".to_owned(),
        },
        (true, _, Language::En) => ", kept".to_owned(),
        (true, _, Language::Zh) => "，保留".to_owned(),
        (false, Some(..=0), Language::En) => ", deleted soon".to_owned(),
        (false, Some(..=0), Language::Zh) => "，即将删除".to_owned(),
        (false, Some(ms), Language::En) => format!(", deleted in {}", duration(language, ms)),
        (false, Some(ms), Language::Zh) => format!("，{}后删除", duration(language, ms)),
        (false, None, _) => String::new(),
    }
}

/// Writes a session as a line of a list; the active one is marked.
pub fn listed(language: Language, session: &Listed, now: Timestamp) -> String {
    let mark = if session.active { '*' } else { ' ' };
    let (number, title, n) = (session.number, title(language, session), session.messages);
    let ago = ago(language, session.updated_at, now);
    let fate = fate(language, session, now);
    match language {
        Language::En => {
            let messages = if n == 1 { "message" } else { "messages" };
            format!("{mark} #{number}  {title} ({n} {messages}, {ago}{fate})")
        }
        Language::Zh => format!("{mark} #{number}  {title}（{n} 条消息，{ago}{fate}）"),
    }
}

/// Tells where a conversation stands.
pub fn status(language: Language, session: &Listed, state: &State, policy: &str, now: Timestamp) -> String {
    let (number, n, count) = (session.number, session.messages, state.list().count());
    let (title, ago) = (title(language, session), ago(language, session.updated_at, now));
    let digest = state.open.as_ref().map(|open| open.digest.to_string()).unwrap_or_default();
    let digest = digest.get(..12).unwrap_or_default();
    match language {
        Language::En => format!(
            "Session #{number}: {title}\nMessages: {n}, the last one {ago}\nSessions here: {count}\n\
             Policy: {policy}\nDigest: {digest}"
        ),
        Language::Zh => format!(
            "会话 #{number}：{title}\n消息：{n} 条，最近一条：{ago}\n这里的会话：{count} 个\n策略：{policy}\n校验值：{digest}"
        ),
    }
}

/// Tells how many sessions are archived and not in the list.
pub fn archived(language: Language, count: usize) -> String {
    match language {
        Language::En => format!("Archived: {count} more (/session list all)"),
        Language::Zh => format!("另有 {count} 个已归档（/session list all）"),
    }
}

/// Tells that a command was not done because it means something else by now.
pub fn changed(language: Language) -> String {
    match language {
        Language::En => {
            "Something else changed this chat just now, so nothing was deleted. Please look again."
        }
        Language::Zh => "这个聊天刚刚被改动过，所以什么都没有删除。请再看一下。",
    }
    .to_owned()
}

/// Tells that sessions of a group are deleted by its moderators only.
pub(crate) fn not_moderator(language: Language) -> String {
    match language {
        Language::En => "Sessions of a group are deleted by its moderators only.",
        Language::Zh => "群聊的会话只能由管理员删除。",
    }
    .to_owned()
}

/// Tells that a message came under the id of one that was deleted or erased.
pub(crate) fn deleted_message(language: Language) -> String {
    match language {
        Language::En => {
            "The message with this id was deleted here, and is not taken again: send it as a new message."
        }
        Language::Zh => "带有此编号的消息在这里已被删除，不会再次收下：请作为新消息发送。",
    }
    .to_owned()
}

/// Tells how much was set aside because it cannot be read.
pub fn set_aside(language: Language, count: usize) -> String {
    match language {
        Language::En => format!("Set aside, because it cannot be read: {count} (`segue doctor` tells more)"),
        Language::Zh => format!("因无法读取而移到一旁：{count} 处（`segue doctor` 可查看详情）"),
    }
}

/// Shows what a decision is about: what was said, or that nobody said it.
pub fn subject(l: Language, explained: &Explained) -> String {
    match (&explained.preview, explained.asked_by) {
        (Some(said), _) => say!(l, "\"{said}\"", "“{said}”"),
        (None, CommandBy::Host) => word(l, "(a program asked for it)", "（由程序发起）").to_owned(),
        (None, CommandBy::Person) => word(l, "(erased)", "（已抹去）").to_owned(),
    }
}

/// Tells what was decided about a message, and why.
pub fn explained(language: Language, explained: &Explained, now: Timestamp) -> String {
    let decision = &explained.decision;
    let ago = ago(language, explained.at, now);
    let told = decision.reasons.iter().map(|why| reason(language, why));
    let tipped = decision.alternatives.iter().map(|alternative| tip(language, alternative));
    let reasons: Vec<String> = told.chain(tipped).collect();
    let session = session_named(language, explained.session.number, explained.title.as_deref());
    let verb = verb(language, decision.action);
    match language {
        Language::En => {
            format!("{} ({ago}) {verb} {session}. {}", subject(language, explained), reasons.join(" "))
        }
        Language::Zh => {
            format!("{}（{ago}）{verb} {session}。{}", subject(language, explained), reasons.join(""))
        }
    }
}

/// Tells what was decided about a message just now, how surely, and the reason that tipped it.
pub fn decided(outcome: &Outcome) -> String {
    let (l, session) = (outcome.language, outcome.session);
    let sure = outcome.confidence.value() * 100.0;
    let verb = verb(l, outcome.action);
    let reason = outcome.reasons().pop().unwrap_or_default();
    say!(
        l,
        "It {verb} #{session} ({sure:.0} % sure). {reason}",
        "这条消息{verb} #{session}（把握 {sure:.0}%）。{reason}"
    )
}

/// Lists what can be answered to a question that is open, with a number for each answer.
pub fn answers(language: Language, answers: &[Answer]) -> String {
    let option = |(at, answer): (usize, &Answer)| format!("{} /{}", at + 1, answer.name());
    let options: Vec<String> = answers.iter().enumerate().map(option).collect();
    let options = options.join("   ");
    say!(language, "{options}   (your message waits)", "{options}   （你的消息在等待）")
}

/// Tells what a session holds that is deleted: number and title, how much, from when to when.
pub(crate) fn held(language: Language, session: &Listed, zone: &jiff::tz::TimeZone) -> String {
    let day = |at: Timestamp| at.to_zoned(zone.clone()).strftime("%Y-%m-%d").to_string();
    let (named, n) = (session_named(language, session.number, session.title.as_deref()), session.messages);
    let (from, to) = (day(session.created_at), day(session.updated_at));
    let when = if from == to { from } else { say!(language, "{from} to {to}", "{from} 至 {to}") };
    let messages = if n == 1 { "message" } else { "messages" };
    say!(language, "{named}, {n} {messages}, {when}.", "{named}，{n} 条消息，{when}。")
}

fn verb(l: Language, action: Action) -> &'static str {
    match action {
        Action::Continue | Action::ContinueSummarize | Action::ContinueReinject => {
            word(l, "went on in", "留在了")
        }
        Action::Ask => word(l, "was asked about in", "需要确认，当时在"),
        Action::New | Action::NewCarryOver => word(l, "started", "开始了"),
        Action::Fork => word(l, "forked", "分叉出"),
        Action::Resume => word(l, "went back to", "回到了"),
        Action::Merge => word(l, "joined what was said to", "合并到"),
        Action::Split => word(l, "split off", "拆分出"),
        Action::Clear => word(l, "emptied", "清空了"),
        Action::Command => word(l, "was a command in", "是一条命令，在"),
        Action::Refused => word(l, "was refused in", "被拒绝，当时在"),
    }
}
