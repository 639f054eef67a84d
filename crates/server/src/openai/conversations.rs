//! Conversations: a conversation is a scope, and its items are the messages there.

use super::responses::{ItemsQuery, listed};
use super::said::{of_items, to_items};
use super::scope;
use crate::app::App;
use crate::auth::{Caller, Right};
use crate::body::{self, Asked, At, Body, Optional};
use crate::problem::Problem;
use crate::values::Space;
use axum::Json;
use axum::extract::State;
use segue_core::entry::Seq;
use segue_core::span::Spans;
use segue_engine::{Request, Target};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

/// How many items are taken at once, as at OpenAI.
const ITEMS_MAX: usize = 20;

/// A conversation.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Conversation {
    scope: String,
    created_at: i64,
    metadata: Value,
}

impl Conversation {
    fn shown(&self, id: &str) -> Value {
        json!({ "id": id, "object": "conversation", "created_at": self.created_at, "metadata": self.metadata })
    }
}

/// A new conversation.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct NewConversation {
    #[serde(default)]
    items: Option<Vec<Value>>,
    #[serde(default)]
    metadata: Option<Value>,
}

/// New items.
#[derive(Debug, Deserialize)]
pub(crate) struct NewItems {
    items: Vec<Value>,
}

/// Finds the scope of the conversation that a request names.
pub(crate) async fn named(
    app: &App,
    caller: &Caller,
    fields: &Value,
) -> Result<Option<segue_core::scope::Key>, Problem> {
    let Some(conversation) = fields.get("conversation").filter(|value| !value.is_null()) else {
        return Ok(None);
    };
    let id = conversation.get("id").unwrap_or(conversation).as_str();
    let id = id.ok_or_else(|| Problem::wrong("\"conversation\" is an id, or an object with one"))?;
    match find(app, caller, id).await {
        Ok((_, scope)) => Ok(Some(scope)),
        // A name that is no id of ours is a scope of the client's choosing.
        Err(_) if !id.starts_with("conv_") => scope::derived(caller, id).map(Some),
        Err(problem) => Err(problem),
    }
}

async fn find(
    app: &App,
    caller: &Caller,
    id: &str,
) -> Result<(Conversation, segue_core::scope::Key), Problem> {
    let found: Option<Conversation> = app.values.get(Space::Conversation, id, app.engine.now()).await?;
    let missing = || Problem::not_found(format!("there is no conversation {id:?}"));
    let found = found.filter(|found| caller.sees(&found.scope)).ok_or_else(missing)?;
    let scope = found.scope.parse().map_err(|_| missing())?;
    Ok((found, scope))
}

/// Begins a conversation.
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    Optional(new): Optional<NewConversation>,
) -> Result<Json<Value>, Problem> {
    caller.may(Right::Write)?;
    let id = format!("conv_{}", crate::ids::fresh().simple());
    let metadata = new.metadata.filter(Value::is_object).unwrap_or_else(|| json!({}));
    let scope = match metadata.get("segue_scope").and_then(Value::as_str) {
        Some(scope) => body::scope(&caller, scope)?,
        None => scope::derived(&caller, &id)?,
    };
    let conversation =
        Conversation { scope: scope.as_str().to_owned(), created_at: app.engine.now().as_second(), metadata };
    let items = new.items.unwrap_or_default();
    keep(&app, &caller, &scope, &items).await?;
    app.values.put(Space::Conversation, &id, &conversation, None).await?;
    Ok(Json(conversation.shown(&id)))
}

/// Shows a conversation.
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<String>,
) -> Result<Json<Value>, Problem> {
    let (conversation, _) = find(&app, &caller, &id).await?;
    Ok(Json(conversation.shown(&id)))
}

/// Changes what a conversation is labelled with.
pub(crate) async fn change(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<String>,
    Body(new): Body<NewConversation>,
) -> Result<Json<Value>, Problem> {
    caller.may(Right::Write)?;
    let (mut conversation, _) = find(&app, &caller, &id).await?;
    if let Some(metadata) = new.metadata.filter(Value::is_object) {
        conversation.metadata = metadata;
    }
    app.values.put(Space::Conversation, &id, &conversation, None).await?;
    Ok(Json(conversation.shown(&id)))
}

