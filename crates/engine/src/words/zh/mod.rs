//! Chinese.

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
            format!("已开始新会话：{}{}", key(session), pruned_too("，", *pruned))
        }
        Notice::Expired { session, previous, gap_ms, since, limit, pruned, way_back } => {
            let gap = duration(*gap_ms);
            let why = match (limit, since) {
                (Limit::Window { window_ms }, Since::Message) => {
                    format!("你的上一条消息是 {gap}前发的（超过 {}）", duration(*window_ms))
                }
                (Limit::Window { window_ms }, Since::Opening) => {
                    format!("已有 {gap}没有新消息（超过 {}）", duration(*window_ms))
                }
                (Limit::Day, Since::Message) => {
                    format!("你的上一条消息是 {gap}前发的，现在已是新的一天")
                }
                (Limit::Day, Since::Opening) => "现在已是新的一天".to_owned(),
            };
            let pruned = pruned_too("；", *pruned);
            let back = match way_back {
                WayBack::Open => format!("输入 /undo 可回到 {}。", key(previous)),
                WayBack::Gone => String::new(),
            };
            format!("新会话 {}：{why}{pruned}。{back}", key(session))
        }
        Notice::StartedOver { session, previous, pruned, way_back } => {
            let back = match way_back {
                WayBack::Open => format!("输入 /undo 可回到 {}。", key(previous)),
                WayBack::Gone => String::new(),
            };
            format!("已按你的意思开始新会话 {}{}。{back}", key(session), pruned_too("；", *pruned))
        }
        Notice::Shifted { session, previous, like, pruned, way_back } => {
            let back = match way_back {
                WayBack::Open => format!("输入 /undo（或说“同一个话题”）可回到 {}。", key(previous)),
                WayBack::Gone => String::new(),
            };
            let like = like.map(|like| format!("它与 {} 相近。", keys.of(like))).unwrap_or_default();
            let pruned = pruned_too("；", *pruned);
            format!("新会话 {}：这看起来是新话题{pruned}。{like}{back}", key(session))
        }
        Notice::Overflowed { session, previous, percent, summary, pruned, way_back } => {
            let along = match summary {
                Summary::Carried => "，摘要已带过来",
                Summary::Left => "",
            };
            let back = match way_back {
                WayBack::Open => format!("输入 /undo 可回到 {}。", key(previous)),
                WayBack::Gone => String::new(),
            };
            let pruned = pruned_too("；", *pruned);
            format!("新会话 {}：上下文已用了 {percent}%{along}{pruned}。{back}", key(session))
        }
        Notice::Task(notice) => tasks::notice(keys, notice),
        Notice::Question { stake: Stake::Unclear, .. } => format!("{}（继续 / 重新开始）", tasks::UNCLEAR),
        Notice::Question { stake: Stake::Unfinished { .. }, .. } => {
            "你有一个尚未完成的任务。要继续，还是重新开始？（继续 / 重新开始）".to_owned()
        }
        Notice::Question { session, stake, older } => {
            let stake = match stake {
                Stake::Topic | Stake::Unclear | Stake::Unfinished { .. } => {
                    format!("这看起来是新话题。在 {} 里继续", key(session))
                }
                Stake::Pause { gap_ms } => {
                    format!("你在这里的上一条消息是 {}前发的。继续这个话题", duration(*gap_ms))
                }
                Stake::Stuck => {
                    format!("我们好像卡住了。换个说法在 {} 里继续，还是带着摘要重新开始", key(session))
                }
            };
            match (older, matches!(notice, Notice::Question { stake: Stake::Stuck, .. })) {
                (Some(older), _) => {
                    format!("{stake}、重新开始，还是回到 {}？（继续 / 重新开始 / 之前的）", keys.of(*older))
                }
                (None, true) => format!("{stake}？（继续 / 重新开始）"),
                (None, false) => format!("{stake}，还是重新开始？（继续 / 重新开始）"),
            }
        }
        Notice::Stays { session } => format!("在 {} 里继续。", key(session)),
        Notice::Fresh { session, previous, summary, pruned, way_back } => {
            let along = match summary {
                Summary::Carried => "和一份摘要",
                Summary::Left => "",
            };
            let back = match way_back {
                WayBack::Open => format!("输入 /undo 可回到 {}。", key(previous)),
                WayBack::Gone => String::new(),
            };
            let pruned = pruned_too("；", *pruned);
            format!("新会话 {}，带着你的消息{along}{pruned}。{back}", key(session))
        }
        Notice::BackTo { session, previous } => {
            format!("已带着你的消息回到 {}。输入 /undo 可回到 {}。", key(session), key(previous))
        }
        Notice::Rejoined { session, from, by: Reversal::User } => {
            format!("好，还是同一个话题：回到 {}，在 {} 里说的话也都在这里。", key(session), key(from))
        }
        Notice::Rejoined { session, from, by: Reversal::Evidence } => {
            format!("这属于我们之前聊的内容：{} 重新并入 {}。输入 /new 可重新开始。", key(from), key(session))
        }
        Notice::Controlled { session, model: Some(model) } => {
            format!("{} 现在由 {model} 协助判断。", key(session))
        }
        Notice::Controlled { session, model: None } => {
            format!("{} 恢复使用默认的判断模型。", key(session))
        }
        Notice::Pinned { session, pinned } => super::pins::notice(Language::Zh, keys, *session, pinned),
        Notice::Cleared { session } => {
            format!("已清空 {}。输入 /undo 可找回其中的消息。", key(session))
        }
        Notice::Resumed { session, messages } => {
            format!("已回到 {}（{messages} 条消息）。欢迎回来。", key(session))
        }
        Notice::Forked { session, parent, at, pruned, way_back } => {
            let past = match at {
                Some(at) => format!("包含 {} 到 {at} 号消息为止的内容", key(parent)),
                None => format!("包含 {} 的全部内容", key(parent)),
            };
            let back = match way_back {
                WayBack::Open => "输入 /undo 可撤销。",
                WayBack::Gone => "",
            };
            format!("已分叉：新会话 {}，{past}{}。{back}", key(session), pruned_too("；", *pruned))
        }
        Notice::Split { session, at, pruned, way_back: WayBack::Gone, .. } => {
            let pruned = pruned_too("；", *pruned);
            format!("已拆分：新会话 {} 从 {at} 号消息开始{pruned}。", key(session))
        }
        Notice::Split { session, parent, at, pruned, way_back: WayBack::Open } => format!(
            "已拆分：新会话 {} 从 {at} 号消息开始，之前的内容留在 {}{}。输入 /undo 可重新合并。",
            key(session),
            key(parent),
            pruned_too("；", *pruned)
        ),
        Notice::Merged { from, into } => {
            format!("已把 {} 并入 {}，没有丢失任何内容。", key(from), key(into))
        }
        Notice::Undone { session, from: Some(from) } => {
            format!("已撤销：回到 {}，此后在 {} 里说过的话也都在这里。", key(session), key(from))
        }
        Notice::Undone { session, from: None } => {
            format!("已撤销：{} 的消息都回来了。", key(session))
        }
        Notice::Renamed { session } => format!("已重命名 {}。", key(session)),
        Notice::Deleted { session } => format!("已删除 {}。", key(session)),
        Notice::Pruned { sessions: 0 } => "没有需要清理的会话。".to_owned(),
        Notice::Pruned { sessions } => format!("已清理 {sessions} 个旧会话。"),
        Notice::Aside => {
            "这里以前的内容无法读取，已原样移到一旁，没有删除。运行 `segue doctor` 可查看位置。".to_owned()
        }
        Notice::Going { sessions, past, on } => super::retention::going_zh(keys, sessions, *past, *on),
        Notice::Wished { session, wish: Wish::Keep } => {
            format!("{} 会一直保留。输入 /session keep N off 可取消。", key(session))
        }
        Notice::Wished { session, wish: Wish::Release } => {
            format!("{} 不再特别保留，到期会像其他会话一样清理。", key(session))
        }
        Notice::Erased { entries } => format!("已彻底抹去 {entries} 条消息。"),
    }
}

