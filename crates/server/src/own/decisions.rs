//! Why things were decided.

use super::wire::{self, DecisionRecord, Page, PageQuery};
use crate::app::App;
use crate::auth::Caller;
use crate::body::{self, Asked, At};
use crate::problem::Problem;
use axum::Json;
use axum::extract::State;
use std::sync::Arc;

/// How far back decisions are shown.
const DECISIONS_MAX: usize = 10_000;

/// List the decisions of a scope
///
/// The newest first, each with its evidence.
#[utoipa::path(get, path = "/api/v1/scopes/{scope}/decisions", tag = "context",
    params(("scope" = String, Path, description = "The scope, percent-encoded"), PageQuery),
    responses((status = 200, description = "A page of decisions", body = Page<DecisionRecord>)))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(scope): At<String>,
    Asked(query): Asked<PageQuery>,
) -> Result<Json<Page<DecisionRecord>>, Problem> {
    let scope = body::scope_there(&caller, &scope)?;
    let limit = wire::limit(query.limit)?;
    let behind: Option<u64> = match query.cursor.as_deref() {
        None => None,
        Some(cursor) => Some(wire::cursor(cursor)?),
    };
    let state = app.state(&scope).await?;
    // Decisions are read from the newest on, in growing portions, until the page is full.
    let mut newest = limit + 1;
    loop {
        let explained = app.engine.why(&state, newest.min(DECISIONS_MAX)).await?;
        let is_all = explained.len() < newest || newest >= DECISIONS_MAX;
        let on_page = |record: &&segue_engine::history::Explained| {
            behind.is_none_or(|behind| record.decision.about.0 < behind)
        };
        let records: Vec<_> = explained.iter().filter(on_page).take(limit + 1).collect();
        if records.len() > limit || is_all {
            let more = records.len() > limit;
            let items: Vec<_> = records.into_iter().take(limit).map(DecisionRecord::of).collect();
            let next = items.last().map(|last| last.about.to_string()).filter(|_| more);
            return Ok(Json(Page { items, next }));
        }
        newest = newest.saturating_mul(4);
    }
}
