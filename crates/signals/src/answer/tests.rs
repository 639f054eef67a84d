use super::*;

/// Sessions of other numbers than there are choices.
const OFFERED: Offered = Offered { here: Some(8), older: Some(5) };

fn check(expected: Option<Answer>, phrases: &[&str]) {
    for text in phrases {
        let read = match read_answer(text, OFFERED) {
            Reading::Answer(answer) => Some(answer),
            Reading::Names(_) | Reading::Other => None,
        };
        assert_eq!(read, expected, "{text:?}");
    }
}

/// a number is a session's before it is a choice's.
#[test]
fn x14_a_number_of_a_session_is_no_choice() {
    let offered = Offered { here: Some(2), older: Some(1) };
    let check = |expected, phrases: &[&str]| {
        for text in phrases {
            assert_eq!(read_answer(text, offered), Reading::Answer(expected), "{text:?}");
        }
    };
    check(
        Answer::Older,
        &[
            "#1",
            "1",
            "session 1",
            "go to #1",
            "number one please",
            "back to session #1",
            "回到#1",
            "一号会话",
        ],
    );
    check(
        Answer::Continue,
        &["#2", "2", "stay in #2", "number 2", "continue in session two", "就在#2吧", "2号会话"],
    );
    check(Answer::Fresh, &["option 2", "the second one", "选2", "第二个"]);
    check(Answer::Older, &["3", "option 3"]);
    for text in ["#7", "session 7", "7号会话", "go to #7"] {
        assert!(!matches!(read_answer(text, offered), Reading::Answer(_)), "{text:?}");
    }
    // After an offer, a number alone may answer the model.
    for text in ["1", "2", "option 2", "the second one", "第二个", "go back", "continue with that"] {
        assert!(
            !matches!(read_answer_to_offer(text, offered), Reading::Answer(Answer::Fresh | Answer::Older)),
            "{text:?}"
        );
    }
    for text in ["#1", "the older one", "a new session for it", "之前那个会话"] {
        assert!(matches!(read_answer_to_offer(text, offered), Reading::Answer(_)), "{text:?}");
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
            "don't start a new session",
            "not a new one",
            "别开新的",
            "no keep going",
            "不用，继续",
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
            "no new one",
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
        ],
    );
    for text in [
        "continue ".repeat(200_000),
        "\u{0}\u{200b}😀".repeat(100_000),
        "#1 session ".repeat(30),
        "号".repeat(24),
    ] {
        assert_eq!(read_answer(&text, OFFERED), Reading::Other);
    }
}
