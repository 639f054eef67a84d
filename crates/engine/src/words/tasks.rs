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
