//! What people read about tasks, in the language they read: the resume road of 001 and what leads to it.

use super::{Language, en, zh};
use segue_core::Timestamp;
use segue_core::task::compaction::Progress;
use segue_core::task::text::headline;

/// How much of a task's description stands in a question, in characters.
const NAME_CHARS_MAX: usize = 120;

/// Asks whether an unfinished task goes on, naming it and when it was started (C-11).
pub fn unfinished(
    language: Language,
    description: &str,
    started_at: Timestamp,
    zone: &jiff::tz::TimeZone,
) -> String {
    let at = zone.to_datetime(started_at).strftime("%Y-%m-%d %H:%M").to_string();
    let name = headline(description, NAME_CHARS_MAX);
    match language {
        Language::En => en::tasks::unfinished(&at, &name),
        Language::Zh => zh::tasks::unfinished(&at, &name),
    }
}

/// Shows the question again that waits for an answer (C-12).
pub fn asked(language: Language, question: &str) -> String {
    match language {
        Language::En => format!("Continuing from where we left off. I had asked:\n\n{question}"),
        Language::Zh => format!("我们接着上次继续。我之前问的是：\n\n{question}"),
    }
}

/// Shows again what was done, for the person to confirm (C-12).
pub fn finished(language: Language, summary: &str) -> String {
    match language {
        Language::En => format!("I had finished the task:\n\n{summary}\n\nDoes this look good?"),
        Language::Zh => format!("任务之前已经完成：\n\n{summary}\n\n这样可以吗？"),
    }
}

/// Shows how far the work was when it was cut off (C-12).
pub fn cut_off(language: Language, progress: &str) -> String {
    match language {
        Language::En => {
            format!("The task was interrupted. Progress so far:\n\n{progress}\n\nShould I continue?")
        }
        Language::Zh => format!("任务中断了。目前的进展：\n\n{progress}\n\n要继续吗？"),
    }
}

/// Shows what was said and not taken in yet (C-12).
pub fn interrupted(language: Language, said: &[String]) -> String {
    let said: Vec<String> = said.iter().map(|text| format!("- {}", headline(text, 400))).collect();
    let said = said.join("\n");
    match language {
        Language::En => {
            format!("While I was working you said:\n\n{said}\n\nI will take that in and continue.")
        }
        Language::Zh => format!("我工作时你说了：\n\n{said}\n\n我会据此继续。"),
    }
}

/// Asks for a task, after the old one was kept as expired (C-11).
pub fn lapsed(language: Language, description: &str) -> String {
    let name = headline(description, NAME_CHARS_MAX);
    match language {
        Language::En => format!("Session expired. What there was of '{name}' is kept. What should I do?"),
        Language::Zh => format!("会话已过期。“{name}”已有的内容都保留着。接下来做什么？"),
    }
}

/// Tells how far a task is, in a few lines.
pub fn progress(language: Language, progress: &Progress) -> String {
    match language {
        Language::En => en::tasks::progress(progress),
        Language::Zh => zh::tasks::progress(progress),
    }
}

/// Stands in for words that were erased.
pub fn erased(language: Language) -> &'static str {
    match language {
        Language::En => "(erased)",
        Language::Zh => "（已抹去）",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words;
    use segue_core::entry::Seq;
    use segue_core::notice::{Notice, Stake, WayBack};
    use segue_core::session::Number;
    use segue_core::task::canonical::CommitKind;
    use segue_core::task::commit::CommitId;
    use segue_core::task::notice::TaskNotice;

    const BOTH: [Language; 2] = [Language::En, Language::Zh];

    /// The sentences of 001, as they stand there (C-9, C-11, C-12).
    #[test]
    fn c12_the_texts_are_those_of_001() {
        let unclear = Notice::Question { session: Number(1), stake: Stake::Unclear, older: None };
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
        let way_back = WayBack::Open;
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
