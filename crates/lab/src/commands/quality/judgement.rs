//! The judgement alone: the session is right before every message, and what is called probable is compared with the truth.

use super::streams::{Stream, Turn};
use segue_core::message::Role as Who;
use segue_signals::judge::{self, Embedder, Stage};
use segue_signals::{Remark, Role};
use std::collections::HashMap;
use std::time::Instant;

/// What was said about a message.
pub struct Judged {
    pub turn: Turn,
    /// The probability that something new begins.
    pub new: f64,
}

/// What the stages took, in microseconds.
#[derive(Default)]
pub struct Costs {
    /// Words that are clear.
    pub words: Vec<u64>,
    /// Words that are not clear, and the encoder. What was said before was embedded when it was said.
    pub meaning: Vec<u64>,
}

/// Judges all messages of a stream but the first.
pub fn judge(embedder: &Embedder, stream: &Stream, costs: &mut Costs) -> anyhow::Result<Vec<Judged>> {
    let mut talks: HashMap<usize, Vec<Remark>> = HashMap::new();
    let (mut judged, mut last) = (Vec::new(), None);
    for turn in &stream.turns {
        let role = match turn.role()? {
            Who::User => Role::User,
            Who::Assistant => Role::Assistant,
            Who::Tool => Role::Tool,
            Who::System => Role::System,
        };
        if let (Role::User, Some(before)) = (role, last.and_then(|last| talks.get(&last))) {
            let new = probability(embedder, before, &turn.text, costs);
            judged.push(Judged { turn: turn.clone(), new });
        }
        let remark = Remark::of(role, &turn.text);
        // It was embedded when it was said.
        let _ = judge::nearness(embedder, &[], &turn.text);
        talks.entry(turn.conv).or_default().push(remark);
        last = Some(turn.conv);
    }
    Ok(judged)
}

fn probability(embedder: &Embedder, before: &[Remark], text: &str, costs: &mut Costs) -> f64 {
    let began = Instant::now();
    let took = || u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
    let message = Remark::of(Role::User, text);
    let Some(by_words) = judge::by_words(before, &message) else { return 0.0 };
    let shift = if by_words.stage == Stage::Words {
        costs.words.push(took());
        by_words
    } else {
        let by_meaning = judge::by_meaning(embedder, before, &message);
        costs.meaning.push(took());
        by_meaning.unwrap_or(by_words)
    };
    f64::from(shift.after(jiff::SignedDuration::ZERO).get())
}
