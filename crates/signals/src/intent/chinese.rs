//! The wish to start over, in Chinese: there are no spaces, so the clause is covered by pieces.

use std::sync::LazyLock;

use super::clauses::Clause;
use super::pattern::Pattern;
use super::{Finding, Match, MentionKind};

/// The phrases of 003.
const LISTED: &str =
    "新对话 新会话 换个话题 重新开始 新的问题 开始新的 不说这个了 换一个 从头开始 另一个话题";

/// Other words for the same wish: places side by side, `|` between words, `?` for a place that may be empty.
const PARAPHRASES: &str = "开|开启|开始|新开|新建|另开|另起|另外开|起|建|创建|重开|重新开|重启|来|打开|进入|换|切|切换|转到|切到|进行? 了? 一|个|到|去? 个|下|轮|次|场|段? 全新|崭新|新|别|其他|其它|另外|不同|不一样 的? 一个? 对话|会话|聊天|话题|主题|窗口|聊天窗口|对话窗口|交流|讨论|session|chat|topic|线程|篇章|上下文
开|开启|新开|新建|另开|另起|重开|重新开|来|建|新起|另外开 了? 一? 个|局|轮|篇|页 新的? 吧|局?
开|另开|重开|再开|新开 一 局|页|篇|轮|窗
开始|开个|来点|来些|聊点|说点|问点|谈点 新的
另起 炉灶|一行|话题
换|转|切换|转换|转移|岔开|变换|改|调换|跳到 一? 下|个|换|件|点|些? 新的|别的|其他|其它|另外的|不同的|轻松点的|完全不同的? 的? 话题|题目|主题|事|事儿|事情|问题
换换|换 脑子|口味|话题|思路 聊
岔开|打断|打个岔|插 一下|个|一句? 话|题? 跟|和? 上面|前面|这个? 完全? 无关?
另|另外|别|其他|其它|下|下一|新 的|一? 个|件|外|一? 的|新? 话题|问题|事|事儿|事情|主题|议题
重新|从头|重头|从零|从0|一切|全部|推倒|重 再|又|给我|咱们|开始|来|聊|说? 来过|来|开始|聊|说|来一遍|重来|再来|起步|起|算起|弄 一遍|一次|过|起?
重启|重置|刷新|清空|清除|清掉|清理|清一下|清|删掉|删除|抹掉|reset|clear|restart 一下|下|掉|一遍? 我们|咱们|当前|整个|这段|这个|这次|全部|所有|之前|前面|刚才|以前|历史? 的? 对话|会话|上下文|聊天|聊天记录|记录|历史|历史记录|记忆|内容|消息|session|chat|context 吧? 清? 空|掉?
把 我们|咱们|这段|这个|这次|之前|前面|刚才|上面|以上|全部|所有|这些|现在 的|说|聊|讲|问|那些|这些? 的|过? 对话|会话|聊天|聊天记录|记录|内容|上下文|东西|话|话题|历史? 都|全|全都|全部|统统|给我|先? 忘了|忘掉|忘记|清空|清掉|清除|清了|忽略|忽略掉|删掉|删了|抹掉|丢掉|扔掉|放一边|放下|重置|结束|关掉|关了
忘了|忘掉|忘记|忽略|忽略掉|无视|抛开|撇开|丢开|不管|别管|放下|抛掉 我们|咱们|之前|前面|刚才|刚刚|上面|以上|以前|先前|全部|所有|这些|这一切|那些|这个|这段|那个 所有|全部|的|说|聊|讲|问|那些|一切? 的|过? 对话|会话|聊天|聊天记录|记录|内容|上下文|东西|话|话题|历史|一切|指令|事|问题? 吧?
之前|前面|刚才|上面|以上|刚刚|先前 的|说的|聊的|讲的|那些|那些话|内容|对话? 内容|话|对话|东西? 都|全|全都|统统|就|通通 忘了|忘掉|忘记|不算|不算数|作废|忽略|忽略掉|不要了|当没说|清空|清掉|不管了|不提了|翻篇
就? 当 我|我们|前面|刚才|之前|这些|以上? 的? 没|都没|从没|什么都没 说|聊|说过|聊过|发生|发生过|问过
不|别|不想|先不|不再|懒得|不要|甭|先别|不用再|咱不|咱们不 再|想|继续|去? 说|聊|谈|讲|讨论|提|扯|管|纠结|研究 这个|这|这些|这事|这件事|这话题|这个话题|这个问题|那个|那些|它|他|她|这茬|这块 话题|问题|事|事儿|事情? 了|啦|吧|先|啊
这个|这|这事|这件事|这话题|这个话题|这个问题|那个|那个话题|这茬|这块|关于这个 话题|问题|事|事儿? 就|先|咱们|我们? 不 说|聊|谈|讲|讨论|提|管 了|啦|先
这个|这|这事|这件事|这话题|这个话题|这个问题|那|这茬 话题|问题|事|事儿|就|先? 就|先? 到此为止|到这|到这里|到这儿|打住|就此打住|聊到这|聊到这里|聊到这儿|说到这|说到这里|结束|结束了|翻篇|翻篇了|过去了|放一放|放一边|搁一边|告一段落|先这样|说完了|聊完了
就|先|咱们|今天? 到此为止|就此打住|聊到这|聊到这里|聊到这儿|说到这里|说到这儿|打住
聊|说|谈|讲|问|讨论|做|干|研究 聊|说|点|些|个|一个|下|一下|谈|问|你|您? 点|些|个|一个|下? 别的|其他的|其它的|其他|不一样的|不同的|新的|新鲜的|轻松的|另外的|不相关的|不相干的|无关的|没关系的 话题|问题|事|事情|内容|东西|主题|吧?
跟|和|与|同 这个|这|此|刚才|前面|上面|之前|刚刚|以上|这些|现在|当前|代码|工作|它|那个|这事 的|说的|聊的|讲的|问的|那些|话题|内容|事|问题? 内容|话题|事|都? 完全|毫|没啥|没什么|没有|一点|没|无|毫不|不|压根|八竿子|毫无|丝毫? 都|也? 无关|没关系|相关|关系|相干|不相关|不相干|没有关系|没关联|打不着|不搭边|不搭界|关联|搭边 的? 问题|事|话题|事情?
与此|跟此|和此 无关 的? 问题|话题|事?
完全|毫|毫不|根本|一个|个|问个|问一个 完全|毫|毫不|根本|跟这个|和这个? 无关|不相关|不相干|不搭界|没关系|不沾边 的 问题|话题|事|事情|东西|内容?
翻篇|清零|归零|推倒重来|从头再来|重来一遍|重新来过|另起炉灶|重开|从头来过|重打鼓另开张|白纸一张
新话题|新主题|新聊天|新窗口|新题目|新议题";

