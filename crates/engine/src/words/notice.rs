//! What happened, in one line.

use super::say::{count, say};
use super::{Keys, Language, duration, tasks};
use segue_core::notice::{LeftSession, Limit, Notice, QuestionTopic, Reversal, Since, Summary, Undoable};
use segue_core::retention::KeepChoice;
use segue_core::session::Number;

pub(super) fn notice(keys: &Keys<'_>, notice: &Notice) -> String {
    let l = keys.language;
    let key = |session: &Number| keys.of(*session);
    let back = |way_back: &Undoable, previous: &Number| back(keys, *way_back, *previous);
    match notice {
        Notice::Started { session, pruned } => {
            let (session, pruned) = (keys.started(*session), pruned_too(l, *pruned));
            say!(l, "Started new session: {session}{pruned}", "已开始新会话：{session}{pruned}")
        }
        Notice::Expired { session, previous, gap_ms, since, limit, like, pruned, way_back } => {
            let (session, gap) = (key(session), duration(l, *gap_ms));
            let back = same_topic(keys, *way_back, *previous);
            let (pruned, why) = (pruned_as_well(l, *pruned), expired(l, &gap, *limit, *since));
            let like = like.map(|like| {
                let like = keys.of(like);
                say!(l, " /older takes this message back to {like}.", "输入 /older 可把这条消息带回 {like}。")
            });
            let like = like.unwrap_or_default();
            say!(
                l,
                "New session {session}: {why}{pruned}.{like}{back}",
                "新会话 {session}：{why}{pruned}。{like}{back}"
            )
        }
        Notice::StartedOver { session, previous, pruned, way_back } => {
            let (session, pruned, back) =
                (key(session), pruned_as_well(l, *pruned), back(way_back, previous));
            say!(
                l,
                "New session {session}, as you asked{pruned}.{back}",
                "已按你的意思开始新会话 {session}{pruned}。{back}"
            )
        }
        Notice::Shifted { session, previous, like, pruned, way_back } => {
            let (session, pruned) = (key(session), pruned_as_well(l, *pruned));
            let back = same_topic(keys, *way_back, *previous);
            let like = like.map(|like| {
                let like = keys.of(like);
                say!(l, " It looks similar to {like}.", "它与 {like} 相近。")
            });
            let like = like.unwrap_or_default();
            say!(
                l,
                "New session {session}: this looks like a new topic{pruned}.{like}{back}",
                "新会话 {session}：这看起来是新话题{pruned}。{like}{back}"
            )
        }
        Notice::Overflowed { session, previous, percent, summary, pruned, way_back } => {
            let along = match summary {
                Summary::Carried => say!(l, ", and a summary came along", "，摘要已带过来"),
                Summary::Left => String::new(),
            };
            let (session, pruned, back) =
                (key(session), pruned_as_well(l, *pruned), back(way_back, previous));
            say!(
                l,
                "New session {session}: the context was {percent} % full{along}{pruned}.{back}",
                "新会话 {session}：上下文已用了 {percent}%{along}{pruned}。{back}"
            )
        }
        Notice::Task(notice) => tasks::notice(keys, notice),
        Notice::Question { session, stake, older } => question(keys, *session, stake, *older),
        Notice::Offer { older: None, .. } => say!(
            l,
            "New topic? /fresh starts a session with this message.",
            "新话题？输入 /fresh 可用这条消息开始新会话。"
        ),
        Notice::Offer { older: Some(older), .. } => {
            let older = keys.of(*older);
            say!(
                l,
                "New topic? /fresh starts a session with this message, /older takes it back to {older}.",
                "新话题？输入 /fresh 可用这条消息开始新会话，输入 /older 可把它带回 {older}。"
            )
        }
        Notice::Stays { session } => {
            let session = key(session);
            say!(l, "Continuing in {session}.", "在 {session} 里继续。")
        }
        Notice::Fresh { session, previous, summary, pruned, way_back } => {
            let along = match summary {
                Summary::Carried => say!(l, " and a summary", "和一份摘要"),
                Summary::Left => String::new(),
            };
            let (session, pruned, back) =
                (key(session), pruned_as_well(l, *pruned), back(way_back, previous));
            say!(
                l,
                "New session {session}, with your message{along}{pruned}.{back}",
                "新会话 {session}，带着你的消息{along}{pruned}。{back}"
            )
        }
        Notice::BackTo { session, previous } => {
            let (session, previous) = (key(session), key(previous));
            say!(
                l,
                "Back in {session}, with your message. /undo goes back to {previous}.",
                "已带着你的消息回到 {session}。输入 /undo 可回到 {previous}。"
            )
        }
        Notice::Rejoined { session, from, by } => {
            let (session, from) = (key(session), key(from));
            match by {
                Reversal::User => say!(
                    l,
                    "OK, the same topic: back in {session}. What was said in {from} is here too.",
                    "好，还是同一个话题：回到 {session}，在 {from} 里说的话也都在这里。"
                ),
                Reversal::Evidence => say!(
                    l,
                    "This belongs to what we talked about before: {from} is part of {session} again. /new starts over.",
                    "这属于我们之前聊的内容：{from} 重新并入 {session}。输入 /new 可重新开始。"
                ),
            }
        }
        Notice::Controlled { session, model } => {
            let session = key(session);
            match model {
                Some(model) => {
                    say!(
                        l,
                        "The model {model} now helps to decide in {session}.",
                        "{session} 现在由 {model} 协助判断。"
                    )
                }
                None => say!(
                    l,
                    "The usual model helps to decide in {session} again.",
                    "{session} 恢复使用默认的判断模型。"
                ),
            }
        }
        Notice::Pinned { session, pinned } => super::pins::notice(l, keys, *session, pinned),
        Notice::Cleared { session } => {
            let session = key(session);
            say!(
                l,
                "Cleared {session}: it is empty again. /undo brings its messages back.",
                "已清空 {session}。输入 /undo 可找回其中的消息。"
            )
        }
        Notice::Resumed { session, messages } => {
            let (session, messages) = (key(session), count(l, *messages, "message", "条消息"));
            say!(
                l,
                "Resumed {session} ({messages}). Welcome back.",
                "已回到 {session}（{messages}）。欢迎回来。"
            )
        }
        Notice::Forked { session, parent, at, pruned, way_back } => {
            let (session, parent, pruned) = (key(session), key(parent), pruned_as_well(l, *pruned));
            let past = match at {
                Some(at) => {
                    say!(
                        l,
                        "with all of {parent} up to message {at}",
                        "包含 {parent} 到 {at} 号消息为止的内容"
                    )
                }
                None => say!(l, "with all of {parent}", "包含 {parent} 的全部内容"),
            };
            let back = match way_back {
                Undoable::Open => say!(l, " /undo takes it back.", "输入 /undo 可撤销。"),
                Undoable::Gone => String::new(),
            };
            say!(
                l,
                "Forked: new session {session}, {past}{pruned}.{back}",
                "已分叉：新会话 {session}，{past}{pruned}。{back}"
            )
        }
        Notice::Split { session, parent, at, pruned, way_back } => {
            let (session, parent, pruned) = (key(session), key(parent), pruned_as_well(l, *pruned));
            match way_back {
                Undoable::Gone => say!(
                    l,
                    "Split: new session {session} begins with message {at}{pruned}.",
                    "已拆分：新会话 {session} 从 {at} 号消息开始{pruned}。"
                ),
                Undoable::Open => say!(
                    l,
                    "Split: new session {session} begins with message {at}, what came before stays in {parent}{pruned}. /undo joins them again.",
                    "已拆分：新会话 {session} 从 {at} 号消息开始，之前的内容留在 {parent}{pruned}。输入 /undo 可重新合并。"
                ),
            }
        }
        Notice::Merged { from, into } => {
            let (from, into) = (key(from), key(into));
            say!(
                l,
                "Merged {from} into {into}. Nothing was lost.",
                "已把 {from} 并入 {into}，没有丢失任何内容。"
            )
        }
        Notice::Undone { session, from, left, lost } => {
            let session = key(session);
            let undone = match from.as_ref().map(key) {
                Some(_) if *left == LeftSession::Empty => {
                    say!(l, "Undone: back in {session}.", "已撤销：回到 {session}。")
                }
                Some(from) => say!(
                    l,
                    "Undone: back in {session}. What was said in {from} since then is here too.",
                    "已撤销：回到 {session}，此后在 {from} 里说过的话也都在这里。"
                ),
                None => {
                    say!(l, "Undone: {session} has its messages back.", "已撤销：{session} 的消息都回来了。")
                }
            };
            match lost {
                0 => undone,
                lost => {
                    let lost = count(l, *lost, "older session", "个较早的会话");
                    say!(
                        l,
                        "{undone} {lost} deleted then (session.backlog = \"delete\") cannot come back.",
                        "{undone}当时删除的 {lost}无法恢复（session.backlog = \"delete\"）。"
                    )
                }
            }
        }
        Notice::Redone { session, from } => {
            let (session, from) = (key(session), key(from));
            say!(
                l,
                "Redone: back in {session}, separate from {from}.",
                "已重做：现在在 {session}，与 {from} 分开。"
            )
        }
        Notice::Restored { session } => {
            let session = key(session);
            say!(l, "{session} is in the list again.", "{session} 又在列表里了。")
        }
        Notice::Renamed { session } => {
            let session = key(session);
            say!(l, "Renamed {session}.", "已重命名 {session}。")
        }
        Notice::Deleted { session } => {
            let session = key(session);
            say!(l, "Deleted {session}.", "已删除 {session}。")
        }
        Notice::Pruned { sessions: 0 } => say!(l, "There was nothing to prune.", "没有需要清理的会话。"),
        Notice::Pruned { sessions } => {
            let sessions = count(l, *sessions, "old session", "个旧会话");
            say!(l, "Pruned {sessions}.", "已清理 {sessions}。")
        }
        Notice::Aside => say!(
            l,
            "What was said here before cannot be read. It was set aside and nothing of it was deleted; `segue doctor` tells where it is.",
            "这里以前的内容无法读取，已原样移到一旁，没有删除。运行 `segue doctor` 可查看位置。"
        ),
        Notice::Going { sessions, past, on } => super::retention::going(keys, sessions, *past, *on),
        Notice::Wished { session, wish } => {
            let session = key(session);
            match wish {
                KeepChoice::Keep => say!(
                    l,
                    "{session} is kept, however old it gets. /session keep N off undoes that.",
                    "{session} 会一直保留。输入 /session keep N off 可取消。"
                ),
                KeepChoice::Release => say!(
                    l,
                    "{session} is no longer kept: it is deleted when it is old, like the others.",
                    "{session} 不再特别保留，到期会像其他会话一样删除。"
                ),
            }
        }
        Notice::Unfinished => say!(
            l,
            "Traces of it are still in some files, because something is in the way. They are removed later, without you.",
            "它尚未从所有文件中彻底清除：暂时受阻。稍后会自动完成。"
        ),
        Notice::Erased { entries } => {
            let entries = count(l, *entries, "message", "条消息");
            say!(l, "Erased {entries} for good.", "已彻底抹去 {entries}。")
        }
    }
}

