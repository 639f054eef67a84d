//! Says what a request would do, and changes nothing.

use crate::commands;
use crate::engine::{Engine, Turn};
use crate::error::Error;
use crate::request::Request;
use crate::words;
use segue_core::Timestamp;
use segue_core::decide::Circumstances;
use segue_core::scope;
use segue_core::session::Number;

impl Engine {
    /// Says why a request would be refused now; nothing if it would be done. Nothing is changed.
    pub async fn would_refuse(
        &self,
        scope: &scope::Key,
        at: Timestamp,
        request: &Request,
    ) -> Result<Option<String>, Error> {
        let (state, turn) = (self.state(scope).await?, self.turn(scope.clone(), None, at, ""));
        let refused = match self.resolve(request, &state).await? {
            Err(refused) => Some(refused),
            Ok(command) => {
                let fresh = self.ids.fresh(turn.at);
                let circumstances = Circumstances { now: turn.at, fresh, spoken: None };
                let decided = self.decide(&state, &turn.policy, command, &circumstances).await?;
                decided.err().map(Into::into)
            }
        };
        Ok(refused.map(|refused| commands::refused(turn.language, &state, Some(request), &refused)))
    }

    /// Tells what a session holds that is about to be deleted. It is told, and written nowhere.
    pub(crate) async fn held(&self, turn: &Turn, number: Number) -> Result<Option<String>, Error> {
        let Some(state) = self.find_state(&turn.scope).await? else { return Ok(None) };
        if state.live(number).is_none() {
            return Ok(None);
        }
        let zone = self.config.time_zone_for(&turn.scope, None);
        Ok(Some(words::held(turn.language, &self.describe(&state, number).await?, &zone)))
    }
}