pub(super) fn refusal(keys: &Keys<'_>, refusal: &Refusal) -> String {
    let key = |session: &_| keys.of(*session);
    match refusal {
        Refusal::NoSession(session) => {
            format!("没有会话 {}。输入 /session list 查看现有的会话。", key(session))
        }
        Refusal::Merged { from, into } => {
            format!("{} 已并入 {}，请使用后者。", key(from), key(into))
        }
        Refusal::NothingSaid => "这里还没有任何消息，请先说点什么。".to_owned(),
        Refusal::AlreadyActive(session) => format!("你已经在 {} 里了。", key(session)),
        Refusal::Active(session) => {
            format!("{} 是当前会话，不能删除。请先用 /new 开始另一个会话。", key(session))
        }
        Refusal::NothingToUndo => "没有可以撤销的操作。".to_owned(),
        Refusal::NotInSession { session, seq } => {
            format!("{} 里没有 {seq} 号消息。输入 /session show 查看其中的消息。", key(session))
        }
        Refusal::NothingBefore(seq) => {
            format!("{seq} 号消息是会话的第一条，前面没有内容可以拆分。")
        }
        Refusal::SameSession => "会话不能与自己合并。".to_owned(),
        Refusal::NothingAsked => "没有需要回答的问题。".to_owned(),
        Refusal::NothingOffered => "没有可以回到的旧会话。请回答“继续”或“重新开始”。".to_owned(),
        Refusal::NotRemembered(entry) => {
            format!("没有编号为 {entry} 的记忆。`segue memory list` 列出全部记忆。")
        }
        Refusal::NothingToErase => "没有可以抹去的内容了。".to_owned(),
        Refusal::Task(refusal) => tasks::refusal(keys, refusal),
        Refusal::Damaged(what) => {
            format!("这个聊天的历史记录已损坏（{what}）。没有做任何改动，请运行 `segue verify`。")
        }
    }
}