/// Why a session expired.
fn expired(l: Language, gap: &str, limit: Limit, since: Since) -> String {
    match (limit, since) {
        (Limit::Window { window_ms }, Since::Message) => {
            let window = duration(l, window_ms);
            say!(
                l,
                "your last message was {gap} ago (more than {window})",
                "你的上一条消息是 {gap}前发的（超过 {window}）"
            )
        }
        (Limit::Window { window_ms }, Since::Opening) => {
            let window = duration(l, window_ms);
            say!(
                l,
                "nothing was said for {gap} (more than {window})",
                "已有 {gap}没有新消息（超过 {window}）"
            )
        }
        (Limit::Day, Since::Message) => say!(
            l,
            "a new day has begun since your last message, {gap} ago",
            "你的上一条消息是 {gap}前发的，现在已是新的一天"
        ),
        (Limit::Day, Since::Opening) => say!(l, "a new day has begun", "现在已是新的一天"),
    }
}

fn question(keys: &Keys<'_>, session: Number, stake: &QuestionTopic, older: Option<Number>) -> String {
    let l = keys.language;
    let session = keys.of(session);
    let asked = match stake {
        QuestionTopic::Unclear => {
            let unclear = tasks::unclear(l);
            return say!(l, "{unclear} (continue / fresh)", "{unclear}（继续 / 重新开始）");
        }
        QuestionTopic::Unfinished { .. } => {
            return say!(
                l,
                "You have an unfinished task. Would you like to continue or start fresh? (continue / fresh)",
                "你有一个尚未完成的任务。要继续，还是重新开始？（继续 / 重新开始）"
            );
        }
        QuestionTopic::Topic => say!(
            l,
            "This looks like a new topic. Continue in {session}",
            "这看起来是新话题。在 {session} 里继续"
        ),
        QuestionTopic::Pause { gap_ms } => {
            let gap = duration(l, *gap_ms);
            say!(
                l,
                "Your last message here was {gap} ago. Continue this topic",
                "你在这里的上一条消息是 {gap}前发的。继续这个话题"
            )
        }
        QuestionTopic::Stuck => say!(
            l,
            "We seem to be stuck. Rephrase it and continue in {session}, or start fresh with a summary",
            "我们好像卡住了。换个说法在 {session} 里继续，还是带着摘要重新开始"
        ),
    };
    match (older.map(|older| keys.of(older)), stake) {
        (Some(older), _) => say!(
            l,
            "{asked}, start fresh, or go back to {older}? (continue / fresh / older)",
            "{asked}、重新开始，还是回到 {older}？（继续 / 重新开始 / 之前的）"
        ),
        (None, QuestionTopic::Stuck) => {
            say!(l, "{asked}? (continue / fresh)", "{asked}？（继续 / 重新开始）")
        }
        (None, _) => {
            say!(
                l,
                "{asked}, or start fresh? (continue / fresh)",
                "{asked}，还是重新开始？（继续 / 重新开始）"
            )
        }
    }
}

