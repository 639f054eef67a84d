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
const COMPARED: usize = 8;

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
        let mut compared = self.compared(state, query, &chosen(state, hits)).await;
        let mut question = Gist::default();
        self.lexicon.gather(&mut question, search::words(&query.text));
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

    /// Reads what sessions are about; those that cannot be read or say nothing are left out.
    async fn compared(&self, state: &State, query: &Query, sessions: &[Number]) -> Vec<Compared> {
        let reading = |session: &Number| {
            let take = Take::Newest(MESSAGES_MAX);
            Reading { take, ..Reading::messages(state.view(*session)) }
        };
        let readings: Vec<Reading> = sessions.iter().map(reading).collect();
        let read = match self.store.read_all(&state.scope, &readings).await {
            Ok(read) => read,
            // One session that cannot be read must not hide the others (L-10).
            Err(_) => {
                let mut read = Vec::new();
                for reading in &readings {
                    read.push(self.store.read(&state.scope, reading).await.unwrap_or_default());
                }
                read
            }
        };
        let about = |(session, records): (&Number, Vec<Record>)| self.about(query, *session, records);
        sessions.iter().zip(read).filter_map(about).collect()
    }

    fn about(&self, query: &Query, session: Number, mut records: Vec<Record>) -> Option<Compared> {
        let mut gist = Gist::default();
        records.retain(|record| {
            let Ok(Body::Message(_, message)) = record.body() else { return false };
            if message.carried_from.is_some()
                || query.sight.owner(record.segment, record.seq) != Some(session)
            {
                return false;
            }
            self.lexicon.gather(&mut gist, search::words(&message.text));
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

/// Names a word as the index does, so that its forms are one.
pub(crate) fn named(word: &str) -> Named {
    let (term, asks) = search::named(word);
    Named { key: term.get(), asks }
}
