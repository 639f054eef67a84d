//! Why something was decided, as sentences.

use super::say::{say, word};
use super::{Language, duration, tasks};
use segue_core::decision::{Action, Alternative, Counterfactual, Reason};
use segue_core::evidence::Semantic;
use segue_core::notice::Since;
use segue_core::observed::{Answer, ConversationProblem, Share};

/// Tells why something was decided, as a sentence.
pub fn reason(l: Language, reason: &Reason) -> String {
    match reason {
        Reason::FirstMessage => say!(l, "It is the first message here.", "这是这里的第一条消息。"),
        Reason::WithinWindow { gap_ms, window_ms, since } => {
            let (gap, window) = (duration(l, *gap_ms), duration(l, *window_ms));
            match since {
                Since::Message => say!(
                    l,
                    "Your last message was {gap} ago, on the same day, and a session stays fresh for {window}.",
                    "你的上一条消息是 {gap}前发的，还在同一天，会话在 {window}内有效。"
                ),
                Since::Opening => say!(
                    l,
                    "You came to this session {gap} ago, on the same day, and a session stays fresh for {window}.",
                    "你是 {gap}前来到这个会话的，还在同一天，会话在 {window}内有效。"
                ),
            }
        }
        Reason::WindowPassed { gap_ms, window_ms, since } => {
            let (gap, window) = (duration(l, *gap_ms), duration(l, *window_ms));
            match since {
                Since::Message => say!(
                    l,
                    "Your last message was {gap} ago, and a session stays fresh for {window} only.",
                    "你的上一条消息是 {gap}前发的，而会话只在 {window}内有效。"
                ),
                Since::Opening => say!(
                    l,
                    "You said nothing in this session for {gap}, and a session stays fresh for {window} only.",
                    "你在这个会话里已有 {gap}没有说话，而会话只在 {window}内有效。"
                ),
            }
        }
        Reason::DayPassed { gap_ms, since: Since::Message } => {
            let gap = duration(l, *gap_ms);
            say!(
                l,
                "A new day has begun since your last message, {gap} ago.",
                "你的上一条消息是 {gap}前发的，现在已是新的一天。"
            )
        }
        Reason::DayPassed { since: Since::Opening, .. } => say!(
            l,
            "A new day has begun since this session was opened.",
            "这个会话打开之后，已经到了新的一天。"
        ),
        Reason::LegacyMode => say!(
            l,
            "In legacy mode only commands move a session.",
            "在 legacy 模式下，只有命令才会切换会话。"
        ),
        Reason::AutoRouteOff => say!(
            l,
            "Automatic routing is off here: only commands move a session.",
            "这里关闭了自动切换，只有命令才会切换会话。"
        ),
        Reason::AskedInWords { phrase } => {
            say!(l, "You asked for it in words (\"{phrase}\").", "你的话里提出了这个要求（“{phrase}”）。")
        }
        Reason::Belongs { band, belongs } => {
            let share = percent(l, *belongs);
            match band {
                Semantic::High => say!(
                    l,
                    "It is about what this session is about ({share}).",
                    "它与这个会话的内容相关（{share}）。"
                ),
                Semantic::Low => {
                    say!(
                        l,
                        "It does not seem to belong to this session ({share}).",
                        "它看起来不属于这个会话（{share}）。"
                    )
                }
                Semantic::Medium | Semantic::Unknown => say!(
                    l,
                    "It may or may not belong to this session ({share}).",
                    "它是否属于这个会话还不确定（{share}）。"
                ),
            }
        }
        Reason::Shifted { shifts, threshold } => {
            let (sure, enough) = (percent(l, *shifts), percent(l, *threshold));
            say!(
                l,
                "It is about something else ({sure} sure, and {enough} are enough).",
                "它说的是另一件事（把握 {sure}，超过 {enough} 就够了）。"
            )
        }
        Reason::Paused { gap_ms, limit_ms, .. } => {
            let (gap, limit) = (duration(l, *gap_ms), duration(l, *limit_ms));
            say!(
                l,
                "You were away for {gap}, and from {limit} on that matters.",
                "你离开了 {gap}，从 {limit}起就需要考虑。"
            )
        }
        Reason::WithinIdle { gap_ms, limit_ms, .. } => {
            let (gap, limit) = (duration(l, *gap_ms), duration(l, *limit_ms));
            say!(
                l,
                "You were away for {gap}, and work may lie for {limit}.",
                "你离开了 {gap}，而工作可以放 {limit}。"
            )
        }
        Reason::WindowAt { percent } => {
            say!(l, "The context is {percent} % full.", "上下文已用了 {percent}%。")
        }
        Reason::Stuck { findings } => {
            let found: Vec<&str> = findings.iter().map(|finding| ailment(l, *finding)).collect();
            let found = found.join(word(l, ", ", "、"));
            say!(l, "The conversation seems to be stuck: {found}.", "对话好像卡住了：{found}。")
        }
        Reason::LikeEarlier { session, belongs } => {
            let share = percent(l, *belongs);
            say!(
                l,
                "It is like what session {session} was about ({share}).",
                "它与 {session} 号会话的内容相近（{share}）。"
            )
        }
        Reason::ShiftedLately { ago_ms, cooldown_ms } => {
            let (ago, cooldown) = (duration(l, *ago_ms), duration(l, *cooldown_ms));
            say!(
                l,
                "A session began because of its topic {ago} ago, and that happens only once in {cooldown}.",
                "{ago}前刚因为话题开始过新会话，{cooldown}内只会有一次。"
            )
        }
        Reason::AskedLately { ago_ms, cooldown_ms } => {
            let (ago, cooldown) = (duration(l, *ago_ms), duration(l, *cooldown_ms));
            say!(
                l,
                "You were asked {ago} ago, and we ask only once in {cooldown}.",
                "{ago}前刚问过你，{cooldown}内只问一次。"
            )
        }
        Reason::Answered { answer } => {
            let answer = match answer {
                Answer::Continue => word(l, answer.name(), "继续"),
                Answer::Fresh => word(l, answer.name(), "重新开始"),
                Answer::Older => word(l, answer.name(), "之前的会话"),
            };
            say!(l, "You answered our question: {answer}.", "你回答了我们的问题：{answer}。")
        }
        Reason::AnswersAgent => say!(l, "It answers what you were asked.", "它回答了刚才问你的问题。"),
        Reason::Objected => say!(l, "You said that it is the same topic.", "你说还是同一个话题。"),
        Reason::BelongsBefore { session, belongs } => {
            let share = percent(l, *belongs);
            say!(
                l,
                "It belongs to session {session}, which was left a moment ago ({share}).",
                "它属于刚离开的 {session} 号会话（{share}）。"
            )
        }
        Reason::ForTheTask { state, intent, source, does } => {
            tasks::reason(l, *state, *intent, *source, does)
        }
        Reason::ModelAsked { name } => say!(l, "The model {name} was asked.", "已询问模型 {name}。"),
        Reason::Commanded { command } => {
            say!(l, "The command \"{command}\" asked for it.", "这是命令“{command}”的要求。")
        }
    }
}

