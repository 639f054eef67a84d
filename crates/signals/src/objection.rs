//! X-4: how a message takes back the rotation that was just announced.
//!
//! "No, same topic" does; a mere "no" may answer anything, and "undo the last commit" is work.

use std::sync::LazyLock;

use crate::phrases::lists::Words;
use crate::phrases::table::OBJECTION;
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

static GRAMMAR: LazyLock<Grammar<Force>> =
    LazyLock::new(|| Grammar::new(OBJECTION, &[(Force::Plain, "plain"), (Force::Alone, "alone")]));
static NO: LazyLock<Words> = LazyLock::new(|| OBJECTION.set("no"));

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
        || read.list.iter().take(cover.phrase_end).any(|token| NO.has(&token.text));
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
