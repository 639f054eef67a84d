//! Context: what the model is given for one turn. It comes from the latest session only (M-D1).

use crate::engine::Engine;
use crate::error::Error;
use crate::history::Told;
use segue_core::scope;
use segue_core::segment;
use segue_core::session::Key;

/// What the model is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Context {
    /// The session that it comes from.
    pub session: Key,
    /// The messages, in order; erased ones are left out.
    pub messages: Vec<Told>,
    /// Where the messages come from.
    pub sources: Vec<Source>,
}

/// A part of the log that a context comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The session.
    pub session: Key,
    /// The segment.
    pub segment: segment::Number,
    /// Why it is there.
    pub why: String,
}

impl Engine {
    /// Assembles the context of a scope's latest session.
    pub async fn context(&self, scope: &scope::Key) -> Result<Context, Error> {
        let state = self.state(scope).await?;
        let Some(latest) = state.latest() else { return Err(Error::NoScope { scope: scope.clone() }) };
        let messages = self.messages(&state, latest, usize::MAX).await?;
        let source =
            |segment| Source { session: state.key(latest), segment, why: "the latest session".to_owned() };
        Ok(Context {
            session: state.key(latest),
            messages: messages.into_iter().filter(|told| told.message.is_some()).collect(),
            sources: state.view(latest).iter().map(|span| source(span.segment)).collect(),
        })
    }
}