/// Polite and empty words that may stand around a wish.
const FRAMES: &str = "我们 咱们 咱俩 咱 我 你 您 请 请你 请问 帮我 帮忙 麻烦 麻烦你 可以 能 能不能 可不可以 可否 能否 是否可以 吧 了 吗 呢 啊 呀 嘛 哈 哦 噢 喔 额 呃 嗯 唉 哎 诶 欸 好 好的 好吧 好啦 好了 好嘞 行 行吧 行了 可 那 那么 那就 就 就这样 想 要 想要 希望 需要 来 先 再 现在 马上 立刻 直接 一下 一下吧 个 一个 给我 开始 进行 开 开启 打开 新建 创建 建 起 搞 弄 做 把 全部 都 全 完全 彻底 干脆 还是 算了 算 ok okay 谢谢 谢 让 让我们 让咱们 聊 聊聊 聊天 说 说说 谈 谈谈 问 问问 讨论 讲 换 下 一 对了 另外 对话 会话 话题 吧咱们 去 到 继续 接下来 下面 接着 然后 所以 因此 不如 要不 要么 干嘛不 何不 今天 这次 这回 这里 从 从现在 起 之后 有 有个 有一个 还有 还有个 还有一个 一个新的 新的 新 完 完了 结束 拜托 求 求你 真的 其实 突然 忽然 有点 顺便 顺带 插 插一句 插个 打断 不好意思 抱歉 对不起 亲 喂 嘿 hi hello 老师 小助手 助手 的 跟你 和你 陪我 大家 也 该 应该 得 必须 可能 也许 或许 试试 看 看看 啦 咯 喽 嘞 呗 滴 哒 ～ 一遍 一次 遍 次 话 事 整个 所有 一切 的话 话说 回 重新 话题吧 到这 这个 这 那个 刚才 之前 前面 上面 内容 聊的 说的 讨论的 谈的 问题 别的 事情 东西 这些 那些 咱们来 好不好 行不行 可以吗 好吗 行吗 怎么样 如何 是 窗口 session chat new topic 跟您 给你 太 乱 这段 段 一会儿 会儿 哥 姐 兄弟 朋友 机器人 ai 想问 想聊 想说 想问下 问下 聊下 说下 你个 您个 个事 换换 哈哈 嘻嘻 好多";

