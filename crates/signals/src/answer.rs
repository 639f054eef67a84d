//! R-14: how a message reads as the answer to "continue this topic or start fresh?"
//!
//! Only a message that is nothing but an answer is one: "continue" is, "continue with the second
//! paragraph" is the next message of the conversation. "Yes" answers no either-or question.

use std::sync::LazyLock;

use crate::phrases::{Extent, Gap, Grammar, tokens};

/// What the person chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Go on with the session as it is.
    Continue,
    /// Begin a new session.
    Fresh,
    /// Go back to the older session.
    Older,
}

const CONTINUE: &str = "1
option|number|choice|answer|选|选项|第 1 个|项?
continue|proceed|continuing with|on|in? the|this|our|that? same|current? topic|conversation|chat|session|thread|one|it|this|here|subject|discussion?
continue|pick|resume|carry_on|go_on from? up? from? where_we|where_i left|stopped|were off?
continue|go_on|carry_on|keep_going with|on|in the|this same|current topic|conversation|chat|session|thread|one|subject
go_on|go_ahead_and_continue|keep_going|keep_on|carry_on|keep_at_it
keep|keep_on|continue talking|chatting about? this|it?
keep|keep_to|use the|this same|current? topic|conversation|chat|session|thread|one|this|it
stay here|put
stay in|on|with the|this|our? same|current? topic|conversation|chat|session|thread|one|this|it
still? on? the? same topic|conversation|chat|session|thread|one|subject|discussion
same
this|current topic|conversation|chat|session|thread|one
继续|接着|往下|接下去 聊|说|讲|谈|走|下去|进行? 下去?
继续|接着|保持 聊|说|讲|谈|在? 这|这个|这一个|当前|当前的|现在|现在的|刚才|刚才的|刚刚的|原 话题|会话|对话|聊天|主题|的|这里?
还是|就|仍是|依然是|仍然是|就是|用|留在|待在 这|这个|同一个|当前|当前的|现在的|原 话题|会话|对话|聊天|主题|这里?
同一|同一个|同个|这个|当前|当前的|相同的 话题|会话|对话|聊天|主题
同一个|不换了|不用换|不换|延续|继续这个|接着这个";

const FRESH: &str = "2
option|number|choice|answer|选|选项|第 2 个|项?
a|the|some? completely|totally? fresh|new|brand_new start|one|session|chat|conversation|topic|thread|subject?
a|another different|new|separate|fresh topic|subject|conversation|session
start|begin|open|create|make|have|take|use|do|go_with|choose|starting me? a|an|the|another|some? completely|totally|brand? new|fresh|clean|blank|different|separate|another one|session|chat|conversation|topic|thread|page|start|subject
start|begin|starting|go fresh|over|anew|afresh|again|new|clean
start|begin|go from scratch|zero|the_beginning|the_start
from scratch|zero
restart|reset|clean_slate|blank_slate|fresh_slate
重新|从头|从零|重头 开始|来|来过|聊|开|开启|起
重来|重开|重启|清空重来|另起炉灶
新|新的|全新|全新的 会话|对话|话题|聊天|主题|一个|开始|session?
开|开启|开始|新开|新建|另开|另起|换|换成|切换到|用|来|建|创建|打开|起|重新开|再开|聊 一|个|一个? 全新|新|别|新的|全新的|别的|其他|其他的|另外 的|一个? 会话|对话|话题|聊天|主题|窗口|session?
新开|另开|重开|再开|重新开|另起 一|个|一个 会话|对话|话题|聊天|新的?
换|换个|换一个 话题|会话|对话|新话题|主题";

