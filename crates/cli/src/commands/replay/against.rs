//! Another policy beside the first: where would it have decided otherwise?

use super::line::Line;
use crate::args::{Common, Replay};
use crate::setup;
use segue_core::decision::{Action, Cause};
use segue_core::session::Key;
use segue_engine::{Engine, Outcome};
use segue_store::memory::Memory;
use std::sync::Arc;

/// An engine with the other policy, which leaves nothing behind.
pub struct Against {
    engine: Engine,
    policy: String,
}

/// What the other policy did with a line.
pub struct Other {
    /// The policy.
    pub policy: String,
    /// What it did.
    pub action: Action,
    /// Why.
    pub cause: Cause,
    /// Where the line ended up.
    pub session: Key,
}

impl Other {
    /// Tells whether it did something else.
    pub fn differs(&self, outcome: &Outcome) -> bool {
        (self.action, self.cause) != (outcome.action, outcome.cause) || self.session != outcome.session_key()
    }
}

impl Against {
    /// Opens the other engine, if another policy is named.
    pub async fn open(
        common: &Common,
        replay: &Replay,
        options: &[(&str, &str)],
    ) -> anyhow::Result<Option<Self>> {
        let Some(policy) = &replay.against else { return Ok(None) };
        let same = options.iter().filter(|(key, _)| *key != "lifecycle.policy").copied();
        let options: Vec<_> = same.chain([("lifecycle.policy", policy.as_str())]).collect();
        let config = setup::config(common, &options)?;
        let host = setup::host(&config);
        let engine =
            Engine::open(Arc::new(Memory::default()), config).await?.with_host(host).trusting_stamps();
        Ok(Some(Self { engine, policy: policy.clone() }))
    }

    /// Gives a line to the other engine.
    pub async fn receive(&self, line: &Line) -> anyhow::Result<Other> {
        let outcome = line.run(&self.engine).await?;
        Ok(Other {
            policy: self.policy.clone(),
            action: outcome.action,
            cause: outcome.cause,
            session: outcome.session_key(),
        })
    }
}
