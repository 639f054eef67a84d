//! Proof: is the log what was written?

use crate::app::App;
use crate::auth::Caller;
use crate::body::{self, At};
use crate::problem::Problem;
use axum::Json;
use axum::extract::State;
use serde::Serialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// What was checked, and what was found.
#[derive(Debug, Serialize, ToSchema)]
pub struct Verified {
    /// Whether all is as it was written.
    ok: bool,
    /// How many scopes were checked.
    scopes: u64,
    /// How many segments.
    segments: u64,
    /// How many entries.
    entries: u64,
    /// What is wrong, one sentence each.
    problems: Vec<String>,
}

/// Verify a scope
///
/// Recomputes every digest, folds the log and compares it with the store.
#[utoipa::path(get, path = "/api/v1/scopes/{scope}/verify", tag = "proof",
    params(("scope" = String, Path, description = "The scope, percent-encoded")),
    responses((status = 200, description = "What was found", body = Verified)))]
pub(crate) async fn verify(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(scope): At<String>,
) -> Result<Json<Verified>, Problem> {
    let scope = body::scope(&caller, &scope)?;
    app.state(&scope).await?;
    let store = app.engine.store();
    let report = match segue_store::verify::verify(store.as_ref(), &scope).await {
        Ok(report) => report,
        Err(found @ (segue_store::Error::Damaged { .. } | segue_store::Error::NewerEntry { .. })) => {
            segue_store::verify::Report { problems: vec![found.to_string()], ..Default::default() }
        }
        Err(error) => return Err(error.into()),
    };
    let (ok, segments, entries) = (report.problems.is_empty(), report.segments, report.entries);
    Ok(Json(Verified { ok, scopes: 1, segments, entries, problems: report.problems }))
}

/// The head of a scope's log: one value that proves all of its history.
#[derive(Debug, Serialize, ToSchema)]
pub struct Head {
    /// The scope.
    scope: String,
    /// The last entry.
    seq: u64,
    /// The digest of the last sealed segment, which includes those before it.
    chain: Option<String>,
    /// The digest of the open segment.
    open: Option<String>,
    /// A digest of all of this.
    digest: String,
    /// The signature of `digest`, if a key is configured.
    signature: Option<Signature>,
}

/// A signature.
#[derive(Debug, Serialize, ToSchema)]
pub struct Signature {
    /// The algorithm.
    algorithm: &'static str,
    /// The public key, in hexadecimal.
    public_key: String,
    /// The signature, in hexadecimal.
    value: String,
}

/// Show the head of a scope's log
#[utoipa::path(get, path = "/api/v1/scopes/{scope}/head", tag = "proof",
    params(("scope" = String, Path, description = "The scope, percent-encoded")),
    responses((status = 200, description = "The head", body = Head)))]
pub(crate) async fn head(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(scope): At<String>,
) -> Result<Json<Head>, Problem> {
    let scope = body::scope(&caller, &scope)?;
    let state = app.state(&scope).await?;
    let chain = state.segments.last_key_value().map(|(_, sealed)| sealed.digest.to_string());
    let open = state.open.as_ref().map(|open| open.digest.to_string());
    let seq = state.head.0;
    let text =
        format!("{scope}\n{seq}\n{}\n{}", chain.as_deref().unwrap_or("-"), open.as_deref().unwrap_or("-"));
    let digest = blake3::hash(text.as_bytes()).to_hex().to_string();
    let signature = None;
    Ok(Json(Head { scope: scope.as_str().to_owned(), seq, chain, open, digest, signature }))
}