pub(super) fn trouble(trouble: Trouble) -> String {
    match trouble {
        Trouble::TooLong { bytes, bytes_max } => {
            format!("这条消息太长（{bytes} 字节，最多 {bytes_max} 字节），没有保存，请分几次发送。")
        }
        Trouble::Empty => "这条消息没有文字，没有可以保存的内容。".to_owned(),
        Trouble::Busy => "现在排队的消息太多，这条没有保存，请再发一次。".to_owned(),
        Trouble::Failed => "抱歉，没有成功。没有做任何改动，请再试一次。".to_owned(),
    }
}

pub(super) fn about(command: Command) -> &'static str {
    match command {
        Command::New => "开始新会话，MESSAGE 是它的第一条消息",
        Command::Reset => "与 /new 相同",
        Command::Undo => "撤销上一次新建、恢复、分叉或拆分",
        Command::SessionList => "列出这个聊天的会话",
        Command::SessionResume => "继续列表中的第 N 个会话",
        Command::SessionShow => "显示第 N 个会话（或当前会话）的消息",
        Command::SessionRename => "给第 N 个会话（或当前会话）起个标题",
        Command::SessionFork => "以当前会话到 M 号消息为止的内容开始新会话",
        Command::SessionSplit => "把 M 号消息及之后的内容移到新会话",
        Command::SessionKeep => "一直保留第 N 个会话；加 off 则取消",
        Command::SessionDelete => "删除第 N 个会话",
        Command::Continue => "回答我们的问题：在这里继续",
        Command::Fresh => "回答我们的问题：用那条消息重新开始",
        Command::Older => "回答我们的问题：它属于之前的会话",
        Command::Control => "让模型 NAME 协助判断这个会话；不写 NAME 则恢复默认",
        Command::AgentList => "列出助手",
        Command::AgentShow => "显示助手 NAME（或当前的助手）",
        Command::AgentUse => "让助手 NAME 在这个会话里回答",
        Command::Skills => "列出这个会话的技能",
        Command::Skill => "显示技能 NAME（以本会话采用的为准）",
        Command::ReloadSkills => "采用现在的技能",
        Command::ReloadPersona => "采用现在的人格设定",
        Command::Model => "查看由哪个模型回答，或改由模型 NAME 回答",
        Command::Recall => "在本聊天较早的会话里查找 QUERY",
        Command::Status => "查看当前会话的情况",
        Command::Why => "说明最近的消息为什么归入所在的会话",
        Command::Help => "显示这份列表",
    }
}

