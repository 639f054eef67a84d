//! The staging pointer: what was observed and is in no work commit yet (C-7).

use crate::entry::Seq;
use crate::task::commit::CommitId;
use crate::task::observation::Observation;
use serde::{Deserialize, Serialize};

/// Where a task's work stands: the last work commit, and what was observed since.
///
/// It holds numbers only. The observations are in the log from [`Staging::first`] on, so the pointer costs the same
/// whatever was observed, and is there again once the log is folded.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Staging {
    /// The last work commit; nothing before the first flush.
    pub head: Option<CommitId>,
    /// How many steps were flushed.
    pub steps: u32,
    /// The first observation that is in no work commit.
    pub first: Option<Seq>,
    /// How many observations are in no work commit.
    pub staged: u32,
    /// How many of those are meaningful work.
    pub meaningful: u32,
}

impl Staging {
    /// Adds an observation that was written to the log.
    pub fn stage(&mut self, seq: Seq, observation: &Observation) {
        self.first = self.first.or(Some(seq));
        self.staged = self.staged.saturating_add(1);
        self.meaningful = self.meaningful.saturating_add(u32::from(observation.is_meaningful()));
    }

    /// Notes that everything that was staged is in a work commit now.
    pub fn flush(&mut self, commit: CommitId) {
        *self = Self { head: Some(commit), steps: self.steps.saturating_add(1), ..Self::default() };
    }

    /// Tells whether there is nothing to flush.
    pub fn is_empty(&self) -> bool {
        self.staged == 0
    }

    /// Tells whether something was done that must not be thrown away when another task begins (C-10).
    pub fn has_meaningful_work(&self) -> bool {
        self.steps > 0 || self.meaningful > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Digest;
    use crate::task::blob::Blob;
    use crate::task::path::WorkPath;

    #[test]
    fn c7_the_pointer_counts_and_a_flush_empties_it() {
        let mut staging = Staging::default();
        let path = WorkPath::new("a").unwrap();
        staging.stage(Seq(5), &Observation::FileRead { path, content: Blob::of(b"") });
        assert!(!staging.has_meaningful_work() && !staging.is_empty());
        staging.stage(Seq(6), &Observation::Plan { text: "p".into() });
        assert!(staging.has_meaningful_work());
        assert_eq!((staging.first, staging.staged), (Some(Seq(5)), 2));
        let id = CommitId(Digest::of_body(b"commit"));
        staging.flush(id);
        assert_eq!((staging.head, staging.steps, staging.first, staging.staged), (Some(id), 1, None, 0));
        assert!(staging.is_empty() && staging.has_meaningful_work());
    }
}
