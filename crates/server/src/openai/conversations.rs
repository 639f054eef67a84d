//! Conversations: a conversation is a scope, and its items are the messages there.

use super::chat::set;
use super::items::separate;
use super::page::{Listed, PageAsked};
use super::scope;
use super::turn::check_size;
use crate::app::App;
use crate::auth::{Caller, Right};
use crate::body::{At, Body, Optional};
use crate::idempotency::{Key, Tells};
use crate::problem::Problem;
use crate::values::Space;
use axum::extract::State;
use axum::{Extension, Json};
use segue_core::entry::Seq;
use segue_core::message::{Message, MessageId};
use segue_core::span::Spans;
use segue_engine::history::StoredMessage;
use segue_engine::{Request, Target};
use segue_store::values::label_key;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// An answer that tells what was said in a scope.
type Told = Result<(Extension<Tells>, Json<Value>), Problem>;

/// How many items are taken at once, as at OpenAI.
const ITEMS_MAX: usize = 20;

/// A conversation. What it is labelled with stands apart, so that an erasure reaches it.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Conversation {
    scope: String,
    created_at: i64,
    /// As earlier versions wrote it down.
    #[serde(default, skip_serializing)]
    metadata: Option<Map<String, Value>>,
}

impl Conversation {
    async fn shown(self, app: &App, id: &str) -> Result<Value, Problem> {
        let label: Option<Map<String, Value>> = match self.scope.parse() {
            Ok(scope) => app.values.get(Space::Words, &label_key(&scope, id), app.engine.now()).await?,
            Err(_) => None,
        };
        let metadata = label.unwrap_or_default();
        Ok(json!({ "id": id, "object": "conversation", "created_at": self.created_at, "metadata": metadata }))
    }

    /// Moves what an earlier version wrote down here to where an erasure reaches it.
    async fn without_words(mut self, app: &App, id: &str) -> Result<Self, Problem> {
        let Some(metadata) = self.metadata.take() else { return Ok(self) };
        if let Ok(scope) = self.scope.parse() {
            let key = label_key(&scope, id);
            let label: Option<Value> = app.values.get(Space::Words, &key, app.engine.now()).await?;
            if label.is_none() {
                app.values.put(Space::Words, &key, &metadata, None).await?;
            }
        }
        app.values.put(Space::Conversation, id, &self, None).await?;
        Ok(self)
    }
}

/// A new conversation.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct NewConversation {
    #[serde(default)]
    items: Option<Vec<Value>>,
    #[serde(default)]
    metadata: Option<Map<String, Value>>,
}

/// New items.
#[derive(Debug, Deserialize)]
pub(crate) struct NewItems {
    items: Vec<Value>,
}

/// The conversation that a request names.
pub(crate) struct Named {
    /// Its scope.
    pub(crate) scope: segue_core::scope::Key,
    /// Whether it was begun here, and may hold items that were put there.
    pub(crate) is_kept: bool,
}

/// Reads the name of the conversation of a request.
pub(crate) fn name(fields: &Value) -> Result<Option<&str>, Problem> {
    let Some(conversation) = fields.get("conversation").filter(|value| !value.is_null()) else {
        return Ok(None);
    };
    let name = conversation.get("id").unwrap_or(conversation).as_str();
    name.map(Some).ok_or_else(|| Problem::wrong("\"conversation\" is an id, or an object with one"))
}