pub(super) fn usage(command: Command) -> String {
    let syntax = command.syntax();
    match command {
        Command::New | Command::Reset => format!("用法：{syntax}"),
        Command::SessionResume
        | Command::SessionShow
        | Command::SessionRename
        | Command::SessionKeep
        | Command::SessionDelete => {
            format!("用法：{syntax}（N 是 /session list 里的编号）")
        }
        Command::SessionFork | Command::SessionSplit => {
            format!("用法：{syntax}（M 是 /session show 里的消息编号）")
        }
        Command::Recall => format!("用法：{syntax}（QUERY 是要查找的内容）"),
        Command::Why => format!("用法：{syntax}（COUNT 是要显示的条数）"),
        Command::Control => format!("用法：{syntax}（NAME 是配置里的模型名，或 builtin）"),
        Command::AgentShow | Command::AgentUse => format!("用法：{syntax}（NAME 见 /agent list）"),
        Command::Skill => format!("用法：{syntax}（NAME 见 /skills）"),
        Command::Model => format!("用法：{syntax}（NAME 是配置里的模型名）"),
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
            format!("用法：{syntax}（后面不加内容）")
        }
    }
}

pub(super) fn out_of_range(command: Command, sessions: usize) -> String {
    match sessions {
        0 => "这里还没有会话，请先说点什么。".to_owned(),
        1 => format!("用法：{}（现在只有会话 1）", command.syntax()),
        _ => format!("用法：{}（N 从 1 到 {sessions}，见 /session list）", command.syntax()),
    }
}

pub(super) fn unknown_command(typed: &str, near: Option<&str>) -> String {
    match near {
        Some(near) => format!("没有 {typed} 这个命令。你是想输入 {near} 吗？"),
        None => format!("没有 {typed} 这个命令。输入 /help 查看所有命令。"),
    }
}

pub(super) fn duration(ms: i64) -> String {
    match parts(ms) {
        ((minutes, Unit::Minutes), None) => format!("{minutes} 分钟"),
        (first, None) => part(first),
        (first, Some(second)) => format!("{} {}", part(first), part(second)),
    }
}

pub(super) fn age(ms: i64) -> String {
    match parts(ms).0 {
        (_, Unit::Seconds) => "刚刚".to_owned(),
        (minutes, Unit::Minutes) => format!("{minutes} 分钟前"),
        first => format!("{}前", part(first)),
    }
}

fn part((count, unit): Part) -> String {
    match unit {
        Unit::Days => format!("{count} 天"),
        Unit::Hours => format!("{count} 小时"),
        Unit::Minutes => format!("{count} 分"),
        Unit::Seconds => format!("{count} 秒"),
    }
}

fn pruned_too(joint: &str, pruned: u32) -> String {
    match pruned {
        0 => String::new(),
        _ => format!("{joint}清理了 {pruned} 个旧会话"),
    }
}

fn action(action: Action) -> &'static str {
    match action {
        Action::New | Action::NewCarryOver => "开始新会话",
        Action::Ask => "先问你",
        _ => "留在同一个会话",
    }
}
