//! The commands about what a session is pinned to that only read. They look at the session's own snapshot, and at
//! nothing on disk (L-6).

use super::Slash;
use crate::engine::{Engine, Turn};
use crate::error::Error;
use crate::words;
use segue_core::session::Number;
use segue_core::state::State;

impl Engine {
    /// Answers a command about pins; nothing if it is not one.
    pub(super) async fn about_pins(
        &self,
        turn: &Turn,
        state: &State,
        session: Number,
        slash: &Slash,
    ) -> Result<Option<String>, Error> {
        let language = turn.language;
        Ok(Some(match slash {
            Slash::Agents => {
                let pinned = self.pinned(state, session).await?;
                words::pins::agents(&self.config, self.agents(&state.scope), &pinned.agent)
            }
            Slash::Agent(name) => {
                let pinned = self.pinned(state, session).await?;
                let name = name.as_ref().unwrap_or(&pinned.agent);
                let configured = self.config.agents.named.get(name);
                let about = configured.and_then(|agent| agent.description.as_deref());
                if *name == pinned.agent {
                    words::pins::agent(language, name, about, pinned.instructions.as_deref())
                } else {
                    let known = self.agents(&state.scope);
                    if !known.contains(name) {
                        let known: Vec<String> = known.into_iter().collect();
                        let command = words::Command::AgentShow;
                        return Ok(Some(words::pins::not_configured(language, command, name, &known)));
                    }
                    let told = configured.and_then(|agent| agent.instructions.as_deref());
                    let told = told.or(self.config.agents.instructions.as_deref());
                    words::pins::agent(language, name, about, told)
                }
            }
            Slash::Skills => words::pins::skills(language, &self.pinned(state, session).await?.skills),
            Slash::Skill(word) => match self.skill(state, session, word).await? {
                Some((skill, body)) => words::pins::skill(&skill, &body),
                None => words::pins::no_skill(language, word, &self.pinned(state, session).await?.skills),
            },
            Slash::Model(None) => words::pins::described(language, &self.pinned(state, session).await?.model),
            _ => return Ok(None),
        }))
    }

    /// Tells what a session is pinned to, and what is different by now.
    pub(super) async fn pins_status(
        &self,
        turn: &Turn,
        state: &State,
        session: Number,
    ) -> Result<String, Error> {
        let mut lines = vec![words::pins::pinned(turn.language, &self.pinned(state, session).await?)];
        let drift = self.drift(state, session).await?;
        lines.extend(
            drift.iter().map(|drifted| format!("! {}", words::pins::drifted(turn.language, drifted))),
        );
        Ok(lines.join("\n"))
    }
}
