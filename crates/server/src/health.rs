//! Alive, ready, and what was counted.

use crate::app::App;
use crate::metrics::StoreAnswer;
use crate::problem::Problem;
use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, timeout};

/// How long the store may take to say that it is there.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) fn router() -> Router<Arc<App>> {
    Router::new()
        .route("/healthz", get(|| async { "alive\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(metrics))
}

async fn ready(State(app): State<Arc<App>>) -> Response {
    if *app.stopping.borrow() {
        return Problem::unavailable("the server is about to stop").into_response();
    }
    match timeout(PATIENCE, crate::own::answers(&app.engine)).await {
        Ok(Ok(())) => "ready\n".into_response(),
        Ok(Err(problem)) => problem.into_response(),
        Err(_) => Problem::unavailable("the store does not answer").into_response(),
    }
}

async fn metrics(State(app): State<Arc<App>>) -> Response {
    let begun = Instant::now();
    let position = timeout(PATIENCE, app.engine.store().position()).await;
    let position = position.ok().and_then(Result::ok).map(|position| position.0);
    let store = StoreAnswer { position, seconds: begun.elapsed().as_secs_f64() };
    let text = app.metrics.render(&app.engine.counters(), &app.engine.scope_cache(), &store);
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}