/// Finds the conversation that a request names.
pub(crate) async fn named(app: &App, caller: &Caller, fields: &Value) -> Result<Option<Named>, Problem> {
    let Some(id) = name(fields)? else { return Ok(None) };
    match find(app, caller, id).await {
        Ok((_, scope)) => Ok(Some(Named { scope, is_kept: true })),
        // A name that is no id of ours is a scope of the client's choosing.
        Err(_) if !id.starts_with("conv_") => {
            let scope = scope::chosen(caller, id)?;
            Ok(Some(Named { scope, is_kept: false }))
        }
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
    Ok((found.without_words(app, id).await?, scope))
}

/// Begins a conversation.
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    key: Option<Extension<Key>>,
    Optional(new): Optional<NewConversation>,
) -> Told {
    // A request that is sent again makes the same conversation.
    let key = key.map(|Extension(key)| key);
    let fresh = || crate::ids::fresh().simple().to_string();
    let id = format!("conv_{}", key.as_ref().map_or_else(fresh, |key| key.digits().to_owned()));
    let metadata = new.metadata.unwrap_or_default();
    let scope = match scope::in_metadata(&caller, Some(&metadata.clone().into()))? {
        Some(scope) => scope,
        None => scope::derived(&caller, &id)?,
    };
    caller.may(Right::Write)?;
    let (since, now) = (app.head_of(&scope).await?, app.engine.now());
    let items = new.items.unwrap_or_default();
    keep(&app, &caller, &scope, &items, key.as_ref()).await?;
    let known: Option<Conversation> = app.values.get(Space::Conversation, &id, now).await?;
    let conversation = match known {
        Some(known) => known.without_words(&app, &id).await?,
        None => {
            let (created_at, named) = (now.as_second(), scope.as_str().to_owned());
            let conversation = Conversation { scope: named, created_at, metadata: None };
            app.values.put(Space::Words, &label_key(&scope, &id), &metadata, None).await?;
            app.values.put(Space::Conversation, &id, &conversation, None).await?;
            conversation
        }
    };
    Ok((Extension(Tells::Scope(scope, since)), Json(conversation.shown(&app, &id).await?)))
}

/// Lists the conversations that the caller may know of, the newest first.
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
    Listed(query): Listed,
) -> Result<Json<Value>, Problem> {
    let mut all: Vec<(String, Conversation)> = app.values.list(Space::Conversation, app.engine.now()).await?;
    all.retain(|(_, conversation)| caller.sees(&conversation.scope));
    all.sort_by(|(a, one), (b, other)| (one.created_at, a).cmp(&(other.created_at, b)));
    let mut page = query.page(all.iter().map(|(id, _)| json!({ "id": id })).collect())?;
    let mut known: BTreeMap<String, Conversation> = all.into_iter().collect();
    for listed in page.get_mut("data").and_then(Value::as_array_mut).into_iter().flatten() {
        let id = listed.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        if let Some(conversation) = known.remove(&id) {
            *listed = conversation.without_words(&app, &id).await?.shown(&app, &id).await?;
        }
    }
    Ok(Json(page))
}

/// Shows a conversation.
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<String>,
) -> Result<Json<Value>, Problem> {
    let (conversation, _) = find(&app, &caller, &id).await?;
    conversation.shown(&app, &id).await.map(Json)
}

/// Changes what a conversation is labelled with.
pub(crate) async fn change(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<String>,
    Body(new): Body<NewConversation>,
) -> Told {
    let (conversation, scope) = find(&app, &caller, &id).await?;
    caller.may(Right::Write)?;
    let since = app.head_of(&scope).await?;
    if let Some(metadata) = new.metadata {
        app.values.put(Space::Words, &label_key(&scope, &id), &metadata, None).await?;
    }
    Ok((Extension(Tells::Scope(scope, since)), Json(conversation.shown(&app, &id).await?)))
}

/// Forgets a conversation. What was said stays in its scope, as at OpenAI items outlive their conversation.
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<String>,
) -> Result<Json<Value>, Problem> {
    let (_, scope) = find(&app, &caller, &id).await?;
    caller.may(Right::Write)?;
    app.values.delete(Space::Words, &label_key(&scope, &id)).await?;
    app.values.delete(Space::Conversation, &id).await?;
    Ok(Json(json!({ "id": id, "object": "conversation.deleted", "deleted": true })))
}

/// Takes items over as they are.
async fn keep(
    app: &App,
    caller: &Caller,
    scope: &segue_core::scope::Key,
    items: &[Value],
    key: Option<&Key>,
) -> Result<Vec<Value>, Problem> {
    if items.len() > ITEMS_MAX {
        return Err(Problem::wrong(format!("at most {ITEMS_MAX} items are taken at once")));
    }
    let new = separate(items)?;
    check_size(app, new.iter().map(|item| &item.said.message))?;
    let is_new_scope = app.admit_scope(caller, &Target::Scope(scope.clone())).await?;
    let waits = app.scope_turns.of(scope.as_str());
    let _turn = waits.lock().await;
    let mut kept = Vec::new();
    for (at, item) in new.iter().enumerate() {
        let (role, message) = (item.said.role, &item.said.message);
        let message_id = key.map(|key| MessageId(key.nth_message_id(at)));
        let outcome =
            app.request(scope, &Request::Keep(role, Message { message_id, ..message.clone() })).await?;
        if let Some(Seq(seq)) = outcome.seq {
            app.mark_item(scope, seq, item).await?;
            kept.extend(app.marked_at(scope, seq).await?.items(role, message, seq));
        }
    }
    if !new.is_empty() {
        app.begun_scope(caller, is_new_scope).await;
    }
    Ok(kept)
}

