//! The slash commands, explained.

use super::say::{say, word};
use super::{Command, Language, nearest};

/// How much of a command that is not known is repeated, in characters.
const TYPED_CHARS_MAX: usize = 40;

/// Lists the slash commands, one a line.
pub fn help(l: Language) -> String {
    let width = Command::ALL.iter().map(|command| command.syntax().len()).max().unwrap_or(0);
    let line = |command: &Command| format!("{:width$}  {}", command.syntax(), about(l, *command));
    Command::ALL.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn about(l: Language, command: Command) -> &'static str {
    let (en, zh) = match command {
        Command::New => {
            ("start a new session; MESSAGE is its first message", "开始新会话，MESSAGE 是它的第一条消息")
        }
        Command::Reset => ("the same as /new", "与 /new 相同"),
        Command::Undo => (
            "take back the last new session, resume, fork or split; again: go to the session before",
            "撤销上一次新建、恢复、分叉或拆分；再输一次则回到前一个会话",
        ),
        Command::Redo => ("go forward again after /undo", "在 /undo 之后重新前进"),
        Command::SessionList => (
            "list the sessions of this chat; with all, archived ones too",
            "列出这个聊天的会话；加 all 则包括已归档的",
        ),
        Command::SessionResume => ("go on with session N", "继续第 N 个会话"),
        Command::SessionRestore => {
            ("bring archived session N back to the list", "把已归档的第 N 个会话放回列表")
        }
        Command::SessionMove => {
            ("move your last message and its answer to session N", "把你最后一条消息和回答移到第 N 个会话")
        }
        Command::SessionShow => {
            ("show the messages of session N, or of this one", "显示第 N 个会话（或当前会话）的消息")
        }
        Command::SessionRename => {
            ("give session N, or this one, a title", "给第 N 个会话（或当前会话）起个标题")
        }
        Command::SessionFork => (
            "start a new session with the past of this one, up to message M",
            "以当前会话到 M 号消息为止的内容开始新会话",
        ),
        Command::SessionSplit => {
            ("move message M and all after it to a new session", "把 M 号消息及之后的内容移到新会话")
        }
        Command::SessionKeep => {
            ("keep session N, however old it gets; off undoes that", "一直保留第 N 个会话；加 off 则取消")
        }
        Command::SessionDelete => ("delete session N", "删除第 N 个会话"),
        Command::Continue => ("answer our question: go on here", "回答我们的问题：在这里继续"),
        Command::Fresh => {
            ("answer our question: start fresh with that message", "回答我们的问题：用那条消息重新开始")
        }
        Command::Older => {
            ("answer our question: it belongs to the older session", "回答我们的问题：它属于之前的会话")
        }
        Command::Control => (
            "let model NAME help to decide in this session; without NAME the usual one",
            "让模型 NAME 协助判断这个会话；不写 NAME 则恢复默认",
        ),
        Command::AgentList => ("list the agents", "列出助手"),
        Command::AgentShow => {
            ("show agent NAME, or the one that answers here", "显示助手 NAME（或当前的助手）")
        }
        Command::AgentUse => ("let agent NAME answer in this session", "让助手 NAME 在这个会话里回答"),
        Command::Skills => ("list the skills of this session", "列出这个会话的技能"),
        Command::Skill => ("show skill NAME as this session uses it", "显示技能 NAME（以本会话采用的为准）"),
        Command::ReloadSkills => ("use the skills as they are now", "采用现在的技能"),
        Command::ReloadPersona => ("use the persona as it is now", "采用现在的人格设定"),
        Command::Model => (
            "tell which model answers here, or let model NAME answer",
            "查看由哪个模型回答，或改由模型 NAME 回答",
        ),
        Command::Recall => {
            ("look for QUERY in the earlier sessions of this chat", "在本聊天较早的会话里查找 QUERY")
        }
        Command::Status => ("show the current session and settings", "查看当前会话的情况"),
        Command::Why => ("explain where the last messages went", "说明最近的消息为什么归入所在的会话"),
        Command::Help => ("show this list", "显示这份列表"),
    };
    word(l, en, zh)
}

/// Tells how a command is used, in one line.
pub fn usage(l: Language, command: Command) -> String {
    let syntax = command.syntax();
    let (en, zh) = match command {
        Command::New | Command::Reset => return say!(l, "Usage: {syntax}", "用法：{syntax}"),
        Command::SessionList => ("all lists archived ones too", "all 包括已归档的"),
        Command::SessionResume
        | Command::SessionRestore
        | Command::SessionMove
        | Command::SessionShow
        | Command::SessionRename
        | Command::SessionKeep
        | Command::SessionDelete => ("N is a number from /session list", "N 是 /session list 里的编号"),
        Command::SessionFork | Command::SessionSplit => {
            ("M is the number of a message from /session show", "M 是 /session show 里的消息编号")
        }
        Command::Recall => ("QUERY is what to look for", "QUERY 是要查找的内容"),
        Command::Why => ("COUNT is how many decisions to show", "COUNT 是要显示的条数"),
        Command::Control => {
            ("NAME is a model of the configuration, or builtin", "NAME 是配置里的模型名，或 builtin")
        }
        Command::AgentShow | Command::AgentUse => ("NAME is one of /agent list", "NAME 见 /agent list"),
        Command::Skill => ("NAME is one of /skills", "NAME 见 /skills"),
        Command::Model => ("NAME is a model of the configuration", "NAME 是配置里的模型名"),
        Command::Undo
        | Command::Redo
        | Command::AgentList
        | Command::Skills
        | Command::ReloadSkills
        | Command::ReloadPersona
        | Command::Continue
        | Command::Fresh
        | Command::Older
        | Command::Status
        | Command::Help => ("no arguments", "后面不加内容"),
    };
    let what = word(l, en, zh);
    say!(l, "Usage: {syntax} ({what})", "用法：{syntax}（{what}）")
}

/// Answers a command that is not known, with the nearest one that is.
///
/// ```
/// use segue_engine::words::{self, Language};
/// let line = words::unknown_command(Language::En, "/sesion list");
/// assert_eq!(line, "There is no command /sesion list. Did you mean /session list?");
/// ```
pub fn unknown_command(l: Language, typed: &str) -> String {
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
    match near {
        Some(near) => say!(
            l,
            "There is no command {typed}. Did you mean {near}?",
            "没有 {typed} 这个命令。你是想输入 {near} 吗？"
        ),
        None => say!(
            l,
            "There is no command {typed}. /help lists those there are.",
            "没有 {typed} 这个命令。输入 /help 查看所有命令。"
        ),
    }
}
