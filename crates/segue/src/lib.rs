#![doc = include_str!("guide.md")]

mod build;

pub use build::{BuildError, Builder, Settings};
pub use jiff;
#[doc(inline)]
pub use segue_core::Timestamp;
#[doc(inline)]
pub use segue_core::decision::{Action, Cause};
#[doc(inline)]
pub use segue_core::entry::Seq;
#[doc(inline)]
pub use segue_core::message::{Message, MessageId, Role};
#[doc(inline)]
pub use segue_core::observed::Answer;
#[doc(inline)]
pub use segue_core::scope;
#[doc(inline)]
pub use segue_core::session;
#[doc(inline)]
pub use segue_core::task::state::StateName as TaskState;
#[doc(inline)]
pub use segue_engine::clock::{Clock, Ids};
#[doc(inline)]
pub use segue_engine::config::{Config, Problems};
#[doc(inline)]
pub use segue_engine::context::{Context, Unassembled};
#[cfg(feature = "models")]
#[doc(inline)]
pub use segue_engine::models;
#[doc(inline)]
pub use segue_engine::recall::{Fragment, Recall};
#[doc(inline)]
pub use segue_engine::request::{Pick, Request};
#[doc(inline)]
pub use segue_engine::route::{Address, Peer};
#[doc(inline)]
pub use segue_engine::shapes::Shape;
#[doc(inline)]
pub use segue_engine::tasks::{Interruption, TaskSession, Tasks};
#[doc(inline)]
pub use segue_engine::{Delivery, Engine, Error, Inbound, Outcome, Target};
#[doc(inline)]
pub use segue_store::Store;
pub use segue_store::encryption::{MasterKey, MasterKeys};

use std::sync::Arc;

/// The session engine on a store. Cloning it is cheap; all clones are one engine.
#[derive(Clone)]
pub struct Segue {
    engine: Arc<Engine>,
}

impl Segue {
    /// Begins to build one.
    #[must_use]
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// Takes a message of a person: routes it, runs it if it is a command, else decides where it belongs and keeps it.
    ///
    /// When this returns, the message is durable. A second delivery of a message with the same id changes nothing and gets
    /// the same answer.
    pub async fn receive(&self, inbound: Inbound) -> Result<Outcome, Error> {
        self.engine.receive(inbound).await
    }

    /// Returns the question or the offer that the person has not answered yet, to show it again after a restart.
    pub async fn open_question(&self, scope: &scope::Key) -> Result<Option<Outcome>, Error> {
        self.engine.open_question(scope).await
    }

    /// Keeps what the assistant replied to a message, in the session that the message went to.
    pub async fn reply(&self, to: &Outcome, text: impl Into<String>) -> Result<Outcome, Error> {
        self.keep(to, Message::text(text)).await
    }

    /// Keeps that the assistant gave no answer to a message. It is left out of contexts once the person has said something else:
    /// what fails would pile up there. Another attempt needs nothing but [`reply`](Self::reply).
    pub async fn no_reply(&self, to: &Outcome) -> Result<Outcome, Error> {
        self.keep(to, Message::failed()).await
    }

    async fn keep(&self, to: &Outcome, message: Message) -> Result<Outcome, Error> {
        let inbound = Inbound {
            at: self.engine.now(),
            to: Target::Scope(to.scope.clone()),
            role: Role::Assistant,
            message,
            session: Some(to.session),
        };
        self.engine.receive(inbound).await
    }

    /// Assembles what the model is given: the latest session, inside the token budget of the configuration.
    pub async fn context(&self, scope: &scope::Key) -> Result<Context, Unassembled> {
        self.engine.context(scope).await
    }

    /// Answers the question that is open in a scope, as a button does.
    pub async fn answer(&self, scope: &scope::Key, answer: Answer) -> Result<Outcome, Error> {
        self.engine.request(scope, self.engine.now(), &Request::Answer(answer)).await
    }

    /// Finds fragments of earlier sessions of a scope, the best first; `why` stands with each of them.
    pub async fn recall(&self, scope: &scope::Key, query: &str, why: &str) -> Result<Vec<Fragment>, Error> {
        Ok(self.engine.recall(scope, &Recall::new(query, why)).await?.fragments)
    }

    /// Works on tasks in a scope.
    #[must_use]
    pub fn tasks(&self, scope: scope::Key) -> Tasks {
        Tasks::new(Arc::clone(&self.engine), scope)
    }

    /// Returns the time now, by the clock of this engine.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.engine.now()
    }

    /// Returns the engine, for everything else: lists, history, titles, memory, retention, erasure.
    #[must_use]
    pub fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }
}

/// Runs the README's program.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
