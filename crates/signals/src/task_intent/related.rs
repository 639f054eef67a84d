//! Whether a message is about the task: shared words, shared meaning, words that point back.

use super::TaskContext;
use crate::embed::Vector;
use crate::features::cues::Cue;
use crate::features::{Read, Reader};
use crate::terms::Term;
use crate::text::{Kind, Token, Window};

/// How a message stands to the task's own words.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Relation {
    /// The meaning of the message.
    pub(crate) vector: Vector,
    /// Its meaning times that of the question, place by place.
    pub(crate) apart: Vector,
    /// Content words that the task, the question or the summary also has.
    pub(crate) shared: usize,
    /// The same for the question alone.
    pub(crate) shared_question: usize,
    pub(crate) content: usize,
    /// Cosine with task, question and summary together.
    pub(crate) meaning: f32,
    /// Points back: "it", "that one", "这个".
    pub(crate) points_back: bool,
    /// The question leaves a choice: "A or B?"
    pub(crate) choice: bool,
    /// The question asks for a number or a time, and the message has one.
    pub(crate) counted: bool,
    /// Opens with a yes or a no.
    pub(crate) settles: bool,
}

impl Relation {
    pub(super) fn of(reader: &Reader, context: &TaskContext<'_>, text: &str) -> Self {
        let message = reader.read(text, Window::MESSAGE);
        let question = context.question.unwrap_or("");
        let all = format!("{}\n{}\n{}", context.task, question, context.summary.unwrap_or(""));
        let (known, asked) = (reader.read(&all, Window::HISTORY), reader.read(question, Window::MESSAGE));
        let content: Vec<&Term> = message.terms.list.iter().filter(|term| term.is_content()).collect();
        let shared = |other: &[Term]| {
            content
                .iter()
                .filter(|term| {
                    let word = message.reading.between(term.first, term.last);
                    other.iter().any(|seen| seen.hash == term.hash)
                        || (word.chars().count() >= 5 && similar(word, &all))
                })
                .count()
        };
        let (mine, theirs) = (message.terms.vector.unit(), asked.terms.vector.unit());
        let apart = Vector(std::array::from_fn(|at| mine.0[at] * theirs.0[at] * 4.0));
        Self {
            vector: mine,
            apart,
            shared: shared(&known.terms.list),
            shared_question: if question.is_empty() { 0 } else { shared(&asked.terms.list) },
            content: content.len(),
            meaning: message.terms.vector.cosine(&known.terms.vector).unwrap_or(0.0),
            points_back: message.cues.anywhere.has(Cue::Anaphora),
            choice: question.contains(" or ") || question.contains("还是") || question.contains("哪"),
            counted: has_number(&message) && (has_number(&asked) || asks_count(question)),
            settles: message.cues.opening.has(Cue::Agree) || message.cues.opening.has(Cue::Disagree),
        }
    }
}

fn has_number(read: &Read<'_>) -> bool {
    let spelled = ["一", "二", "两", "三", "四", "五", "六", "七", "八", "九", "十", "百", "千"];
    let word = |token: &Token| spelled.contains(&read.reading.between(*token, *token));
    read.reading.tokens.iter().any(|token| token.kind == Kind::Number || word(token))
}

fn asks_count(question: &str) -> bool {
    let question = question.to_lowercase();
    [
        "how many",
        "how much",
        "how long",
        "when",
        "what time",
        "rate",
        "多少",
        "几",
        "多长",
        "多久",
        "多高",
        "什么时候",
    ]
    .iter()
    .any(|word| question.contains(word))
}

/// The same beginning: "retries" and "retry logic".
fn similar(word: &str, text: &str) -> bool {
    let stem: String = word.to_lowercase().chars().take(5).collect();
    text.to_lowercase().split(|ch: char| !ch.is_alphanumeric()).any(|other| other.starts_with(&stem))
}
