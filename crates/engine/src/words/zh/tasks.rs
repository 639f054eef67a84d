//! Tasks, in Chinese.

use super::{Keys, duration, pruned_too};
use segue_core::notice::WayBack;
use segue_core::observed::IntentSource;
use segue_core::task::compaction::Progress;
use segue_core::task::intent::MessageIntent;
use segue_core::task::notice::TaskNotice;
use segue_core::task::refusal::TaskRefusal;
use segue_core::task::state::StateName;

pub(super) const UNCLEAR: &str = "你是在继续当前任务，还是要开始新的事情？";

pub(in crate::words) fn unfinished(at: &str, name: &str) -> String {
    format!("你有一个 {at} 开始、尚未完成的任务：“{name}”\n要继续，还是重新开始？（继续 / 重新开始）")
}

pub(super) fn notice(keys: &Keys<'_>, notice: &TaskNotice) -> String {
    let key = |session: &_| keys.of(*session);
    let back = |way_back: &WayBack, previous: &_| match way_back {
        WayBack::Open => format!("输入 /undo 可回到 {}。", key(previous)),
        WayBack::Gone => String::new(),
    };
    match notice {
        TaskNotice::Started { session, previous, kept, pruned, way_back } => {
            let kept = match kept {
                Some(_) => format!("{} 里做过的都保留着。", key(previous)),
                None => String::new(),
            };
            let pruned = pruned_too("；", *pruned);
            format!("新任务，新会话 {}{pruned}。{kept}{}", key(session), back(way_back, previous))
        }
        TaskNotice::Begun { session } => format!("已在 {} 开始任务。", key(session)),
        TaskNotice::Completed { session, commit } => {
            format!("{} 的任务已完成，保存为 {}。", key(session), commit.short())
        }
        TaskNotice::GivenUp { session, commit } => {
            format!("{} 的任务已结束，做过的保存为 {}。", key(session), commit.short())
        }
        TaskNotice::Expired { session, previous, gap_ms, pruned, way_back } => format!(
            "新会话 {}：{} 的任务已搁置 {}{}，会话已过期，做过的都保留着。接下来做什么？{}",
            key(session),
            key(previous),
            duration(*gap_ms),
            pruned_too("；", *pruned),
            back(way_back, previous)
        ),
        TaskNotice::Lapsed { session, gap_ms } => format!(
            "会话已过期：{} 的任务已搁置 {}，做过的都保留着。接下来做什么？",
            key(session),
            duration(*gap_ms)
        ),
        TaskNotice::Back { session, .. } => format!("回到 {} 的任务。", key(session)),
        TaskNotice::Kept { session, commit } => {
            format!("{} 的任务已保存为 {}。", key(session), commit.short())
        }
        TaskNotice::Queued { message } => format!("{message} 号消息等待助手下次查看。"),
    }
}

pub(super) fn refusal(keys: &Keys<'_>, refusal: &TaskRefusal) -> String {
    match refusal {
        TaskRefusal::NoTask(session) => format!("{} 里没有任务，请先开始一个。", keys.of(*session)),
        TaskRefusal::Over(session) => format!("{} 的任务已结束，请另开一个。", keys.of(*session)),
        TaskRefusal::TwoTasks(a, b) => {
            format!("{} 和 {} 都有未完成的任务，请先完成、放弃或保存其中一个。", keys.of(*a), keys.of(*b))
        }
        TaskRefusal::Forbidden(forbidden) => {
            let allowed: Vec<&str> = forbidden.allowed.iter().map(|state| state_name(*state)).collect();
            let (from, to) = (state_name(forbidden.from), state_name(forbidden.to));
            match allowed.as_slice() {
                [] => format!("任务不能从“{from}”变为“{to}”：它已结束，请另开一个任务。"),
                _ => format!("任务不能从“{from}”变为“{to}”，只能变为：{}。", allowed.join("、")),
            }
        }
        TaskRefusal::NoNode(node) => format!("这里没有 {node}：请先记录它，再用返回的编号引用。"),
        TaskRefusal::QueueChanged => "期间又有新消息，请重新读取队列。".to_owned(),
        TaskRefusal::NotADescription(why) => format!("任务描述不合适：{why}。"),
        TaskRefusal::BadPath(why) => format!("这个路径不合适：{why}。"),
        TaskRefusal::Unfit(why) => format!("这条记录不合适：{why}。"),
    }
}

fn state_name(state: StateName) -> &'static str {
    match state {
        StateName::None => "无任务",
        StateName::Running => "进行中",
        StateName::AwaitingUser => "等待回答",
        StateName::Interrupted => "被打断",
        StateName::PendingComplete => "等待确认",
        StateName::Complete => "已完成",
        StateName::Aborted => "已放弃",
    }
}

pub(super) fn reason(state: StateName, intent: MessageIntent, source: IntentSource, does: &str) -> String {
    let what = match intent {
        MessageIntent::Response => "是对问题的回答",
        MessageIntent::Modification => "修改了任务",
        MessageIntent::Confirmation => "表示认可",
        MessageIntent::NewTask => "是另一个任务",
        MessageIntent::Abandon => "放弃了任务",
        MessageIntent::Unclear => "不确定属于当前任务还是另一个任务",
    };
    let who = match source {
        IntentSource::Words => "",
        IntentSource::Host => "（由宿主说明）",
        IntentSource::Unread => "（没有相反的迹象）",
    };
    format!("任务当时{}，这条消息{what}{who}：{does}。", state_name(state))
}

pub(in crate::words) fn progress(progress: &Progress) -> String {
    let totals = &progress.totals;
    let mut lines = vec![format!(
        "已提交 {} 步，共 {} 条记录：写文件 {} 次，运行命令 {} 次",
        progress.steps, totals.observations, totals.file_writes, totals.commands
    )];
    if !progress.files_written.is_empty() {
        let files: Vec<&str> = progress.files_written.iter().map(|path| path.as_str()).collect();
        lines.push(format!("写过的文件：{}", files.join("、")));
    }
    if let Some(plan) = &progress.plan {
        lines.push(format!("计划：{plan}"));
    }
    if let Some((command, code)) = &progress.command {
        let end = code.map_or_else(|| "被终止".to_owned(), |code| format!("退出码 {code}"));
        lines.push(format!("最近的命令：{command}（{end}）"));
    }
    if let Some(note) = progress.note.as_ref().filter(|note| !note.is_empty()) {
        lines.push(format!("最近的笔记：{note}"));
    }
    lines.join("\n")
}