/// Characters in front of a phrase that deny it.
const NEGATIONS: [&str; 22] = [
    "不要",
    "别",
    "不用",
    "不想",
    "没有",
    "没",
    "无需",
    "不需要",
    "不必",
    "不是",
    "不能",
    "不会",
    "不准",
    "不许",
    "不应该",
    "不该",
    "甭",
    "先不",
    "不打算",
    "不愿",
    "不希望",
    "勿",
];
const ASKING: [&str; 18] = [
    "怎么",
    "如何",
    "什么",
    "为什么",
    "为何",
    "是不是",
    "会不会",
    "会怎",
    "哪",
    "意思",
    "是否",
    "吗",
    "有没有",
    "多少",
    "几",
    "谁",
    "干嘛",
    "区别",
];
/// What a new topic may be introduced with after the phrase.
const NEXT: [&str; 14] = [
    "聊聊",
    "说说",
    "谈谈",
    "我想问",
    "我想聊",
    "我想",
    "帮我",
    "请",
    "讲讲",
    "来聊",
    "问一下",
    "我要",
    "关于",
    "就聊",
];
/// Characters that are typed for one another: the same or nearly the same sound.
const SOUNDS: [&str; 22] = [
    "话化画华花划活",
    "新心欣芯辛信",
    "会汇绘回惠",
    "题提体替踢",
    "换还唤幻患环欢",
    "重从虫崇种",
    "始使时史是式",
    "头投偷透",
    "聊撩疗料",
    "个各给",
    "开凯该",
    "对队堆",
    "的得地",
    "另令领",
    "一以已",
    "说所锁",
    "这着",
    "了啦拉乐勒",
    "别憋",
    "点电",
    "问文",
    "零灵",
];

const CHARS_MAX: usize = 60;
const KEYS: &str = "新换重头另别其忘清聊说谈讲问关翻零此打岔转切忽略不心唤从始下抛就当";
/// Traditional characters and their simplified forms, as far as the lists above use them.
const TRADITIONAL: &str = "對对話话會会換换個个題题開开從从頭头說说這这談谈講讲問问別别點点來来過过請请幫帮麻麻煩烦們们謝谢讓让現现個个關关無无係系聯联記记憶忆錄录歷历忘忘內内還还結结束束兒儿裡里裏里嗎吗啟启創创建建視视窗窗單单獨独轉转業业麼么為为應应該该當当沒没後后機机樣样給给陪陪討讨論论經经聽听覺觉發发進进間间實实東东";

static PATTERNS: LazyLock<Vec<Pattern>> = LazyLock::new(|| PARAPHRASES.lines().map(Pattern::parse).collect());

/// The simplified form of a character.
fn simple(ch: char) -> char {
    let mut pairs = TRADITIONAL.chars();
    while let (Some(old), Some(new)) = (pairs.next(), pairs.next()) {
        if old == ch {
            return new;
        }
    }
    ch
}

pub(super) fn judge(clause: &Clause<'_>) -> Finding {
    if clause.text.is_ascii() {
        return Finding::Nothing;
    }
    let chars: Vec<char> = clause.text.chars().filter(|ch| !ch.is_whitespace()).map(simple).collect();
    if chars.len() > CHARS_MAX || !chars.iter().any(|&ch| crate::text::is_han(ch)) {
        return Finding::Nothing;
    }
    // One of these is in every wish; most clauses have none and need no closer look.
    if !chars.iter().any(|ch| KEYS.contains(*ch)) {
        return Finding::Nothing;
    }
    let text: String = chars.iter().collect();
    let mut mention = Finding::Nothing;
    // The longest phrase first: "开始新的对话" before "新的对话".
    let mut found: Vec<(usize, usize, Match)> = Vec::new();
    for phrase in LISTED.split_whitespace() {
        found.extend(text.match_indices(phrase).map(|(at, _)| (phrase.len(), at, Match::Exact)));
    }
    for (at, _) in text.char_indices() {
        let longest = PATTERNS.iter().filter_map(|pattern| pattern.matches_text(&text[at..])).max();
        found.extend(longest.filter(|&length| length > 3).map(|length| (length, at, Match::Paraphrase)));
    }
    found.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    for &(length, at, how) in &found {
        let phrase = &text[at..at + length];
        match around(&text[..at], &text[at + length..], clause) {
            // "Another one" is said of colours and names as well: it must stand alone.
            None if phrase == "换一个" && !clause.alone => mention = Finding::Mention(MentionKind::Inside),
            None => {
                let listed = LISTED.split_whitespace().any(|entry| phrase.contains(entry));
                let how = if listed { Match::Exact } else { how };
                return Finding::Wish { phrase: phrase.to_owned(), how };
            }
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
fn around(left: &str, right: &str, clause: &Clause<'_>) -> Option<MentionKind> {
    let denied = NEGATIONS.iter().any(|word| left.ends_with(word) || covers_end(left, word));
    if denied {
        return Some(MentionKind::Negated);
    }
    if clause.conditional {
        return Some(MentionKind::Inside);
    }
    let follows =
        NEXT.iter().any(|word| right.trim_start_matches(['吧', '了', '，', '啊', '哈']).starts_with(word));
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
fn misspelled(text: &str, clause: &Clause<'_>) -> Finding {
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
