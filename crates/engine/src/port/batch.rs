//! Many messages of an import in one commit: with a commit each, thousands of them take minutes where syncs are slow.

use super::Taken;
use super::importing::holds_a_message;
use crate::engine::Engine;
use crate::error::Error;
use crate::turn::effects::Purge;
use segue_core::decide::{Circumstances, Command};
use segue_core::scope;
use segue_core::session::Number;
use segue_store::{Append, settle};
use std::collections::VecDeque;

/// How many messages share a commit: many enough for a slow disk, few enough for those who wait meanwhile.
const MESSAGES_MAX: usize = 256;

impl Engine {
    /// Takes over the next messages of an import into its session, as long as that is latest and nothing comes between,
    /// and tells how many. The first that is left needs the ordinary road: it is known, say, or somebody else was faster.
    pub(super) async fn keep_more(
        &self,
        scope: &scope::Key,
        session: Number,
        rest: &mut VecDeque<Taken>,
    ) -> Result<usize, Error> {
        let mut kept = 0;
        loop {
            let count = rest.len().min(MESSAGES_MAX);
            let written = self.keep_some(scope, session, rest.iter().take(count)).await?;
            rest.drain(..written);
            kept += written;
            if written < count || count == 0 {
                return Ok(kept);
            }
        }
    }

    /// Each is decided on the one before and is an append of its own: a crash leaves the first ones, and the next import
    /// goes on behind them.
    async fn keep_some(
        &self,
        scope: &scope::Key,
        session: Number,
        messages: impl Iterator<Item = &Taken>,
    ) -> Result<usize, Error> {
        let mut entered = self.scopes.enter(scope).await;
        let mut prior = entered.state(self.store.as_ref()).await?;
        if prior.latest() != Some(session) || holds_a_message(&prior) {
            return Ok(0);
        }
        let (mut appends, mut decisions) = (Vec::new(), Vec::new());
        for Taken { at, role, message, .. } in messages {
            let turn = self.turn(scope.clone(), None, *at, "");
            let fresh = self.ids.fresh(turn.at);
            let circumstances = Circumstances { now: turn.at, fresh, spoken: turn.spoken };
            let command = Command::Keep { role: *role, message: message.clone() };
            let Ok(mut decided) = self.decide(&prior, &turn.policy, command, &circumstances).await? else {
                break;
            };
            // What does more than keep a message has more to be done for it.
            if decided.records.is_empty()
                || decided.opened(&prior).is_some()
                || decided.swept().next().is_some()
            {
                break;
            }
            let append = Append::of(fresh.into(), prior, &mut decided, message.message_id.clone());
            prior = append.next.clone();
            appends.push(append);
            decisions.push(decided);
        }
        // The next turn reads the scope again.
        entered.forget();
        let (written, done) = settle::append_many(self.store.as_ref(), appends).await;
        drop(entered);
        for decided in decisions.iter_mut().take(written) {
            self.carry_out(decided, Purge::Later).await;
        }
        match done {
            Ok(()) | Err(segue_store::Error::Conflict { .. } | segue_store::Error::Duplicate { .. }) => {
                Ok(written)
            }
            Err(error) => Err(error.into()),
        }
    }
}
