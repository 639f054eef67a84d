//! Ranking: BM25 over messages, what their session says besides, and how long ago that was.
//!
//! A question's words are seldom all in one message, so a message counts half by itself and half by what the whole
//! session has of the question. The work is bounded: rare terms lead to the messages, common ones only weigh them.

use super::mixed::Mixed;
use super::postings::{Posting, Postings, TermPostings};
use super::terms::WeightedTerm;
use super::visibility::Visibility;
use segue_core::entry::Seq;
use segue_core::session::Number;
use std::collections::HashMap;

/// How fast more of the same term stops to count, and how much a long message is held back.
const SATURATION: f64 = 1.2;
const LENGTH_SHARE: f64 = 0.6;

/// How much of the score is the session's.
const SESSION_SHARE: f64 = 0.6;

/// How many messages are weighed at most.
const CANDIDATES_MAX: usize = 2_000;

/// How many messages are weighed by common terms as well.
const FINALISTS_MAX: usize = 200;

/// How many hits a session has at most, so that one that goes on and on does not hide the others.
const HITS_PER_SESSION_MAX: usize = 3;

/// Visits the postings of some messages; both are in the order of the log.
fn meet(postings: &[Posting], messages: &[Seq], visit: &mut dyn FnMut(usize, Posting)) {
    let mut rest = postings;
    for (at, seq) in messages.iter().enumerate() {
        rest = &rest[rest.partition_point(|posting| posting.seq < *seq)..];
        match rest.first() {
            Some(posting) if posting.seq == *seq => visit(at, *posting),
            Some(_) => {}
            None => break,
        }
    }
}

/// A message that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Ranked {
    pub seq: Seq,
    pub session: Number,
    pub score: f64,
}

/// Messages that have something of a query: whose they are, and what each term of it is worth in them.
#[derive(Debug, Default)]
pub struct Matches {
    terms: usize,
    places: HashMap<Seq, usize, Mixed>,
    messages: Vec<(Seq, Number)>,
    /// One after the other, as many as there are terms for each message.
    parts: Vec<f64>,
}

impl Matches {
    fn new(terms: usize) -> Self {
        Self { terms, ..Self::default() }
    }

    /// Returns how many terms are weighed.
    pub fn terms(&self) -> usize {
        self.terms
    }

    /// Returns the messages, with whose they are and what each term is worth in them, all terms together at most 1.
    pub fn iter(&self) -> impl Iterator<Item = (Seq, Number, &[f64])> {
        self.messages.iter().enumerate().map(|(place, (seq, session))| (*seq, *session, self.parts(place)))
    }

    /// Returns where a message is, taking it in if there is room and somebody owns it.
    fn place(&mut self, posting: Posting, visibility: &Visibility) -> Option<usize> {
        if let Some(place) = self.places.get(&posting.seq) {
            return Some(*place);
        }
        if self.messages.len() >= CANDIDATES_MAX {
            return None;
        }
        let session = visibility.owner(posting.segment, posting.seq)?;
        let place = self.messages.len();
        self.places.insert(posting.seq, place);
        self.messages.push((posting.seq, session));
        self.parts.resize(self.parts.len() + self.terms, 0.0);
        Some(place)
    }

    fn set(&mut self, place: usize, term: usize, part: f64) {
        self.parts[place * self.terms + term] = part;
    }

    fn parts(&self, place: usize) -> &[f64] {
        &self.parts[place * self.terms..(place + 1) * self.terms]
    }

    fn sum(&self, place: usize) -> f64 {
        self.parts(place).iter().sum()
    }

