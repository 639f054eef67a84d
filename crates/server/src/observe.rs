//! What is written down about every request: how often, how long, and a line of the log without a word of anybody.

use crate::app::App;
use crate::traces::answered;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use opentelemetry::trace::FutureExt as _;
use std::sync::Arc;
use tokio::time::Instant;

/// Counts a request and logs it.
pub(crate) async fn observe(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let method = request.method().clone();
    // The pattern, not the path: scopes are people.
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let span = app.traces.request(&method, &route, request.headers());
    let response = match &span {
        Some(span) => next.run(request).with_context(span.clone()).await,
        None => next.run(request).await,
    };
    if let Some(span) = &span {
        answered(span, response.status());
    }
    let status = response.status().as_u16();
    let took = begun.elapsed();
    let labels = [("method", method.as_str()), ("route", &route), ("status", &status.to_string())];
    app.metrics.requests.add(&labels, 1);
    app.metrics.request_seconds.observe(&[("route", &route)], took.as_secs_f64());
    tracing::info!(method = %method, route, status, took_us = took.as_micros() as u64, "request");
    response
}
