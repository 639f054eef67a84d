//! Meaning: what earlier sessions have to do with a question beyond its words (M-D2).
//!
//! The best sessions by words are compared with the question by what they are about. Where words do not decide, as
//! with a question in other words, the last sessions are compared as well, and one that is near enough is found by that.

use crate::engine::Engine;
use segue_core::entry::{Body, Record};
use segue_core::session::Number;
use segue_core::state::State;
use segue_signals::kin::{self, Gist, Named, Near};
use segue_store::search::{self, Hit, Query};
use segue_store::{Reading, Take};
use std::cmp::Reverse;

/// How many sessions that words have found are compared.
const COMPARED: usize = 16;

/// How many sessions are compared where words do not decide, and up to which score they do not.
const COMPARED_MAX: usize = 64;
const UNDECIDED: f64 = 0.20;

/// How many messages of a session it is compared by.
const MESSAGES_MAX: usize = 16;

/// How much of the score is words; the rest is meaning.
const WORDS_SHARE: f64 = 0.16;

/// From here on a session is found by its meaning alone.
const NEAR: f64 = 0.24;

/// A session as it is compared: its messages and what they are about.
struct Compared {
    session: Number,
    records: Vec<Record>,
    gist: Gist,
}

impl Engine {
    /// Weighs hits by what their sessions are about, and orders them anew.
    pub(crate) async fn weigh_meaning(&self, state: &State, query: &Query, hits: &mut Vec<Hit>) {
        let mut compared = Vec::new();
        for session in chosen(state, hits) {
            compared.extend(self.compared(state, query, session).await);
        }
        let mut question = Gist::default();
        self.classifier.gather(&mut question, search::words(&query.text), named);
        let gists: Vec<Gist> =
            compared.iter_mut().map(|compared| std::mem::take(&mut compared.gist)).collect();
        let near = kin::near(&question, &gists);
        for hit in hits.iter_mut() {
            let place = compared.iter().position(|compared| compared.session == hit.session);
            let meaning = place.map_or(0.0, |place| near[place].score * query.sight.recency(hit.session));
            hit.score = hit.score * WORDS_SHARE + (1.0 - WORDS_SHARE) * meaning;
        }
        let by_words: Vec<Number> = hits.iter().map(|hit| hit.session).collect();
        for (compared, Near { score, message }) in compared.into_iter().zip(near) {
            let record = compared.records.into_iter().nth(message);
            if let Some(record) = record
                && score >= NEAR
                && !by_words.contains(&compared.session)
            {
                let score = (1.0 - WORDS_SHARE) * score * query.sight.recency(compared.session);
                hits.push(Hit { record, session: compared.session, score });
            }
        }
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.record.seq.cmp(&a.record.seq)));
    }

    /// Reads what a session is about; nothing if it cannot be read or says nothing.
    async fn compared(&self, state: &State, query: &Query, session: Number) -> Option<Compared> {
        let reading = Reading { take: Take::Newest(MESSAGES_MAX), ..Reading::messages(state.view(session)) };
        let mut records = self.store.read(&state.scope, &reading).await.ok()?;
        let mut gist = Gist::default();
        records.retain(|record| {
            let Ok(Body::Message(_, message)) = record.body() else { return false };
            if message.carried_from.is_some()
                || query.sight.owner(record.segment, record.seq) != Some(session)
            {
                return false;
            }
            self.classifier.gather(&mut gist, search::words(&message.text), named);
            true
        });
        (!records.is_empty()).then_some(Compared { session, records, gist })
    }
}

/// Chooses the sessions that are compared: the best by words, and the last ones if these do not decide.
fn chosen(state: &State, hits: &[Hit]) -> Vec<Number> {
    let mut sessions: Vec<Number> = Vec::new();
    for hit in hits {
        if sessions.len() < COMPARED && !sessions.contains(&hit.session) {
            sessions.push(hit.session);
        }
    }
    if hits.first().is_none_or(|best| best.score < UNDECIDED) {
        let mut others: Vec<Number> = state.list().map(|(number, _)| number).collect();
        others.sort_by_key(|number| Reverse((state.updated_at(*number), *number)));
        others.retain(|number| !sessions.contains(number));
        sessions.extend(others.into_iter().take(COMPARED_MAX));
    }
    sessions
}

fn named(word: &str) -> Named {
    let (term, asks) = search::named(word);
    Named { key: term.get(), asks }
}
