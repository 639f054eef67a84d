//! R-14: how a message reads as the answer to "continue this topic or start fresh?"
//!
//! Only a message that is nothing but an answer is one: "continue" is, "continue with the second
//! paragraph" is the next message of the conversation. "Yes" answers no either-or question.

use std::sync::LazyLock;

use crate::phrases::lists::Words;
use crate::phrases::table::ANSWER;
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

static GRAMMAR: LazyLock<Grammar<Answer>> = LazyLock::new(|| {
    let kinds = [(Answer::Continue, "continue"), (Answer::Fresh, "fresh"), (Answer::Older, "older")];
    Grammar::new(ANSWER, &kinds)
});
static ASKING: LazyLock<Words> = LazyLock::new(|| ANSWER.set("asking"));
static YES: LazyLock<Words> = LazyLock::new(|| ANSWER.clauses("yes"));

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
    if cover.end < read.list.len() || asks && !read.list.iter().any(|token| ASKING.has(&token.text)) {
        return None;
    }
    let (first, rest) = cover.said.split_first()?;
    rest.iter().all(|other| other == first).then_some(*first)
}

/// Tells whether a whole message agrees to an offer and says nothing else.
///
/// ```
/// use segue_signals::answer::agrees;
/// assert!(agrees("Yes, please!") && agrees("是的。"));
/// assert!(!agrees("yes, but in Rust") && !agrees("no"));
/// ```
#[must_use]
pub fn agrees(text: &str) -> bool {
    let words = text.split(|ch: char| !ch.is_alphanumeric()).filter(|word| !word.is_empty());
    YES.has(&words.collect::<Vec<_>>().join(" ").to_lowercase())
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
