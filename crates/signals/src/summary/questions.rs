//! What was asked and not answered yet.

use std::collections::VecDeque;
use std::sync::LazyLock;

use super::Speaker;
use super::prose::{ProseMessage, SENTENCE_CHARS_MAX, short};
use crate::hash::WordHash;
use crate::phrases::lists::Phrases;
use crate::phrases::table::SENTENCE;
use crate::sentences::{asks, is_courtesy};
use crate::terms::{Term, terms};
use crate::text::{Reading, Window};

const QUESTIONS_MAX: usize = 6;
const PER_MESSAGE_MAX: usize = 3;
/// The agent's own question stands at the end; before that it asks only to answer itself.
const AGENT_TAIL: usize = 2;
const TERMS_MAX: usize = 12;
/// Words that are too common to tell that an answer belongs to a question.
const TELLING: f32 = 0.4;

#[derive(Clone, Debug, PartialEq)]
struct Question {
    by: Speaker,
    text: String,
    terms: Vec<WordHash>,
    turn: Turn,
}

/// Whether the other side had its say since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Waiting,
    /// It spoke and did not answer.
    Passed,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Questions {
    open: VecDeque<Question>,
}

/// What a message asks, and what it may answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Asking {
    asked: Vec<Question>,
    /// What it speaks of, if it says anything that may be an answer.
    spoken: Option<Vec<WordHash>>,
    withdraws: Withdraws,
}

/// Whether the person takes back what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Withdraws {
    Yes,
    No,
}

impl Asking {
    pub(super) fn of(said: &ProseMessage, terms: &[Term]) -> Self {
        let sentences: Vec<&str> = said.sentences().collect();
        let asked: Vec<&str> = sentences.iter().copied().filter(|sentence| asks(sentence)).collect();
        let has_statement = sentences.len() > asked.len();
        let lower = said.prose.to_lowercase().replace(['\'', '’'], "");
        let withdraws = match said.speaker {
            Speaker::Person if WITHDRAWN.any_in(&lower) => Withdraws::Yes,
            Speaker::Person | Speaker::Agent => Withdraws::No,
        };
        let evades = || lower.chars().count() <= EVASION_CHARS_MAX && EVASIONS.any_in(&lower);
        let answers = has_statement && !evades();
        let last = sentences.len().saturating_sub(AGENT_TAIL);
        let asked: Vec<&str> = match said.speaker {
            Speaker::Person => asked,
            Speaker::Agent => sentences[last..].iter().copied().filter(|sentence| asks(sentence)).collect(),
        };
        let asked = asked.into_iter().filter(|sentence| !is_courtesy(sentence)).take(PER_MESSAGE_MAX);
        let question = |sentence: &str| Question {
            by: said.speaker,
            text: short(sentence, SENTENCE_CHARS_MAX),
            terms: telling(&self::terms(&Reading::new(sentence, Window::HISTORY)), sentence),
            turn: Turn::Waiting,
        };
        Self {
            asked: asked.map(question).collect(),
            spoken: answers.then(|| telling(terms, &said.prose)),
            withdraws,
        }
    }
}

impl Questions {
    /// A message with a statement answers what the other side asked last; what was asked earlier
    /// only if it speaks of the same thing.
    pub(super) fn add(&mut self, by: Speaker, asking: &Asking) {
        if asking.withdraws == Withdraws::Yes {
            self.open.retain(|question| question.turn == Turn::Passed);
        }
        self.open.retain_mut(|question| {
            if question.by == by {
                return true;
            }
            let was = std::mem::replace(&mut question.turn, Turn::Passed);
            let Some(spoken) = &asking.spoken else { return true };
            was != Turn::Waiting && !question.terms.iter().any(|term| spoken.contains(term))
        });
        asking.asked.iter().for_each(|question| self.push(question.clone()));
    }

    fn push(&mut self, question: Question) {
        self.open.retain(|known| known.text != question.text);
        if self.open.len() == QUESTIONS_MAX {
            self.open.pop_front();
        }
        self.open.push_back(question);
    }

    pub(super) fn list(&self) -> Vec<String> {
        self.open.iter().map(|question| question.text.clone()).collect()
    }
}

/// An evasion is short: "I don't know yet." Longer texts say more than that.
const EVASION_CHARS_MAX: usize = 120;
static EVASIONS: LazyLock<Phrases> = LazyLock::new(|| SENTENCE.anywhere("evasion"));
static WITHDRAWN: LazyLock<Phrases> = LazyLock::new(|| SENTENCE.anywhere("withdrawn"));

fn telling(terms: &[Term], text: &str) -> Vec<WordHash> {
    let telling = terms.iter().filter(|term| term.weight >= TELLING);
    let mut hashes: Vec<WordHash> = telling.map(|term| term.hash).collect();
    hashes.dedup();
    hashes.truncate(if text.len() > 1_000 { TERMS_MAX * 16 } else { TERMS_MAX });
    hashes
}
