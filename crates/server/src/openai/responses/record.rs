//! Responses that were made: where they are in the log. What they say stands in the log alone, so that an erasure
//! reaches it.

use super::background::is_open;
use super::replay::replayed;
use crate::app::App;
use crate::auth::{Caller, Right};
use crate::body::{Asked, At};
use crate::idempotency::Tells;
use crate::openai::chat::set;
use crate::problem::Problem;
use crate::values::Space;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use jiff::SignedDuration;
use segue_core::entry::{Body, Seq};
use segue_core::scope;
use segue_core::session::Number;
use segue_store::values::words_key;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// How long a response can be asked for, as at OpenAI.
const KEPT: SignedDuration = SignedDuration::from_hours(30 * 24);

/// How often a response that is still made is looked at.
const POLL: Duration = Duration::from_millis(200);

/// Where a response is.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The scope.
    pub(crate) scope: String,
    /// The session.
    pub(crate) session: u32,
    /// The reply in the log; nothing if Segue answered itself.
    pub(crate) seq: Option<u64>,
    /// The messages of the request in the log.
    pub(crate) inputs: Vec<u64>,
    /// The ids of the output's items.
    pub(crate) ids: Vec<String>,
    /// What Segue itself answered. It stands apart from the rest, because an erasure deletes it.
    #[serde(skip)]
    pub(crate) answer: Option<Vec<Value>>,
    /// The response without what was said.
    pub(crate) head: Value,
}

/// What a response says that does not stand in the log. An erasure deletes it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct ResponseWords {
    /// What Segue itself answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answer: Option<Vec<Value>>,
    /// What the model was told to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    instructions: Option<Value>,
}

/// The same, as this version writes it and as earlier ones did.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredWords {
    AnswerAlone(Vec<Value>),
    Now(ResponseWords),
}

impl Record {
    /// Returns the scope, if the caller may know of it.
    pub(crate) fn scope_for(&self, caller: &Caller) -> Option<scope::Key> {
        self.scope.parse().ok().filter(|_| caller.sees(&self.scope))
    }

    /// Returns the session.
    pub(crate) fn number(&self) -> Number {
        Number(self.session)
    }
}

impl App {
    /// Writes down where a response is.
    pub(crate) async fn keep_response(&self, id: &str, mut record: Record) -> Result<(), Problem> {
        let instructions = record.head.get("instructions").filter(|given| !given.is_null()).cloned();
        for field in ["output", "instructions"] {
            set(&mut record.head, field, Value::Null);
        }
        let expires = self.engine.now().checked_add(KEPT).ok();
        let words = ResponseWords { answer: record.answer.clone(), instructions };
        let says_something = words.answer.is_some() || words.instructions.is_some();
        if let (true, Ok(scope)) = (says_something, record.scope.parse()) {
            self.values.put(Space::Words, &words_key(&scope, id), &words, expires).await?;
        }
        Ok(self.values.put(Space::Response, id, &record, expires).await?)
    }

    /// Reads where a response is.
    pub(crate) async fn response_record(&self, id: &str) -> Result<Option<Record>, Problem> {
        Ok(self.values.get(Space::Response, id, self.engine.now()).await?)
    }

    /// Finds a response that the caller may know of.
    pub(crate) async fn response(&self, caller: &Caller, id: &str) -> Result<(Record, scope::Key), Problem> {
        let record = self.response_record(id).await?;
        let scope = record.as_ref().and_then(|record| record.scope_for(caller));
        record.zip(scope).ok_or_else(|| Problem::not_found(format!("there is no response {id:?}")))
    }

    /// Reads what a response says that does not stand in the log.
    async fn response_words(&self, id: &str, scope: &scope::Key) -> Result<ResponseWords, Problem> {
        let stored = self.values.get(Space::Words, &words_key(scope, id), self.engine.now()).await?;
        Ok(match stored {
            Some(StoredWords::Now(words)) => words,
            Some(StoredWords::AnswerAlone(answer)) => {
                ResponseWords { answer: Some(answer), instructions: None }
            }
            None => ResponseWords::default(),
        })
    }

    /// Reads messages of the log as items; what was erased is left out.
    async fn items(&self, scope: &scope::Key, messages: &[u64]) -> Result<Vec<Value>, Problem> {
        let mut items = Vec::new();
        for seq in messages {
            let record = self.engine.store().get(scope, Seq(*seq)).await?;
            if let Some(Ok(Body::Message(role, message))) = record.map(|record| record.body()) {
                items.extend(self.marked_at(scope, *seq).await?.items(role, &message, *seq));
            }
        }
        Ok(items)
    }
}

