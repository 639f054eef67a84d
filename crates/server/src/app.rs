//! What all handlers share.

use crate::auth::{Access, Ended, Rates, Tokens, TokensKnown};
use crate::clocks::Clocks;
use crate::events::Hub;
use crate::metrics::Metrics;
use crate::openai::Background;
use crate::openai::upstream::Upstreams;
use crate::own::Begun;
use crate::traces::Traces;
use crate::turns::Turns;
use crate::values::Values;
use segue_engine::Engine;
use segue_engine::config::{Config, Serve};
use std::sync::{Arc, PoisonError, RwLock};
use tokio::sync::watch;

/// Finds a key by the name of its environment variable, which this library does not read.
pub type Keys = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// What a server is made of.
pub struct Options {
    /// The engine.
    pub engine: Arc<Engine>,
    /// Finds the keys of models.
    pub keys: Keys,
}

/// What all handlers share.
pub(crate) struct App {
    pub(crate) engine: Arc<Engine>,
    pub(crate) keys: Keys,
    pub(crate) access: Access,
    pub(crate) values: Arc<Values>,
    pub(crate) tokens: Tokens,
    pub(crate) tokens_known: TokensKnown,
    /// The tokens that have ended, for streams that were opened with one.
    pub(crate) tokens_ended: Ended,
    pub(crate) rates: Rates,
    pub(crate) metrics: Arc<Metrics>,
    /// Where spans go. Read at the start only.
    pub(crate) traces: Traces,
    pub(crate) hub: Hub,
    pub(crate) scopes_of: Begun,
    /// How far the hosts of scopes are behind.
    pub(crate) clocks: Clocks,
    /// Requests that take over what is new in a scope wait for each other.
    pub(crate) scope_turns: Turns,
    /// Requests of one idempotency key wait for each other.
    pub(crate) key_turns: Turns,
    /// Responses that are made while nobody waits.
    pub(crate) background: Background,
    upstreams: RwLock<Arc<Upstreams>>,
    serve: RwLock<Arc<Serve>>,
    /// Becomes true when the server is to stop.
    pub(crate) stopping: watch::Receiver<bool>,
}

impl App {
    pub(crate) fn new(options: Options, access: Access, stopping: watch::Receiver<bool>) -> Self {
        let Options { engine, keys } = options;
        let serve = RwLock::new(Arc::new(engine.config().serve.clone()));
        let values = Arc::new(Values::of(&engine));
        let metrics = Arc::new(Metrics::default());
        let traces = Traces::new(&engine.config().serve, &keys);
        let (hub, scopes_of) = (Hub::default(), Begun::default());
        let (scope_turns, key_turns) = (Turns::default(), Turns::default());
        let upstreams = RwLock::new(Arc::new(Upstreams::new(engine.config(), &keys)));
        let tokens = Tokens::new(Arc::clone(&values));
        let (rates, background) = (Rates::default(), Background::default());
        Self {
            engine,
            keys,
            access,
            values,
            tokens,
            tokens_known: TokensKnown::default(),
            tokens_ended: Ended::default(),
            rates,
            metrics,
            traces,
            hub,
            scopes_of,
            clocks: Clocks::default(),
            scope_turns,
            key_turns,
            background,
            upstreams,
            serve,
            stopping,
        }
    }

    /// Returns the settings of the server as they are now.
    pub(crate) fn serve(&self) -> Arc<Serve> {
        Arc::clone(&self.serve.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns the endpoints of models as they are now.
    pub(crate) fn upstreams(&self) -> Arc<Upstreams> {
        Arc::clone(&self.upstreams.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Takes over new settings.
    pub(crate) fn reload(&self, config: &Config) {
        let upstreams = Arc::new(Upstreams::new(config, &self.keys));
        *self.upstreams.write().unwrap_or_else(PoisonError::into_inner) = upstreams;
        *self.serve.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(config.serve.clone());
        tracing::warn!("the configuration was read anew");
    }
}
