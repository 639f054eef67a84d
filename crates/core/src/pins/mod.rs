//! Pins: what a session is held to from its opening on (L-1 to L-9). Agent, skills, persona and model stay as they
//! were until somebody asks for a change, and each change is one of one field.
//!
//! Texts are written to the log once, in entries of their own, and pins point at them by hash and place. What the
//! texts mean is not known here: the engine writes and reads them.

mod capture;

pub(crate) use capture::write;
pub use capture::{Capture, Change, Texts};

use crate::digest::Digest;
use crate::entry::Seq;
use crate::session::Number;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What a session is pinned to. A field that is not there is what it is without any configuration: the agent that
/// the scope names, no skills, no persona, the usual model.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pins {
    /// Who answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Agent>,
    /// What it can do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skills: Option<Skills>,
    /// Who it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persona: Option<Persona>,
    /// Which model answers, and how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<Model>,
    /// How often something was taken in anew since the session began.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reloads: u32,
    /// The entries of all texts that the session was ever pinned to, so that a delete can erase them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub texts: BTreeSet<Seq>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// A text that stands in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Held {
    /// Its hash.
    pub hash: Digest,
    /// The entry that holds it.
    pub seq: Seq,
}

/// The agent of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Agent<T = Held> {
    /// Its name.
    pub name: String,
    /// What it is told.
    #[serde(default = "nothing", skip_serializing_if = "Option::is_none")]
    pub instructions: Option<T>,
}

/// The skills of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Skills<T = Held> {
    /// The content hash of the skills.
    pub version: Digest,
    /// What is known of each, and what was wrong with others.
    pub index: T,
    /// What they say, if there are any.
    #[serde(default = "nothing", skip_serializing_if = "Option::is_none")]
    pub bodies: Option<T>,
}

/// The persona of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Persona<T = Held> {
    /// The content hash of its files.
    pub version: Digest,
    /// The files, and what was wrong with others.
    pub files: T,
}

fn nothing<T>() -> Option<T> {
    None
}

/// The model of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Model {
    /// Its name in the configuration.
    pub name: String,
    /// What its endpoint calls it; nothing if the configuration did not know it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// How freely it chooses its words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<Temperature>,
    /// How long it thinks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking: Option<Thinking>,
    /// How much it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verbosity: Option<Verbosity>,
}

impl Model {
    /// Tells whether this model is given reasoning back: its own, and signed. No other model can use it.
    pub fn takes_back(&self, reasoning: &crate::message::Reasoning) -> bool {
        reasoning.model == *self.id.as_ref().unwrap_or(&self.name) && !reasoning.signature.trim().is_empty()
    }

    /// Makes the pin of a model of which only the name is known.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), id: None, temperature: None, thinking: None, verbosity: None }
    }
}

/// A temperature, in thousandths, so that what is pinned is what was set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "f64", try_from = "f64")]
pub struct Temperature(u16);

impl Temperature {
    /// The highest that any provider takes.
    pub const MAX: f64 = 2.0;

    /// Makes a temperature of a number from 0 to [`Temperature::MAX`].
    pub fn new(value: f64) -> Option<Self> {
        (0.0..=Self::MAX).contains(&value).then(|| Self((value * 1000.0).round() as u16))
    }

    /// Returns the number.
    pub fn value(self) -> f64 {
        f64::from(self.0) / 1000.0
    }
}

impl From<Temperature> for f64 {
    fn from(temperature: Temperature) -> Self {
        temperature.value()
    }
}

impl TryFrom<f64> for Temperature {
    type Error = String;

    fn try_from(value: f64) -> Result<Self, String> {
        Self::new(value).ok_or_else(|| format!("{value} is no temperature: it is from 0 to {}", Self::MAX))
    }
}

macro_rules! levels {
    ($(#[$doc:meta])* $type:ident { $($(#[$each:meta])* $level:ident = $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $type {
            $($(#[$each])* $level,)*
        }

        impl $type {
            /// All levels and their names, the lowest first.
            pub const ALL: &[(&str, Self)] = &[$(($name, Self::$level)),*];

            /// Returns the name of the level.
            pub fn name(self) -> &'static str {
                match self { $(Self::$level => $name,)* }
            }
        }
    };
}

levels! {
    /// How long a model thinks before it answers.
    Thinking {
        /// Not at all.
        Off = "off",
        /// A little.
        Low = "low",
        /// Some.
        Medium = "medium",
        /// Long.
        High = "high",
    }
}

levels! {
    /// How much a model says.
    Verbosity {
        /// Little.
        Low = "low",
        /// As usual.
        Medium = "medium",
        /// Much.
        High = "high",
    }
}

/// An entry about pins. Each kind of change can touch its own field only (L-5).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Pinned {
    /// A text that pins of this scope point at.
    Text {
        /// Its hash.
        hash: Digest,
        /// The text.
        text: String,
    },
    /// All that a session was pinned to when it opened.
    Opening {
        /// The session.
        session: Number,
        /// The pins.
        pins: Box<Pins>,
    },
    /// A session has another agent.
    Agent {
        /// The session.
        session: Number,
        /// The agent.
        agent: Option<Agent>,
    },
    /// A session has taken in its skills anew.
    Skills {
        /// The session.
        session: Number,
        /// The skills.
        skills: Option<Skills>,
    },
    /// A session has taken in its persona anew.
    Persona {
        /// The session.
        session: Number,
        /// The persona.
        persona: Option<Persona>,
    },
    /// A session has another model.
    Model {
        /// The session.
        session: Number,
        /// The model.
        model: Option<Model>,
    },
}