/// Shows a response.
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<String>,
    Asked(query): Asked<ShowQuery>,
) -> Result<Response, Problem> {
    let (record, scope) = app.response(&caller, &id).await?;
    let mut record = app.settle(&id, record).await?;
    if !query.stream.unwrap_or(false) {
        return Ok(Json(app.shown(&id, record, &scope).await?).into_response());
    }
    // What is still made is told once it is.
    while is_open(&record) {
        sleep(POLL).await;
        (record, _) = app.response(&caller, &id).await?;
        record = app.settle(&id, record).await?;
    }
    let response = app.shown(&id, record, &scope).await?;
    Ok(replayed(&response, query.starting_after))
}

/// How a response is to be shown.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ShowQuery {
    /// As events.
    #[serde(default)]
    stream: Option<bool>,
    /// The last event that the client has seen.
    #[serde(default)]
    starting_after: Option<u64>,
}

impl App {
    /// Shows a response with what was said.
    pub(crate) async fn shown(&self, id: &str, record: Record, scope: &scope::Key) -> Result<Value, Problem> {
        let words = self.response_words(id, scope).await?;
        let mut output = match (words.answer, record.seq) {
            (Some(answer), _) => answer,
            (None, Some(seq)) => self.items(scope, &[seq]).await?,
            (None, None) => Vec::new(),
        };
        // Reasoning has ids of its own.
        let said = output.iter_mut().filter(|item| !is_reasoning(item));
        for (item, id) in said.zip(&record.ids) {
            set(item, "id", id.clone().into());
        }
        let mut response = record.head;
        set(&mut response, "output", output.into());
        set(&mut response, "instructions", words.instructions.unwrap_or_default());
        Ok(response)
    }
}

/// Tells whether an item is what a model thought.
pub(crate) fn is_reasoning(item: &Value) -> bool {
    item.get("type").and_then(Value::as_str) == Some("reasoning")
}

/// Forgets a response. What was said stays in its session.
pub(crate) async fn delete(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<String>,
) -> Result<Json<Value>, Problem> {
    let (_, scope) = app.response(&caller, &id).await?;
    caller.may(Right::Write)?;
    app.values.delete(Space::Words, &words_key(&scope, &id)).await?;
    app.values.delete(Space::Response, &id).await?;
    Ok(Json(json!({ "id": id, "object": "response.deleted", "deleted": true })))
}

/// Cancels a response that is made in the background. One that is over is shown as it is.
pub(crate) async fn cancel(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<String>,
) -> Result<(Extension<Tells>, Json<Value>), Problem> {
    let (record, scope) = app.response(&caller, &id).await?;
    caller.may(Right::Write)?;
    let record = app.settle(&id, record).await?;
    let record = app.cancel(&id, record).await?;
    let shown = app.shown(&id, record, &scope).await?;
    Ok((Extension(Tells::Scope(scope)), Json(shown)))
}

/// Which items are asked for.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ItemsQuery {
    #[serde(default)]
    pub(crate) after: Option<String>,
    #[serde(default)]
    pub(crate) limit: Option<usize>,
    #[serde(default)]
    pub(crate) order: Option<String>,
}

/// Lists the items that a response was made of.
pub(crate) async fn input_items(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<String>,
    Asked(query): Asked<ItemsQuery>,
) -> Result<Json<Value>, Problem> {
    let (record, scope) = app.response(&caller, &id).await?;
    let items = app.items(&scope, &record.inputs).await?;
    Ok(Json(listed(items, &query)))
}

/// Gives a page of items, the newest first unless it is said otherwise.
pub(crate) fn listed(mut items: Vec<Value>, query: &ItemsQuery) -> Value {
    if query.order.as_deref() != Some("asc") {
        items.reverse();
    }
    let id = |item: &Value| item.get("id").and_then(Value::as_str).map(str::to_owned);
    if let Some(after) = &query.after
        && let Some(at) = items.iter().position(|item| id(item).as_ref() == Some(after))
    {
        items.drain(..=at);
    }
    let limit = query.limit.unwrap_or(20).clamp(1, 100);
    let has_more = items.len() > limit;
    items.truncate(limit);
    let (first, last) = (items.first().and_then(id), items.last().and_then(id));
    json!({ "object": "list", "data": items, "first_id": first, "last_id": last, "has_more": has_more })
}
