//! The summary as text for a model.

use super::Structured;

/// The language of the headings; what was said stays as it was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummaryLanguage {
    /// English headings.
    English,
    /// Chinese headings.
    Chinese,
}

struct Headings {
    topics: &'static str,
    decisions: &'static str,
    questions: &'static str,
    facts: &'static str,
    comma: &'static str,
}

impl SummaryLanguage {
    const fn headings(self) -> Headings {
        match self {
            Self::English => Headings {
                topics: "Topics: ",
                decisions: "Decisions:",
                questions: "Open questions:",
                facts: "Names and numbers: ",
                comma: ", ",
            },
            Self::Chinese => Headings {
                topics: "话题：",
                decisions: "已定：",
                questions: "未解决的问题：",
                facts: "名称与数字：",
                comma: "、",
            },
        }
    }
}

pub(super) fn render(summary: &Structured, language: SummaryLanguage) -> String {
    let headings = language.headings();
    let mut sections = Vec::new();
    let line = |heading: &str, items: &[String]| format!("{heading}{}", items.join(headings.comma));
    let list = |heading: &str, items: &[String]| {
        items.iter().fold(heading.to_owned(), |text, item| format!("{text}\n- {item}"))
    };
    if !summary.topics.is_empty() {
        sections.push(line(headings.topics, &summary.topics));
    }
    if !summary.decisions.is_empty() {
        sections.push(list(headings.decisions, &summary.decisions));
    }
    if !summary.questions.is_empty() {
        sections.push(list(headings.questions, &summary.questions));
    }
    if !summary.facts.is_empty() {
        sections.push(line(headings.facts, &summary.facts));
    }
    sections.join("\n")
}
