//! Drift: what is different by now from what a session took in. It is reported and never taken in by itself (L-4,
//! L-11).

use super::capture::{self, Files};
use super::read::Pinned;
use crate::engine::Engine;
use crate::error::Error;
use crate::persona::{self, Persona};
use crate::skills;
use segue_core::session::Number;
use segue_core::state::State;
use serde::Serialize;

/// How something differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// It was not there when the session began.
    Added,
    /// It is another one.
    Changed,
    /// It is not there any more.
    Removed,
}

/// One difference between what a session is pinned to and what is there now.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "field", rename_all = "snake_case")]
pub enum Drifted {
    /// The agent, in the configuration.
    ActiveAgent {
        /// Its name.
        name: String,
        /// How.
        how: How,
    },
    /// A skill, on disk.
    SkillSnapshot {
        /// Its name.
        name: String,
        /// How.
        how: How,
    },
    /// A file of the persona, on disk.
    Persona {
        /// The file.
        name: persona::Name,
        /// How.
        how: How,
    },
    /// The persona cannot be taken in as it is now.
    PersonaRefused {
        /// Why.
        why: String,
    },
    /// The model, in the configuration.
    ModelConfig {
        /// Its name.
        name: String,
        /// How.
        how: How,
    },
}

impl Engine {
    /// Compares what a session is pinned to with what is there now.
    pub async fn drift(&self, state: &State, session: Number) -> Result<Vec<Drifted>, Error> {
        let pinned = self.pinned(state, session).await?;
        let mut found: Vec<Drifted> = self.agent_drift(state, &pinned).into_iter().collect();
        if let Some(Files { persona, skills }) = self.files().await {
            found.extend(skills::drift(&pinned.skills, &skills.snapshot).into_iter().map(skill));
            found.extend(persona_drift(&pinned.persona, persona));
        }
        found.extend(self.model_drift(&pinned));
        Ok(found)
    }

    fn agent_drift(&self, state: &State, pinned: &Pinned) -> Option<Drifted> {
        let name = pinned.agent.clone();
        if !self.agents(&state.scope).contains(&name) {
            return Some(Drifted::ActiveAgent { name, how: How::Removed });
        }
        let now = capture::agent(&self.config, &state.scope, &name).and_then(|agent| agent.instructions);
        let same = pinned.instructions.as_deref() == now.as_deref();
        (!same).then_some(Drifted::ActiveAgent { name, how: How::Changed })
    }

    fn model_drift(&self, pinned: &Pinned) -> Option<Drifted> {
        let now = capture::model(&self.config, &pinned.model.name);
        let how = match (&pinned.model.id, &now.id) {
            _ if pinned.model == now => return None,
            (None, Some(_)) => How::Added,
            (Some(_), None) => How::Removed,
            (Some(_), Some(_)) | (None, None) => How::Changed,
        };
        Some(Drifted::ModelConfig { name: now.name, how })
    }
}

fn skill(drift: skills::Drift) -> Drifted {
    let how = match &drift {
        skills::Drift::Added { .. } => How::Added,
        skills::Drift::Removed { .. } => How::Removed,
        skills::Drift::Changed { .. } => How::Changed,
    };
    Drifted::SkillSnapshot { name: drift.skill().to_owned(), how }
}

fn persona_drift(then: &Persona, now: Result<Persona, persona::Error>) -> Vec<Drifted> {
    let now = match now {
        Ok(now) => now,
        Err(error) => return vec![Drifted::PersonaRefused { why: error.to_string() }],
    };
    let how = |name| match (then.part(name), now.part(name)) {
        (None, _) => How::Added,
        (Some(_), None) => How::Removed,
        (Some(_), Some(_)) => How::Changed,
    };
    let names = persona::drift(then, &now).into_iter();
    names.map(|name| Drifted::Persona { name, how: how(name) }).collect()
}