/// How to go back, where that is still possible.
pub(super) fn back(keys: &Keys<'_>, way_back: Undoable, previous: Number) -> String {
    match way_back {
        Undoable::Open => {
            let previous = keys.of(previous);
            say!(keys.language, " /undo goes back to {previous}.", "输入 /undo 可回到 {previous}。")
        }
        Undoable::Gone => String::new(),
    }
}

/// How to go on with the session before, if that is still there.
fn same_topic(keys: &Keys<'_>, way_back: Undoable, previous: Number) -> String {
    match way_back {
        Undoable::Open => {
            let previous = keys.of(previous);
            say!(
                keys.language,
                " /undo (or \"same topic\") goes back to {previous}.",
                "输入 /undo（或说“同一个话题”）可回到 {previous}。"
            )
        }
        Undoable::Gone => String::new(),
    }
}

/// How many old sessions were pruned, after a semicolon.
pub(super) fn pruned_as_well(l: Language, pruned: u32) -> String {
    if pruned == 0 {
        return String::new();
    }
    let sessions = count(l, pruned, "old session", "个旧会话");
    say!(l, "; {sessions} pruned", "；清理了 {sessions}")
}

fn pruned_too(l: Language, pruned: u32) -> String {
    if pruned == 0 {
        return String::new();
    }
    let sessions = count(l, pruned, "old session", "个旧会话");
    say!(l, ", {sessions} pruned", "，清理了 {sessions}")
}
