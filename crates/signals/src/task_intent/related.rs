//! Whether a message is about the task: shared words, shared meaning, words that point back.

use super::TaskContext;
use crate::cues::{CUES, Cue};
use crate::judge::Embedder;
use crate::terms::{Term, terms};
use crate::text::{Kind, Reading, Token, Window};
use segue_encoder::DIMENSIONS;

/// A product of two small numbers is brought to their size.
const APART_SCALE: f32 = 16.0;

/// How a message stands to the task's own words.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Relation {
    /// The meaning of the message.
    pub(crate) vector: Vec<f32>,
    /// Its meaning times that of the question, place by place.
    pub(crate) apart: Vec<f32>,
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
    pub(super) fn of(embedder: &Embedder, context: &TaskContext<'_>, text: &str) -> Self {
        let message = Reading::new(text, Window::MESSAGE);
        let question = context.question.unwrap_or("");
        let all = [context.task, question, context.summary.unwrap_or("")];
        let all = all.iter().filter(|words| !words.is_empty()).copied().collect::<Vec<_>>().join("\n");
        let (known, asked) = (Reading::new(&all, Window::HISTORY), Reading::new(question, Window::MESSAGE));
        let content: Vec<Term> = terms(&message).into_iter().filter(Term::is_content).collect();
        let shared = |other: &[Term]| {
            let is_shared = |term: &&Term| {
                let word = message.between(term.first, term.last);
                other.iter().any(|seen| seen.hash == term.hash)
                    || (word.chars().count() >= 5 && similar(word, &all))
            };
            content.iter().filter(is_shared).count()
        };
        let place = |text: &str| match text {
            "" => vec![0.0; DIMENSIONS],
            text => {
                embedder.embed(text).map_or_else(|| vec![0.0; DIMENSIONS], |found| found.numbers().to_vec())
            }
        };
        let (mine, theirs, whole) = (place(text), place(question), place(&all));
        let cues = CUES.cues(&message.tokens);
        Self {
            apart: mine.iter().zip(&theirs).map(|(mine, theirs)| mine * theirs * APART_SCALE).collect(),
            meaning: mine.iter().zip(&whole).map(|(mine, whole)| mine * whole).sum(),
            vector: mine,
            shared: shared(&terms(&known)),
            shared_question: if question.is_empty() { 0 } else { shared(&terms(&asked)) },
            content: content.len(),
            points_back: cues.anywhere.has(Cue::Anaphora),
            choice: question.contains(" or ") || question.contains("还是") || question.contains("哪"),
            counted: has_number(&message) && (has_number(&asked) || asks_count(question)),
            settles: cues.opening.has(Cue::Agree) || cues.opening.has(Cue::Disagree),
        }
    }
}

fn has_number(reading: &Reading<'_>) -> bool {
    let spelled = ["一", "二", "两", "三", "四", "五", "六", "七", "八", "九", "十", "百", "千"];
    let word = |token: &Token| spelled.contains(&reading.between(*token, *token));
    reading.tokens.iter().any(|token| token.kind == Kind::Number || word(token))
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
