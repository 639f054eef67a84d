//! Scopes.

use super::wire::{self, Page};
use crate::app::App;
use crate::auth::Caller;
use crate::body::Asked;
use crate::problem::Problem;
use crate::values::Space;
use axum::Json;
use axum::extract::State;
use segue_core::scope;
use segue_engine::Target;
use segue_store::{Cursor, ScopePage, ScopeRow};
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use utoipa::{IntoParams, ToSchema};

/// How many scopes are read at a time while a page is filled.
const ROWS: usize = 500;

/// How many scopes are looked through for one page, so that no request is without end.
const LOOKED_THROUGH_MAX: usize = 50_000;

/// Which scopes are asked for.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct ScopesQuery {
    /// Where the page begins: `next` of the page before.
    #[serde(default)]
    cursor: Option<String>,
    /// How many at most.
    #[serde(default)]
    #[param(minimum = 1, maximum = 1_000_000)]
    limit: Option<usize>,
    /// What the keys begin with.
    #[serde(default)]
    prefix: Option<String>,
}

/// A scope.
#[derive(Debug, Serialize, ToSchema)]
pub struct Scope {
    /// Its key.
    scope: String,
    /// Its latest session.
    active: Option<String>,
    /// How many sessions it has.
    sessions: u32,
    /// How many messages are kept.
    messages: u64,
    /// When anything was last written.
    updated_at: String,
}

impl Scope {
    fn of(row: &ScopeRow) -> Self {
        let key = |number| segue_core::session::Key::new(row.scope.clone(), number).to_string();
        Self {
            scope: row.scope.as_str().to_owned(),
            active: row.active.map(key),
            sessions: row.sessions,
            messages: row.messages,
            updated_at: row.updated_at.to_string(),
        }
    }
}

/// List scopes
///
/// By their keys, so that none is missed and none comes twice, whatever is written between two pages; only those that the token
/// may know of.
#[utoipa::path(get, path = "/api/v1/scopes", tag = "scopes", params(ScopesQuery),
    responses((status = 200, description = "A page of scopes", body = Page<Scope>)))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
    Asked(query): Asked<ScopesQuery>,
) -> Result<Json<Page<Scope>>, Problem> {
    let limit = wire::limit(query.limit)?;
    let prefix = query.prefix.unwrap_or_default();
    let mut page = segue_store::Page::by_key(ROWS);
    page.after = query.cursor.as_deref().map(read_cursor).transpose()?;
    let (mut items, mut looked_through) = (Vec::<Scope>::new(), 0);
    loop {
        let ScopePage { rows, next } = app.engine.store().scopes(&page).await?;
        looked_through += rows.len();
        for row in &rows {
            let key = row.scope.as_str();
            if !key.starts_with(&prefix) || !caller.sees(key) {
                continue;
            }
            // One more than the page holds tells that there is a next one.
            if items.len() == limit {
                let next = items.last().map(|last| written(&last.scope));
                return Ok(Json(Page { items, next }));
            }
            items.push(Scope::of(row));
        }
        let last = rows.last().map(|row| written(row.scope.as_str()));
        if next.is_none() {
            return Ok(Json(Page { items, next: None }));
        }
        if looked_through >= LOOKED_THROUGH_MAX {
            return Ok(Json(Page { items, next: last }));
        }
        page.after = next;
    }
}

/// Writes a cursor with letters that need no escape in a query.
fn written(key: &str) -> String {
    key.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn read_cursor(text: &str) -> Result<Cursor, Problem> {
    let wrong = || Problem::wrong("there is no such cursor").hint("take `next` of the page before");
    let is_written = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let is_fine = !text.is_empty() && text.len().is_multiple_of(2) && text.as_bytes().iter().all(is_written);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Option<Vec<u8>> = text.as_bytes().chunks(2).map(byte).collect();
    let bytes = bytes.filter(|_| is_fine).ok_or_else(wrong)?;
    // Any place in the order of keys will do. No key holds a NUL, and not every store takes one.
    Ok(Cursor(String::from_utf8_lossy(&bytes).replace('\0', "\u{1}")))
}

impl App {
    /// Lets a caller begin a new scope, within the bound of the configuration. Returns the scope if it is new: it counts
    /// once something was said there.
    pub(crate) async fn admit_scope(
        &self,
        caller: &Caller,
        to: &Target,
    ) -> Result<Option<scope::Key>, Problem> {
        let scopes_max = self.serve().scopes_per_token_max;
        let Caller::Holder(token) = caller else { return Ok(None) };
        let scope = self.scope_of(to);
        if scopes_max == 0 || self.engine.store().head(&scope).await?.is_some() {
            return Ok(None);
        }
        let count = match self.scopes_of.count(&token.id) {
            Some(count) => count,
            None => {
                let begun: Vec<(String, bool)> = self
                    .values
                    .list_under(Space::Begun, &begun_key(&token.id, ""), self.engine.now())
                    .await?;
                self.scopes_of.learn(&token.id, begun.into_iter().map(|(key, _)| key))
            }
        };
        if count >= scopes_max {
            let detail = format!("this token has begun {scopes_max} scopes, and may not begin more");
            return Err(
                Problem::refused(detail).hint("serve.scopes_per_token_max of the configuration is the bound")
            );
        }
        Ok(Some(scope))
    }

    /// Counts a scope that a caller has begun. What was said there is durable by now, so that this fails nothing.
    pub(crate) async fn begun_scope(&self, caller: &Caller, scope: Option<scope::Key>) {
        let (Caller::Holder(token), Some(scope)) = (caller, scope) else { return };
        let key = begun_key(&token.id, &blake3::hash(scope.as_str().as_bytes()).to_hex());
        if let Err(error) = self.values.put(Space::Begun, &key, &true, None).await {
            tracing::warn!(%error, "a scope that a token has begun was not counted");
        }
        self.scopes_of.learn(&token.id, [key]);
    }
}

fn begun_key(token: &str, scope: &str) -> String {
    format!("{token}/{scope}")
}

/// The scopes that each token has begun, as far as this process knows: by their keys in the store.
#[derive(Debug, Default)]
pub(crate) struct Begun(Mutex<HashMap<String, HashSet<String>>>);

impl Begun {
    /// Returns how many scopes a token has begun, if that was read.
    fn count(&self, token: &str) -> Option<usize> {
        let begun = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        begun.get(token).map(HashSet::len)
    }

    /// Notes scopes of a token, and returns how many there are.
    fn learn(&self, token: &str, keys: impl IntoIterator<Item = String>) -> usize {
        let mut begun = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let scopes = begun.entry(token.to_owned()).or_default();
        scopes.extend(keys);
        scopes.len()
    }
}
