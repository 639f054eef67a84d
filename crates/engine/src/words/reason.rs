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
            "Only commands start or switch sessions here (legacy mode).",
            "这里只有命令才会开始或切换会话（旧版模式）。"
        ),
        Reason::AutoRouteOff => say!(
            l,
            "Only commands start or switch sessions here (automatic routing is off).",
            "这里只有命令才会开始或切换会话（自动切换已关闭）。"
        ),
        Reason::AskedInWords { phrase } => {
            say!(l, "You asked for it (\"{phrase}\").", "你提出了这个要求（“{phrase}”）。")
        }
        Reason::Belongs { band, .. } => match band {
            Semantic::High => {
                say!(l, "It is about what this session is about.", "它与这个会话的内容相关。")
            }
            Semantic::Low => {
                say!(l, "It does not seem to belong to this session.", "它看起来不属于这个会话。")
            }
            Semantic::Medium | Semantic::Unknown => {
                say!(l, "It may or may not belong to this session.", "它是否属于这个会话还不确定。")
            }
        },
        Reason::Shifted { .. } => say!(l, "It is about something else.", "它说的是另一件事。"),
        Reason::Paused { gap_ms, limit_ms, .. } => {
            let (gap, limit) = (duration(l, *gap_ms), duration(l, *limit_ms));
            say!(l, "You were away for {gap}, which is {limit} or more.", "你离开了 {gap}，已达到 {limit}。")
        }
        Reason::WithinIdle { gap_ms, limit_ms, .. } => {
            let (gap, limit) = (duration(l, *gap_ms), duration(l, *limit_ms));
            say!(
                l,
                "You were away for {gap}, and a task may wait for {limit}.",
                "你离开了 {gap}，而任务最多可以搁置 {limit}。"
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
        Reason::LikeEarlier { session, .. } => {
            say!(l, "It is like what #{session} is about.", "它与 #{session} 的内容相近。")
        }
        Reason::ShiftedLately { ago_ms, cooldown_ms } => {
            let (ago, cooldown) = (duration(l, *ago_ms), duration(l, *cooldown_ms));
            say!(
                l,
                "A session began for a new topic {ago} ago, and that happens at most once in {cooldown}.",
                "{ago}前刚因为新话题开始过会话，{cooldown}内最多一次。"
            )
        }
        Reason::AskedLately { ago_ms, cooldown_ms } => {
            let (ago, cooldown) = (duration(l, *ago_ms), duration(l, *cooldown_ms));
            say!(
                l,
                "You were asked {ago} ago, and we ask at most once in {cooldown}.",
                "{ago}前刚问过你，{cooldown}内最多问一次。"
            )
        }
        Reason::Answered { answer } => {
            let answer = match answer {
                Answer::Continue => word(l, "continue", "继续"),
                Answer::Fresh => word(l, "start fresh", "重新开始"),
                Answer::Older => word(l, "the older session", "之前的会话"),
            };
            say!(l, "You answered our question: {answer}.", "你回答了我们的问题：{answer}。")
        }
        Reason::AnswersAgent => say!(l, "It answers what you were asked.", "它回答了刚才问你的问题。"),
        Reason::Objected => say!(l, "You said that it is the same topic.", "你说还是同一个话题。"),
        Reason::BelongsBefore { session, .. } => {
            say!(l, "It belongs to #{session}, which you just left.", "它属于你刚离开的 #{session}。")
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
        Action::New | Action::NewCarryOver => word(l, "have started a new session", "开始新会话"),
        Action::Ask => word(l, "have been a question", "先问你"),
        _ => word(l, "have stayed in the same session", "留在同一个会话"),
    };
    match alternative.tip {
        Counterfactual::SilenceOver { limit_ms, .. } => {
            let limit = duration(l, limit_ms);
            say!(
                l,
                "After {limit} of silence it would {otherwise}.",
                "如果间隔超过 {limit}，就会{otherwise}。"
            )
        }
        Counterfactual::SilenceUpTo { limit_ms, .. } => {
            let limit = duration(l, limit_ms);
            say!(l, "Within {limit} it would {otherwise}.", "如果间隔不超过 {limit}，就会{otherwise}。")
        }
        Counterfactual::BelongsBelow { border, was } => {
            let (border, was) = (percent(l, border), percent(l, was));
            say!(
                l,
                "If it had fitted less than {border} (it was {was}), it would {otherwise}.",
                "如果相关度低于 {border}（实际 {was}），就会{otherwise}。"
            )
        }
        Counterfactual::BelongsFrom { border, was } => {
            let (border, was) = (percent(l, border), percent(l, was));
            say!(
                l,
                "If it had fitted at least {border} (it was {was}), it would {otherwise}.",
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
