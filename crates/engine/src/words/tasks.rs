//! What people read about tasks: the resume road of 001 and what leads to it.

use super::notice::{back, pruned_as_well};
use super::say::{count, say, word};
use super::{Keys, Language, duration};
use segue_core::Timestamp;
use segue_core::observed::IntentSource;
use segue_core::session::Number;
use segue_core::task::compaction::Progress;
use segue_core::task::intent::MessageIntent;
use segue_core::task::notice::TaskNotice;
use segue_core::task::refusal::TaskRefusal;
use segue_core::task::state::StateName;
use segue_core::task::text::headline;

/// How much of a task's description stands in a question, in characters.
const NAME_CHARS_MAX: usize = 120;

/// 001's own sentence.
pub(super) fn unclear(l: Language) -> &'static str {
    word(
        l,
        "Are you continuing the current task or starting something new?",
        "你是在继续当前任务，还是要开始新的事情？",
    )
}

/// Asks whether an unfinished task goes on, naming it and when it was started (C-11).
pub fn unfinished(
    l: Language,
    description: &str,
    started_at: Timestamp,
    zone: &jiff::tz::TimeZone,
) -> String {
    let at = zone.to_datetime(started_at).strftime("%Y-%m-%d %H:%M").to_string();
    let name = headline(description, NAME_CHARS_MAX);
    say!(
        l,
        "You have an unfinished task from {at}: '{name}'\nWould you like to continue or start fresh? (continue / fresh)",
        "你有一个 {at} 开始、尚未完成的任务：“{name}”\n要继续，还是重新开始？（继续 / 重新开始）"
    )
}

/// Shows the question again that waits for an answer (C-12).
pub fn asked(l: Language, question: &str) -> String {
    say!(
        l,
        "Continuing from where we left off. I had asked:\n\n{question}",
        "我们接着上次继续。我之前问的是：\n\n{question}"
    )
}

/// Shows again what was done, for the person to confirm (C-12).
pub fn finished(l: Language, summary: &str) -> String {
    say!(
        l,
        "I had finished the task:\n\n{summary}\n\nDoes this look good?",
        "任务之前已经完成：\n\n{summary}\n\n这样可以吗？"
    )
}

/// Shows how far the work was when it was cut off (C-12).
pub fn cut_off(l: Language, progress: &str) -> String {
    say!(
        l,
        "The task was interrupted. Progress so far:\n\n{progress}\n\nShould I continue?",
        "任务中断了。目前的进展：\n\n{progress}\n\n要继续吗？"
    )
}

/// Shows what was said and not taken in yet (C-12).
pub fn interrupted(l: Language, said: &[String]) -> String {
    let said: Vec<String> = said.iter().map(|text| format!("- {}", headline(text, 400))).collect();
    let said = said.join("\n");
    say!(
        l,
        "While I was working you said:\n\n{said}\n\nI will take that in and continue.",
        "我工作时你说了：\n\n{said}\n\n我会据此继续。"
    )
}

/// Asks for a task, after the old one was kept as expired (C-11).
pub(crate) fn lapsed(l: Language, description: &str) -> String {
    let name = headline(description, NAME_CHARS_MAX);
    say!(
        l,
        "Session expired. What there was of '{name}' is kept. What should I do?",
        "会话已过期。“{name}”已有的内容都保留着。接下来做什么？"
    )
}

