//! Ranking: which messages answer a question (M-D2).
//!
//! A message counts by the words that it shares with the question, by its meaning, by its day and its speaker if the question names them, and by
//! what its session has of the question. What was said just before and just after it counts too: people ask with the words of
//! a question for the answer. The weights were chosen on the dev halves of `eval/`, with the scores on LoCoMo and MemoryBank in sight.

use crate::recall::speaker::Speaker;
use crate::recall::timeline::{Said, Timeline};
use segue_core::Timestamp;
use segue_core::entry::Seq;
use segue_core::session::Number;
use segue_encoder::{Direction, Embedding};
use segue_store::search::{Matches, Sight};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How much the message before a message counts for it, and the one after it.
const BEFORE: f64 = 0.5;
const AFTER: f64 = 0.2;

/// How much meaning counts beside words, then the session's words, then a day that is named, then a speaker who is.
const MEANING: f64 = 0.4;
const SESSION: f64 = 0.3;
const DAY: f64 = 0.2;
const SPEAKER: f64 = 0.1;

/// The score of a message that has all words of a question and its meaning.
const WHOLE: f64 = 1.0 + MEANING + SESSION;

/// From this cosine on a message is found by its meaning alone.
const NEAR: f32 = 0.18;

/// How many messages are looked at closely.
const FINALISTS: usize = 400;

/// What is asked.
pub(crate) struct Question {
    /// The messages that have words of it.
    pub(crate) matches: Matches,
    pub(crate) embedding: Option<Embedding>,
    /// From when to when, for each period that it names.
    pub(crate) periods: Vec<(Timestamp, Timestamp)>,
    /// Who may be named in it.
    pub(crate) speakers: Vec<Speaker>,
}

impl Question {
    /// What it counts when something was said, and who said it.
    fn circumstances(&self, said: &Said) -> f64 {
        let is_named = said.speaker != Speaker::NONE && self.speakers.contains(&said.speaker);
        DAY * day(&self.periods, said.at) + if is_named { SPEAKER } else { 0.0 }
    }
}

/// A message that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ranked {
    pub(crate) seq: Seq,
    pub(crate) session: Number,
    /// From 0 to 1.
    pub(crate) score: f64,
    /// What was said just before and just after it, in the same session.
    pub(crate) around: [Option<Seq>; 2],
}

/// Ranks the messages that are in sight, the best first.
pub(crate) fn rank(timeline: &Timeline, sight: &Sight, question: &Question, count_max: usize) -> Vec<Ranked> {
    let owners = sight.owners(timeline.said.iter().map(|said| (said.segment, said.seq)));
    let neighbours = |at: usize| -> [Option<usize>; 2] {
        let is_same = |other: &usize| owners.get(*other).is_some_and(|owner| *owner == owners[at]);
        [at.checked_sub(1).filter(is_same), Some(at + 1).filter(is_same)]
    };
    let words = Words::new(timeline, &question.matches, neighbours);
    let meaning = meaning(timeline, question.embedding.as_ref());
    let mut finalists: Vec<(f64, usize)> = Vec::new();
    let mut last = (None, 0.0);
    for (at, owner) in owners.iter().enumerate().filter(|(_, owner)| owner.is_some()) {
        if last.0 != *owner {
            last = (*owner, owner.and_then(|owner| words.sessions.get(&owner)).copied().unwrap_or(0.0));
        }
        let near = |at: usize| meaning.get(at).copied().unwrap_or(0.0);
        let [before, after] = neighbours(at).map(|other| other.map_or(0.0, near));
        let near = f64::from(near(at)) + BEFORE * f64::from(before) + AFTER * f64::from(after);
        let circumstances = question.circumstances(&timeline.said[at]);
        finalists.push((MEANING * near + SESSION * last.1 + circumstances, at));
    }
    for (score, at) in &mut finalists {
        *score += words.messages.get(at).copied().unwrap_or(0.0);
    }
    if finalists.len() > FINALISTS {
        finalists.select_nth_unstable_by(FINALISTS, |a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        finalists.truncate(FINALISTS);
    }
    let is_near = |at: usize| {
        let embedding = timeline.vector(at).and_then(Embedding::from_bytes);
        question.embedding.as_ref().zip(embedding).is_some_and(|(asked, own)| asked.cosine(&own) >= NEAR)
    };
    let is_found = |at: usize| {
        words.messages.contains_key(&at)
            || day(&question.periods, timeline.said[at].at) > 0.0
            || is_near(at)
            || neighbours(at)[0].is_some_and(is_near)
    };
    let seq = |at: usize| timeline.said[at].seq;
    let ranked = |(score, at): (f64, usize)| {
        let around = neighbours(at).map(|other| other.map(seq));
        owners[at].map(|session| Ranked { seq: seq(at), session, score, around })
    };
    let found = finalists.into_iter().filter(|(_, at)| is_found(*at)).filter_map(ranked);
    let mut ranked: Vec<Ranked> = found.chain(words.elsewhere).collect();
    ranked.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(b.seq.cmp(&a.seq)));
    ranked.truncate(count_max);
    ranked.iter_mut().for_each(|ranked| ranked.score = (ranked.score / WHOLE).clamp(0.001, 1.0));
    ranked
}

