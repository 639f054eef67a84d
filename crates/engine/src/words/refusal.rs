//! Why something was not done, in one line.

use super::say::say;
use super::{Keys, Language, Trouble, tasks};
use segue_core::refusal::Refusal;
use segue_core::session::Number;

pub(super) fn refusal(keys: &Keys<'_>, refusal: &Refusal) -> String {
    let l = keys.language;
    let key = |session: &Number| keys.of(*session);
    match refusal {
        Refusal::NoSession(session) => {
            let session = key(session);
            say!(
                l,
                "There is no session {session}. /session list shows those there are.",
                "没有会话 {session}。输入 /session list 查看现有的会话。"
            )
        }
        Refusal::Merged { from, into } => {
            let (from, into) = (key(from), key(into));
            say!(l, "{from} is part of {into} now. Use that one.", "{from} 已并入 {into}，请使用后者。")
        }
        Refusal::NothingSaid => {
            say!(
                l,
                "Nothing has been said here yet. Say something first.",
                "这里还没有任何消息，请先说点什么。"
            )
        }
        Refusal::AlreadyActive(session) => {
            let session = key(session);
            say!(l, "You are in {session} already.", "你已经在 {session} 里了。")
        }
        Refusal::Active(session) => {
            let session = key(session);
            say!(
                l,
                "{session} is the session you are in, so it cannot be deleted. Start another one with /new first.",
                "{session} 是当前会话，不能删除。请先用 /new 开始另一个会话。"
            )
        }
        Refusal::NothingToRedo => say!(l, "There is nothing to redo.", "没有可以重做的操作。"),
        Refusal::HoldsWork { session, at_work } => {
            let (session, at_work) = (key(session), key(at_work));
            say!(
                l,
                "{session} holds work of the open task of {at_work}. Finish or abort that first.",
                "{session} 里有 {at_work} 未完成任务的工作内容，请先完成或放弃那个任务。"
            )
        }
        Refusal::NothingToUndo => say!(l, "There is nothing to undo.", "没有可以撤销的操作。"),
        Refusal::NotInSession { session, seq } => {
            let session = key(session);
            say!(
                l,
                "{session} has no message {seq}. /session show lists its messages.",
                "{session} 里没有 {seq} 号消息。输入 /session show 查看其中的消息。"
            )
        }
        Refusal::NothingBefore(seq) => say!(
            l,
            "Message {seq} is the first of its session: there is nothing to split it from.",
            "{seq} 号消息是会话的第一条，前面没有内容可以拆分。"
        ),
        Refusal::SameSession => say!(l, "A session cannot be merged with itself.", "会话不能与自己合并。"),
        Refusal::NothingAsked => say!(l, "There is no question to answer.", "没有需要回答的问题。"),
        Refusal::NothingOffered => say!(
            l,
            "No older session was offered. Answer continue or fresh.",
            "没有可以回到的旧会话。请回答“继续”或“重新开始”。"
        ),
        Refusal::NotRemembered(entry) => say!(
            l,
            "There is no memory {entry}. `segue memory list` shows what is.",
            "没有编号为 {entry} 的记忆。`segue memory list` 列出全部记忆。"
        ),
        Refusal::NothingToErase => say!(l, "There is nothing left to erase.", "没有可以抹去的内容了。"),
        Refusal::Task(refusal) => tasks::refusal(keys, refusal),
        Refusal::Damaged(what) => say!(
            l,
            "The history of this chat is damaged ({what}). Nothing was changed. Please run `segue verify`.",
            "这个聊天的历史记录已损坏（{what}）。没有做任何改动，请运行 `segue verify`。"
        ),
    }
}

/// Tells what went wrong, in one line.
pub fn trouble(l: Language, trouble: Trouble) -> String {
    match trouble {
        Trouble::TooLong { bytes, bytes_max } => say!(
            l,
            "This message is too long ({bytes} bytes, at most {bytes_max}). It was not kept: please send it in parts.",
            "这条消息太长（{bytes} 字节，最多 {bytes_max} 字节），没有保存，请分几次发送。"
        ),
        Trouble::Empty => say!(
            l,
            "There is no text in this message, so there is nothing to keep.",
            "这条消息没有文字，没有可以保存的内容。"
        ),
        Trouble::Busy => say!(
            l,
            "Too many messages are waiting just now. This one was not kept: please send it again.",
            "现在排队的消息太多，这条没有保存，请再发一次。"
        ),
        Trouble::Failed => say!(
            l,
            "Sorry, that did not work. Nothing was changed: please try again.",
            "抱歉，没有成功。没有做任何改动，请再试一次。"
        ),
        Trouble::Unknown => say!(
            l,
            "Sorry, it is not known whether that was done: the store did not answer. /status tells how it is now.",
            "抱歉，存储没有回应，不知道有没有完成。/status 可以查看现在的情况。"
        ),
    }
}
