//! Values that tell what was said in a scope: an erasure there deletes them. One that is written after the erasure, by who had
//! read before it, must not stay.

use crate::app::App;
use crate::problem::Problem;
use crate::values::Space;
use segue_core::Timestamp;
use segue_core::decision::Action;
use segue_core::entry::{Body, Kind, Record, Seq};
use segue_core::scope;
use segue_engine::Outcome;
use segue_store::values::{message_key, words_key};
use serde::Serialize;

/// How many entries are looked through at a time.
const ENTRIES: usize = 200;

impl App {
    /// Tells where a scope's log ends now. What is read from here on holds nothing that was erased before.
    pub(crate) async fn head_of(&self, scope: &scope::Key) -> Result<Seq, Problem> {
        Ok(self.engine.store().head(scope).await?.unwrap_or(Seq::ZERO))
    }

    /// Tells behind which entry an erasure is not a turn's own: its decision, if nobody else erased anything before. What a
    /// turn drops itself is no reason not to keep its answer, which was made knowing that.
    pub(crate) async fn behind_own(&self, scope: &scope::Key, since: Seq, outcome: &Outcome) -> Seq {
        let may_drop = !outcome.dropped.is_empty() || outcome.action == Action::Command;
        let Some(about) = outcome.seq.filter(|about| may_drop && *about > since) else { return since };
        match self.engine.store().tail(scope, since, ENTRIES).await {
            Ok(records) => end_of_own(&records, about).unwrap_or(since),
            // The turn is durable. The worst is that its answer is not kept.
            Err(error) => {
                tracing::warn!(%error, "what a turn has dropped itself cannot be told from erasures");
                since
            }
        }
    }

    /// Keeps what was made of what is said in a scope, unless something was erased there behind an entry.
    pub(crate) async fn keep_words<T: Serialize>(
        &self,
        scope: &scope::Key,
        since: Seq,
        name: &str,
        words: &T,
        expires: Option<Timestamp>,
    ) -> Result<(), Problem> {
        self.keep_unless_erased(scope, since, &words_key(scope, name), words, expires).await
    }

    /// Keeps what tells more of one message, unless that was erased meanwhile.
    pub(crate) async fn keep_of_message<T: Serialize>(
        &self,
        scope: &scope::Key,
        seq: Seq,
        more: &T,
    ) -> Result<(), Problem> {
        self.keep_unless_erased(scope, seq, &message_key(scope, seq), more, None).await
    }

    async fn keep_unless_erased<T: Serialize>(
        &self,
        scope: &scope::Key,
        since: Seq,
        key: &str,
        words: &T,
        expires: Option<Timestamp>,
    ) -> Result<(), Problem> {
        if self.was_erased(scope, since).await? {
            return Ok(());
        }
        self.values.put(Space::Words, key, words, expires).await?;
        // An erasure is in the log before it deletes values: whichever of the two is later sees the other one.
        if self.was_erased(scope, since).await? {
            self.values.delete(Space::Words, key).await?;
            self.engine.purge().await;
        }
        Ok(())
    }

    async fn was_erased(&self, scope: &scope::Key, since: Seq) -> Result<bool, Problem> {
        let mut after = since;
        loop {
            let records = self.engine.store().tail(scope, after, ENTRIES).await?;
            let Some(last) = records.last() else { return Ok(false) };
            after = last.seq;
            if records.iter().any(erases) {
                return Ok(true);
            }
        }
    }
}

fn erases(record: &Record) -> bool {
    matches!(record.kind, Kind::Erased | Kind::Deleted | Kind::Pruned)
}

/// Finds the decision about an entry, unless something was erased before that entry. Both are of one append, so that nobody
/// else's entries lie between them.
fn end_of_own(records: &[Record], about: Seq) -> Option<Seq> {
    let is_others = |record: &&Record| record.seq < about && erases(record);
    let is_about =
        |record: &&Record| matches!(record.body(), Ok(Body::Decision(decision)) if decision.about == about);
    match records.iter().find(is_others) {
        Some(_) => None,
        None => records.iter().find(is_about).map(|record| record.seq),
    }
}
