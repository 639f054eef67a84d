//! What control models were asked, and what it cost, since the program began.

use super::consulted::Failure;
use crate::models::Usage;
use serde::Serialize;
use std::collections::BTreeMap;

/// What was counted.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Counters {
    /// By the model's name.
    pub models: BTreeMap<String, Tally>,
    /// How often a name was skipped because there is no such model.
    pub not_there: u64,
}

/// What was counted for one model.
#[derive(Debug, Clone, PartialEq, Default, Serialize)]
pub struct Tally {
    /// Questions that were sent.
    pub calls: u64,
    /// Verdicts, "unsure" among them.
    pub verdicts: u64,
    /// Verdicts that were "unsure".
    pub unsure: u64,
    /// Titles of sessions.
    pub titles: u64,
    /// What gave nothing, by [`Failure::kind`]; also what was not even sent.
    pub failures: BTreeMap<&'static str, u64>,
    /// Tokens.
    pub usage: Usage,
    /// What the tokens cost, as far as prices are known.
    pub cost: f64,
}

impl Tally {
    pub(super) fn fail(&mut self, failure: Failure) {
        *self.failures.entry(failure.kind()).or_default() += 1;
    }
}
