//! X-4: how a message takes back the rotation that was just announced.
//!
//! "No, same topic" does; a mere "no" may answer anything, and "undo the last commit" is work.

use std::sync::LazyLock;

use crate::phrases::{Denial, Extent, Gap, Grammar, tokens};

/// How much of a message is an objection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objection {
    /// All of it; nothing else is asked.
    Whole,
    /// It begins with one and goes on: "no, same topic: what about the hotel?"
    Leading,
    /// There is none.
    Absent,
}

/// What a phrase alone is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Force {
    /// Speaks of the topic or the session, whatever follows.
    Plain,
    /// Could be said of the work as well: "undo, then rename it".
    Alone,
}

const PLAIN: &str = "its|thats|this_is|that_is|it_is|that_was|it_was|we_are|were|im|i_am|this|that|these|they_are|theyre? all|just|still|really|actually? about|on|in|of|part_of? the|one_and_the|exactly_the? same topic|subject|conversation|chat|session|thread|discussion|context|matter as|we? before|had?
its|thats|this_is|that_is|it_is|that_was|it_was|this|that|it? belongs|belong|belonged together|here
its|thats|this_is|that_is|it_is|that_was|it_was|this|that|it? belongs|belong|belonged to|in|with the|this|that|our same|previous|last|old|earlier|current|other topic|subject|conversation|chat|session|thread|one|discussion
its|thats|this_is|that_is|it_is|that_was|it_was|this|that|it? all|still? part of the|this|that|our same|previous|last|old|earlier|current topic|subject|conversation|chat|session|thread|one|discussion
its|thats|this_is|that_is|it_is|that_was|it_was|this? not|isnt|wasnt a|an|any|really_a? new|different|another|separate topic|subject|conversation|chat|session|thread|one
i|we didnt|havent|did_not|have_not|wasnt|was_not|am_not|never change|changed|changing|switch|switched|switching the? topic|topics|subject|subjects|conversation|sessions
im|i_am|were not changing|switching the? topic|topics|subject|subjects|conversation|sessions
dont|do_not|please_dont|no_need_to start|open|make|begin|create|switch|change|split|rotate|cut to? a|the|another|this|it|into? new|different|another|separate? session|sessions|topic|topics|conversation|conversations|chat|one|subject|here
wrong session|rotation|split|switch
keep|leave it|them|this|these|that|everything together|in_one_session|in_the_same_session|in_one_conversation
同|同一|同一个|同样的|同个|一个|一样的 话题|会话|对话|主题|聊天|事|事情|问题
还是|仍是|仍然是|就是|依然是|也是|还在|还在说|还在聊|是|接着|继续|回到|说的还是|说的是|聊的是|聊的还是|问的还是 刚才|刚刚|之前|前面|上面|原来|先前|同一|这|那|同 的|那|那个|个|这个|说的|聊的|问的|那件|件? 话题|会话|对话|主题|聊天|事|事情|问题|的|东西
还是|仍是|仍然是|依然是|就是 刚才|刚刚|之前|前面|原来 的|那|那个|说的|聊的|问的
还是 这个|那个
属于|是 同|同一|同一个|刚才|之前|刚才那个|之前那个 的? 话题|会话|对话|主题|聊天|事
是|这是|都是|这都是|属于|应该|放在 一起|一块|一回事 的?
我|我们? 没|没有|并没有|并没 要|想|说? 换|切换|改变|变|改 话题|会话|对话|主题
别|不要|不用|不必|请别|请不要|别给我|先别|不需要|没必要 换|切换|换掉|分开|拆开|切|跳|新开|另开|开新|开 新|到? 的? 话题|会话|对话|主题|聊天|新的|新话题|新会话|了?
不是|这不是|并不是|又不是|没有 新|新的|别的|另一个|换|另外的 话题|会话|对话|主题|问题|聊天
跟|和|与 刚才|刚刚|之前|前面|上面|原来 的|那个|说的|聊的? 是? 一样|同一个|一起|一回事|有关|相关|一个话题|同一个话题 的?";