const OLDER: &str = "3
option|number|choice|answer|选|选项|第 3 个|项?
the|that|my|our? old|older|previous|earlier|former|prior one|session|chat|conversation|topic|thread|discussion?
the one from|before before|earlier|yesterday|last_time?
go|going|switch|return|move|jump|take_me|bring_me|get back? to the|that|my|our old|older|previous|earlier|former|prior|last one|session|chat|conversation|topic|thread|discussion?
back|return|go_back|switch_back|take_me_back|get_back|bring_back|going_back to? that|it|there? one|session|chat|conversation|topic|thread|discussion?
back|return|go_back|switch_back|take_me_back|get_back|bring_back to? the|that|my|our old|older|previous|earlier|former|prior one|session|chat|conversation|topic|thread|discussion?
resume|reopen|restore|resuming it|that|this?
resume|reopen|restore|continue|open|pick_up|go_on_with|carry_on_with|use|take with|in|on? the|that|my|our old|older|previous|earlier|former|prior one|session|chat|conversation|topic|thread|discussion?
resume|reopen|restore the|that session|one|chat|conversation|thread
回到|返回|切回|切回到|回|恢复|恢复到|接着|接|继续|接回|继续聊|接着聊|打开|用|接续|转回 之前|以前|先前|旧|老|上次|原来|前面|早先|上一个|前一个|更早 的|那|那个|的那个|聊的|说的? 会话|对话|话题|聊天|主题|那个|那里|的?
之前|以前|先前|旧|老|上次|早先|上一个|前一个|更早 的|那个|的那个|那 会话|对话|话题|聊天|主题|那个?
回到|返回|切回|恢复 那个|那里|那边|它|那 会话|对话|话题|聊天?
恢复|回去|切回去|旧会话|老会话";

/// Polite and empty words around an answer.
const FRAMES: &str = "ok|okay|k|yes|yeah|yep|yup|yea|aye|sure|right|alright|fine|good|great|cool|perfect|nope|nah|lol|haha|oh|ah|hmm|hm|um|uh|er|well|so|then|now|just|actually|maybe|probably|definitely|please|pls|plz|kindly|thanks|thank_you|thx|cheers|sorry|hey|hi|hello|simply|rather|ofc|of_course|for_now|i_guess|i_think|for_me|you_can|go_ahead|lets|let_us|lets_just|ty|indeed|absolutely
i|we|you|lets want|wanna|would_like|wish|prefer|choose|will|shall|should|would|pick|say|said|need|think|vote to|for?
id|ill|im|well prefer|like|rather|love|choose|go|take|pick|choosing|going to|for|with|the|that|a?
i|we would|will|d|can|could rather|like|prefer|love|choose|go|take to|for|with?
can|could|may|shall|should|would|will we|you|i please|just?
please|and|then just?
my? answer|choice|vote is?
i_want|i_would_like|id_like|ill_take|i_choose|i_pick|lets_go_with|go_with|lets_do|ill_go_with|we_should|lets_have
让|让我们|我|我们|咱们|咱|你|您|请|麻烦|麻烦你|那|那就|就|那么|还是|先|想|要|想要|希望|选|选择|我选|给我|帮我|来|直接|可以|能|好|好的|好吧|好啊|好呀|好嘞|嗯|嗯嗯|行|行吧|行啊|对|对的|是|是的|当然|吧|了|啊|呀|哦|呢|哈|嘛|啦|咯|谢谢|谢谢你|谢谢您|谢|一下|下|的|ok|当然可以|没问题|哈哈|干脆|不如|要不|呗|好了";
const DENIALS: &str = "no
不|不是|不了|不用|不要|不用了|不对";
const AFTER_DENIAL: &str =
    "start|begin|continue|keep|stay|go|same|lets|resume|restart|carry|please|back|just|i|im|id";
/// Words with which an answer may end in a question mark: "can we continue?"
const ASKING: [&str; 10] = ["can", "could", "may", "shall", "should", "would", "will", "吗", "能", "不"];

static GRAMMAR: LazyLock<Grammar<Answer>> = LazyLock::new(|| {
    let phrases = [(Answer::Continue, CONTINUE), (Answer::Fresh, FRESH), (Answer::Older, OLDER)];
    let frames = format!("{FRAMES}\n吗|好吗|行吗|可以吗|好不好|行不行");
    Grammar::new(&phrases, &frames, DENIALS, AFTER_DENIAL)
});

/// An answer is short; anything longer says something else too.
const TOKENS_MAX: usize = 18;
/// Signs of code and markup: "`continue`" is a keyword, not a choice.
const SIGNS: &str = "`{}<>=$\\|;@";

