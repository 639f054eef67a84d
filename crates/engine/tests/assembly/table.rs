//! A table to talk at: an engine on a store in memory, and a clock that goes on by a minute a message.

use jiff::SignedDuration;
use jiff::tz::TimeZone;
use segue_core::Timestamp;
use segue_core::message::{Message, Role};
use segue_core::scope::Key;
use segue_core::session::Number;
use segue_engine::config::{Config, Layer, Origin};
use segue_engine::context::{Budget, Context, Unassembled};
use segue_engine::pins::Host;
use segue_engine::{Engine, Error, Inbound, Outcome, Target};
use segue_signals::context::{EstimatedTokens, TokenCounter};
use segue_store::Store;
use segue_store::memory::Memory;
use std::sync::Arc;

pub struct Table {
    pub engine: Engine,
    pub scope: Key,
    pub now: Timestamp,
}

impl Table {
    pub async fn new(settings: &str) -> Self {
        Self::on(Arc::new(Memory::default()), settings).await
    }

    pub async fn on(store: Arc<dyn Store>, settings: &str) -> Self {
        let layer =
            Layer::toml(Origin::Workspace("test.toml".into()), format!("timezone = 'UTC'\n{settings}"));
        let config = Config::load(vec![layer], &TimeZone::UTC).unwrap();
        let engine = Engine::open(store, config).await.unwrap().with_counter(Arc::new(EstimatedTokens));
        let scope = "agent:main:cli:direct:me".parse().unwrap();
        Self { engine, scope, now: "2026-03-02T08:00:00Z".parse().unwrap() }
    }

    pub fn with_host(self, host: impl Host + 'static) -> Self {
        Self { engine: self.engine.with_host(Arc::new(host)), ..self }
    }

    pub fn counting(self, counter: Arc<dyn TokenCounter>) -> Self {
        Self { engine: self.engine.with_counter(counter), ..self }
    }

    pub async fn take(&mut self, role: Role, message: Message) -> Result<Outcome, Error> {
        self.now += SignedDuration::from_secs(60);
        let to = Target::Scope(self.scope.clone());
        self.engine.receive(Inbound { at: self.now, to, role, message, session: None }).await
    }

    pub async fn say(&mut self, role: Role, text: impl Into<String>) -> Outcome {
        self.take(role, Message::text(text)).await.unwrap()
    }

    /// Takes the reply that was made for a session.
    pub async fn reply(&mut self, session: Number, message: Message) -> Outcome {
        self.now += SignedDuration::from_secs(60);
        let (to, role) = (Target::Scope(self.scope.clone()), Role::Assistant);
        let inbound = Inbound { at: self.now, to, role, message, session: Some(session) };
        self.engine.receive(inbound).await.unwrap()
    }

    pub async fn context(&self, window: u64) -> Result<Context, Unassembled> {
        self.engine.assemble(&self.scope, &Budget::of_window(window, &EstimatedTokens)).await
    }
}

/// Nothing but what is said moves a session.
pub const CALM: &str = "[lifecycle]\nauto_route = 'never'\n";
