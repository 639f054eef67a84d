//! Recall: fragments of earlier sessions, on request and with a reason.

use super::wire::segment_name;
use crate::app::App;
use crate::auth::Caller;
use crate::body::{self, At, Body};
use crate::problem::Problem;
use axum::Json;
use axum::extract::State;
use segue_engine::recall::{FRAGMENTS_MAX, Recall, TOKENS_MAX};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::ToSchema;

/// What is recalled, and why.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewRecall {
    /// What to look for.
    #[serde(default)]
    #[schema(required)]
    query: String,
    /// Why: it stands with every fragment.
    #[serde(default)]
    #[schema(required)]
    why: String,
    /// How many fragments at most.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 50)]
    count: Option<usize>,
    /// How many tokens they may take together.
    #[serde(default)]
    #[schema(minimum = 1, maximum = 32_000)]
    tokens: Option<u64>,
}

/// What was recalled, the best first.
#[derive(Debug, Serialize, ToSchema)]
pub struct Fragments {
    /// The fragments.
    fragments: Vec<Fragment>,
}

/// A piece of what was said.
#[derive(Debug, Serialize, ToSchema)]
pub struct Fragment {
    /// The session that it comes from.
    session: String,
    /// The segment.
    segment: String,
    /// The message.
    seq: u64,
    /// Who said it.
    role: String,
    /// When.
    at: String,
    /// What was said.
    text: String,
    /// How well it matches, from 0 to 1.
    score: f64,
    /// Why it was recalled.
    rationale: String,
    /// What was said just before it, unless that was recalled too.
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<Neighbour>,
    /// What was said just after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<Neighbour>,
}

/// A message beside a fragment.
#[derive(Debug, Serialize, ToSchema)]
pub struct Neighbour {
    /// The message.
    seq: u64,
    /// Who said it.
    role: String,
    /// What was said, or the beginning of it.
    text: String,
}

impl From<segue_engine::recall::Neighbour> for Neighbour {
    fn from(said: segue_engine::recall::Neighbour) -> Self {
        Self { seq: said.seq.0, role: said.role.name().to_owned(), text: said.text }
    }
}

/// Look into earlier sessions
#[utoipa::path(post, path = "/api/v1/scopes/{scope}/recall", tag = "context",
    params(("scope" = String, Path, description = "The scope, percent-encoded")),
    request_body = NewRecall,
    responses((status = 200, description = "What was found", body = Fragments)))]
pub(crate) async fn recall(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(scope): At<String>,
    Body(new): Body<NewRecall>,
) -> Result<Json<Fragments>, Problem> {
    let scope = body::scope_there(&caller, &scope)?;
    let mut recall = Recall::new(new.query, new.why);
    match new.count {
        None => {}
        Some(count @ 1..=FRAGMENTS_MAX) => recall.count_max = count,
        Some(_) => return Err(Problem::wrong(format!("\"count\" is a number from 1 to {FRAGMENTS_MAX}"))),
    }
    match new.tokens {
        None => {}
        Some(tokens @ 1..=TOKENS_MAX) => recall.tokens_max = tokens,
        Some(_) => return Err(Problem::wrong(format!("\"tokens\" is a number from 1 to {TOKENS_MAX}"))),
    }
    app.state(&scope).await?;
    let recalled = Box::pin(app.engine.recall(&scope, &recall)).await?;
    let fragment = |found: segue_engine::recall::Fragment| Fragment {
        segment: segment_name(&found.session.scope, found.segment),
        session: found.session.to_string(),
        seq: found.seq.0,
        role: found.role.name().to_owned(),
        at: found.at.to_string(),
        text: found.text,
        score: found.score,
        rationale: found.rationale,
        before: found.before.map(Neighbour::from),
        after: found.after.map(Neighbour::from),
    };
    Ok(Json(Fragments { fragments: recalled.fragments.into_iter().map(fragment).collect() }))
}