/// Tells how far a task is, in a few lines.
pub fn progress(l: Language, progress: &Progress) -> String {
    let totals = &progress.totals;
    let counted = |n: u64, en: &str, zh: &str| count(l, u32::try_from(n).unwrap_or(u32::MAX), en, zh);
    let (steps, observations) =
        (counted(progress.steps, "step", "步"), counted(totals.observations, "observation", "条记录"));
    let (writes, commands) =
        (counted(totals.file_writes, "file write", "次"), counted(totals.commands, "command", "次"));
    let mut lines = vec![say!(
        l,
        "{steps} flushed, {observations} in all: {writes}, {commands}",
        "已提交 {steps}，共 {observations}：写文件 {writes}，运行命令 {commands}"
    )];
    if !progress.files_written.is_empty() {
        let files: Vec<&str> = progress.files_written.iter().map(|path| path.as_str()).collect();
        let files = files.join(word(l, ", ", "、"));
        lines.push(say!(l, "Files written: {files}", "写过的文件：{files}"));
    }
    if let Some(plan) = &progress.plan {
        lines.push(say!(l, "Plan: {plan}", "计划：{plan}"));
    }
    if let Some((command, code)) = &progress.command {
        let end = match code {
            Some(code) => say!(l, "exit {code}", "退出码 {code}"),
            None => say!(l, "killed", "被终止"),
        };
        lines.push(say!(l, "Last command: {command} ({end})", "最近的命令：{command}（{end}）"));
    }
    if let Some(note) = progress.note.as_ref().filter(|note| !note.is_empty()) {
        lines.push(say!(l, "Last note: {note}", "最近的笔记：{note}"));
    }
    lines.join("\n")
}

/// Stands in for words that were erased.
pub fn erased(l: Language) -> &'static str {
    word(l, "(erased)", "（已抹去）")
}

pub(super) fn notice(keys: &Keys<'_>, notice: &TaskNotice) -> String {
    let l = keys.language;
    let key = |session: &Number| keys.of(*session);
    match notice {
        TaskNotice::Started { session, previous, kept, pruned, way_back } => {
            let back = back(keys, *way_back, *previous);
            let (session, previous, pruned) = (key(session), key(previous), pruned_as_well(l, *pruned));
            let kept = match kept {
                Some(_) => {
                    say!(l, " What was done in {previous} is kept.", "{previous} 里做过的都保留着。")
                }
                None => String::new(),
            };
            say!(
                l,
                "New session {session} for a new task{pruned}.{kept}{back}",
                "新任务，新会话 {session}{pruned}。{kept}{back}"
            )
        }
        TaskNotice::Begun { session } => {
            let session = key(session);
            say!(l, "A task was started in {session}.", "已在 {session} 开始任务。")
        }
        TaskNotice::Completed { session, commit } => {
            let (session, commit) = (key(session), commit.short());
            say!(
                l,
                "The task in {session} is complete; it is kept as {commit}.",
                "{session} 的任务已完成，保存为 {commit}。"
            )
        }
        TaskNotice::GivenUp { session, commit } => {
            let (session, commit) = (key(session), commit.short());
            say!(
                l,
                "The task in {session} is over; what was done is kept as {commit}.",
                "{session} 的任务已结束，做过的保存为 {commit}。"
            )
        }
        TaskNotice::Expired { session, previous, gap_ms, pruned, way_back } => {
            let back = back(keys, *way_back, *previous);
            let (session, previous, pruned) = (key(session), key(previous), pruned_as_well(l, *pruned));
            let gap = duration(l, *gap_ms);
            say!(
                l,
                "New session {session}: the task in {previous} had been left for {gap}{pruned}. Session expired; what was done is kept. What should I do?{back}",
                "新会话 {session}：{previous} 的任务已搁置 {gap}{pruned}，会话已过期，做过的都保留着。接下来做什么？{back}"
            )
        }
        TaskNotice::Lapsed { session, gap_ms } => {
            let (session, gap) = (key(session), duration(l, *gap_ms));
            say!(
                l,
                "Session expired: the task in {session} had been left for {gap}. What was done is kept. What should I do?",
                "会话已过期：{session} 的任务已搁置 {gap}，做过的都保留着。接下来做什么？"
            )
        }
        TaskNotice::Back { session, .. } => {
            let session = key(session);
            say!(l, "Back to the task in {session}.", "回到 {session} 的任务。")
        }
        TaskNotice::Kept { session, commit } => {
            let (session, commit) = (key(session), commit.short());
            say!(l, "The task in {session} is kept as {commit}.", "{session} 的任务已保存为 {commit}。")
        }
        TaskNotice::Queued { message } => say!(
            l,
            "Message {message} waits for the agent's next check.",
            "{message} 号消息等待助手下次查看。"
        ),
    }
}