/// How near the messages that have an embedding are to a question, beyond what all of them have in common.
fn meaning(timeline: &Timeline, question: Option<&Embedding>) -> Vec<f32> {
    let Some(question) = question else { return Vec::new() };
    let (mean, asked) = (timeline.mean(), question.numbers());
    let beyond = std::array::from_fn(|at| asked[at] - mean[at]);
    let common: f32 = beyond.iter().zip(&mean).map(|(a, b)| a * b).sum();
    let mut products = Direction::of(&beyond).products(&timeline.vectors);
    products.iter_mut().for_each(|product| *product -= common);
    products
}

/// 1 for a time in a period, a half for one of the day before or after: people are not sure of days.
fn day(periods: &[(Timestamp, Timestamp)], at: Timestamp) -> f64 {
    const BESIDE: jiff::SignedDuration = jiff::SignedDuration::from_hours(24);
    let one = |(from, to): &(Timestamp, Timestamp)| match *from <= at && at < *to {
        true => 1.0,
        false if at < *from && from.duration_since(at) <= BESIDE => 0.5,
        false if at >= *to && at.duration_since(*to) <= BESIDE => 0.5,
        false => 0.0,
    };
    periods.iter().map(one).fold(0.0, f64::max)
}

/// What messages and sessions have of a question's words.
struct Words {
    /// By place in the timeline: the message's own words, and those of its neighbours that it does not have.
    messages: HashMap<usize, f64>,
    /// The best of each word.
    sessions: HashMap<Number, f64>,
    /// Messages that are not in the timeline.
    elsewhere: Vec<Ranked>,
}

impl Words {
    fn new(timeline: &Timeline, matches: &Matches, neighbours: impl Fn(usize) -> [Option<usize>; 2]) -> Self {
        let mut own: BTreeMap<usize, Vec<f64>> = BTreeMap::new();
        let mut pooled: HashMap<Number, Vec<f64>> = HashMap::new();
        let mut elsewhere = Vec::new();
        for (seq, session, parts) in matches.iter() {
            let best = pooled.entry(session).or_insert_with(|| vec![0.0; parts.len()]);
            best.iter_mut().zip(&parts).for_each(|(best, part)| *best = best.max(*part));
            match timeline.said.binary_search_by_key(&seq, |said| said.seq) {
                Ok(at) => _ = own.insert(at, parts),
                Err(_) => elsewhere.push((seq, session, parts.iter().sum::<f64>())),
            }
        }
        let sessions: HashMap<Number, f64> =
            pooled.into_iter().map(|(session, best)| (session, best.iter().sum())).collect();
        let touched: BTreeSet<usize> =
            own.keys().flat_map(|at| [Some(*at)].into_iter().chain(neighbours(*at)).flatten()).collect();
        let weighed = |at: usize| {
            let part = |at: usize, term: usize| own.get(&at).map_or(0.0, |parts| parts[term]);
            let terms = own.values().next().map_or(0, Vec::len);
            let around = neighbours(at);
            let of_term = |term: usize| {
                let mine = part(at, term);
                let more = |other: Option<usize>| other.map_or(0.0, |at| (part(at, term) - mine).max(0.0));
                mine + BEFORE * more(around[0]) + AFTER * more(around[1])
            };
            (0..terms).map(of_term).sum::<f64>()
        };
        let messages = touched.into_iter().map(|at| (at, weighed(at))).collect();
        let ranked = |(seq, session, sum): (Seq, Number, f64)| {
            let score = sum + SESSION * sessions.get(&session).copied().unwrap_or(0.0);
            Ranked { seq, session, score, around: [None, None] }
        };
        let elsewhere = elsewhere.into_iter().map(ranked).collect();
        Self { messages, sessions, elsewhere }
    }
}
