//! Capturing: from the configuration and the host's files to what a session is pinned to.

use super::Host;
use crate::config::{self, Config};
use crate::engine::Engine;
use crate::persona::{self, Persona};
use crate::route::agent_of;
use crate::skills::Loaded;
use segue_core::pins::{self, Capture, Model};
use segue_core::scope;
use std::sync::Arc;

/// The agent of a scope whose key names none.
const MAIN: &str = "main";

/// Returns the agent that a scope's key names.
pub(crate) fn own_agent(scope: &scope::Key) -> &str {
    agent_of(scope).filter(|agent| !agent.is_empty()).unwrap_or(MAIN)
}

/// The model that answers where nobody has ever named another one.
pub(super) const USUAL_MODEL: &str = "main";

/// What the files say now.
pub(crate) struct Files {
    pub(crate) persona: Result<Persona, persona::Error>,
    pub(crate) skills: Loaded,
}

impl Engine {
    /// Reads the host's files; nothing if there is no host.
    pub(crate) async fn files(&self) -> Option<Files> {
        let read = |host: &dyn Host| Files { persona: host.persona(), skills: host.skills() };
        self.ask_host(read).await
    }

    /// Asks the host on a thread that may wait for the disk.
    pub(super) async fn ask_host<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&dyn Host) -> T + Send + 'static,
    ) -> Option<T> {
        let host = Arc::clone(self.host.as_ref()?);
        match tokio::task::spawn_blocking(move || ask(host.as_ref())).await {
            Ok(answer) => Some(answer),
            Err(error) => {
                tracing::error!(%error, "the host could not be asked");
                None
            }
        }
    }

    /// Takes in what a session of a scope is pinned to when it opens (L-9). A message is never refused because of
    /// it: what is wrong with a file is a diagnostic.
    pub(crate) async fn capture(&self, scope: &scope::Key) -> Capture {
        let (persona, skills) = match self.files().await {
            Some(files) => {
                (persona_of(files.persona.unwrap_or_else(Persona::refused)), skills_of(files.skills))
            }
            None => (None, None),
        };
        let own = own_agent(scope);
        Capture {
            agent: agent(&self.config, scope, own),
            skills,
            persona,
            model: usual_model(&self.config, own),
        }
    }
}

/// Returns the pin of an agent; nothing if it is the scope's own and is told nothing.
pub(super) fn agent(config: &Config, scope: &scope::Key, name: &str) -> Option<pins::Agent<String>> {
    let own = config.agents.named.get(name).and_then(|agent| agent.instructions.clone());
    let instructions = own.or_else(|| config.agents.instructions.clone());
    let plain = instructions.is_none() && name == own_agent(scope);
    (!plain).then(|| pins::Agent { name: name.to_owned(), instructions })
}

/// Returns the pin of the model that an agent answers with; nothing if none was ever named.
fn usual_model(config: &Config, agent: &str) -> Option<Model> {
    let own = config.agents.named.get(agent).and_then(|agent| agent.model.clone());
    let name = own.unwrap_or_else(|| config.agents.model.clone());
    let plain = name == USUAL_MODEL && !config.models.contains_key(&name);
    (!plain).then(|| model(config, &name))
}

/// Returns the pin of a model as it is configured now.
pub(super) fn model(config: &Config, name: &str) -> Model {
    match config.models.get(name) {
        None => Model::named(name),
        Some(config::Model { model, temperature, thinking, verbosity, .. }) => Model {
            name: name.to_owned(),
            id: Some(model.clone()),
            temperature: *temperature,
            thinking: *thinking,
            verbosity: *verbosity,
        },
    }
}

/// Returns the pin of a persona; nothing if there is none, and nothing to be said about that.
pub(super) fn persona_of(persona: Persona) -> Option<pins::Persona<String>> {
    let worth_a_word = |diagnostic: &persona::Diagnostic| !diagnostic.is_absence();
    if persona.parts.is_empty() && !persona.diagnostics.iter().any(worth_a_word) {
        return None;
    }
    Some(pins::Persona { version: persona.version, files: written(&persona)? })
}

/// Returns the pin of skills; nothing if there are none, and nothing to be said about that.
pub(super) fn skills_of(loaded: Loaded) -> Option<pins::Skills<String>> {
    let Loaded { snapshot, bodies } = loaded;
    if snapshot.skills.is_empty() && snapshot.diagnostics.is_empty() {
        return None;
    }
    let bodies = if bodies.is_empty() { None } else { written(&bodies) };
    Some(pins::Skills { version: snapshot.version.0, index: written(&snapshot)?, bodies })
}

/// Texts, numbers and lists can always be written as JSON.
fn written(value: &impl serde::Serialize) -> Option<String> {
    serde_json::to_string(value).inspect_err(|error| tracing::error!(%error, "a pin cannot be written")).ok()
}
