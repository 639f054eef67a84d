//! Alive, ready, and what was counted.

use crate::app::App;
use crate::problem::Problem;
use axum::Router;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

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
    let text = app.metrics.render(&app.engine.counters());
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text).into_response()
}