/// Reads a whole message as the answer to the question whether to go on, start fresh or go back.
///
/// ```
/// use segue_signals::answer::{Answer, read_answer};
/// assert_eq!(read_answer("yes, continue please"), Some(Answer::Continue));
/// assert_eq!(read_answer("开新的吧"), Some(Answer::Fresh));
/// assert_eq!(read_answer("continue with the second paragraph"), None);
/// ```
#[must_use]
pub fn read_answer(text: &str) -> Option<Answer> {
    let read = tokens(text, TOKENS_MAX);
    if read.extent == Extent::Cut || text.contains(|ch| SIGNS.contains(ch)) {
        return None;
    }
    let cover = GRAMMAR.cover(&read.list);
    let asks = read.ending == Gap::Question || read.list.iter().any(|token| token.before == Gap::Question);
    if cover.end < read.list.len()
        || asks && !read.list.iter().any(|token| ASKING.contains(&token.text.as_str()))
    {
        return None;
    }
    let (first, rest) = cover.said.split_first()?;
    rest.iter().all(|other| other == first).then_some(*first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expected: Option<Answer>, phrases: &[&str]) {
        for text in phrases {
            assert_eq!(read_answer(text), expected, "{text:?}");
        }
    }

    #[test]
    fn r14_going_on_in_both_languages() {
        check(
            Some(Answer::Continue),
            &[
                "continue",
                "Continue.",
                "go on",
                "keep going",
                "same topic",
                "yes, continue",
                "stay here",
                "carry on please",
                "ok, let's continue",
                "continue this topic",
                "Contniue",
                "contine pls",
                "can we continue?",
                "no, continue",
                "same conversation",
                "this one",
                "1",
                "１",
                "1.",
                "option 1",
                "continue here",
                "I'd like to continue",
                "continue where we left off",
                "yes keep going",
                "stay on this topic",
                "the same topic",
                "继续",
                "接着聊",
                "还是这个话题",
                "继续吧",
                "好的，继续",
                "嗯继续",
                "那就继续吧",
                "繼續",
                "继续聊这个",
                "同一个话题",
                "选1",
                "不，继续",
                "继续刚才的话题",
                "接着说吧",
                "请继续",
                "可以继续吗？",
                "不换",
            ],
        );
    }

    #[test]
    fn r14_starting_fresh_in_both_languages() {
        check(
            Some(Answer::Fresh),
            &[
                "fresh",
                "start fresh",
                "new",
                "new one",
                "start a new one",
                "start over",
                "Start fresh, please!",
                "a new session",
                "let's start over",
                "strat over",
                "no, start fresh",
                "brand new",
                "from scratch",
                "fresh start",
                "no, new one",
                "can we start a new conversation?",
                "2",
                "number 2",
                "yes, new topic",
                "restart",
                "重新开始",
                "新的",
                "开新的吧",
                "新会话",
                "开个新的",
                "开一个新的会话",
                "重新来",
                "从头开始",
                "換個話題",
                "好的，新的",
                "新开一个吧",
                "那就重新开始吧",
                "选2",
                "我想开新的",
            ],
        );
    }

    #[test]
    fn r14_going_back_in_both_languages() {
        check(
            Some(Answer::Older),
            &[
                "the old one",
                "go back to that",
                "older",
                "resume it",
                "resume",
                "Resume please",
                "the older session",
                "go back",
                "go back to the previous conversation",
                "continue the old one",
                "the previous one",
                "3",
                "take me back to the older one",
                "back to that one",
                "yes, the earlier one",
                "resmue",
                "回到之前的",
                "之前那个",
                "接着之前的",
                "继续之前的话题",
                "回到上次的对话",
                "旧的",
                "恢复",
                "回到之前的吧",
                "之前的那个",
                "接着上次聊的",
                "选3",
            ],
        );
    }

    #[test]
    fn r14_what_only_looks_like_an_answer_is_none() {
        check(
            None,
            &[
                "Continue with the second paragraph",
                "fresh tomatoes",
                "继续写第二段",
                "yes",
                "no",
                "是的",
                "不",
                "",
                "a",
                "b",
                "c",
                "4",
                "12",
                "1.5",
                "continue or start fresh?",
                "continue?",
                "don't continue",
                "not a new one",
                "no new one",
                "no new session please",
                "order",
                "folder",
                "`continue`",
                "new york",
                "what's new",
                "the old man and the sea",
                "resume the download",
                "go back two lines",
                "start over the loop from index 2",
                "same error again",
                "my resume",
                "新的手机怎么样",
                "不继续",
                "继续努力",
                "之前那个酒店多少钱",
                "回到首页",
                "重新开始这个函数",
                "新的一年",
                "go on a diet",
                "older versions of Python",
                "keep going until the test passes",
                "1 and 2",
                "2 or 3",
                "please write a new one for the homepage",
                "ok",
                "thanks",
                "😀",
                "别开新的",
            ],
        );
        assert_eq!(read_answer(&"continue ".repeat(200_000)), None);
        assert_eq!(read_answer(&"\u{0}\u{200b}😀".repeat(100_000)), None);
    }
}
