//! What came of asking: plain data, for the record of a decision. It holds no text of people or models.

use super::chain::{Chain, Link, NamedBy};
use super::verdict;
use crate::models::{self, Usage};
use serde::{Deserialize, Serialize};

/// What came of asking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Consulted {
    /// The link that answered. When it is the built-in one, its own evidence stands.
    pub answered_by: Link,
    /// How likely the message belongs to the conversation; nothing when no model said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub belongs: Option<f64>,
    /// What was tried before and gave nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<Attempt>,
    /// The hash of what was sent, when anything was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_hash: Option<String>,
    /// The version of the prompt, when anything was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_version: Option<u32>,
    /// The tokens of all tries together.
    #[serde(default)]
    pub usage: Usage,
    /// What they cost, as far as prices are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

impl Consulted {
    /// What came of asking nobody: the names that were skipped are on record.
    pub(super) fn nobody(chain: &Chain) -> Self {
        let skipped = chain.warnings.iter();
        Self {
            answered_by: chain.end().clone(),
            belongs: None,
            attempts: skipped
                .map(|skipped| Attempt { model: skipped.name.clone(), failure: Failure::NotThere })
                .collect(),
            prompt_hash: None,
            prompt_version: None,
            usage: Usage::default(),
            cost: None,
        }
    }

    /// Tells who named the model that answered.
    pub fn source(&self) -> NamedBy {
        self.answered_by.source
    }
}

/// Something that gave nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// The model, by its name.
    pub model: String,
    /// Why it gave nothing.
    pub failure: Failure,
}

/// Why a model gave no verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// There was no answer.
    #[error("{0}")]
    Call(models::Failure),
    /// There was an answer, but not the one that was asked for.
    #[error("the answer is no verdict: {0}")]
    Answer(verdict::Flaw),
    /// It has failed too often, and is left alone for a while.
    #[error("the model has failed too often and is left alone for a while")]
    Resting,
    /// There is no such model.
    #[error("there is no such model")]
    NotThere,
    /// The message speaks to the judge: no model is asked.
    #[error("the message speaks to the judge, so no model is asked")]
    SpeaksToJudge,
}

impl Failure {
    /// Returns the kind, by which failures are counted.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Call(failure) => match failure {
                models::Failure::Timeout => "timeout",
                models::Failure::Unreachable => "unreachable",
                models::Failure::BrokenOff => "broken_off",
                models::Failure::Status(_) => "status",
                models::Failure::TooLong => "too_long",
                models::Failure::Malformed(_) => "malformed",
                models::Failure::Unusable(_) => "unusable",
            },
            Self::Answer(_) => "answer",
            Self::Resting => "resting",
            Self::NotThere => "not_there",
            Self::SpeaksToJudge => "speaks_to_judge",
        }
    }

    /// Tells whether to try again makes sense at once.
    pub(super) fn is_passing(self) -> bool {
        match self {
            Self::Call(failure) => failure.is_passing(),
            Self::Answer(_) => true,
            Self::Resting | Self::NotThere | Self::SpeaksToJudge => false,
        }
    }
}