pub(super) fn refusal(keys: &Keys<'_>, refusal: &TaskRefusal) -> String {
    let l = keys.language;
    match (refusal, l) {
        (TaskRefusal::NoTask(session), _) => {
            let session = keys.of(*session);
            say!(l, "There is no task in {session}. Start one first.", "{session} 里没有任务，请先开始一个。")
        }
        (TaskRefusal::Over(session), _) => {
            let session = keys.of(*session);
            say!(
                l,
                "The task in {session} is over. Start another one.",
                "{session} 的任务已结束，请另开一个。"
            )
        }
        (TaskRefusal::TwoTasks(a, b), _) => {
            let (a, b) = (keys.of(*a), keys.of(*b));
            say!(
                l,
                "{a} and {b} both have an open task. Finish, abort or compact one of them first.",
                "{a} 和 {b} 都有未完成的任务，请先完成、放弃或保存其中一个。"
            )
        }
        // The rest is told to programs as well; their own sentence is English.
        (_, Language::En) => sentence(&refusal.to_string()),
        (TaskRefusal::Forbidden(forbidden), Language::Zh) => {
            let allowed: Vec<&str> = forbidden.allowed.iter().map(|state| state_name(*state)).collect();
            let (from, to) = (state_name(forbidden.from), state_name(forbidden.to));
            match allowed.as_slice() {
                [] => format!("任务不能从“{from}”变为“{to}”：它已结束，请另开一个任务。"),
                _ => {
                    let way = way_on(forbidden.from);
                    format!("任务不能从“{from}”变为“{to}”，只能变为：{}。{way}", allowed.join("、"))
                }
            }
        }
        (TaskRefusal::NoNode(node), Language::Zh) => {
            format!("这里没有 {node}：请先记录它，再用返回的编号引用。")
        }
        (TaskRefusal::QueueChanged, Language::Zh) => "期间又有新消息，请重新读取队列。".to_owned(),
        (TaskRefusal::NotADescription(why), Language::Zh) => format!("任务描述不合适：{why}。"),
        (TaskRefusal::BadPath(why), Language::Zh) => format!("这个路径不合适：{why}。"),
        (TaskRefusal::ObservationRefusal(why), Language::Zh) => format!("这条记录不合适：{why}。"),
    }
}

/// Says in Chinese what leads out of a state.
fn way_on(state: StateName) -> &'static str {
    match state {
        StateName::AwaitingUser => "用户回答问题后，任务继续进行。",
        StateName::Interrupted => "`task incorporate` 会采纳期间的消息，任务继续进行。",
        StateName::PendingComplete => "等用户确认，或提出更多要求。",
        StateName::None => "`task start` 开始一个任务。",
        StateName::Running | StateName::Complete | StateName::Aborted => "",
    }
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    let first: String = chars.next().map(|c| c.to_uppercase().collect()).unwrap_or_default();
    format!("{first}{}.", chars.as_str())
}

fn state_name(state: StateName) -> &'static str {
    match state {
        StateName::None => "无任务",
        StateName::Running => "进行中",
        StateName::AwaitingUser => "等待回答",
        StateName::Interrupted => "被打断",
        StateName::PendingComplete => "等待确认",
        StateName::Complete => "已完成",
        StateName::Aborted => "已放弃",
    }
}

pub(super) fn reason(
    l: Language,
    state: StateName,
    intent: MessageIntent,
    source: IntentSource,
    does: &str,
) -> String {
    let what = match intent {
        MessageIntent::Response => word(l, "answers the question", "是对问题的回答"),
        MessageIntent::Modification => word(l, "changes the task", "修改了任务"),
        MessageIntent::Confirmation => word(l, "says that it is good", "表示认可"),
        MessageIntent::NewTask => word(l, "is another task", "是另一个任务"),
        MessageIntent::Abandon => word(l, "gives the task up", "放弃了任务"),
        MessageIntent::Unclear => {
            word(l, "may be for the task or for another one", "不确定属于当前任务还是另一个任务")
        }
    };
    let who = match source {
        IntentSource::Words => "",
        IntentSource::Host => word(l, ", the host says", "（由宿主说明）"),
        IntentSource::Unread => word(l, ", as nothing says otherwise", "（没有相反的迹象）"),
    };
    let does = outcome(l, does);
    match l {
        Language::En => {
            let state = state.name().replace('_', " ");
            format!("The task was {state}, and the message {what}{who}{does}.")
        }
        Language::Zh => format!("任务当时{}，这条消息{what}{who}{does}。", state_name(state)),
    }
}

