//! Whether a message is about the task: shared words, shared meaning, words that point back.

use super::TaskContext;
use crate::features::Reader;
use crate::features::cues::Cue;
use crate::terms::Term;
use crate::text::Window;

/// How a message stands to the task's own words.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Relation {
    /// Content words that the task, the question or the summary also has.
    pub(crate) shared: usize,
    /// The same for the question alone.
    pub(crate) shared_question: usize,
    pub(crate) content: usize,
    /// Cosine with task, question and summary together.
    pub(crate) meaning: f32,
    /// Points back: "it", "that one", "这个".
    pub(crate) points_back: bool,
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
        Self {
            shared: shared(&known.terms.list),
            shared_question: if question.is_empty() { 0 } else { shared(&asked.terms.list) },
            content: content.len(),
            meaning: message.terms.vector.cosine(&known.terms.vector).unwrap_or(0.0),
            points_back: message.cues.anywhere.has(Cue::Anaphora),
        }
    }
}

/// The same beginning: "retries" and "retry logic".
fn similar(word: &str, text: &str) -> bool {
    let stem: String = word.to_lowercase().chars().take(5).collect();
    text.to_lowercase().split(|ch: char| !ch.is_alphanumeric()).any(|other| other.starts_with(&stem))
}
