//! Ranking: which messages answer a question (M-D2).
//!
//! A message counts by the words that it shares with the question, by its meaning, by its day and its speaker if the question names them, and by
//! what its session has of the question. What was said just before and just after it counts too: people ask with the words of
//! a question for the answer. The weights were chosen on the dev halves of `eval/`, with the scores on LoCoMo and MemoryBank in sight.

use crate::recall::speaker::Speaker;
use crate::recall::timeline::{MessageRef, Timeline};
use segue_core::Timestamp;
use segue_core::entry::Seq;
use segue_core::session::Number;
use segue_encoder::{Direction, Embedding};
use segue_store::search::{Matches, Visibility};
use std::collections::HashMap;

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
pub(crate) struct RecallQuery {
    /// The messages that have words of it.
    pub(crate) matches: Matches,
    pub(crate) embedding: Option<Embedding>,
    /// From when to when, for each period that it names.
    pub(crate) periods: Vec<(Timestamp, Timestamp)>,
    /// Who may be named in it.
    pub(crate) speakers: Vec<Speaker>,
}

impl RecallQuery {
    /// What it counts when something was said, and who said it.
    fn circumstances(&self, said: &MessageRef) -> f64 {
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

impl Ranked {
    /// Returns the message and what stands around it.
    pub(crate) fn seqs(&self) -> impl Iterator<Item = Seq> + use<> {
        [Some(self.seq)].into_iter().chain(self.around).flatten()
    }
}

/// Ranks the messages that are in sight, the best first.
pub(crate) fn rank(
    timeline: &Timeline,
    visibility: &Visibility,
    question: &RecallQuery,
    count_max: usize,
) -> Vec<Ranked> {
    let said = &timeline.said;
    let owner = |at: usize| said.get(at).and_then(|said| visibility.owner(said.segment, said.seq));
    let neighbours = |at: usize| -> [Option<usize>; 2] {
        let own = owner(at);
        let is_same = |other: &usize| *other < said.len() && owner(*other) == own;
        [at.checked_sub(1).filter(is_same), Some(at + 1).filter(is_same)]
    };
    let words = Words::new(timeline, &question.matches, neighbours);
    let meaning = meaning(timeline, question.embedding.as_ref());
    let near = |at: usize| f64::from(meaning.get(at).copied().unwrap_or(0.0));
    let mut finalists = Finalists::default();
    let mut in_words = words.messages.iter().peekable();
    // Whose the message before is, the message itself, and the one after it.
    let mut owners = visibility.owners(said.iter().map(|said| (said.segment, said.seq)));
    let (mut before, mut own) = (None, owners.next().flatten());
    let mut session = (None, 0.0);
    for (at, said) in said.iter().enumerate() {
        let after = owners.next().flatten();
        if own.is_some() {
            if session.0 != own {
                session = (own, own.and_then(|own| words.sessions.get(&own)).copied().unwrap_or(0.0));
            }
            let mut meant = near(at);
            if before == own {
                meant += BEFORE * near(at.saturating_sub(1));
            }
            if after == own {
                meant += AFTER * near(at + 1);
            }
            while in_words.next_if(|(place, _)| *place < at).is_some() {}
            let of_words = in_words.next_if(|(place, _)| *place == at).map_or(0.0, |(_, worth)| *worth);
            finalists
                .add(of_words + MEANING * meant + SESSION * session.1 + question.circumstances(said), at);
        }
        (before, own) = (own, after);
    }
    let is_near = |at: usize| {
        let embedding = timeline.vector(at).and_then(Embedding::from_bytes);
        question.embedding.as_ref().zip(embedding).is_some_and(|(asked, own)| asked.cosine(&own) >= NEAR)
    };
    let is_found = |at: usize| {
        words.messages.binary_search_by_key(&at, |(place, _)| *place).is_ok()
            || day(&question.periods, said[at].at) > 0.0
            || is_near(at)
            || neighbours(at)[0].is_some_and(is_near)
    };
    let ranked = |(score, at): (f64, usize)| {
        let around = neighbours(at).map(|other| other.map(|other| said[other].seq));
        owner(at).map(|session| Ranked { seq: said[at].seq, session, score, around })
    };
    let found = finalists.best().into_iter().filter(|(_, at)| is_found(*at)).filter_map(ranked);
    let mut ranked: Vec<Ranked> = found.chain(words.elsewhere).collect();
    ranked.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then(b.seq.cmp(&a.seq)));
    ranked.truncate(count_max);
    ranked.iter_mut().for_each(|ranked| ranked.score = (ranked.score / WHOLE).clamp(0.001, 1.0));
    ranked
}

/// The messages with the best scores so far. Not all that were looked at are kept: there may be many.
#[derive(Default)]
struct Finalists {
    some: Vec<(f64, usize)>,
    /// What is less is not among the best.
    floor: Option<f64>,
}

impl Finalists {
    fn add(&mut self, score: f64, at: usize) {
        if self.floor.is_some_and(|floor| score < floor) {
            return;
        }
        self.some.push((score, at));
        if self.some.len() >= 8 * FINALISTS {
            self.cut();
            self.floor = self.some.iter().map(|(score, _)| *score).reduce(f64::min);
        }
    }

