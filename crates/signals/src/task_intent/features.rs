//! What the intent model sees: words, acts and relation, each also by the state of the task.

use super::acts::{Act, Acts};
use super::{MessageIntent, Relation, TaskContext, TaskState};
use crate::hash::WordHash;
use crate::judge::Embedder;
use crate::text::{Reading, Window};
use segue_encoder::DIMENSIONS;

/// Weights per intent: two to this power.
const BUCKET_BITS: u32 = 13;
pub const BUCKETS: usize = 1 << BUCKET_BITS;
const FACTS: usize = 45;
const STATES: usize = 4;
/// Facts as they are and once for each kind of state; then the meaning of the message, and that times the question's.
pub const DENSE: usize = FACTS * (STATES + 1) + 2 * DIMENSIONS;
const TOKENS_MAX: usize = 48;
/// A unit vector's numbers are small beside facts that are one or nothing.
const MEANING_SCALE: f32 = 2.0;

/// The numbers of one message in one context.
#[derive(Clone, Debug, PartialEq)]
pub struct IntentFeatures {
    pub words: Vec<(u32, f32)>,
    pub dense: Vec<f32>,
    relation: Relation,
    /// What the contract settles without a model.
    pub settled: Option<MessageIntent>,
    /// Goes beyond an answer: says "also", or speaks of the task more than of the question.
    pub extends: bool,
}

/// Words to a hesitation that breaks off.
const BROKEN_OFF_MAX: usize = 6;

/// What is said to an open question in a word answers it; what breaks off says nothing yet; who says
/// stop and asks for nothing else wants to stop.
fn settled(state: TaskState, acts: &Acts) -> Option<MessageIntent> {
    let answer = acts.only(&[Act::Accept, Act::Answer]) && !acts.thanks;
    let breaks_off = acts.trails_off && !acts.thanks && acts.spoken <= BROKEN_OFF_MAX;
    let nothing_yet = acts.only(&[Act::Hesitate]);
    if nothing_yet || (breaks_off && (acts.has(Act::Hesitate) || !acts.has(Act::Speak))) {
        Some(MessageIntent::Unclear)
    } else if acts.has(Act::Drop) && !acts.requests && !acts.extends && !acts.marks_new {
        Some(MessageIntent::Abandon)
    } else if state == TaskState::AwaitingUser && answer {
        Some(MessageIntent::Response)
    } else {
        None
    }
}

fn kind(state: TaskState) -> usize {
    match state {
        TaskState::None | TaskState::Complete | TaskState::Aborted => 0,
        TaskState::Running | TaskState::Interrupted => 1,
        TaskState::AwaitingUser => 2,
        TaskState::PendingComplete => 3,
    }
}

impl IntentFeatures {
    pub fn of(embedder: &Embedder, context: &TaskContext<'_>, text: &str) -> Self {
        let (head, _) = Window::PHRASES.cut(text);
        let acts = Acts::of(head);
        let relation = Relation::of(embedder, context, head);
        let state = kind(context.state);
        let mut dense = dense(&facts(&acts, &relation), state);
        let meaning = FACTS * (STATES + 1);
        for (at, number) in relation.vector.iter().chain(&relation.apart).enumerate() {
            dense[meaning + at] = number * MEANING_SCALE;
        }
        let settled = settled(context.state, &acts);
        let extends = acts.extends || relation.shared > relation.shared_question;
        Self { words: words(head, state), dense, relation, settled, extends }
    }

    /// What was seen, in words.
    pub fn seen(&self) -> String {
        match self.relation.shared {
            0 => "shares no word with the task".to_owned(),
            1 => "shares a word with the task".to_owned(),
            more => format!("shares {more} words with the task"),
        }
    }
}

