//! The one place from which handlers call the engine to change something.

use super::wire::labels;
use crate::app::App;
use crate::problem::Problem;
use segue_core::Timestamp;
use segue_core::decision::Action;
use segue_core::scope;
use segue_core::session::Number;
use segue_core::state::State;
use segue_core::task::intent::MessageIntent;
use segue_engine::route::route;
use segue_engine::{Delivery, HostCommand, Inbound, Outcome, Request, Target};
use std::sync::Arc;
use tokio::time::Instant;

impl App {
    /// Takes a message. When this returns, it is durable.
    pub(crate) async fn receive(
        &self,
        inbound: Inbound,
        intent: Option<MessageIntent>,
    ) -> Result<Outcome, Problem> {
        let begun = Instant::now();
        let outcome = match intent {
            Some(intent) => Box::pin(self.engine.receive_stated(inbound, intent)).await?,
            None => Box::pin(self.engine.receive(inbound)).await?,
        };
        self.count(&outcome, begun);
        if outcome.delivery == Delivery::Failed {
            return Err(Problem::unavailable(outcome.say().unwrap_or_default()));
        }
        Ok(outcome)
    }

    /// Does what is asked of a scope; what the rules refuse is a problem.
    pub(crate) async fn request(&self, scope: &scope::Key, request: &Request) -> Result<Outcome, Problem> {
        self.request_as(scope, request, None).await
    }

    /// The same, once if it has an id.
    pub(crate) async fn request_as(
        &self,
        scope: &scope::Key,
        request: &Request,
        by: Option<HostCommand>,
    ) -> Result<Outcome, Problem> {
        let outcome = self.ask(scope, self.now_in(scope), request, by).await?;
        match outcome.action {
            Action::Refused => Err(refused(&outcome)),
            _ => Ok(outcome),
        }
    }

    /// The same; what the rules refuse is an outcome.
    pub(crate) async fn ask(
        &self,
        scope: &scope::Key,
        at: Timestamp,
        request: &Request,
        by: Option<HostCommand>,
    ) -> Result<Outcome, Problem> {
        let begun = Instant::now();
        let outcome = match by {
            Some(by) => Box::pin(self.engine.request_once(scope, at, request, by)).await?,
            None => Box::pin(self.engine.request(scope, at, request)).await?,
        };
        self.count(&outcome, begun);
        Ok(outcome)
    }

    pub(crate) fn count(&self, outcome: &Outcome, begun: Instant) {
        self.traces.turn(outcome, begun.elapsed(), self.engine.now());
        self.metrics.turns.add(&labels(outcome.action, outcome.cause), 1);
        self.metrics.turn_seconds.observe(&[], begun.elapsed().as_secs_f64());
        if !outcome.options().is_empty() {
            self.metrics.questions.add(&[], 1);
        }
    }

    /// Returns the time in a scope: that of the host's messages, where they have one of their own.
    pub(crate) fn now_in(&self, scope: &scope::Key) -> Timestamp {
        self.clocks.now(scope, self.engine.now())
    }

    /// Finds the scope that a message falls into.
    pub(crate) fn scope_of(&self, target: &Target) -> scope::Key {
        match target {
            Target::Scope(scope) => scope.clone(),
            Target::Address(address) => route(&self.engine.config().routing, address),
        }
    }

    /// Loads the state of a scope.
    pub(crate) async fn state(&self, scope: &scope::Key) -> Result<Arc<State>, Problem> {
        Ok(self.engine.state(scope).await?)
    }

    /// Loads the state of a scope, and makes sure that a session is there.
    pub(crate) async fn session(
        &self,
        scope: &scope::Key,
        number: u32,
    ) -> Result<(Arc<State>, Number), Problem> {
        let state = self.state(scope).await?;
        let number = Number(number);
        match state.live(number) {
            Some(_) => Ok((state, number)),
            None => Err(no_session(scope, number)),
        }
    }
}

/// Says that there is no such session.
pub(crate) fn no_session(scope: &scope::Key, number: Number) -> Problem {
    Problem::not_found(format!("there is no session {number} in {scope}"))
}

/// Says that the rules refuse it.
pub(crate) fn refused(outcome: &Outcome) -> Problem {
    let detail = outcome.reply.clone().or_else(|| outcome.notice.clone());
    Problem::refused(detail.unwrap_or_else(|| "the rules refuse it".to_owned()))
}