    fn cut(&mut self) {
        if self.some.len() > FINALISTS {
            self.some.select_nth_unstable_by(FINALISTS, |a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
            self.some.truncate(FINALISTS);
        }
    }

    fn best(mut self) -> Vec<(f64, usize)> {
        self.cut();
        self.some
    }
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
    const NEARBY: jiff::SignedDuration = jiff::SignedDuration::from_hours(24);
    let one = |(from, to): &(Timestamp, Timestamp)| match *from <= at && at < *to {
        true => 1.0,
        false if at < *from && from.duration_since(at) <= NEARBY => 0.5,
        false if at >= *to && at.duration_since(*to) <= NEARBY => 0.5,
        false => 0.0,
    };
    periods.iter().map(one).fold(0.0, f64::max)
}

/// What messages and sessions have of a question's words.
struct Words {
    /// By place in the timeline: the message's own words, and those of its neighbours that it does not have.
    messages: Vec<(usize, f64)>,
    /// The best of each word.
    sessions: HashMap<Number, f64>,
    /// Messages that are not in the timeline.
    elsewhere: Vec<Ranked>,
}

impl Words {
    fn new(timeline: &Timeline, matches: &Matches, neighbours: impl Fn(usize) -> [Option<usize>; 2]) -> Self {
        let mut pooled: HashMap<Number, Vec<f64>> = HashMap::new();
        let (mut own, mut elsewhere) = (Vec::new(), Vec::new());
        for (seq, session, parts) in matches.iter() {
            let best = pooled.entry(session).or_insert_with(|| vec![0.0; parts.len()]);
            best.iter_mut().zip(parts).for_each(|(best, part)| *best = best.max(*part));
            match timeline.said.binary_search_by_key(&seq, |said| said.seq) {
                Ok(at) => own.push((at, parts)),
                Err(_) => elsewhere.push((seq, session, parts.iter().sum::<f64>())),
            }
        }
        own.sort_unstable_by_key(|(at, _)| *at);
        let sessions: HashMap<Number, f64> =
            pooled.into_iter().map(|(session, best)| (session, best.iter().sum())).collect();
        let parts = |at: usize| own.binary_search_by_key(&at, |(at, _)| *at).ok().map(|place| own[place].1);
        let weighed = |at: usize| {
            let (mine, around) = (parts(at), neighbours(at).map(|other| other.and_then(parts)));
            let of_term = |term: usize| {
                let part = |parts: Option<&[f64]>| parts.map_or(0.0, |parts| parts[term]);
                let mine = part(mine);
                let more = |other: Option<&[f64]>| (part(other) - mine).max(0.0);
                mine + BEFORE * more(around[0]) + AFTER * more(around[1])
            };
            (at, (0..matches.terms()).map(of_term).sum::<f64>())
        };
        let mut touched: Vec<usize> =
            own.iter().flat_map(|(at, _)| [Some(*at)].into_iter().chain(neighbours(*at)).flatten()).collect();
        touched.sort_unstable();
        touched.dedup();
        let messages = touched.into_iter().map(weighed).collect();
        let ranked = |(seq, session, sum): (Seq, Number, f64)| {
            let score = sum + SESSION * sessions.get(&session).copied().unwrap_or(0.0);
            Ranked { seq, session, score, around: [None, None] }
        };
        let elsewhere = elsewhere.into_iter().map(ranked).collect();
        Self { messages, sessions, elsewhere }
    }
}
