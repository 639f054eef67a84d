//! the ways to compare a message with a session. Each gives a calibrated probability, so that a band means the same
//! whichever is used. A model that is asked is one more, and belongs to the host.

use crate::judge::{self, Embedder, Stage};
use crate::probability::Probability;
use crate::remark::Remark;
use crate::role::Role;
use crate::semantic::{Relevance, RelevanceMethod};
use jiff::SignedDuration;

/// The judgement that is built in: words first, and the encoder where they are not sure.
#[derive(Clone, Copy, Debug)]
pub struct BuiltIn<'a>(pub &'a Embedder);

/// Keyword overlap: how many of the message's words the session has used before.
#[derive(Clone, Copy, Debug)]
pub struct KeywordOverlap;

/// Embeddings: how near the message's meaning is to what was said.
#[derive(Clone, Copy, Debug)]
pub struct EmbeddingSimilarity<'a>(pub &'a Embedder);

/// Summary comparison: how near the message is to a summary in words.
#[derive(Clone, Copy, Debug)]
pub struct SummaryComparison<'a> {
    /// Tells where texts lie.
    pub embedder: &'a Embedder,
    /// The session's summary.
    pub summary: &'a str,
}

/// A line through log-odds: what a raw number says about belonging.
///
/// Set by hand: with nothing shared a message still belongs about half of the time, so these methods are weak alone, and say so.
#[derive(Clone, Copy, Debug)]
struct Line {
    slope: f32,
    shift: f32,
}

const OVERLAP: Line = Line { slope: 4.0, shift: -0.9 };
const COSINE: Line = Line { slope: 8.0, shift: -2.0 };

impl Line {
    fn score(self, raw: f32, evidence: String) -> Relevance {
        let odds = (self.slope * raw + self.shift).exp();
        Relevance::scored(Probability::new(odds / (1.0 + odds)), evidence)
    }
}

const NOTHING: &str = "no history to compare with";

impl RelevanceMethod for BuiltIn<'_> {
    fn name(&self) -> &'static str {
        "builtin"
    }

    fn relevance(&self, recent: &[Remark], message: &Remark) -> Relevance {
        let by_words = judge::by_words(recent, message);
        let shift = match by_words {
            Some(shift) if shift.stage == Stage::Words => Some(shift),
            Some(_) => judge::by_meaning(self.0, recent, message).or(by_words),
            None => None,
        };
        shift.map_or_else(
            || Relevance::unknown("too little text to tell"),
            |shift| {
                let belongs = shift.after(SignedDuration::ZERO).complement();
                Relevance::scored(belongs, judge::evidence(recent, &message.text))
            },
        )
    }
}

impl RelevanceMethod for KeywordOverlap {
    fn name(&self) -> &'static str {
        "keyword_overlap"
    }

    fn relevance(&self, recent: &[Remark], message: &Remark) -> Relevance {
        if recent.is_empty() {
            return Relevance::unknown(NOTHING);
        }
        // across scripts no word can be shared; that says nothing.
        if !judge::is_comparable(recent, message) {
            return Relevance::unknown("written in another script; words cannot be compared");
        }
        match judge::overlap(recent, message) {
            Some(share) => OVERLAP.score(share, judge::evidence(recent, &message.text)),
            None => Relevance::unknown("too little text to tell"),
        }
    }
}

impl RelevanceMethod for EmbeddingSimilarity<'_> {
    fn name(&self) -> &'static str {
        "embeddings"
    }

    fn relevance(&self, recent: &[Remark], message: &Remark) -> Relevance {
        let spoken = recent.iter().filter(|remark| matches!(remark.role, Role::User | Role::Assistant));
        let spoken: Vec<&str> = spoken.map(|remark| &*remark.text).collect();
        match judge::nearness(self.0, &spoken, &message.text) {
            Some(cosine) => COSINE.score(cosine, format!("meaning is {cosine:.2} alike")),
            None => Relevance::unknown(NOTHING),
        }
    }
}

impl RelevanceMethod for SummaryComparison<'_> {
    fn name(&self) -> &'static str {
        "summary"
    }

    fn relevance(&self, _: &[Remark], message: &Remark) -> Relevance {
        match judge::nearness(self.embedder, &[self.summary], &message.text) {
            Some(cosine) => COSINE.score(cosine, format!("meaning is {cosine:.2} like the summary's")),
            None => Relevance::unknown(NOTHING),
        }
    }
}
