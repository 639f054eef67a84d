//! R-6: what a session is for, and how it was left: both stretch the limits of a silence.

use crate::code::Code;
use crate::remark::Remark;
use crate::role::Role;
use crate::sentences::{asks, is_courtesy, sentences};
use crate::text::Window;

/// What the session is for; coding is left lying longer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Anything else.
    General,
    /// Coding and debugging: the limits count twice.
    Coding,
}

/// How the conversation was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastWord {
    /// Nothing was left open.
    Settled,
    /// The last message is a question without an answer: the limits count twice.
    OpenQuestion,
}

/// Messages that are looked at, counted from the end.
const MESSAGES_MAX: usize = 12;
/// So many messages with a little code make a session one of coding.
const CODING_MIN: usize = 2;

/// Tells whether a session is about code, by its last twelve messages.
///
/// ```
/// use segue_signals::{Remark, Role, work::{Work, judge_work}};
/// let user = Remark::of(Role::User, "src/main.rs fails");
/// let talk = [user, Remark::of(Role::Assistant, "Run `cargo check` first.")];
/// assert_eq!(judge_work(&talk), Work::Coding);
/// ```
#[must_use]
pub fn judge_work(recent: &[Remark]) -> Work {
    let mut with_code = 0;
    for message in &recent[recent.len().saturating_sub(MESSAGES_MAX)..] {
        match message.code {
            Code::Absent => {}
            Code::Some => with_code += 1,
            Code::Block => return Work::Coding,
        }
    }
    if with_code >= CODING_MIN { Work::Coding } else { Work::General }
}

/// Tells whether the conversation was left with a question, before the next message of the person.
///
/// A question of either side that stands last was not answered yet. "Anything else?" is no question
/// that anybody waits for.
///
/// ```
/// use segue_signals::{Remark, Role, work::{LastWord, judge_last_word}};
/// let talk = [Remark::of(Role::Assistant, "两张票。要靠窗的吗？")];
/// assert_eq!(judge_last_word(&talk), LastWord::OpenQuestion);
/// ```
#[must_use]
pub fn judge_last_word(recent: &[Remark]) -> LastWord {
    let last = recent.iter().rev().find(|message| matches!(message.role, Role::User | Role::Assistant));
    last.map_or(LastWord::Settled, |last| last.last_word)
}

/// How a message leaves the conversation, if nothing follows it.
pub(crate) fn leaves(text: &str) -> LastWord {
    let (head, tail) = Window::PHRASES.cut(text);
    let ending = if tail.is_empty() { head } else { tail };
    // What is asked stands at the end, or one remark before it: "Which day? Both are free."
    let mut end: Vec<&str> = Vec::new();
    for sentence in sentences(ending) {
        if end.len() == 2 {
            end.remove(0);
        }
        end.push(sentence);
    }
    let open = end.iter().any(|sentence| asks(sentence) && !is_courtesy(sentence));
    if open { LastWord::OpenQuestion } else { LastWord::Settled }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn talk(lines: &[(Role, &str)]) -> Vec<Remark> {
        lines.iter().map(|&(role, text)| Remark::of(role, text)).collect()
    }

    #[test]
    fn r6_two_messages_with_code_or_one_block_make_it_coding() {
        let user = |text| (Role::User, text);
        assert_eq!(judge_work(&talk(&[user("see main.py"), user("and `x = 1`")])), Work::Coding);
        assert_eq!(
            judge_work(&talk(&[user("看看 main.py"), user("好"), user("再运行 cargo test --lib")])),
            Work::General
        );
        assert_eq!(
            judge_work(&talk(&[user("看看 main.py"), user("好"), user("cargo test --lib 失败了")])),
            Work::Coding
        );
        assert_eq!(judge_work(&talk(&[user("why?\n```\nx\n```")])), Work::Coding);
        assert_eq!(judge_work(&talk(&[(Role::Tool, "thread 'main' panicked at x")])), Work::Coding);
        assert_eq!(judge_work(&talk(&[user("see main.py"), user("thanks")])), Work::General);
        assert_eq!(judge_work(&talk(&[user("book a hotel"), user("订酒店")])), Work::General);
        assert_eq!(judge_work(&talk(&[(Role::System, "```\nx\n```")])), Work::General);
        assert_eq!(judge_work(&[]), Work::General);
    }

    #[test]
    fn r6_old_code_is_no_coding_any_more() {
        let mut lines = vec![(Role::User, "```\nx\n```")];
        lines.extend([(Role::User, "lunch?"); MESSAGES_MAX]);
        assert_eq!(judge_work(&talk(&lines)), Work::General);
    }

    #[test]
    fn r6_a_question_that_stands_last_is_open() {
        use Role::{Assistant, Tool, User};
        let open: [&[(Role, &str)]; 6] = [
            &[(User, "Which hotel is nearer?")],
            &[(User, "去哪家酒店好")],
            &[(User, "book it"), (Assistant, "Which day? Both are free.")],
            &[(User, "订票"), (Assistant, "好的，您要靠窗的吗？")],
            &[(User, "why does it fail?"), (Tool, "exit code 1")],
            &[(User, "how do I install it")],
        ];
        for lines in open {
            assert_eq!(judge_last_word(&talk(lines)), LastWord::OpenQuestion, "{lines:?}");
        }
        let settled: [&[(Role, &str)]; 6] = [
            &[],
            &[(User, "why?"), (Assistant, "Because it is late.")],
            &[(Assistant, "Which day?"), (User, "Friday")],
            &[(Assistant, "Done. Anything else?")],
            &[(Assistant, "好了。还有什么需要帮忙的吗？")],
            &[(Assistant, "Why does it fail? Because of a lock. It was never freed. I freed it.")],
        ];
        for lines in settled {
            assert_eq!(judge_last_word(&talk(lines)), LastWord::Settled, "{lines:?}");
        }
    }

    #[test]
    fn r6_odd_input_does_no_harm() {
        for text in
            ["?".repeat(1_000_000), "数。".repeat(300_000), "`\u{0}😀".repeat(100_000), "x".repeat(1_000_000)]
        {
            let talk = [Remark::of(Role::User, &text)];
            let _ = (judge_work(&talk), judge_last_word(&talk));
        }
    }
}
