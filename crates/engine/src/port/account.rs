//! What became of every record of a file: it was taken over, or it is counted under a reason that has a name.

use super::transcript::Bad;
use std::collections::BTreeMap;

/// What became of one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is a message, or a part of one.
    Taken,
    /// It is no message: a setting, a snapshot, a counter.
    LeftOut(String),
    /// It cannot be read.
    Bad(String),
}

impl Verdict {
    pub(super) fn left_out(reason: impl Into<String>) -> Self {
        Self::LeftOut(reason.into())
    }

    pub(super) fn bad(why: impl Into<String>) -> Self {
        Self::Bad(why.into())
    }
}

/// What became of all records of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Account {
    /// How many records there are; mostly one a line.
    pub records: usize,
    /// How many of them are messages, or parts of messages.
    pub taken: usize,
    /// How many of them are no messages, by reason.
    pub left_out: BTreeMap<String, usize>,
    /// Those that cannot be read.
    pub bad: Vec<Bad>,
}

impl Account {
    pub(super) fn enter(&mut self, line: usize, verdict: Verdict) {
        self.records += 1;
        match verdict {
            Verdict::Taken => self.taken += 1,
            Verdict::LeftOut(reason) => *self.left_out.entry(reason).or_default() += 1,
            Verdict::Bad(why) => self.bad.push(Bad { line, why }),
        }
    }

    /// Tells whether every record is accounted for.
    pub fn is_balanced(&self) -> bool {
        self.records == self.taken + self.left_out.values().sum::<usize>() + self.bad.len()
    }

    /// Returns how many records are no messages, for whatever reason.
    pub fn passed_over(&self) -> usize {
        self.left_out.values().sum()
    }

    /// Returns how many records are of branches that were given up.
    pub fn given_up(&self) -> usize {
        self.left_out.get(super::GIVEN_UP).copied().unwrap_or_default()
    }
}
