//! Why something was decided, in Chinese.

use super::duration;
use segue_core::decision::{Alternative, Reason, Tip};
use segue_core::evidence::Semantic;
use segue_core::notice::Since;
use segue_core::observed::{Ailment, Answer, Share};

pub(in crate::words) fn reason(reason: &Reason) -> String {
    match reason {
        Reason::FirstMessage => "这是这里的第一条消息。".to_owned(),
        Reason::WithinWindow { gap_ms, window_ms, since: Since::Message } => format!(
            "你的上一条消息是 {}前发的，还在同一天，会话在 {}内有效。",
            duration(*gap_ms),
            duration(*window_ms)
        ),
        Reason::WithinWindow { gap_ms, window_ms, since: Since::Opening } => format!(
            "你是 {}前来到这个会话的，还在同一天，会话在 {}内有效。",
            duration(*gap_ms),
            duration(*window_ms)
        ),
        Reason::WindowPassed { gap_ms, window_ms, since: Since::Message } => format!(
            "你的上一条消息是 {}前发的，而会话只在 {}内有效。",
            duration(*gap_ms),
            duration(*window_ms)
        ),
        Reason::WindowPassed { gap_ms, window_ms, since: Since::Opening } => format!(
            "你在这个会话里已有 {}没有说话，而会话只在 {}内有效。",
            duration(*gap_ms),
            duration(*window_ms)
        ),
        Reason::DayPassed { gap_ms, since: Since::Message } => {
            format!("你的上一条消息是 {}前发的，现在已是新的一天。", duration(*gap_ms))
        }
        Reason::DayPassed { since: Since::Opening, .. } => "这个会话打开之后，已经到了新的一天。".to_owned(),
        Reason::LegacyMode => "在 legacy 模式下，只有命令才会切换会话。".to_owned(),
        Reason::AutoRouteOff => "这里关闭了自动切换，只有命令才会切换会话。".to_owned(),
        Reason::AskedInWords { phrase } => format!("你的话里提出了这个要求（“{phrase}”）。"),
        Reason::Belongs { band: Semantic::High, belongs } => {
            format!("它与这个会话的内容相关（{}）。", percent(*belongs))
        }
        Reason::Belongs { band: Semantic::Low, belongs } => {
            format!("它看起来不属于这个会话（{}）。", percent(*belongs))
        }
        Reason::Belongs { band: Semantic::Medium | Semantic::Unknown, belongs } => {
            format!("它是否属于这个会话还不确定（{}）。", percent(*belongs))
        }
        Reason::Shifted { shifts, threshold } => {
            format!("它说的是另一件事（把握 {}，超过 {} 就够了）。", percent(*shifts), percent(*threshold))
        }
        Reason::Paused { gap_ms, limit_ms, .. } => {
            format!("你离开了 {}，从 {}起就需要考虑。", duration(*gap_ms), duration(*limit_ms))
        }
        Reason::WithinIdle { gap_ms, limit_ms, .. } => {
            format!("你离开了 {}，而工作可以放 {}。", duration(*gap_ms), duration(*limit_ms))
        }
        Reason::WindowAt { percent } => format!("上下文已用了 {percent}%。"),
        Reason::Stuck { findings } => {
            let found: Vec<&str> = findings.iter().map(|finding| ailment(*finding)).collect();
            format!("对话好像卡住了：{}。", found.join("、"))
        }
        Reason::LikeEarlier { session, belongs } => {
            format!("它与 {session} 号会话的内容相近（{}）。", percent(*belongs))
        }
        Reason::ShiftedLately { ago_ms, cooldown_ms } => {
            format!("{}前刚因为话题开始过新会话，{}内只会有一次。", duration(*ago_ms), duration(*cooldown_ms))
        }
        Reason::AskedLately { ago_ms, cooldown_ms } => {
            format!("{}前刚问过你，{}内只问一次。", duration(*ago_ms), duration(*cooldown_ms))
        }
        Reason::Answered { answer } => {
            let answer = match answer {
                Answer::Continue => "继续",
                Answer::Fresh => "重新开始",
                Answer::Older => "之前的会话",
            };
            format!("你回答了我们的问题：{answer}。")
        }
        Reason::Objected => "你说还是同一个话题。".to_owned(),
        Reason::BelongsBefore { session, belongs } => {
            format!("它属于刚离开的 {session} 号会话（{}）。", percent(*belongs))
        }
        Reason::ForTheTask { state, intent, source, does } => {
            super::tasks::reason(*state, *intent, *source, does)
        }
        Reason::ModelAsked { name } => format!("已询问模型 {name}。"),
        Reason::Commanded { command } => format!("这是命令“{command}”的要求。"),
    }
}

fn percent(share: Share) -> String {
    format!("{:.0}%", share.value() * 100.0)
}

fn ailment(finding: Ailment) -> &'static str {
    match finding {
        Ailment::ErrorLoop => "同一个错误反复出现",
        Ailment::Frustration => "接连几条简短的否定",
        Ailment::Contradiction => "回答前后矛盾",
        Ailment::DeadEnd => "没有下一步",
    }
}

/// Tells what would have tipped a decision.
pub(in crate::words) fn tip(alternative: &Alternative) -> String {
    let otherwise = super::action(alternative.action);
    match alternative.tip {
        Tip::SilenceOver { limit_ms, .. } => format!("如果超过 {}，就会{otherwise}。", duration(limit_ms)),
        Tip::SilenceUpTo { limit_ms, .. } => format!("如果不超过 {}，就会{otherwise}。", duration(limit_ms)),
        Tip::BelongsBelow { border, was } => {
            format!("如果相关度低于 {}（实际 {}），就会{otherwise}。", percent(border), percent(was))
        }
        Tip::BelongsFrom { border, was } => {
            format!("如果相关度不低于 {}（实际 {}），就会{otherwise}。", percent(border), percent(was))
        }
    }
}
