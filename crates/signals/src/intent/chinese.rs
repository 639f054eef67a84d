//! The wish to start over, in Chinese: there are no spaces, so the clause is covered by pieces.

use super::clauses::Clause;
use super::{Finding, Match, MentionKind};

/// The phrases of 003.
const LISTED: &str = "新对话 新会话 换个话题 重新开始 新的问题 开始新的 不说这个了 换一个 从头开始 另一个话题";

/// Other words for the same wish; longer ones first is not needed, the longest that fits is taken.
const PARAPHRASES: &str = "新的对话 新的会话 新的聊天 新的话题 新话题 新聊天 新一轮对话 新主题 新窗口 开始新的对话 开始新的会话 开始新的话题 \
换话题 换一个话题 换个别的话题 换个新话题 换一个新话题 换个新的话题 换其他话题 换别的话题 换个题 换个主题 换个方向聊 转换话题 切换话题 转移话题 换换话题 岔开话题 \
重新来过 重新来 重来一遍 重头再来 从头再来 从头来过 从头来 从头聊 从头说 重头开始 从零开始 重启对话 重启会话 重置对话 重置会话 重置上下文 重新聊 重开一个 重开 重新开一个 重新开个 重新开启 \
另外一个话题 另一个问题 另外一个问题 另一件事 另外一件事 别的话题 其他话题 其它话题 下一个话题 别的事 别的事情 其他事 其他的事 \
不聊这个了 不谈这个了 不讨论这个了 不提这个了 不说这些了 不聊这些了 不说它了 不聊它了 不说这事了 不聊这事了 不讲这个了 不扯这个了 不想聊这个了 不想说这个了 不想谈这个了 别说这个了 别聊这个了 别谈这个了 先不说这个 先不聊这个 先不谈这个 先不说这个了 先不聊这个了 先不管这个了 这个先不说了 这个不聊了 这个话题不聊了 这个就不说了 这个先放一放 先放一放 这个先放下 放下这个 抛开这个 撇开这个 不说那个了 不聊那个了 这话题过了 这个话题结束 结束这个话题 这个话题到此为止 到此为止 就聊到这 先聊到这 这个就到这 翻篇 翻篇吧 这篇翻过去 \
聊点别的 聊聊别的 聊些别的 聊别的 聊点其他的 聊聊其他的 聊点其他 聊点新的 聊点不一样的 聊其他的 聊个别的 聊聊别的话题 说点别的 说说别的 说些别的 说别的 说点其他的 谈点别的 谈谈别的 谈别的 讲点别的 讨论别的 讨论点别的 问点别的 问个别的 问别的 问点其他的 问个别的问题 问一个别的问题 问个其他问题 问个不相关的 问个无关的 换点别的 换个别的 来点别的 干点别的 做点别的 弄点别的 \
不相关的问题 无关的问题 没关系的问题 不相干的问题 不搭界的问题 毫不相关的问题 完全不相关的问题 完全无关的问题 跟这个无关 和这个无关 跟这无关 与此无关 和刚才无关 跟刚才无关 跟前面无关 和前面无关 跟上面无关 和上面的无关 跟刚才的没关系 和刚才没关系 跟这个没关系 跟前面没关系 跟之前的没关系 \
清空对话 清空会话 清空上下文 清空聊天记录 清空记录 清空历史 清空之前的 清除对话 清除上下文 清除记忆 清掉之前的 清零 归零 清空 \
忘掉之前的 忘掉刚才的 忘掉前面的 忘掉上面的 忘记之前的 忘记刚才的 忘记前面的 忘记上面的 忘了之前的 忘了刚才的 忘了前面的 忘掉这些 忘掉这一切 把之前的都忘了 把前面的都忘了 把刚才的都忘了 把刚才的忘了 把之前的忘了 把前面的忘了 把这些都忘了 之前的都不算 前面的都不算 之前的作废 前面的作废 刚才的作废 忽略之前的 忽略前面的 忽略上面的 忽略以上 当没说过 就当没聊过 就当没说过 当我没说 \
另起炉灶 另起一个话题 另起话题 另起一个 另开一个 另开话题 另开一个话题 另开一个对话 另开新对话 另外开一个 开个新的 开一个新的 开新的 开新对话 开新会话 开个新窗口 新开一个 新开个 新建对话 新建会话 新建一个 新起一个 推倒重来 一切重来 全部重来 白纸一张 重新做人";

