//! Proof: is the log what was written?

use super::wire::segment_name;
use crate::app::App;
use crate::auth::Caller;
use crate::body::{self, At};
use crate::problem::Problem;
use axum::Json;
use axum::extract::State;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use segue_core::state::State as ScopeState;
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
    /// The digests of the segments, in order.
    digests: Vec<SegmentDigest>,
}

/// The digest of a segment.
#[derive(Debug, Serialize, ToSchema)]
pub struct SegmentDigest {
    /// The segment.
    segment: String,
    /// Whether it is sealed, and can never change.
    sealed: bool,
    /// The digest of its entries; that of a sealed one includes the one before it.
    digest: String,
}

fn digests(state: &ScopeState) -> Vec<SegmentDigest> {
    let digest = |number, sealed, digest: String| SegmentDigest {
        segment: segment_name(&state.scope, number),
        sealed,
        digest,
    };
    let sealed =
        state.segments.iter().map(|(number, sealed)| digest(*number, true, sealed.digest.to_string()));
    let open = state.open.iter().map(|open| digest(open.number, false, open.digest.to_string()));
    sealed.chain(open).collect()
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
    let scope = body::scope_there(&caller, &scope)?;
    let state = app.state(&scope).await?;
    let store = app.engine.store();
    let report = match segue_store::verify::verify(store.as_ref(), &scope).await {
        Ok(report) => report,
        Err(found @ (segue_store::Error::Damaged { .. } | segue_store::Error::NewerEntry { .. })) => {
            segue_store::verify::Report { problems: vec![found.to_string()], ..Default::default() }
        }
        Err(error) => return Err(error.into()),
    };
    let (ok, segments, entries) = (report.problems.is_empty(), report.segments, report.entries);
    let (problems, digests) = (report.problems, digests(&state));
    Ok(Json(Verified { ok, scopes: 1, segments, entries, problems, digests }))
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
    let scope = body::scope_there(&caller, &scope)?;
    let state = app.state(&scope).await?;
    let chain = state.segments.last_key_value().map(|(_, sealed)| sealed.digest.to_string());
    let open = state.open.as_ref().map(|open| open.digest.to_string());
    let seq = state.head.0;
    let text =
        format!("{scope}\n{seq}\n{}\n{}", chain.as_deref().unwrap_or("-"), open.as_deref().unwrap_or("-"));
    let digest = blake3::hash(text.as_bytes()).to_hex().to_string();
    let signature = sign(&app, &digest)?;
    Ok(Json(Head { scope: scope.as_str().to_owned(), seq, chain, open, digest, signature }))
}

/// Signs a text with the key of the configuration, if there is one.
fn sign(app: &App, text: &str) -> Result<Option<Signature>, Problem> {
    let Some(variable) = app.serve().signing_key_env.clone() else { return Ok(None) };
    let seed = (app.keys)(&variable).as_deref().and_then(bytes_of);
    let pair = seed.and_then(|seed| Ed25519KeyPair::from_seed_unchecked(&seed).ok());
    let Some(pair) = pair else {
        tracing::error!(variable, "the key for signatures is not there, or not 64 hexadecimal digits");
        return Err(Problem::unavailable("the key for signatures cannot be used"));
    };
    Ok(Some(Signature {
        algorithm: "ed25519",
        public_key: hexadecimal(pair.public_key().as_ref()),
        value: hexadecimal(pair.sign(text.as_bytes()).as_ref()),
    }))
}

fn bytes_of(text: &str) -> Option<Vec<u8>> {
    let text = text.trim();
    let is_fine = text.is_ascii() && text.len() == 64;
    let byte = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    is_fine.then(|| (0..64).step_by(2).map(byte).collect())?
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
