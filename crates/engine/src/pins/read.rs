//! Reading pins back. What a session is pinned to is in the log, and nowhere else.

use super::capture::{USUAL_MODEL, own_agent};
use crate::engine::Engine;
use crate::error::Error;
use crate::persona::Persona;
use crate::skills::{Skill, SkillSnapshot, resolve};
use segue_core::digest::Digest;
use segue_core::entry::Body;
use segue_core::pins::{self, Held, Model, Pins};
use segue_core::session::Number;
use segue_core::state::State;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock};

/// What a session is pinned to (L-1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pinned {
    /// The name of the agent.
    pub agent: String,
    /// What the agent is told.
    pub instructions: Option<Arc<str>>,
    /// The skills.
    pub skills: Arc<SkillSnapshot>,
    /// The persona.
    pub persona: Arc<Persona>,
    /// The model that answers.
    pub model: Model,
    /// How often something was taken in anew.
    pub reloads: u32,
}

static NO_PERSONA: LazyLock<Arc<Persona>> = LazyLock::new(Arc::default);
static NO_SKILLS: LazyLock<Arc<SkillSnapshot>> = LazyLock::new(Arc::default);

impl Engine {
    /// Reads what a session is pinned to.
    pub async fn pinned(&self, state: &State, session: Number) -> Result<Pinned, Error> {
        let plain = Pins::default();
        let pins = state.sessions.get(&session).map_or(&plain, |session| &session.pins);
        let at = At { state, session };
        let instructions = match pins.agent.as_ref().and_then(|agent| agent.instructions) {
            Some(held) => Some(self.instructions(at, held).await?),
            None => None,
        };
        let persona = match &pins.persona {
            Some(persona) => self.persona(at, persona).await?,
            None => Arc::clone(&NO_PERSONA),
        };
        let skills = match &pins.skills {
            Some(skills) => self.skills(at, skills).await?,
            None => Arc::clone(&NO_SKILLS),
        };
        let agent = pins.agent.as_ref().map_or(own_agent(&state.scope), |agent| agent.name.as_str());
        let model = pins.model.clone().unwrap_or_else(|| Model::named(USUAL_MODEL));
        Ok(Pinned { agent: agent.to_owned(), instructions, skills, persona, model, reloads: pins.reloads })
    }

    /// Finds a skill of a session by its name or an alias, in its snapshot only (L-6), and what it says.
    pub async fn skill(
        &self,
        state: &State,
        session: Number,
        word: &str,
    ) -> Result<Option<(Skill, String)>, Error> {
        let Some(pins) = state.sessions.get(&session).and_then(|session| session.pins.skills.as_ref()) else {
            return Ok(None);
        };
        let at = At { state, session };
        let snapshot = self.skills(at, pins).await?;
        let Some(skill) = resolve(&snapshot, word) else { return Ok(None) };
        let body = self.bodies(at).await?.remove(&skill.body);
        let body = body.ok_or_else(|| at.lost(SKILLS, "a text is missing"))?;
        Ok(Some((skill.clone(), body)))
    }

    /// Reads what the skills of a session say.
    pub(super) async fn bodies(&self, at: At<'_>) -> Result<BTreeMap<Digest, String>, Error> {
        let session = at.state.sessions.get(&at.session);
        match session.and_then(|session| session.pins.skills.as_ref()?.bodies) {
            Some(held) => at.parse(SKILLS, &self.text(at, SKILLS, held).await?),
            None => Ok(BTreeMap::new()),
        }
    }

    async fn instructions(&self, at: At<'_>, held: Held) -> Result<Arc<str>, Error> {
        Ok(self.text(at, AGENT, held).await?.into())
    }

    async fn persona(&self, at: At<'_>, pin: &pins::Persona) -> Result<Arc<Persona>, Error> {
        let text = self.text(at, PERSONA, pin.files).await?;
        let persona: Arc<Persona> = Arc::new(at.parse(PERSONA, &text)?);
        if !persona.is_whole() || persona.version != pin.version {
            return Err(at.lost(PERSONA, "it is not what was taken in"));
        }
        Ok(persona)
    }

    async fn skills(&self, at: At<'_>, pin: &pins::Skills) -> Result<Arc<SkillSnapshot>, Error> {
        let text = self.text(at, SKILLS, pin.index).await?;
        let skills: Arc<SkillSnapshot> = Arc::new(at.parse(SKILLS, &text)?);
        if !skills.is_whole() || skills.version.0 != pin.version {
            return Err(at.lost(SKILLS, "they are not what was taken in"));
        }
        Ok(skills)
    }

    /// Reads a text from the log, and makes sure that it is the one.
    async fn text(&self, at: At<'_>, what: What, held: Held) -> Result<String, Error> {
        let record = self.store.get(&at.state.scope, held.seq).await?;
        let body = record.map(|record| record.body()).transpose();
        match body.map_err(|error| at.lost(what, &error.to_string()))? {
            Some(Body::Pinned(pins::Pinned::Text { hash, text }))
                if hash == held.hash && Digest::of_body(text.as_bytes()) == hash =>
            {
                Ok(text)
            }
            Some(_) => Err(at.lost(what, &format!("entry {} holds something else", held.seq))),
            None => Err(at.lost(what, &format!("entry {} is missing", held.seq))),
        }
    }
}

/// Whose pins are read.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    pub(super) state: &'a State,
    pub(super) session: Number,
}

/// What is read, and how it is taken in anew.
#[derive(Clone, Copy)]
struct What(&'static str, &'static str);

const AGENT: What = What("what the agent is told", "/agent use NAME");
const PERSONA: What = What("the persona", "/reload_persona");
const SKILLS: What = What("the skills", "/reload_skills");

impl At<'_> {
    fn lost(self, what: What, why: &str) -> Error {
        let session = self.state.key(self.session);
        Error::Pins { session, what: what.0, why: why.to_owned(), anew: what.1 }
    }

    fn parse<T: serde::de::DeserializeOwned>(self, what: What, text: &str) -> Result<T, Error> {
        serde_json::from_str(text).map_err(|error| self.lost(what, &error.to_string()))
    }
}
