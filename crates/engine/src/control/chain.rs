//! The chain of models that may be asked (M-C1 to M-C5). It depends on settings only, and never on the
//! model that answers the user.

use crate::config::{Agents, Config, ControlModel, Model};
use crate::route::agent_of;
use segue_core::scope;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Who named a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NamedBy {
    /// The session.
    Session,
    /// The settings of the agent.
    Agent,
    /// The settings of all agents.
    Defaults,
    /// The list of models that come next.
    Fallback,
    /// Nobody: it is the end of every chain.
    Builtin,
}

impl fmt::Display for NamedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Session => "the session",
            Self::Agent => "the agent's control_model",
            Self::Defaults => "agents.defaults.control_model",
            Self::Fallback => "agents.defaults.control_fallback",
            Self::Builtin => "the end of the chain",
        })
    }
}

/// A model that may be asked, and who named it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The model.
    pub model: ControlModel,
    /// Who named it.
    pub source: NamedBy,
}

/// A name that was skipped, because there is no such model (M-C5).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{named_by} names the model `{name}`, which is not there: the next one is asked")]
pub struct Skipped {
    /// The name.
    pub name: String,
    /// Who named it.
    pub named_by: NamedBy,
}

/// The models that may be asked, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    named: Vec<Link>,
    end: Link,
    /// What was skipped.
    pub warnings: Vec<Skipped>,
}

impl Chain {
    /// Resolves the chain: the session's own model, the agent's, the defaults', the fallback, and at last
    /// the built-in judgement. A link that is called "builtin" ends the chain.
    pub fn resolve(
        session: Option<&str>,
        agent: Option<&str>,
        agents: &Agents,
        models: &BTreeMap<String, Model>,
    ) -> Self {
        let session = session.map(str::trim).filter(|name| !name.is_empty());
        let agent = agent.and_then(|name| agents.named.get(name)).map(|agent| agent.control_model.clone());
        let links = session
            .map(|name| (ControlModel::of(name), NamedBy::Session))
            .into_iter()
            .chain(agent.map(|model| (model, NamedBy::Agent)))
            .chain([(agents.control_model.clone(), NamedBy::Defaults)])
            .chain(agents.control_fallback.iter().cloned().map(|model| (model, NamedBy::Fallback)));
        let end = Link { model: ControlModel::Builtin, source: NamedBy::Builtin };
        let mut chain = Self { named: Vec::new(), end, warnings: Vec::new() };
        for (model, source) in links {
            match &model {
                ControlModel::Builtin => {
                    chain.end.source = source;
                    break;
                }
                ControlModel::Named(name) if models.contains_key(name) => {
                    // To ask the same model once more would only take time.
                    if chain.named.iter().all(|link| link.model != model) {
                        chain.named.push(Link { model, source });
                    }
                }
                ControlModel::Named(name) => {
                    chain.warnings.push(Skipped { name: name.clone(), named_by: source })
                }
            }
        }
        chain
    }

    /// Resolves the chain for a scope.
    pub fn for_scope(session: Option<&str>, scope: &scope::Key, config: &Config) -> Self {
        Self::resolve(session, agent_of(scope), &config.agents, &config.models)
    }

    /// Returns the models of the configuration that may be asked, in order.
    pub fn named(&self) -> &[Link] {
        &self.named
    }

    /// Returns the last link: the built-in judgement, and who named it.
    pub fn end(&self) -> &Link {
        &self.end
    }

    /// Returns all links, the built-in one last.
    pub fn links(&self) -> impl Iterator<Item = &Link> {
        self.named.iter().chain([&self.end])
    }
}