/// Adds items to a conversation.
pub(crate) async fn add_items(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<String>,
    key: Option<Extension<Key>>,
    Body(new): Body<NewItems>,
) -> Told {
    let (_, scope) = find(&app, &caller, &id).await?;
    caller.may(Right::Write)?;
    let key = key.map(|Extension(key)| key);
    let since = app.head_of(&scope).await?;
    let kept = keep(&app, &caller, &scope, &new.items, key.as_ref()).await?;
    Ok((Extension(Tells::Scope(scope, since)), Json(PageAsked::all().page(kept)?)))
}

/// Reads the items of a scope, each with the entry that it stands for.
async fn items(app: &App, scope: &segue_core::scope::Key) -> Result<Vec<(Seq, Value)>, Problem> {
    let Some(state) = app.engine.store().load(scope).await? else { return Ok(Vec::new()) };
    let views = state.all().map(|(number, _)| state.view(number));
    let all = views.fold(Spans::default(), |all, view| all.union(&view));
    let stored = app.stored_messages(&state, &all).await?;
    let kept = stored.iter().filter_map(|stored| Some((stored, stored.message.as_ref()?)));
    // A summary that was carried over is nothing that anybody said.
    let said = kept.filter(|(_, message)| message.carried_from.is_none());
    let marked = app.marked(scope).await?;
    let items = |(stored, message): (&StoredMessage, &Message)| {
        marked.items(stored.role, message, stored.seq.0).into_iter().map(|item| (stored.seq, item)).collect()
    };
    Ok(said.flat_map::<Vec<_>, _>(items).collect())
}

/// Lists the items of a conversation.
pub(crate) async fn list_items(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<String>,
    Listed(query): Listed,
) -> Result<Json<Value>, Problem> {
    let (_, scope) = find(&app, &caller, &id).await?;
    let items = items(&app, &scope).await?;
    query.page(items.into_iter().map(|(_, item)| item).collect()).map(Json)
}

/// Shows an item.
pub(crate) async fn show_item(
    State(app): State<Arc<App>>,
    caller: Caller,
    At((id, item)): At<(String, String)>,
) -> Result<Json<Value>, Problem> {
    let (_, scope) = find(&app, &caller, &id).await?;
    let found = items(&app, &scope).await?.into_iter().find(|(_, one)| has_id(one, &item));
    found.map(|(_, item)| Json(item)).ok_or_else(|| no_item(&item))
}

fn has_id(item: &Value, id: &str) -> bool {
    item.get("id").and_then(Value::as_str) == Some(id)
}

fn no_item(id: &str) -> Problem {
    Problem::not_found(format!("there is no item {id:?}"))
}

/// Erases an item: the message that it stands for.
pub(crate) async fn delete_item(
    State(app): State<Arc<App>>,
    caller: Caller,
    At((id, item)): At<(String, String)>,
) -> Result<Json<Value>, Problem> {
    let (conversation, scope) = find(&app, &caller, &id).await?;
    // As a session may be deleted with it; sessions of OpenAI's agents take their last item back so.
    caller.may(Right::Write)?;
    let all = items(&app, &scope).await?;
    let (seq, _) = all.iter().find(|(_, one)| has_id(one, &item)).ok_or_else(|| no_item(&item))?;
    if all.iter().filter(|(of, _)| of == seq).count() > 1 {
        let detail = format!("the item {item:?} is one message of the model together with others");
        let hint = format!("DELETE /api/v1/scopes/{scope}/messages/{seq} erases all of it");
        return Err(Problem::refused(detail).hint(hint));
    }
    let erased = app.erase_message(&scope, *seq).await?;
    let mut shown = conversation.shown(&app, &id).await?;
    // Whether no byte of it is left in the store's files.
    set(&mut shown, "finished", erased.finished.into());
    Ok(Json(shown))
}
