//! Pins on the way to another store, with all their texts.

use super::read::Pinned;
use super::{capture, read};
use crate::engine::Engine;
use crate::error::Error;
use crate::persona::Persona;
use crate::skills::{Loaded, SkillSnapshot};
use segue_core::digest::Digest;
use segue_core::pins::{self, Capture, Model, Pins};
use segue_core::session::Number;
use segue_core::state::State;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What a session is pinned to, with all texts. A field that is not known is an error.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Carried {
    /// The agent, unless it is the scope's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_agent: Option<pins::Agent<String>>,
    /// The skills.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill_snapshot: Option<SkillSnapshot>,
    /// What they say.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub skill_bodies: BTreeMap<Digest, String>,
    /// The persona.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persona: Option<Persona>,
    /// The model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_config: Option<Model>,
}

impl Carried {
    /// Makes sure that everything is what its hash says, and takes it in.
    pub fn capture(self) -> Result<Capture, &'static str> {
        if self.skill_snapshot.as_ref().is_some_and(|snapshot| !snapshot.is_whole()) {
            return Err("its skills are not what their version says");
        }
        if self.skill_bodies.iter().any(|(hash, text)| Digest::of_body(text.as_bytes()) != *hash) {
            return Err("the text of a skill is not what its hash says");
        }
        if self.persona.as_ref().is_some_and(|persona| !persona.is_whole()) {
            return Err("its persona is not what its version says");
        }
        let bodies = self.skill_bodies;
        let skills = self.skill_snapshot.map(|snapshot| Loaded { snapshot, bodies });
        Ok(Capture {
            agent: self.active_agent,
            skills: skills.and_then(capture::skills_of),
            persona: self.persona.and_then(capture::persona_of),
            model: self.model_config,
        })
    }
}

impl Engine {
    /// Reads what a session is pinned to, with all texts; nothing if it is pinned to nothing.
    pub async fn pins_with_texts(&self, state: &State, session: Number) -> Result<Option<Carried>, Error> {
        let Some(pins) = state.sessions.get(&session).map(|session| &session.pins) else { return Ok(None) };
        if *pins == Pins::default() {
            return Ok(None);
        }
        let Pinned { instructions, skills, persona, .. } = self.pinned(state, session).await?;
        let agent = |agent: &pins::Agent| pins::Agent {
            name: agent.name.clone(),
            instructions: instructions.map(|text| text.as_ref().to_owned()),
        };
        Ok(Some(Carried {
            active_agent: pins.agent.as_ref().map(agent),
            skill_snapshot: pins.skills.as_ref().map(|_| skills.as_ref().clone()),
            skill_bodies: self.bodies(read::At { state, session }).await?,
            persona: pins.persona.as_ref().map(|_| persona.as_ref().clone()),
            model_config: pins.model.clone(),
        }))
    }
}
