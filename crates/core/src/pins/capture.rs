//! Taking in: from what was captured to entries.

use super::{Agent, Held, Model, Persona, Pinned, Pins, Skills};
use crate::Timestamp;
use crate::decide::Decided;
use crate::decision::Action;
use crate::digest::Digest;
use crate::draft::Draft;
use crate::entry::Body;
use crate::refusal::Refusal;
use crate::session::{Number, Origin};
use crate::state::State;

/// What is taken in, before its texts have a place in the log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Capture {
    /// Who answers; nothing if it is the one that the scope names, without instructions.
    pub agent: Option<Agent<String>>,
    /// What it can do; nothing if there are no skills.
    pub skills: Option<Skills<String>>,
    /// Who it is; nothing if there is no persona.
    pub persona: Option<Persona<String>>,
    /// Which model answers; nothing if none was ever configured.
    pub model: Option<Model>,
}

/// A change of one field, or the taking in of all at the opening.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// All of them.
    All(Capture),
    /// Another agent.
    Agent(Option<Agent<String>>),
    /// The skills as they are now.
    Skills(Option<Skills<String>>),
    /// The persona as it is now.
    Persona(Option<Persona<String>>),
    /// Another model.
    Model(Option<Model>),
}

/// Whether a text that stands in the log already is written again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Texts {
    /// It is pointed at where it stands.
    Known,
    /// It is written anew: the one that stands there cannot be read.
    Anew,
}

/// Writes entries that pin a session. A text that any session of the scope is pinned to is not written again.
pub(crate) fn write(
    draft: &mut Draft,
    session: Number,
    change: &Change,
    texts: Texts,
) -> Result<(), Refusal> {
    let to = &mut Writer { draft, texts };
    let pinned = match change {
        Change::All(capture) => {
            let pins = Pins {
                agent: agent(to, capture.agent.as_ref())?,
                skills: skills(to, capture.skills.as_ref())?,
                persona: persona(to, capture.persona.as_ref())?,
                model: capture.model.clone(),
                ..Pins::default()
            };
            Pinned::Opening { session, pins: Box::new(pins) }
        }
        Change::Agent(taken) => Pinned::Agent { session, agent: agent(to, taken.as_ref())? },
        Change::Skills(taken) => Pinned::Skills { session, skills: skills(to, taken.as_ref())? },
        Change::Persona(taken) => Pinned::Persona { session, persona: persona(to, taken.as_ref())? },
        Change::Model(model) => Pinned::Model { session, model: model.clone() },
    };
    to.draft.push(Body::Pinned(pinned)).map(drop)
}

struct Writer<'a> {
    draft: &'a mut Draft,
    texts: Texts,
}

fn agent(to: &mut Writer<'_>, agent: Option<&Agent<String>>) -> Result<Option<Agent>, Refusal> {
    let Some(Agent { name, instructions }) = agent else { return Ok(None) };
    Ok(Some(Agent { name: name.clone(), instructions: maybe(to, instructions.as_deref())? }))
}

fn skills(to: &mut Writer<'_>, skills: Option<&Skills<String>>) -> Result<Option<Skills>, Refusal> {
    let Some(Skills { version, index, bodies }) = skills else { return Ok(None) };
    let bodies = maybe(to, bodies.as_deref())?;
    Ok(Some(Skills { version: *version, index: hold(to, index)?, bodies }))
}

fn persona(to: &mut Writer<'_>, persona: Option<&Persona<String>>) -> Result<Option<Persona>, Refusal> {
    let Some(Persona { version, files }) = persona else { return Ok(None) };
    Ok(Some(Persona { version: *version, files: hold(to, files)? }))
}

fn maybe(to: &mut Writer<'_>, text: Option<&str>) -> Result<Option<Held>, Refusal> {
    text.map(|text| hold(to, text)).transpose()
}

fn hold(to: &mut Writer<'_>, text: &str) -> Result<Held, Refusal> {
    let hash = Digest::of_body(text.as_bytes());
    let known = |state: &State| {
        state.sessions.values().rev().flat_map(|session| session.pins.held()).find(|held| held.hash == hash)
    };
    if to.texts == Texts::Known
        && let Some(held) = known(to.draft.state())
    {
        return Ok(held);
    }
    let seq = to.draft.push(Body::Pinned(Pinned::Text { hash, text: text.to_owned() }))?;
    Ok(Held { hash, seq })
}

impl Decided {
    /// Returns the session that was opened and has to take in anew what it is pinned to (L-9). A fork and a part
    /// that was split off go on with the pins of their parent.
    pub fn opened(&self, prior: &State) -> Option<Number> {
        if prior.next_session == self.state.next_session {
            return None;
        }
        let number = self.state.latest()?;
        let session = self.state.sessions.get(&number)?;
        let anew = match session.origin {
            Origin::First | Origin::New | Origin::Import => true,
            Origin::Fork => false,
            // "Fresh" cuts off the message that was held, and begins with it.
            Origin::Split => self.action != Action::Split,
        };
        (anew && number >= prior.next_session).then_some(number)
    }

    /// Pins the session that was opened, in the same append. Where there is nothing to hold it to, nothing is
    /// written.
    pub fn pin(&mut self, session: Number, capture: Capture, now: Timestamp) -> Result<(), Refusal> {
        let before = self.state.sessions.get(&session).map(|session| &session.pins);
        if capture == Capture::default() && before == Some(&Pins::default()) {
            return Ok(());
        }
        let mut draft = Draft::new(&self.state, now);
        write(&mut draft, session, &Change::All(capture), Texts::Known)?;
        let (state, records) = draft.finish();
        self.state = state;
        self.records.extend(records);
        Ok(())
    }
}
