//! how much a message belongs to the session, with bands that mean the same for every method.

use crate::Probability;
use crate::remark::Remark;

/// The bands of 003 over the probability that a message belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Band {
    /// Above 0.7: it belongs.
    High,
    /// Between: look at other signals.
    Medium,
    /// Below 0.3: it does not belong.
    Low,
    /// No history, or too little text to tell; never the cause of a boundary.
    Unknown,
}

impl Band {
    /// The band of a score.
    #[must_use]
    pub fn of(score: Probability) -> Self {
        let score = score.get();
        if score > 0.7 {
            Self::High
        } else if score < 0.3 {
            Self::Low
        } else {
            Self::Medium
        }
    }
}

/// What a method found.
#[derive(Clone, Debug, PartialEq)]
pub struct Relevance {
    /// The probability that the message belongs to the session; `None` where it is unknown.
    pub score: Option<Probability>,
    /// The band of the score.
    pub band: Band,
    /// How sure the method is of the band.
    pub confidence: Probability,
    /// One sentence, such as "shares: parser, input; 2 of 9 words new".
    pub evidence: String,
}

impl Relevance {
    /// Nothing can be said, and why.
    #[must_use]
    pub fn unknown(why: &str) -> Self {
        Self { score: None, band: Band::Unknown, confidence: Probability::ZERO, evidence: why.to_owned() }
    }

    /// A score with its band; the confidence is the distance from not knowing.
    #[must_use]
    pub fn scored(score: Probability, evidence: String) -> Self {
        let confidence = Probability::new((score.get() - 0.5).abs() * 2.0);
        Self { score: Some(score), band: Band::of(score), confidence, evidence }
    }
}

/// one way to compare a message with a session. Each is replaceable: implement this for
/// another encoder or for a model, and return a calibrated probability.
pub trait RelevanceMethod: Send + Sync {
    /// The name that decision records carry.
    fn name(&self) -> &'static str;

    /// Compares a message with what was said in the session before it, oldest first.
    fn relevance(&self, recent: &[Remark], message: &Remark) -> Relevance;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r1_bands_are_strict_as_pinned() {
        let band = |score| Band::of(Probability::new(score));
        assert_eq!(band(0.71), Band::High);
        assert_eq!(band(0.7), Band::Medium);
        assert_eq!(band(0.3), Band::Medium);
        assert_eq!(band(0.29), Band::Low);
    }
}