    /// Returns the best ones by what is known so far, in the order of the log.
    fn finalists(&self) -> Vec<usize> {
        let mut best: Vec<(f64, Seq, usize)> = self
            .messages
            .iter()
            .enumerate()
            .map(|(place, (seq, _))| (self.sum(place), *seq, place))
            .collect();
        if best.len() > FINALISTS_MAX {
            best.select_nth_unstable_by(FINALISTS_MAX, |a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
            best.truncate(FINALISTS_MAX);
        }
        best.sort_unstable_by_key(|(_, seq, _)| *seq);
        best.into_iter().map(|(_, _, place)| place).collect()
    }
}

/// Weighs the messages of a scope by the terms of a query. The postings are those of the terms, in their order.
pub(super) fn matches(postings: &Postings, asked: &[WeightedTerm], visibility: &Visibility) -> Matches {
    if postings.messages == 0 {
        return Matches::default();
    }
    let worth = |(asked, found): (&WeightedTerm, _)| {
        let found: &TermPostings = found;
        (found, asked.term, asked.weight * rarity(postings.messages, found.messages))
    };
    let mut terms: Vec<_> = asked.iter().zip(&postings.terms).map(worth).collect();
    let whole: f64 = terms.iter().map(|(_, _, worth)| worth).sum();
    terms.iter_mut().for_each(|(_, _, worth)| *worth /= whole.max(f64::MIN_POSITIVE));
    terms.retain(|(found, ..)| found.messages > 0);
    terms.sort_by_key(|(found, term, _)| (found.messages, *term));
    let average = postings.length as f64 / postings.messages as f64;
    let part = |worth: f64, posting: Posting| {
        let count = f64::from(posting.count);
        let length = 1.0 - LENGTH_SHARE + LENGTH_SHARE * f64::from(posting.length) / average.max(1.0);
        worth * count / (count + SATURATION * length)
    };
    let mut found = Matches::new(terms.len());
    let mut leading = 0;
    for (at, (postings, _, worth)) in terms.iter().enumerate() {
        if found.messages.len() >= CANDIDATES_MAX {
            break;
        }
        leading = at + 1;
        for posting in postings.newest.iter().rev() {
            if let Some(place) = found.place(*posting, visibility) {
                found.set(place, at, part(*worth, *posting));
            }
        }
    }
    let finalists = found.finalists();
    let seqs: Vec<Seq> = finalists.iter().map(|place| found.messages[*place].0).collect();
    for (at, (postings, _, worth)) in terms.iter().enumerate().skip(leading) {
        meet(&postings.newest, &seqs, &mut |which, posting| {
            found.set(finalists[which], at, part(*worth, posting));
        });
    }
    found
}

/// What a session has of the question: the best part of each term, and what its age is worth.
struct Pooled {
    best: Vec<f64>,
    recency: f64,
}

/// Ranks messages by what they and their sessions have of a query, best first.
pub(super) fn rank(found: &Matches, visibility: &Visibility, limit: usize) -> Vec<Ranked> {
    let mut sessions: HashMap<Number, Pooled, Mixed> = HashMap::default();
    for (place, (_, session)) in found.messages.iter().enumerate() {
        let fresh = || Pooled { best: vec![0.0; found.terms], recency: visibility.recency(*session) };
        let pooled = sessions.entry(*session).or_insert_with(fresh);
        for (best, part) in pooled.best.iter_mut().zip(found.parts(place)) {
            *best = best.max(*part);
        }
    }
    let scores: HashMap<Number, (f64, f64), Mixed> = sessions
        .into_iter()
        .map(|(session, pooled)| (session, (pooled.best.iter().sum(), pooled.recency)))
        .collect();
    let score = |place: usize, session: Number| {
        let (pooled, recency) = scores.get(&session).copied().unwrap_or((0.0, 1.0));
        (SESSION_SHARE * pooled + (1.0 - SESSION_SHARE) * found.sum(place)) * recency
    };
    let ranked = found.messages.iter().enumerate();
    let mut ranked: Vec<Ranked> = ranked
        .map(|(place, (seq, session))| Ranked { seq: *seq, session: *session, score: score(place, *session) })
        .collect();
    ranked.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(b.seq.cmp(&a.seq)));
    let mut hits: HashMap<Number, usize, Mixed> = HashMap::default();
    ranked.retain(|ranked| {
        let hits = hits.entry(ranked.session).or_default();
        *hits += 1;
        *hits <= HITS_PER_SESSION_MAX
    });
    ranked.truncate(limit);
    ranked
}

/// How much it says that a message has a term: the logarithm of how rare it is.
fn rarity(all: u64, with: u64) -> f64 {
    let (all, with) = (all as f64, with as f64);
    (1.0 + (all - with + 0.5).max(0.0) / (with + 0.5)).ln()
}