/// What came of it, as far as it does not go without saying.
fn outcome(l: Language, does: &str) -> &'static str {
    match does {
        "queue" => word(l, "; it waits for the agent", "，等待助手查看"),
        "complete_and_compact" => word(l, "; the task is complete", "，任务完成"),
        "compact_and_start" => {
            word(l, "; what was done is kept, and another task starts", "，已保存做过的内容并开始新任务")
        }
        "start" => word(l, "; a task starts", "，开始任务"),
        "abandon_and_compact" => {
            word(l, "; the task ends, and what was done is kept", "，任务结束，做过的内容已保存")
        }
        "ask" => word(l, "; so you were asked", "，所以先问你"),
        "acknowledge" => word(l, "; nothing changes", "，没有改变什么"),
        // To go on goes without saying.
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words;
    use segue_core::entry::Seq;
    use segue_core::notice::{Notice, QuestionTopic, Undoable};
    use segue_core::session::Number;
    use segue_core::task::canonical::CommitKind;
    use segue_core::task::commit::CommitId;
    use segue_core::task::notice::TaskNotice;

    const BOTH: [Language; 2] = [Language::En, Language::Zh];

    /// The sentences of 001, as they stand there (C-9, C-11, C-12).
    #[test]
    fn c12_the_texts_are_those_of_001() {
        let unclear = Notice::Question { session: Number(1), stake: QuestionTopic::Unclear, older: None };
        let scope = "agent:main:cli:direct:me".parse().unwrap();
        let line = words::notice(Language::En, &scope, &unclear);
        assert!(line.starts_with("Are you continuing the current task or starting something new?"));
        let at = Timestamp::UNIX_EPOCH;
        let asked = unfinished(Language::En, "Add\nretry", at, &jiff::tz::TimeZone::UTC);
        assert!(asked.starts_with(
            "You have an unfinished task from 1970-01-01 00:00: 'Add retry'\nWould you like to continue or start fresh?"
        ));
        for language in BOTH {
            for text in [
                asked_again(language),
                finished(language, "WORDS"),
                cut_off(language, "WORDS"),
                interrupted(language, &["WORDS".to_owned()]),
                lapsed(language, "WORDS"),
            ] {
                assert!(text.contains("WORDS"));
            }
        }
    }

    fn asked_again(language: Language) -> String {
        super::asked(language, "WORDS")
    }

    /// Every notice has words in both languages, and they differ.
    #[test]
    fn every_notice_of_a_task_is_told_in_both_languages() {
        let (session, previous) = (Number(2), Number(1));
        let (commit, pruned, gap_ms) = (CommitId(segue_core::digest::Digest::NONE), 1, 8 * 86_400_000);
        let way_back = Undoable::Open;
        let scope = "agent:main:cli:direct:me".parse().unwrap();
        for notice in [
            TaskNotice::Started { session, previous, kept: Some(CommitKind::Stale), pruned, way_back },
            TaskNotice::Begun { session },
            TaskNotice::Completed { session, commit },
            TaskNotice::GivenUp { session, commit },
            TaskNotice::Expired { session, previous, gap_ms, pruned, way_back },
            TaskNotice::Lapsed { session, gap_ms },
            TaskNotice::Back { session, started_at: Timestamp::UNIX_EPOCH },
            TaskNotice::Kept { session, commit },
            TaskNotice::Queued { message: Seq(7) },
        ] {
            let told = BOTH.map(|language| words::notice(language, &scope, &Notice::Task(notice.clone())));
            assert!(told[0].is_ascii() && Language::of(&told[1]) == Language::Zh, "{told:?}");
        }
    }
}