/// Tells what would have tipped a decision, as a sentence.
pub fn tip(l: Language, alternative: &Alternative) -> String {
    let otherwise = match alternative.action {
        Action::New | Action::NewCarryOver => word(l, "a new session", "开始新会话"),
        Action::Ask => word(l, "a question", "先问你"),
        _ => word(l, "the same session", "留在同一个会话"),
    };
    match alternative.tip {
        Counterfactual::SilenceOver { limit_ms, .. } => {
            let limit = duration(l, limit_ms);
            say!(l, "After {limit} it would have been {otherwise}.", "如果超过 {limit}，就会{otherwise}。")
        }
        Counterfactual::SilenceUpTo { limit_ms, .. } => {
            let limit = duration(l, limit_ms);
            say!(l, "Up to {limit} it would have been {otherwise}.", "如果不超过 {limit}，就会{otherwise}。")
        }
        Counterfactual::BelongsBelow { border, was } => {
            let (border, was) = (percent(l, border), percent(l, was));
            say!(
                l,
                "Had it belonged less than {border} (it was {was}), it would have been {otherwise}.",
                "如果相关度低于 {border}（实际 {was}），就会{otherwise}。"
            )
        }
        Counterfactual::BelongsFrom { border, was } => {
            let (border, was) = (percent(l, border), percent(l, was));
            say!(
                l,
                "Had it belonged at least {border} (it was {was}), it would have been {otherwise}.",
                "如果相关度不低于 {border}（实际 {was}），就会{otherwise}。"
            )
        }
    }
}

fn percent(l: Language, share: Share) -> String {
    let percent = share.value() * 100.0;
    say!(l, "{percent:.0} %", "{percent:.0}%")
}

fn ailment(l: Language, finding: ConversationProblem) -> &'static str {
    match finding {
        ConversationProblem::ErrorLoop => word(l, "the same error again and again", "同一个错误反复出现"),
        ConversationProblem::Frustration => word(l, "short negative answers in a row", "接连几条简短的否定"),
        ConversationProblem::Contradiction => word(l, "contradictory answers", "回答前后矛盾"),
        ConversationProblem::DeadEnd => word(l, "no next step", "没有下一步"),
    }
}
