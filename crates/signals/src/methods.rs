//! the other ways to compare a message with a session. Each gives a calibrated probability, so
//! that a band means the same whichever is used.

use crate::classifier::Classifier;
use crate::evidence;
use crate::features::overlap;
use crate::model::network::sigmoid;
use crate::probability::Probability;
use crate::profile::Profile;
use crate::semantic::{Relevance, RelevanceMethod};
use crate::text::Window;

/// Keyword overlap: how much of the message's weight the session has used before.
#[derive(Clone, Copy, Debug)]
pub struct KeywordOverlap<'a>(pub &'a Classifier);

/// Embeddings: how near the message's meaning is to the session's.
#[derive(Clone, Copy, Debug)]
pub struct EmbeddingSimilarity<'a>(pub &'a Classifier);

/// Summary comparison: how near the message is to a summary in words.
#[derive(Clone, Copy, Debug)]
pub struct SummaryComparison<'a> {
    /// Reads the texts.
    pub classifier: &'a Classifier,
    /// The session's summary.
    pub summary: &'a str,
}

/// A line through log-odds: what a raw number says about belonging.
///
/// Fitted by hand to the train parts, where nine turns in ten belong: with nothing shared a message
/// still belongs about half of the time, so these methods are weak alone, and say so.
#[derive(Clone, Copy, Debug)]
struct Line {
    slope: f32,
    shift: f32,
}

const OVERLAP: Line = Line { slope: 4.0, shift: 0.3 };
const COSINE: Line = Line { slope: 5.0, shift: 0.2 };

impl Line {
    fn score(self, raw: f32, evidence: String) -> Relevance {
        Relevance::scored(Probability::new(sigmoid(self.slope * raw + self.shift)), evidence)
    }
}

impl RelevanceMethod for KeywordOverlap<'_> {
    fn name(&self) -> &'static str {
        "keyword_overlap"
    }

    fn relevance(&self, profile: &Profile, text: &str) -> Relevance {
        let read = self.0.reader().read(text, Window::MESSAGE);
        if profile.messages() == 0 {
            return Relevance::unknown("no history to compare with");
        }
        // across scripts no word can be shared; that says nothing.
        if !profile.scripts.comparable(read.scripts) {
            return Relevance::unknown("written in another script; words cannot be compared");
        }
        let found = overlap(profile, &read);
        if found.content == 0 {
            return Relevance::unknown("too little text to tell");
        }
        OVERLAP.score(found.seen / found.weight - 0.3, evidence::sentence(profile, &read))
    }
}

impl RelevanceMethod for EmbeddingSimilarity<'_> {
    fn name(&self) -> &'static str {
        "embeddings"
    }

    fn relevance(&self, profile: &Profile, text: &str) -> Relevance {
        let read = self.0.reader().read(text, Window::MESSAGE);
        let near = [&profile.fast, &profile.slow, &profile.summary];
        let best = near.iter().filter_map(|vector| read.terms.vector.cosine(vector)).reduce(f32::max);
        match best {
            Some(cosine) => COSINE.score(cosine - 0.15, format!("meaning is {cosine:.2} alike")),
            None => Relevance::unknown("nothing to compare"),
        }
    }
}

impl RelevanceMethod for SummaryComparison<'_> {
    fn name(&self) -> &'static str {
        "summary"
    }

    fn relevance(&self, _: &Profile, text: &str) -> Relevance {
        let reader = self.classifier.reader();
        let (message, summary) =
            (reader.read(text, Window::MESSAGE), reader.read(self.summary, Window::HISTORY));
        match message.terms.vector.cosine(&summary.terms.vector) {
            Some(cosine) => COSINE.score(cosine - 0.15, format!("meaning is {cosine:.2} like the summary's")),
            None => Relevance::unknown("nothing to compare"),
        }
    }
}