/// Polite and empty words that may stand around a wish.
const FRAMES: &str = "我们 咱们 咱俩 咱 我 你 您 请 请你 请问 帮我 帮忙 麻烦 麻烦你 可以 能 能不能 可不可以 可否 能否 是否可以 吧 了 吗 呢 啊 呀 嘛 哈 哦 噢 喔 额 呃 嗯 唉 哎 诶 欸 好 好的 好吧 好啦 好了 好嘞 行 行吧 行了 可 那 那么 那就 就 就这样 想 要 想要 希望 需要 来 先 再 现在 马上 立刻 直接 一下 一下吧 个 一个 给我 开始 进行 开 开启 打开 新建 创建 建 起 搞 弄 做 把 全部 都 全 完全 彻底 干脆 还是 算了 算 ok okay 谢谢 谢 让 让我们 让咱们 聊 聊聊 聊天 说 说说 谈 谈谈 问 问问 讨论 讲 换 下 一 对了 另外 对话 会话 话题 吧咱们 去 到 继续 接下来 下面 接着 然后 所以 因此 不如 要不 要么 干嘛不 何不 今天 这次 这回 这里 从 从现在 起 之后 有 有个 有一个 还有 还有个 还有一个 一个新的 新的 新 完 完了 结束 拜托 求 求你 真的 其实 突然 忽然 有点 顺便 顺带 插 插一句 插个 打断 不好意思 抱歉 对不起 亲 喂 嘿 hi hello 老师 小助手 助手 的 跟你 和你 陪我 大家 也 该 应该 得 必须 可能 也许 或许 试试 看 看看 啦 咯 喽 嘞 呗 滴 哒 ～ 一遍 一次 遍 次 话 事 整个 所有 一切 的话 话说 回 重新 话题吧 到这 这个 这 那个 刚才 之前 前面 上面 内容 聊的 说的 讨论的 谈的 问题 别的 事情 东西 这些 那些 咱们来 好不好 行不行 可以吗 好吗 行吗 怎么样 如何";

/// Characters in front of a phrase that deny it.
const NEGATIONS: [&str; 22] = [
    "不要", "别", "不用", "不想", "没有", "没", "无需", "不需要", "不必", "不是", "不能", "不会", "不准", "不许", "不应该", "不该", "甭",
    "先不", "不打算", "不愿", "不希望", "勿",
];
const ASKING: [&str; 18] = [
    "怎么", "如何", "什么", "为什么", "为何", "是不是", "会不会", "会怎", "哪", "意思", "是否", "吗", "有没有", "多少", "几", "谁", "干嘛", "区别",
];
/// What a new topic may be introduced with after the phrase.
const NEXT: [&str; 14] =
    ["聊聊", "说说", "谈谈", "我想问", "我想聊", "我想", "帮我", "请", "讲讲", "来聊", "问一下", "我要", "关于", "就聊"];
/// Characters that are typed for one another: the same or nearly the same sound.
const SOUNDS: [&str; 22] = [
    "话化画华花划", "新心欣芯辛信", "会汇绘回惠", "题提体替踢", "换还唤幻患环欢", "重从虫崇种", "始使时史是式", "头投偷透", "聊撩疗料",
    "个各给", "开凯该", "对队堆", "的得地", "另令领", "一以已", "说所锁", "这着", "了啦拉", "别憋", "点电", "问文", "零灵",
];

const CHARS_MAX: usize = 60;

pub(super) fn judge(clause: &Clause) -> Finding {
    let chars: Vec<char> = clause.text.chars().filter(|ch| !ch.is_whitespace()).collect();
    if chars.len() > CHARS_MAX || !chars.iter().any(|&ch| crate::text::is_han(ch)) {
        return Finding::Nothing;
    }
    let text: String = chars.iter().collect();
    let mut mention = Finding::Nothing;
    // The longest phrase first: "开始新的对话" before "新的对话".
    let mut found: Vec<(usize, usize, &str, Match)> = Vec::new();
    for (list, how) in [(LISTED, Match::Exact), (PARAPHRASES, Match::Paraphrase)] {
        for phrase in list.split_whitespace() {
            found.extend(text.match_indices(phrase).map(|(at, _)| (phrase.len(), at, phrase, how)));
        }
    }
    found.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    for &(length, at, phrase, how) in &found {
        match around(&text[..at], &text[at + length..], clause) {
            None => return Finding::Wish { phrase: phrase.to_owned(), how },
            Some(kind) => {
                if how == Match::Exact || mention == Finding::Nothing {
                    mention = Finding::Mention(kind);
                }
            }
        }
    }
    if found.is_empty() { misspelled(&text, clause) } else { mention }
}

