//! Meaning: what earlier sessions have to do with a question beyond its words (M-D2).
//!
//! The best sessions by words are compared with the question by what they are about. Where words find little, as with
//! a question in other words, the last sessions are compared as well, and one that is near enough is found by that.

use crate::engine::Engine;
use crate::mind::speaker;
use segue_core::entry::{Body, Record};
use segue_core::session::Number;
use segue_core::state::State;
use segue_signals::Profile;
use segue_signals::methods::{EmbeddingSimilarity, SummaryComparison};
use segue_signals::semantic::RelevanceMethod;
use segue_store::search::{Hit, Query};
use segue_store::{Reading, Take};
use std::cmp::Reverse;

/// How many sessions that words have found are compared.
const COMPARED: usize = 6;

/// How many sessions are compared where words find little, and when that is.
const COMPARED_MAX: usize = 64;
const LITTLE: f64 = 0.30;

/// How many messages of a session it is compared by.
const MESSAGES_MAX: usize = 16;

/// How much of the score is meaning.
const MEANING_SHARE: f64 = 0.4;

/// What counts where a session was not compared or nothing can be told.
const UNKNOWN: f64 = 0.5;

/// From here on a session is found by its meaning alone.
const NEAR: f64 = 0.80;

/// A session, how near it is to a question, and its message that is nearest.
struct Near {
    session: Number,
    belongs: f64,
    record: Record,
}

impl Engine {
    /// Weighs hits by what their sessions are about, and orders them anew.
    pub(crate) async fn weigh_meaning(&self, state: &State, query: &Query, hits: &mut Vec<Hit>) {
        let mut sessions: Vec<Number> = Vec::new();
        for hit in hits.iter() {
            if sessions.len() < COMPARED && !sessions.contains(&hit.session) {
                sessions.push(hit.session);
            }
        }
        if hits.first().is_none_or(|best| best.score < LITTLE) {
            let mut others: Vec<Number> = state.list().map(|(number, _)| number).collect();
            others.sort_by_key(|number| Reverse((state.updated_at(*number), *number)));
            others.retain(|number| !sessions.contains(number));
            sessions.extend(others.into_iter().take(COMPARED_MAX));
        }
        let mut near = Vec::new();
        for session in sessions {
            near.extend(self.near(state, query, session).await);
        }
        for hit in hits.iter_mut() {
            let found = near.iter().find(|near| near.session == hit.session);
            let belongs = found.map_or(UNKNOWN, |near| near.belongs);
            hit.score = hit.score * (1.0 - MEANING_SHARE) + MEANING_SHARE * belongs;
        }
        let by_words: Vec<Number> = hits.iter().map(|hit| hit.session).collect();
        for near in near {
            if near.belongs >= NEAR && !by_words.contains(&near.session) {
                let score = MEANING_SHARE * near.belongs;
                hits.push(Hit { record: near.record, session: near.session, score });
            }
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.record.seq.cmp(&a.record.seq)));
    }

    /// Tells how near a session is to a question; nothing if it cannot be read or told.
    async fn near(&self, state: &State, query: &Query, session: Number) -> Option<Near> {
        let reading = Reading { take: Take::Newest(MESSAGES_MAX), ..Reading::messages(state.view(session)) };
        let records = self.store.read(&state.scope, &reading).await.ok()?;
        let classifier = self.classifier.as_ref();
        let mut profile = Profile::new();
        let mut nearest: Option<(f64, Record)> = None;
        for record in records {
            let Ok(Body::Message(role, message)) = record.body() else { continue };
            if message.carried_from.is_some()
                || query.sight.owner(record.segment, record.seq) != Some(session)
            {
                continue;
            }
            classifier.observe(&mut profile, speaker(role), &message.text);
            let alone = SummaryComparison { classifier, summary: &message.text };
            let alike =
                alone.relevance(&profile, &query.text).score.map_or(0.0, |score| f64::from(score.get()));
            if nearest.as_ref().is_none_or(|(best, _)| alike > *best) {
                nearest = Some((alike, record));
            }
        }
        let (alike, record) = nearest?;
        let whole = EmbeddingSimilarity(classifier).relevance(&profile, &query.text).score;
        let whole = whole.map_or(UNKNOWN, |score| f64::from(score.get()));
        Some(Near { session, belongs: whole.max(alike), record })
    }
}
