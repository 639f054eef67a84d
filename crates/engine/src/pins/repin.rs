//! Holding a session to something else, on request only.

use super::capture::{self, own_agent};
use super::read::At;
use crate::engine::Engine;
use crate::error::Error;
use crate::request::{Refused, Request, pick_session};
use segue_core::decide::Command;
use segue_core::pins::{Capture, Change, Texts};
use segue_core::scope;
use segue_core::session::Number;
use segue_core::state::State;
use std::collections::BTreeSet;

/// The judgement that is built in, by its name among control models.
const BUILTIN: &str = "builtin";

/// What a session is to be held to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repin {
    /// An agent of the configuration.
    Agent(String),
    /// The skills as they are now.
    Skills,
    /// The persona as it is now.
    Persona,
    /// A model of the configuration.
    Model(String),
    /// What another session was held to, in another store.
    All(Box<Capture>),
}

impl Engine {
    /// Finds out what a request means for a scope as it is.
    pub(crate) async fn resolve(
        &self,
        request: &Request,
        state: &State,
    ) -> Result<Result<Command, Refused>, Error> {
        let (pick, repin) = match request {
            Request::Pin(pick, repin) => (pick, repin),
            // Only names of the configuration: the log keeps them for good, so nothing else may stand there.
            Request::Control(_, Some(name)) if !self.is_control_model(name) => {
                let known = self.config.models.keys().cloned().chain([BUILTIN.to_owned()]).collect();
                return Ok(Err(Refused::NoModel { name: name.clone(), known }));
            }
            _ => return Ok(request.resolve(self.store.as_ref(), state).await?),
        };
        let session = match pick_session(state, *pick) {
            Ok(session) => session,
            Err(refused) => return Ok(Err(refused)),
        };
        let change = match Box::pin(self.change(&state.scope, repin)).await {
            Ok(change) => Box::new(change),
            Err(refused) => return Ok(Err(refused)),
        };
        let texts = if self.is_readable(state, session).await { Texts::Known } else { Texts::Anew };
        Ok(Ok(Command::Pin { session, change, texts }))
    }

    /// Tells whether a model can help to decide.
    fn is_control_model(&self, name: &str) -> bool {
        name == BUILTIN || self.config.models.contains_key(name)
    }

    /// Tells whether all that a session is pinned to can be read. What cannot is not pointed at again.
    async fn is_readable(&self, state: &State, session: Number) -> bool {
        self.pinned(state, session).await.is_ok() && self.bodies(At { state, session }).await.is_ok()
    }

    async fn change(&self, scope: &scope::Key, repin: &Repin) -> Result<Change, Refused> {
        Ok(match repin {
            Repin::All(capture) => Change::All(capture.as_ref().clone()),
            Repin::Agent(name) => {
                let known = self.agents(scope);
                let Some(name) = named(&known, name) else {
                    return Err(Refused::NoAgent { name: name.clone(), known: known.into_iter().collect() });
                };
                Change::Agent(capture::agent(&self.config, scope, name))
            }
            Repin::Model(name) => {
                let known: BTreeSet<String> = self.config.models.keys().cloned().collect();
                let Some(name) = named(&known, name) else {
                    return Err(Refused::NoModel { name: name.clone(), known: known.into_iter().collect() });
                };
                Change::Model(Some(capture::model(&self.config, name)))
            }
            Repin::Skills => match self.ask_host(|host| host.skills()).await {
                Some(loaded) => Change::Skills(capture::skills_of(loaded)),
                None => return Err(Refused::NoHost),
            },
            Repin::Persona => match self.ask_host(|host| host.persona()).await {
                Some(Ok(persona)) => Change::Persona(capture::persona_of(persona)),
                Some(Err(error)) => return Err(Refused::Persona(error)),
                None => return Err(Refused::NoHost),
            },
        })
    }

    /// Lists the agents that a session of a scope can be given: those of the configuration, and its own.
    pub fn agents(&self, scope: &scope::Key) -> BTreeSet<String> {
        let configured = self.config.agents.named.keys().cloned();
        configured.chain([own_agent(scope).to_owned()]).collect()
    }
}

/// Finds a name, upper and lower case alike where that leaves no doubt.
fn named<'a>(known: &'a BTreeSet<String>, name: &str) -> Option<&'a String> {
    let mut alike = known.iter().filter(|known| known.to_lowercase() == name.to_lowercase());
    known.get(name).or_else(|| alike.next().filter(|_| alike.next().is_none()))
}
