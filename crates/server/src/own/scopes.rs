//! Scopes.

use super::wire::{self, Page};
use crate::app::App;
use crate::auth::Caller;
use crate::body::Asked;
use crate::problem::Problem;
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
    #[param(minimum = 1, maximum = 500)]
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
/// The last written first; only those that the token may know of.
#[utoipa::path(get, path = "/api/v1/scopes", tag = "scopes", params(ScopesQuery),
    responses((status = 200, description = "A page of scopes", body = Page<Scope>)))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
    Asked(query): Asked<ScopesQuery>,
) -> Result<Json<Page<Scope>>, Problem> {
    let limit = wire::limit(query.limit)?;
    let mut page = segue_store::Page::first(ROWS);
    page.after = query.cursor.as_deref().map(read_cursor).transpose()?;
    let prefix = query.prefix.unwrap_or_default();
    let (mut items, mut looked_through) = (Vec::new(), 0);
    loop {
        let ScopePage { rows, next } = app.engine.store().scopes(&page).await?;
        looked_through += rows.len();
        for row in &rows {
            if !row.scope.as_str().starts_with(&prefix) || !caller.sees(row.scope.as_str()) {
                continue;
            }
            items.push(Scope::of(row));
            if items.len() == limit {
                let next = Some(written(&Cursor::behind(row)));
                return Ok(Json(Page { items, next }));
            }
        }
        if next.is_none() || looked_through >= LOOKED_THROUGH_MAX {
            return Ok(Json(Page { items, next: next.as_ref().map(written) }));
        }
        page.after = next;
    }
}

/// Writes a cursor without a space, which queries write in two ways.
fn written(cursor: &Cursor) -> String {
    cursor.0.replacen(' ', "~", 1)
}

fn read_cursor(text: &str) -> Result<Cursor, Problem> {
    let cursor = Cursor(text.replacen('~', " ", 1));
    match cursor.parse() {
        Ok(_) => Ok(cursor),
        Err(_) => Err(Problem::wrong("there is no such cursor").hint("take `next` of the page before")),
    }
}

impl App {
    /// Lets a caller begin a new scope, within the bound of the configuration.
    pub(crate) async fn admit_scope(&self, caller: &Caller, to: &Target) -> Result<(), Problem> {
        let scopes_max = self.serve().scopes_per_token_max;
        let Caller::Holder(token) = caller else { return Ok(()) };
        let scope = self.scope_of(to);
        if scopes_max == 0 || self.engine.store().head(&scope).await?.is_some() {
            return Ok(());
        }
        match self.scopes_of.begin(&token.id, &scope, scopes_max) {
            true => Ok(()),
            false => {
                let detail = format!("this token has begun {scopes_max} scopes, and may not begin more");
                Err(Problem::refused(detail)
                    .hint("serve.scopes_per_token_max of the configuration is the bound"))
            }
        }
    }
}

/// How many scopes each token has begun since the server started.
#[derive(Debug, Default)]
pub(crate) struct Begun(Mutex<HashMap<String, HashSet<scope::Key>>>);

impl Begun {
    /// Counts a scope for a token, unless that is past the bound.
    fn begin(&self, token: &str, scope: &scope::Key, scopes_max: usize) -> bool {
        let mut begun = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let scopes = begun.entry(token.to_owned()).or_default();
        let is_fine = scopes.len() < scopes_max || scopes.contains(scope);
        if is_fine {
            scopes.insert(scope.clone());
        }
        is_fine
    }
}