const ALONE: &str = "undo that|it|this?
undo|revert|cancel|reverse the|that|this new? split|rotation|switch|change|session
go|switch|take_me|bring_me|move|put_me back
go|switch|take_me|bring_me|move back to the|that|my|our same|previous|last|old|earlier|other|original|first topic|subject|conversation|chat|session|thread|one|discussion
revert that|it|this?
take that|it back
put it|that|this back
撤销|撤回|还原|撤消 一下|它|这个|切换|刚才的|刚才的切换?
取消 切换|这个切换|刚才的切换|新会话
回去|退回|退回去|切回去|切回|换回去|换回来|回到原来|回到之前|回到刚才|退回来 的? 话题|会话|对话|那个?
别换|别切换";

const FRAMES: &str = "no|nope|nah|wrong|incorrect|hey|wait|hold_on|stop|sorry|please|pls|plz|oh|ah|uh|um|hmm|hm|well|ok|okay|but|actually|sir|thanks|thank_you|thx|i_said|i_meant|i_mean|you_are_wrong|youre_wrong|thats_wrong|that_is_wrong|not_right|thats_not_right|mistake|thats_a_mistake|not_so_fast|thats_incorrect|no_no|lol|now|just|can_you|could_you|i_think|again|man|bro|dude|yes|you_misunderstood|misunderstood|obviously|clearly|of_course|for_me|at_all|here|though
thats|that_is|it_is|its|youre|you_are|that_was wrong|incorrect|mistaken|a_mistake|not_right
喂|哎|诶|唉|等等|等一下|等下|慢着|啊|呀|吧|了|的|呢|啦|嘛|哦|哈|这|这个|那|我|我们|请|麻烦|麻烦你|是|对|你|您|错|错了|搞错|搞错了|弄错了|你错了|不对|不对吧|误会了|你误会了|抱歉|不好意思|给我|帮我|谢谢|一下|说的|聊的|我说的|我们说的|我们聊的|我说|都|明明|其实|ok|停|好|先|就|这些|快|拜托|嗯|额|呃|不不|不不不|别闹";
/// What denies the words after it, if no comma stands between.
const DENIALS: &str = "不
不是|没|没有|并不是";
const AFTER_DENIAL: &str = "还是|仍是|就是|这是|这还是|我没|我们|撤销|撤回|属于|说的还是";
const NO: [&str; 9] = ["no", "nope", "nah", "wrong", "incorrect", "wait", "stop", "错", "等"];

static GRAMMAR: LazyLock<Grammar<Force>> = LazyLock::new(|| {
    Grammar::new(&[(Force::Plain, PLAIN), (Force::Alone, ALONE)], FRAMES, DENIALS, AFTER_DENIAL)
});

/// An objection stands within so many words of the beginning, or it is none.
const TOKENS_MAX: usize = 32;