/// Forgets a conversation. What was said stays in its scope, as at OpenAI items outlive their conversation.
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<String>,
) -> Result<Json<Value>, Problem> {
    caller.may(Right::Write)?;
    find(&app, &caller, &id).await?;
    app.values.delete(Space::Conversation, &id).await?;
    Ok(Json(json!({ "id": id, "object": "conversation.deleted", "deleted": true })))
}

/// Takes items over as they are.
async fn keep(
    app: &App,
    caller: &Caller,
    scope: &segue_core::scope::Key,
    items: &[Value],
) -> Result<Vec<Value>, Problem> {
    if items.len() > ITEMS_MAX {
        return Err(Problem::wrong(format!("at most {ITEMS_MAX} items are taken at once")));
    }
    let said = of_items(items)?;
    app.admit_scope(caller, &Target::Scope(scope.clone())).await?;
    let waits = app.scope_turns.of(scope.as_str());
    let _turn = waits.lock().await;
    let mut kept = Vec::new();
    for one in said {
        let outcome = app.request(scope, &Request::Keep(one.role, one.message.clone())).await?;
        if let Some(seq) = outcome.seq {
            kept.extend(to_items(one.role, &one.message, seq.0));
        }
    }
    Ok(kept)
}

/// Adds items to a conversation.
pub(crate) async fn add_items(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<String>,
    Body(new): Body<NewItems>,
) -> Result<Json<Value>, Problem> {
    caller.may(Right::Write)?;
    let (_, scope) = find(&app, &caller, &id).await?;
    let kept = keep(&app, &caller, &scope, &new.items).await?;
    let query = ItemsQuery { order: Some("asc".to_owned()), limit: Some(100), ..ItemsQuery::default() };
    Ok(Json(listed(kept, &query)))
}

async fn items(app: &App, scope: &segue_core::scope::Key) -> Result<Vec<Value>, Problem> {
    let Some(state) = app.engine.store().load(scope).await? else { return Ok(Vec::new()) };
    let views = state.all().map(|(number, _)| state.view(number));
    let all = views.fold(Spans::default(), |all, view| all.union(&view));
    let stored = app.told(&state, &all).await?;
    let kept = stored.iter().filter_map(|told| Some((told, told.message.as_ref()?)));
    // A summary that was carried over is nothing that anybody said.
    let said = kept.filter(|(_, message)| message.carried_from.is_none());
    Ok(said.flat_map(|(told, message)| to_items(told.role, message, told.seq.0)).collect())
}

/// Lists the items of a conversation.
pub(crate) async fn list_items(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<String>,
    Asked(query): Asked<ItemsQuery>,
) -> Result<Json<Value>, Problem> {
    let (_, scope) = find(&app, &caller, &id).await?;
    Ok(Json(listed(items(&app, &scope).await?, &query)))
}

/// Shows an item.
pub(crate) async fn show_item(
    State(app): State<Arc<App>>,
    caller: Caller,
    At((id, item)): At<(String, String)>,
) -> Result<Json<Value>, Problem> {
    let (_, scope) = find(&app, &caller, &id).await?;
    let all = items(&app, &scope).await?;
    let found = all.into_iter().find(|one| one.get("id").and_then(Value::as_str) == Some(item.as_str()));
    found.map(Json).ok_or_else(|| Problem::not_found(format!("there is no item {item:?}")))
}

/// Erases an item: the message that it stands for.
pub(crate) async fn delete_item(
    State(app): State<Arc<App>>,
    caller: Caller,
    At((id, item)): At<(String, String)>,
) -> Result<Json<Value>, Problem> {
    caller.may(Right::Write)?;
    let (conversation, scope) = find(&app, &caller, &id).await?;
    let all = items(&app, &scope).await?;
    let is_it = |one: &&Value| one.get("id").and_then(Value::as_str) == Some(item.as_str());
    let missing = || Problem::not_found(format!("there is no item {item:?}"));
    all.iter().find(is_it).ok_or_else(missing)?;
    let seq = item.split('_').nth(1).and_then(|seq| seq.parse().ok()).ok_or_else(missing)?;
    app.request(&scope, &Request::Erase(vec![Seq(seq)])).await?;
    Ok(Json(conversation.shown(&id)))
}
