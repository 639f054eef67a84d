//! Meaning: what earlier sessions have to do with a question beyond its words (M-D2).
//!
//! The best sessions by words are compared with the question by what they are about. Where words do not decide, as
//! with a question in other words, the last sessions are compared as well, and one that is near enough is found by that; there,
//! a sentence encoder is asked besides, if the question is in English.

use crate::engine::Engine;
use crate::recall::LAST_SESSIONS;
use crate::recall::embeddings::{nearest, sense};
use crate::recall::session_vectors::{About, Look, Place};
use segue_core::entry::{Body, Record};
use segue_core::session::Number;
use segue_core::span::{Span, Spans};
use segue_core::state::State;
use segue_signals::encoder::{Sense, is_english};
use segue_signals::kin::{self, Gist, Named, Near};
use segue_store::Reading;
use segue_store::search::{self, Hit, Query};
use std::cmp::Reverse;
use std::sync::Arc;

/// How many sessions that words have found are compared.
const COMPARED: usize = 8;

/// From which score on words decide: if the best message has all that was asked for, and if it has not. With one word of
/// two in common the wrong session comes first often enough.
const DECIDED_BY_ALL: f64 = 0.20;
const DECIDED: f64 = 0.40;

/// How much of the score is words; the rest is meaning.
const WORDS_SHARE: f64 = 0.16;

/// From here on a session is found by its meaning alone.
const NEAR: f64 = 0.18;

/// How much of the meaning is what the sentence encoder says, where it is asked.
const SENSE_SHARE: f64 = 0.7;

/// From here on a session is found by what the sentence encoder says alone.
const SENSED: f64 = 0.25;

/// A session that was compared with a question.
struct Compared {
    about: Arc<About>,
    /// From 0 to 1.
    meaning: f64,
    /// Whether that is near enough to be found by it alone.
    is_near: bool,
    /// The message that is nearest.
    message: usize,
}

impl Compared {
    fn new(about: Arc<About>, near: &Near, question: Option<&Sense>) -> Self {
        let exchanges = about.exchanges.as_deref().unwrap_or_default();
        let sensed = question.and_then(|question| nearest(question, exchanges));
        let (meaning, is_near, messages) = match sensed {
            Some((sensed, messages)) => {
                let meaning = (1.0 - SENSE_SHARE) * near.score + SENSE_SHARE * sensed;
                (meaning, near.score >= NEAR || sensed >= SENSED, messages)
            }
            // The encoder was not asked, or has nothing to say about a session in another language.
            None => (near.score, near.score >= NEAR, near.all()),
        };
        Self { message: near.message(messages), about, meaning, is_near }
    }
}

impl Engine {
    /// Weighs hits by what their sessions are about, and orders them anew.
    pub(crate) async fn weigh_meaning(&self, state: &State, query: &Query, hits: &mut Vec<Hit>) {
        let mut question = Gist::default();
        self.lexicon.gather(&mut question, search::words(&query.text));
        let decided = hits.first().is_some_and(|best| decides(best, &query.text));
        // It is found out while sessions are compared by words.
        let asks = !decided && is_english(&query.text) && question.has_english();
        let sense = asks.then(|| sense(&query.text));
        let look = if sense.is_some() { Look::Sense } else { Look::Words };
        let sessions = chosen(state, hits, if decided { 0 } else { LAST_SESSIONS });
        let abouts = self.abouts(state, &query.sight, &sessions, look).await;
        let gists: Vec<&Gist> = abouts.iter().map(|about| &about.gist).collect();
        let near = kin::near(&question, &gists);
        let sense = match sense {
            Some(sense) => sense.await,
            None => None,
        };
        let compared: Vec<Compared> = abouts
            .into_iter()
            .zip(&near)
            .map(|(about, near)| Compared::new(about, near, sense.as_ref()))
            .collect();
        for hit in hits.iter_mut() {
            let place = compared.iter().position(|compared| compared.about.session == hit.session);
            let meaning =
                place.map_or(0.0, |place| compared[place].meaning * query.sight.recency(hit.session));
            hit.score = hit.score * WORDS_SHARE + (1.0 - WORDS_SHARE) * meaning;
        }
        let is_found = |session: Number| hits.iter().any(|hit| hit.session == session);
        let found: Vec<&Compared> = compared
            .iter()
            .filter(|compared| compared.is_near && !is_found(compared.about.session))
            .collect();
        hits.extend(self.found_by_meaning(state, query, &found).await);
        hits.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.record.seq.cmp(&a.record.seq)));
    }

    /// Reads the nearest message of each session that words did not find.
    async fn found_by_meaning(&self, state: &State, query: &Query, found: &[&Compared]) -> Vec<Hit> {
        let reading = |compared: &&Compared| {
            let Place { segment, seq } = compared.about.messages[compared.message];
            let span = Span { segment, first: seq, last: seq, before: 0, through: 1 };
            Reading::messages(Spans::default().with(span))
        };
        let readings: Vec<Reading> = found.iter().map(reading).collect();
        let read = self.read_each(&state.scope, &readings).await;
        let hit = |(compared, records): (&&Compared, Option<Vec<Record>>)| {
            let session = compared.about.session;
            let score = (1.0 - WORDS_SHARE) * compared.meaning * query.sight.recency(session);
            records?.into_iter().next().map(|record| Hit { record, session, score })
        };
        found.iter().zip(read).filter_map(hit).collect()
    }
}

/// Chooses the sessions that are compared: the best by words, and some of the last ones.
fn chosen(state: &State, hits: &[Hit], others_max: usize) -> Vec<Number> {
    let mut sessions: Vec<Number> = Vec::new();
    for hit in hits {
        if sessions.len() < COMPARED && !sessions.contains(&hit.session) {
            sessions.push(hit.session);
        }
    }
    if others_max == 0 {
        return sessions;
    }
    let mut others: Vec<Number> = state.all().map(|(number, _)| number).collect();
    others.sort_by_key(|number| Reverse((state.updated_at(*number), *number)));
    others.retain(|number| !sessions.contains(number));
    sessions.extend(others.into_iter().take(others_max));
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
