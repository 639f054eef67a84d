//! The two learned outputs: probability, verdict and the band in which the model abstains.

use crate::Probability;

/// A question the model answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Output {
    /// Does an unrelated conversation begin with this message?
    Session,
    /// Does something else begin within the conversation?
    Task,
}

impl Output {
    /// All outputs, in the order of the model's file.
    pub const ALL: [Self; 2] = [Self::Session, Self::Task];

    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Task => "task",
        }
    }
}

/// What the model says about one question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Something new begins.
    Boundary,
    /// It goes on.
    Continues,
    /// The probability lies in the abstain band: the model leans one way and does not vouch for it.
    Abstain,
    /// No history, or too little text.
    Unknown,
}

/// The answer to one question.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// The calibrated probability that something new begins; `None` where it is unknown.
    pub probability: Option<Probability>,
    /// What follows from it.
    pub verdict: Verdict,
    /// Which way it leans with the one threshold, also inside the abstain band.
    pub leans: Lean,
}

/// Which side of the threshold a probability lies on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lean {
    /// At or above it.
    Boundary,
    /// Below it.
    Continues,
}

/// The probabilities between which the model abstains; the same numbers as the bands of 003.
pub const ABSTAIN: std::ops::RangeInclusive<f32> = 0.3..=0.7;

impl Outcome {
    /// Nothing can be said.
    pub const UNKNOWN: Self = Self { probability: None, verdict: Verdict::Unknown, leans: Lean::Continues };

    pub(crate) fn new(probability: Probability, threshold: f32) -> Self {
        let value = probability.get();
        let verdict = if ABSTAIN.contains(&value) {
            Verdict::Abstain
        } else if value > *ABSTAIN.end() {
            Verdict::Boundary
        } else {
            Verdict::Continues
        };
        let leans = if value >= threshold { Lean::Boundary } else { Lean::Continues };
        Self { probability: Some(probability), verdict, leans }
    }
}
