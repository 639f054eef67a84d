//! The way back from imports: the person goes on where they were.

use crate::engine::Engine;
use crate::error::Error;
use segue_core::decide::{Circumstances, Command};
use segue_core::scope;
use segue_core::session::{Number, Origin};
use segue_core::state::State;
use segue_core::undo::Boundary;
use segue_store::{Append, settle};

/// How often it is looked at again because others were faster.
const TRIES_MAX: usize = 64;

impl Engine {
    /// Goes back from imported sessions in which nobody has talked to the one that the person was in. Where nobody has talked
    /// in any, or somebody does in the last one, it stays.
    pub(super) async fn go_back(&self, scope: &scope::Key) -> Result<(), Error> {
        for _ in 0..TRIES_MAX {
            // Nobody can begin to talk between the look and the step.
            let mut entered = self.scopes.enter(scope).await;
            let Some(mut prior) = entered.checked(self.store.as_ref()).await? else { return Ok(()) };
            let mut appends = Vec::new();
            for _ in 0..self.steps_back(&prior).await? {
                let turn = self.turn(scope.clone(), None, prior.clock, "");
                let fresh = self.ids.fresh(turn.at);
                let circumstances = Circumstances { now: turn.at, fresh, spoken: turn.spoken };
                let decided = self.decide(&prior, &turn.policy, Command::EndImport, &circumstances).await?;
                let append = Append::of(fresh.into(), prior, &mut decided?, None);
                prior = append.next.clone();
                appends.push(append);
            }
            if appends.is_empty() {
                return Ok(());
            }
            // The next turn reads the scope again.
            entered.forget();
            match settle::append_many(self.store.as_ref(), appends).await.1 {
                Err(segue_store::Error::Conflict { .. }) => {}
                done => return Ok(done?),
            }
        }
        Err(Error::Busy { scope: scope.clone() })
    }

    /// Counts the imports that lead from the latest session back to the one that the person was in.
    async fn steps_back(&self, state: &State) -> Result<usize, Error> {
        let Some(mut at) = state.latest() else { return Ok(0) };
        if self.is_talked_in(state, at).await? {
            return Ok(0);
        }
        for (steps, boundary) in (1..).zip(state.boundaries.iter().rev()) {
            match boundary {
                Boundary::Created { from, to, .. } if *to == at && state.live(*from).is_some() => at = *from,
                _ => break,
            }
            if self.is_talked_in(state, at).await? {
                return Ok(steps);
            }
        }
        Ok(0)
    }

    /// Tells whether a session is the person's: no import has opened it, or they have talked in it.
    async fn is_talked_in(&self, state: &State, session: Number) -> Result<bool, Error> {
        let is_own = state.live(session).is_some_and(|session| session.origin != Origin::Import);
        Ok(is_own || self.last_turned(state, session).await?.is_some())
    }
}
