//! The server: from options to a running one.

use crate::app::{App, Options};
use crate::auth::{Access, Tokens, guard, look};
use crate::body::{no_such_method, no_such_path};
use crate::connection::serve;
use crate::values::Values;
use crate::{description, docs, events, health, idempotency, observe, openai, own, workers};
use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use segue_engine::Engine;
use segue_engine::config::Config;
use std::net::SocketAddr;
use std::sync::{Arc, Weak};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tower_http::catch_panic::CatchPanicLayer;

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The address can be reached from elsewhere, and nobody has made a token.
    #[error(
        "{0} can be reached from other machines, and there is no token: make one with `segue token add NAME`"
    )]
    NoTokens(SocketAddr),
    /// The listener is of no use.
    #[error("the listener cannot be used: {0}")]
    Listener(#[from] std::io::Error),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] segue_store::Error),
}

/// A server that is ready to run.
pub struct Server {
    app: Arc<App>,
    stop: watch::Sender<bool>,
}

/// Tells a running server to stop. Cheap to clone.
#[derive(Clone)]
pub struct Handle {
    stop: watch::Sender<bool>,
    /// A store closes when its server has ended, whoever has a handle yet.
    app: Weak<App>,
}

impl Handle {
    /// Takes over the settings of `[serve]` and `[models]` that can change while it runs. What a session decides by
    /// stays as it was at the start.
    pub fn reload(&self, config: &Config) {
        if let Some(app) = self.app.upgrade() {
            app.reload(config);
        }
    }

    /// Lets the server finish what it is at, and end. Nothing new is taken.
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }
}

impl Server {
    /// Makes a server for an address. One that can be reached from elsewhere needs a token first.
    pub async fn new(options: Options, address: SocketAddr) -> Result<Self, StartError> {
        let access = if address.ip().is_loopback() { Access::Loopback } else { Access::TokensOnly };
        let (stop, stopping) = watch::channel(false);
        let app = Arc::new(App::new(options, access, stopping));
        let now = app.engine.now();
        if access == Access::TokensOnly && !app.tokens.any(now).await.unwrap_or(false) {
            return Err(StartError::NoTokens(address));
        }
        Ok(Self { app, stop })
    }

    /// Returns a handle to stop it with.
    pub fn handle(&self) -> Handle {
        Handle { stop: self.stop.clone(), app: Arc::downgrade(&self.app) }
    }

    /// Opens the tokens of an engine's store.
    pub fn tokens(engine: &Arc<Engine>) -> Tokens {
        Tokens::new(Arc::new(Values::of(engine)))
    }

    /// Describes Segue's own interface, as OpenAPI 3.1.
    pub fn description() -> String {
        description::description(&own::router().into_openapi())
    }

    /// Takes connections until it is told to stop, and returns once every turn is finished or parked.
    pub async fn run(self, listener: TcpListener) -> Result<(), StartError> {
        let from = self.app.engine.store().position().await?;
        let workers = workers::start(&self.app);
        let pump = tokio::spawn(events::pump(Arc::clone(&self.app), from));
        let look = tokio::spawn(look(Arc::clone(&self.app)));
        let result = serve(Arc::clone(&self.app), listener, router(&self.app)).await;
        self.app.background.ended(self.app.serve().shutdown_grace.unsigned_abs()).await;
        workers.stop().await;
        let _ = (pump.await, look.await);
        self.app.traces.end(self.app.serve().traces_timeout.unsigned_abs()).await;
        Ok(result?)
    }
}

fn router(app: &Arc<App>) -> Router {
    let (own, api) = own::router().split_for_parts();
    let guarded = own
        .merge(openai::router())
        .method_not_allowed_fallback(no_such_method)
        .layer(from_fn_with_state(Arc::clone(app), idempotency::replay))
        .layer(from_fn_with_state(Arc::clone(app), guard));
    Router::new()
        .merge(guarded)
        .merge(health::router())
        .merge(docs::router(&api))
        .fallback(no_such_path)
        .layer(from_fn(openai::errors))
        .layer(CatchPanicLayer::custom(|_| {
            axum::response::IntoResponse::into_response(crate::problem::Problem::internal("a handler failed"))
        }))
        .layer(from_fn_with_state(Arc::clone(app), observe::observe))
        .with_state(Arc::clone(app))
}