impl Pinned {
    /// Returns the session that it is about; a text is about none.
    pub fn session(&self) -> Option<Number> {
        match self {
            Self::Text { .. } => None,
            Self::Opening { session, .. }
            | Self::Agent { session, .. }
            | Self::Skills { session, .. }
            | Self::Persona { session, .. }
            | Self::Model { session, .. } => Some(*session),
        }
    }
}

impl Pins {
    /// Folds an entry in.
    pub(crate) fn take_in(&mut self, pinned: &Pinned) {
        match pinned {
            Pinned::Text { .. } => return,
            Pinned::Opening { pins, .. } => {
                let texts = std::mem::take(&mut self.texts);
                *self = pins.as_ref().clone();
                self.texts.extend(texts);
                self.reloads = 0;
            }
            Pinned::Agent { agent, .. } => self.agent = agent.clone(),
            Pinned::Skills { skills, .. } => self.skills = skills.clone(),
            Pinned::Persona { persona, .. } => self.persona = persona.clone(),
            Pinned::Model { model, .. } => self.model = model.clone(),
        }
        if matches!(pinned, Pinned::Agent { .. } | Pinned::Skills { .. } | Pinned::Persona { .. }) {
            self.reloads = self.reloads.saturating_add(1);
        }
        let held: Vec<Seq> = self.held().map(|held| held.seq).collect();
        self.texts.extend(held);
    }

    /// Folds in that texts were erased: the session is pinned to them no longer.
    pub(crate) fn forget(&mut self, erased: &BTreeSet<Seq>) {
        let gone = |held: &Held| erased.contains(&held.seq);
        self.agent.take_if(|agent| agent.instructions.as_ref().is_some_and(gone));
        self.skills.take_if(|skills| gone(&skills.index) || skills.bodies.as_ref().is_some_and(gone));
        self.persona.take_if(|persona| gone(&persona.files));
        self.texts.retain(|seq| !erased.contains(seq));
    }

    /// Returns the pins of a session that goes on with the past of this one: it is the same conversation.
    pub(crate) fn handed_on(&self) -> Self {
        Self { reloads: 0, ..self.clone() }
    }

    /// Returns the texts that the session is pinned to now.
    pub fn held(&self) -> impl Iterator<Item = Held> {
        let agent = self.agent.as_ref().and_then(|agent| agent.instructions);
        let skills = self.skills.as_ref().into_iter().flat_map(|skills| [Some(skills.index), skills.bodies]);
        let persona = self.persona.as_ref().map(|persona| persona.files);
        [agent, persona].into_iter().chain(skills).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temperatures_are_kept_to_the_thousandth() {
        for value in [0.0, 0.1, 0.7, 1.0, 1.999, 2.0] {
            let temperature = Temperature::new(value).unwrap();
            let text = serde_json::to_string(&temperature).unwrap();
            assert_eq!(text, serde_json::to_string(&value).unwrap());
            assert_eq!(serde_json::from_str::<Temperature>(&text).unwrap(), temperature);
        }
        for value in [-0.1, 2.1, f64::NAN, f64::INFINITY] {
            assert_eq!(Temperature::new(value), None);
        }
    }

    /// L-1: a field that is not known is an error that names it.
    #[test]
    fn l1_a_strange_field_of_stored_pins_is_named() {
        let pins = r#"{"model":{"name":"main"},"reloads":1}"#;
        let read: Pins = serde_json::from_str(pins).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), pins);
        for (worse, named) in [
            (r#"{"mood":"good"}"#, "mood"),
            (r#"{"model":{"name":"main","top_p":1}}"#, "top_p"),
            (r#"{"agent":{"name":"main","tone":"dry"}}"#, "tone"),
        ] {
            let error = serde_json::from_str::<Pins>(worse).unwrap_err().to_string();
            assert!(error.contains(&format!("unknown field `{named}`")), "{error}");
        }
    }
}