fn words(text: &str, state: usize) -> Vec<(u32, f32)> {
    let tokens = Reading::new(text, Window::MESSAGE).tokens;
    let tokens = &tokens[..tokens.len().min(TOKENS_MAX)];
    let value = 1.0 / (tokens.len().max(1) as f32).sqrt();
    let mut out = Vec::with_capacity(tokens.len() * 8 + 16);
    let mut add = |family: u32, hash: WordHash, value: f32| {
        // Once for every state, once for this one.
        for state in [0, state as u32 + 1] {
            let mixed = WordHash(family * 16 + state).then(hash);
            out.push((mixed.0 >> (32 - BUCKET_BITS), value));
        }
    };
    for (at, token) in tokens.iter().enumerate() {
        add(1, token.hash, value);
        let Some(second) = tokens.get(at + 1) else { continue };
        let two = token.hash.then(second.hash);
        add(2, two, value);
        let Some(third) = tokens.get(at + 2) else { continue };
        add(3, two.then(third.hash), value);
    }
    let mut opening = None;
    for token in tokens.iter().take(3) {
        let joined = opening.map_or(token.hash, |start: WordHash| start.then(token.hash));
        add(4, joined, 0.5);
        opening = Some(joined);
    }
    if let [.., before, last] = tokens {
        add(5, last.hash, 0.5);
        add(5, before.hash.then(last.hash), 0.5);
    }
    out
}

fn facts(acts: &Acts, relation: &Relation) -> [f32; FACTS] {
    let is = |holds: bool| if holds { 1.0 } else { 0.0 };
    let spoken = acts.spoken as f32;
    let speaks = acts.has(Act::Speak);
    let mut out = [0.0; FACTS];
    let numbers = [
        1.0,
        is(acts.has(Act::Drop)),
        is(acts.only(&[Act::Drop])),
        is(acts.has(Act::Accept)),
        is(acts.only(&[Act::Accept])),
        is(acts.only(&[Act::Accept, Act::Answer])),
        is(acts.has(Act::Answer)),
        is(acts.has(Act::Hesitate)),
        is(acts.only(&[Act::Hesitate])),
        is(speaks),
        is(speaks && acts.has(Act::Drop)),
        is(speaks && acts.has(Act::Accept)),
        is(acts.marks_new),
        is(acts.marks_change),
        is(acts.requests),
        is(acts.moves_on),
        is(acts.asks),
        is(acts.wordless),
        is(acts.cheers),
        spoken.ln_1p() / 2.0,
        is(spoken > 0.0 && spoken <= 3.0),
        is(spoken >= 10.0),
        is(relation.shared > 0),
        (relation.shared as f32).ln_1p(),
        is(relation.shared_question > 0),
        relation.meaning,
        is(relation.shared == 0 && relation.meaning < 0.25 && relation.content >= 2),
        is(relation.shared == 0 && relation.meaning < 0.25 && relation.content >= 2 && acts.requests),
        is(relation.meaning > 0.45),
        is(relation.content == 0),
        is(relation.points_back),
        is(acts.requests && acts.marks_change),
        is(relation.choice && relation.shared_question > 0),
        is(relation.choice && spoken <= 6.0),
        is(relation.counted),
        is(relation.settles),
        is(relation.settles && spoken <= 6.0),
        is(acts.marks_change && !acts.requests),
        is(acts.ends_wish),
        is(acts.ends_wish && acts.has(Act::Drop)),
        is(acts.answers_first()),
        is(acts.trails_off),
        is(acts.trails_off && spoken <= 8.0),
        is(relation.content == 0 && spoken <= 4.0 && speaks),
        is(relation.shared_question > 0 && !acts.marks_change),
    ];
    out.copy_from_slice(&numbers);
    out
}

fn dense(facts: &[f32; FACTS], state: usize) -> Vec<f32> {
    let mut out = vec![0.0; DENSE];
    out[..FACTS].copy_from_slice(facts);
    let from = FACTS * (state + 1);
    out[from..from + FACTS].copy_from_slice(facts);
    out
}
