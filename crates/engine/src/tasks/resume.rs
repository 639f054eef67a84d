//! The road of a person who comes back (C-11, C-12), and of a turn that a crash cut off.

use crate::engine::Engine;
use crate::error::Error;
use crate::outcome::Outcome;
use crate::request::{HostCommand, Request};
use crate::words::Language;
use segue_core::Timestamp;
use segue_core::decide::{TaskCommand, TaskVerb};
use segue_core::message::{Message, Role};
use segue_core::scope;
use segue_core::state::State;
use std::collections::BTreeSet;

/// How many of the newest messages are looked at for calls that never got a result.
const NEWEST_MAX: usize = 64;

/// What marks a result that no tool gave.
pub(crate) const CUT_OFF_MARK: &str = "[segue: no result, the turn was cut off]";

impl Engine {
    /// The person has come back. Calls that never got a result are closed first, each by a result that is marked as
    /// made up, so that the model can be asked again.
    pub async fn come_back(&self, scope: &scope::Key, at: Timestamp) -> Result<Outcome, Error> {
        self.come_back_as(scope, at, None).await
    }

    pub(crate) async fn come_back_as(
        &self,
        scope: &scope::Key,
        at: Timestamp,
        by: Option<HostCommand>,
    ) -> Result<Outcome, Error> {
        if let Some(state) = self.find_state(scope).await? {
            self.close_calls(&state, at).await?;
        }
        let command = TaskCommand { session: None, verb: TaskVerb::Resume };
        self.request_as(scope, at, &Request::Task(command), by).await
    }

    async fn close_calls(&self, state: &State, at: Timestamp) -> Result<(), Error> {
        let Some(latest) = state.latest() else { return Ok(()) };
        if state.extras.open_task(latest).is_none() {
            return Ok(());
        }
        for id in self.open_calls(state).await? {
            let message = Message { tool_call_id: Some(id), ..Message::text(CUT_OFF_MARK) };
            self.request(&state.scope, at, &Request::Keep(Role::Tool, message)).await?;
        }
        Ok(())
    }

    /// Lists the calls of the last turn that never got a result: a turn that was cut off has some.
    pub async fn open_calls(&self, state: &State) -> Result<Vec<String>, Error> {
        let Some(latest) = state.latest() else { return Ok(Vec::new()) };
        let told = self.messages(state, latest, NEWEST_MAX).await?;
        let messages = || told.iter().filter_map(|told| told.message.as_ref());
        let answered: BTreeSet<&str> = messages().filter_map(|m| m.tool_call_id.as_deref()).collect();
        let calls = messages().flat_map(|message| &message.tool_calls).map(|call| &call.id);
        Ok(calls.filter(|id| !answered.contains(id.as_str())).cloned().collect())
    }

    /// Shows the task of the latest session as it stands, in a language (C-12).
    pub async fn show_task(
        &self,
        scope: &scope::Key,
        language: Option<Language>,
    ) -> Result<Option<String>, Error> {
        let state = self.state(scope).await?;
        let Some(latest) = state.latest() else { return Ok(None) };
        let mut turn = self.turn(scope.clone(), None, state.clock, "");
        turn.language = language.unwrap_or(turn.language);
        self.presented(&turn, &state, latest).await
    }
}
