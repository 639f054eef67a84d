//! Ranking: BM25 over messages, what their session says besides, and how long ago that was.
//!
//! A question's words are seldom all in one message, so a message counts half by itself and half by what the whole
//! session has of the question. The work is bounded: rare terms lead to the messages, common ones only weigh them.

use super::Posting;
use super::sight::Sight;
use super::terms::{Term, Weighed};
use crate::error::Error;
use segue_core::entry::Seq;
use segue_core::session::Number;
use std::collections::HashMap;

/// How fast more of the same term stops to count, and how much a long message is held back.
const SATURATION: f64 = 1.2;
const LENGTH_SHARE: f64 = 0.6;

/// How much of the score is the session's.
const SESSION_SHARE: f64 = 0.6;

/// How much a session of today is worth more than an old one, and after how many days half of that is gone.
const RECENCY_SHARE: f64 = 0.1;
const RECENCY_DAYS: f64 = 60.0;

/// How many messages are weighed at most.
const CANDIDATES_MAX: usize = 2_000;

/// How many postings of a term are looked at to find them; the newest come first.
const LOOKED_AT_MAX: usize = 20_000;

/// How many messages are weighed by common terms as well.
const FINALISTS_MAX: usize = 200;

/// How many hits a session has at most, so that one that goes on and on does not hide the others.
const HITS_PER_SESSION_MAX: usize = 3;

/// How many messages a scope has, and how many terms they have together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Corpus {
    pub messages: u64,
    pub length: u64,
}

/// Whether more is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visit {
    More,
    Enough,
}

/// Where the terms of a scope stand.
pub(crate) trait Postings {
    /// Counts all messages of the scope.
    fn corpus(&self) -> Result<Corpus, Error>;
    /// Counts the messages that have a term.
    fn messages(&self, term: Term) -> Result<u64, Error>;
    /// Visits the messages that have a term, newest first.
    fn newest(&self, term: Term, visit: &mut dyn FnMut(Posting) -> Visit) -> Result<(), Error>;
    /// Visits those of some messages that have a term; both are in the order of the log.
    fn among(&self, term: Term, messages: &[Seq], visit: &mut dyn FnMut(usize, Posting))
    -> Result<(), Error>;
}

/// Visits the postings of some messages; both are in the order of the log.
pub(crate) fn meet(postings: &[Posting], messages: &[Seq], visit: &mut dyn FnMut(usize, Posting)) {
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
pub(crate) struct Ranked {
    pub seq: Seq,
    pub session: Number,
    pub score: f64,
}

struct Candidate {
    session: Number,
    parts: Vec<f64>,
}

impl Candidate {
    fn sum(&self) -> f64 {
        self.parts.iter().sum()
    }
}

/// Ranks the messages of a scope by the terms of a query, best first.
pub(crate) fn rank(
    postings: &dyn Postings,
    asked: &[Weighed],
    sight: &Sight,
    limit: usize,
) -> Result<Vec<Ranked>, Error> {
    let corpus = postings.corpus()?;
    if corpus.messages == 0 {
        return Ok(Vec::new());
    }
    let mut terms = Vec::with_capacity(asked.len());
    for asked in asked {
        let messages = postings.messages(asked.term)?;
        terms.push((messages, asked.term, asked.weight * rarity(corpus, messages)));
    }
    let whole: f64 = terms.iter().map(|(_, _, worth)| worth).sum();
    terms.retain(|(messages, ..)| *messages > 0);
    terms.sort_by_key(|(messages, term, _)| (*messages, *term));
    let average = corpus.length as f64 / corpus.messages as f64;
    let part = |worth: f64, posting: Posting| {
        let count = f64::from(posting.count);
        let length = 1.0 - LENGTH_SHARE + LENGTH_SHARE * f64::from(posting.length) / average.max(1.0);
        worth * count / (count + SATURATION * length)
    };
    let mut found: HashMap<Seq, Candidate> = HashMap::new();
    let mut leading = 0;
    for (at, (_, term, worth)) in terms.iter().enumerate() {
        if found.len() >= CANDIDATES_MAX {
            break;
        }
        leading = at + 1;
        let mut looked_at = 0;
        postings.newest(*term, &mut |posting| {
            looked_at += 1;
            if let Some(session) = sight.owner(posting.segment, posting.seq)
                && (found.len() < CANDIDATES_MAX || found.contains_key(&posting.seq))
            {
                let fresh = || Candidate { session, parts: vec![0.0; terms.len()] };
                found.entry(posting.seq).or_insert_with(fresh).parts[at] = part(*worth, posting);
            }
            if looked_at < LOOKED_AT_MAX { Visit::More } else { Visit::Enough }
        })?;
    }
    let mut finalists: Vec<(Seq, Candidate)> = found.into_iter().collect();
    finalists.sort_by(|(a, x), (b, y)| y.sum().total_cmp(&x.sum()).then(b.cmp(a)));
    let weighed = finalists.len().min(FINALISTS_MAX);
    finalists[..weighed].sort_by_key(|(seq, _)| *seq);
    let seqs: Vec<Seq> = finalists[..weighed].iter().map(|(seq, _)| *seq).collect();
    for (at, (_, term, worth)) in terms.iter().enumerate().skip(leading) {
        postings.among(*term, &seqs, &mut |which, posting| {
            finalists[which].1.parts[at] = part(*worth, posting);
        })?;
    }
    Ok(order(&finalists, sight, whole, limit))
}

fn order(finalists: &[(Seq, Candidate)], sight: &Sight, whole: f64, limit: usize) -> Vec<Ranked> {
    let mut sessions: HashMap<Number, Vec<f64>> = HashMap::new();
    for (_, candidate) in finalists {
        let best = sessions.entry(candidate.session).or_insert_with(|| vec![0.0; candidate.parts.len()]);
        for (best, part) in best.iter_mut().zip(&candidate.parts) {
            *best = best.max(*part);
        }
    }
    let score = |candidate: &Candidate| {
        let session: f64 = sessions.get(&candidate.session).map_or(0.0, |best| best.iter().sum());
        let text = (SESSION_SHARE * session + (1.0 - SESSION_SHARE) * candidate.sum()) / whole;
        let recency = 0.5_f64.powf(sight.days(candidate.session) / RECENCY_DAYS);
        text * (1.0 - RECENCY_SHARE + RECENCY_SHARE * recency)
    };
    let mut ranked: Vec<Ranked> = finalists
        .iter()
        .map(|(seq, candidate)| Ranked { seq: *seq, session: candidate.session, score: score(candidate) })
        .collect();
    ranked.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.seq.cmp(&a.seq)));
    let mut hits: HashMap<Number, usize> = HashMap::new();
    ranked.retain(|ranked| {
        let hits = hits.entry(ranked.session).or_default();
        *hits += 1;
        *hits <= HITS_PER_SESSION_MAX
    });
    ranked.truncate(limit);
    ranked
}

/// How much it says that a message has a term: the logarithm of how rare it is.
fn rarity(corpus: Corpus, messages: u64) -> f64 {
    let (all, with) = (corpus.messages as f64, messages as f64);
    (1.0 + (all - with + 0.5).max(0.0) / (with + 0.5)).ln()
}
