//! Meaning: what earlier sessions have to do with a question beyond its words (M-D2).
//!
//! The best sessions by words are compared with the question by what they are about. Where words do not decide, as
//! with a question in other words, the last sessions are compared as well, and one that is near enough is found by that.

use crate::engine::Engine;
use crate::gists::{About, Place};
use segue_core::entry::{Body, Record};
use segue_core::session::Number;
use segue_core::span::{Span, Spans};
use segue_core::state::State;
use segue_signals::kin::{self, Gist, Named, Near};
use segue_store::Reading;
use segue_store::search::{self, Hit, Query};
use std::cmp::Reverse;

/// How many sessions that words have found are compared.
const COMPARED: usize = 8;

/// How many sessions are compared where words do not decide.
const COMPARED_MAX: usize = 64;

/// From which score on words decide: if the best message has all that was asked for, and if it has not. With one word of
/// two in common the wrong session comes first often enough.
const DECIDED_BY_ALL: f64 = 0.20;
const DECIDED: f64 = 0.40;

/// How much of the score is words; the rest is meaning.
const WORDS_SHARE: f64 = 0.16;

/// From here on a session is found by its meaning alone.
const NEAR: f64 = 0.18;

impl Engine {
    /// Weighs hits by what their sessions are about, and orders them anew.
    pub(crate) async fn weigh_meaning(&self, state: &State, query: &Query, hits: &mut Vec<Hit>) {
        let compared = self.abouts(state, &query.sight, &chosen(state, hits, &query.text)).await;
        let mut question = Gist::default();
        self.lexicon.gather(&mut question, search::words(&query.text));
        let gists: Vec<&Gist> = compared.iter().map(|about| &about.gist).collect();
        let near = kin::near(&question, &gists);
        for hit in hits.iter_mut() {
            let place = compared.iter().position(|about| about.session == hit.session);
            let meaning = place.map_or(0.0, |place| near[place].score * query.sight.recency(hit.session));
            hit.score = hit.score * WORDS_SHARE + (1.0 - WORDS_SHARE) * meaning;
        }
        let is_found = |session: Number| hits.iter().any(|hit| hit.session == session);
        let found: Vec<(&About, Near)> = compared
            .iter()
            .zip(near)
            .filter(|(about, near)| near.score >= NEAR && !is_found(about.session))
            .map(|(about, near)| (about.as_ref(), near))
            .collect();
        hits.extend(self.found_by_meaning(state, query, &found).await);
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.record.seq.cmp(&a.record.seq)));
    }

    /// Reads the nearest message of each session that words did not find.
    async fn found_by_meaning(&self, state: &State, query: &Query, found: &[(&About, Near)]) -> Vec<Hit> {
        let reading = |(about, near): &(&About, Near)| {
            let Place { segment, seq } = about.messages[near.message];
            let span = Span { segment, first: seq, last: seq, before: 0, through: 1 };
            Reading::messages(Spans::default().with(span))
        };
        let readings: Vec<Reading> = found.iter().map(reading).collect();
        let read = self.read_each(&state.scope, &readings).await;
        let hit = |((about, near), records): (&(&About, Near), Option<Vec<Record>>)| {
            let score = (1.0 - WORDS_SHARE) * near.score * query.sight.recency(about.session);
            records?.into_iter().next().map(|record| Hit { record, session: about.session, score })
        };
        found.iter().zip(read).filter_map(hit).collect()
    }
}

/// Chooses the sessions that are compared: the best by words, and the last ones if these do not decide.
fn chosen(state: &State, hits: &[Hit], question: &str) -> Vec<Number> {
    let mut sessions: Vec<Number> = Vec::new();
    for hit in hits {
        if sessions.len() < COMPARED && !sessions.contains(&hit.session) {
            sessions.push(hit.session);
        }
    }
    if !hits.first().is_some_and(|best| decides(best, question)) {
        let mut others: Vec<Number> = state.list().map(|(number, _)| number).collect();
        others.sort_by_key(|number| Reverse((state.updated_at(*number), *number)));
        others.retain(|number| !sessions.contains(number));
        sessions.extend(others.into_iter().take(COMPARED_MAX));
    }
    sessions
}

/// Tells whether the best hit by words is so good that there is no need to look further.
fn decides(best: &Hit, question: &str) -> bool {
    let has_all = || match best.record.body() {
        Ok(Body::Message(_, message)) => search::share(&message.text, question) >= 1.0,
        _ => false,
    };
    best.score >= DECIDED || best.score >= DECIDED_BY_ALL && has_all()
}

/// Names a word as the index does, so that its forms are one.
pub(crate) fn named(word: &str) -> Named {
    let (term, asks) = search::named(word);
    Named { key: term.get(), asks }
}