/// Reads whether a message takes back a rotation that was just announced.
///
/// ```
/// use segue_signals::objection::{Objection, reads_as_objection};
/// assert_eq!(reads_as_objection("No, same topic!"), Objection::Whole);
/// assert_eq!(reads_as_objection("不是，还是刚才那个话题：酒店呢？"), Objection::Leading);
/// assert_eq!(reads_as_objection("undo the last commit"), Objection::Absent);
/// ```
#[must_use]
pub fn reads_as_objection(text: &str) -> Objection {
    let read = tokens(text, TOKENS_MAX);
    if text.trim_start().starts_with(['`', '>', '$', '/']) {
        return Objection::Absent;
    }
    let cover = GRAMMAR.cover(&read.list);
    if cover.said.is_empty() {
        return Objection::Absent;
    }
    let all = cover.end == read.list.len() && read.extent == Extent::Whole;
    let asked = |from: usize, to: usize| {
        read.list.iter().take(to).skip(from).any(|token| token.before == Gap::Question)
    };
    if all {
        // "Same topic?" asks; it takes nothing back.
        let asks = read.ending == Gap::Question || asked(0, read.list.len());
        return if asks { Objection::Absent } else { Objection::Whole };
    }
    // The rest must be set off: "go back two lines" is one sentence.
    let stop = (cover.phrase_end..=cover.end)
        .find(|&at| read.list.get(at).is_some_and(|token| token.before != Gap::Joined));
    let Some(stop) = stop else { return Objection::Absent };
    let denied = cover.denied == Denial::Spoken
        || read.list.iter().take(cover.phrase_end).any(|token| NO.contains(&token.text.as_str()));
    let forceful = denied || cover.said.contains(&Force::Plain);
    if forceful && !asked(0, stop + 1) { Objection::Leading } else { Objection::Absent }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expected: Objection, phrases: &[&str]) {
        for text in phrases {
            assert_eq!(reads_as_objection(text), expected, "{text:?}");
        }
    }

    #[test]
    fn x4_a_whole_message_takes_it_back() {
        check(
            Objection::Whole,
            &[
                "no, same topic",
                "same topic",
                "that's the same topic",
                "wrong, it's the same conversation",
                "undo",
                "go back",
                "no that belongs together",
                "No! Same topic.",
                "it's still the same topic",
                "undo that",
                "same topci",
                "hey, we're still on the same subject",
                "that belongs to the previous session",
                "not a new topic",
                "I didn't change the topic",
                "no, go back please",
                "don't start a new session",
                "wait, this is part of the same conversation",
                "take that back",
                "undo the split",
                "switch back",
                "go back to the previous session",
                "that's not a new conversation",
                "不是，还是刚才那个话题",
                "同一个话题",
                "还是刚才的",
                "撤销",
                "别换",
                "不对，同一个话题",
                "这是同一个话题",
                "我没换话题",
                "還是剛才那個話題",
                "别换话题",
                "不要开新会话",
                "回到刚才的话题",
                "错了，还是之前的",
                "撤回",
                "这不是新话题",
                "是一起的",
                "不是还是刚才那个话题",
                "跟刚才的是同一个话题",
                "还是同一个事",
            ],
        );
    }

    #[test]
    fn x4_a_message_may_begin_with_it() {
        check(
            Objection::Leading,
            &[
                "no, same topic: what about the hotel?",
                "Same topic. Which of the two is cheaper?",
                "wrong, it's the same conversation - so what does the parser do?",
                "no, undo. what about the second flight?",
                "that belongs together, now book the room",
                "I didn't change the subject, I only asked about breakfast",
                "不是，还是刚才那个话题：酒店呢？",
                "同一个话题，那个房间多少钱",
                "别换话题，我问的是早餐",
                "错了，撤销，继续说酒店",
            ],
        );
        let long = format!("no, same topic: {}", "and what about the hotel ".repeat(10_000));
        assert_eq!(reads_as_objection(&long), Objection::Leading);
    }

    #[test]
    fn x4_what_only_looks_like_an_objection_is_none() {
        check(
            Objection::Absent,
            &[
                "no",
                "No.",
                "nope, that is fine",
                "go back two lines",
                "undo the last commit",
                "",
                "不",
                "不是",
                "不对",
                "same topic?",
                "is this the same topic?",
                "not the same topic",
                "undo, then rename the file",
                "go back, then turn left at the church",
                "how do I undo?",
                "don't undo",
                "the same error again",
                "a different topic",
                "revert the change in main.rs",
                "撤销上一个提交",
                "不是同一个话题",
                "同一个话题吗？",
                "回去的火车几点",
                "别换行",
                "还是刚才那个酒店便宜",
                "这是同一个函数",
                "same topic model as in the paper",
                "no, I meant the other hotel",
                "wrong",
                "> same topic",
                "`undo`",
                "why is it on the same topic?",
                "别撤销",
                "same here",
                "stop",
                "go",
                "我们换个话题",
            ],
        );
        assert_eq!(reads_as_objection(&"same topic ".repeat(100_000)), Objection::Absent);
        assert_eq!(reads_as_objection(&"😀\u{0}".repeat(500_000)), Objection::Absent);
    }
}