/// What stands around a phrase; nothing if it leaves the phrase a wish.
fn around(left: &str, right: &str, clause: &Clause) -> Option<MentionKind> {
    let denied = NEGATIONS.iter().any(|word| left.ends_with(word) || covers_end(left, word));
    if denied {
        return Some(MentionKind::Negated);
    }
    if clause.conditional {
        return Some(MentionKind::Inside);
    }
    let follows = NEXT.iter().any(|word| right.trim_start_matches(['吧', '了', '，', '啊', '哈']).starts_with(word));
    if covered(left) && (covered(right) || follows) {
        return None;
    }
    let asks = clause.asks || ASKING.iter().any(|word| left.contains(word) || right.contains(word));
    Some(if asks { MentionKind::Question } else { MentionKind::Inside })
}

/// A negation a few polite words before the phrase: "别给我开新对话".
fn covers_end(left: &str, word: &str) -> bool {
    left.rfind(word).is_some_and(|at| covered(&left[at + word.len()..]))
}

/// Whether a text consists of polite and empty words only.
fn covered(text: &str) -> bool {
    let chars: Vec<char> = text.chars().filter(|ch| ch.is_alphanumeric() || *ch == '\u{fffc}').collect();
    let mut reachable = vec![false; chars.len() + 1];
    reachable[0] = true;
    for from in 0..chars.len() {
        if !reachable[from] {
            continue;
        }
        for frame in FRAMES.split_whitespace() {
            let length = frame.chars().count();
            if chars.len() - from >= length && frame.chars().zip(&chars[from..]).all(|(a, &b)| a == b) {
                reachable[from + length] = true;
            }
        }
    }
    reachable[chars.len()]
}

/// The clause with one or two characters typed wrong, left out or doubled.
fn misspelled(text: &str, clause: &Clause) -> Finding {
    let chars: Vec<char> = text.chars().collect();
    for phrase in LISTED.split_whitespace() {
        let wanted: Vec<char> = phrase.chars().collect();
        for from in 0..chars.len() {
            for length in [wanted.len(), wanted.len() + 1, wanted.len().saturating_sub(1)] {
                let Some(window) = chars.get(from..from + length) else { continue };
                let Some(distance) = near(window, &wanted) else { continue };
                let left: String = chars[..from].iter().collect();
                let right: String = chars[from + length..].iter().collect();
                if around(&left, &right, clause).is_none() {
                    let how = Match::Typo { distance };
                    return Finding::Wish { phrase: phrase.to_owned(), how };
                }
            }
        }
    }
    Finding::Nothing
}

fn near(window: &[char], wanted: &[char]) -> Option<u8> {
    let sounds_like = |a: char, b: char| SOUNDS.iter().any(|group| group.contains(a) && group.contains(b));
    if window.len() == wanted.len() {
        let wrong: Vec<(char, char)> =
            window.iter().zip(wanted).filter(|(a, b)| a != b).map(|(&a, &b)| (a, b)).collect();
        let limit = if wanted.len() >= 4 { 2 } else { 1 };
        let swapped = matches!(wrong[..], [(a, b), (c, d)] if a == d && b == c) && wanted.len() >= 4;
        let sound = wrong.len() <= limit && wrong.iter().all(|&(a, b)| sounds_like(a, b));
        return (!wrong.is_empty() && (sound || swapped)).then_some(wrong.len() as u8);
    }
    if wanted.len() < 4 {
        return None;
    }
    // One character too many must be a doubled one; one too few may be any but the first.
    let (long, short) = if window.len() > wanted.len() { (window, wanted) } else { (wanted, window) };
    let at = (0..long.len()).find(|&at| long[..at] == short[..at] && long[at + 1..] == short[at..])?;
    let doubled = at > 0 && long[at] == long[at - 1] || long.get(at + 1) == Some(&long[at]);
    let missing = long.len() == wanted.len() && at > 0;
    (missing || (long.len() == window.len() && doubled)).then_some(1)
}
