//! Responses that were made: where they are in the log. What they say stands in the log alone, so that an erasure
//! reaches it.

use super::background::is_open;
use super::build::repeated;
use super::replay::replayed;
use crate::app::App;
use crate::auth::{Caller, Right};
use crate::body::{Asked, At};
use crate::idempotency::Tells;
use crate::openai::chat::set;
use crate::openai::page::Listed;
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
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
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
    /// The messages that the request added to the log, as earlier versions wrote them down.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    inputs: Vec<u64>,
    /// What the request said, in order: a message of the log, or nothing where that is kept apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) sent: Vec<Option<u64>>,
    /// The ids of the output's items.
    pub(crate) ids: Vec<String>,
    /// What it says that does not stand in the log. It is kept apart, because an erasure deletes it.
    #[serde(skip)]
    pub(crate) words: ResponseWords,
    /// The response without what was said.
    pub(crate) head: Value,
}

/// What a response says that does not stand in the log. An erasure deletes it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct ResponseWords {
    /// What Segue itself answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) answer: Option<Vec<Value>>,
    /// What Segue said before the reply, in the same text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) notice: Option<String>,
    /// What the model was told to do, as earlier versions wrote it down.
    #[serde(default, skip_serializing)]
    instructions: Option<Value>,
    /// Fields of the response that can hold words.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    head: Map<String, Value>,
    /// Items of the request that are not in the log, by their places in `sent`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) sent: Vec<(usize, Vec<Value>)>,
}

/// The same, as this version writes it and as earlier ones did.
#[derive(Deserialize)]
#[serde(untagged)]
enum StoredWords {
    AnswerAlone(Vec<Value>),
    Now(ResponseWords),
}

/// Fields of a response whose texts are ids and names that no conversation has made.
const NAMES: [&str; 6] = ["id", "object", "status", "model", "previous_response_id", "service_tier"];

/// Tells whether a field of a response holds no words: numbers, and the names above.
fn holds_no_words(name: &str, value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => true,
        Value::String(_) => NAMES.contains(&name),
        // The name of a scope, or an id that leads to one.
        Value::Object(fields) => name == "conversation" && fields.keys().eq(["id"]),
        Value::Array(_) => false,
    }
}

impl Record {
    /// Makes the record of a response that was just made.
    pub(crate) fn new(scope: &scope::Key, session: Number, seq: Option<u64>, response: &Value) -> Self {
        let output = response.get("output").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let id_of = |item: &Value| item.get("id").and_then(Value::as_str).map(str::to_owned);
        Self {
            scope: scope.as_str().to_owned(),
            session: session.0,
            seq,
            inputs: Vec::new(),
            sent: Vec::new(),
            ids: output.iter().filter(|item| !is_reasoning(item)).filter_map(id_of).collect(),
            words: ResponseWords::default(),
            head: response.clone(),
        }
    }

    /// Returns the scope, if the caller may know of it.
    pub(crate) fn scope_for(&self, caller: &Caller) -> Option<scope::Key> {
        self.scope.parse().ok().filter(|_| caller.sees(&self.scope))
    }

    /// Returns the session.
    pub(crate) fn number(&self) -> Number {
        Number(self.session)
    }

    /// Takes the fields that can hold words out of the head.
    fn take_words(&mut self) {
        let Value::Object(fields) = &mut self.head else { return };
        // What was said stands in the log.
        fields.remove("output");
        let named = std::mem::take(fields);
        let (plain, words) = named.into_iter().partition(|(name, value)| holds_no_words(name, value));
        *fields = plain;
        self.words.head = words;
    }

    /// Puts back what was kept apart; what was erased is as if nothing had been said.
    fn give_words(&mut self, mut words: ResponseWords) {
        let mut head = if words.head.is_empty() { repeated_in_response() } else { Map::new() };
        if let Value::Object(plain) = std::mem::take(&mut self.head) {
            head.extend(plain);
        }
        head.append(&mut words.head);
        if let Some(instructions) = words.instructions.take() {
            head.insert("instructions".to_owned(), instructions);
        }
        self.head = Value::Object(head);
        self.words = words;
    }
}

/// The fields that every response has, as they are where nothing was said.
fn repeated_in_response() -> Map<String, Value> {
    let fields = repeated().into_iter().map(|(name, value)| (name.to_owned(), value));
    let nothing = ["error", "incomplete_details", "usage"].map(|name| (name.to_owned(), Value::Null));
    fields.chain(nothing).collect()
}

impl App {
    /// Writes down where a response is. What tells what was said is kept apart, unless something was erased since an entry.
    pub(crate) async fn keep_response(
        &self,
        id: &str,
        mut record: Record,
        since: Seq,
    ) -> Result<(), Problem> {
        record.take_words();
        let expires = self.engine.now().checked_add(KEPT).ok();
        if let (true, Ok(scope)) = (record.words != ResponseWords::default(), record.scope.parse()) {
            self.keep_words(&scope, since, id, &record.words, expires).await?;
        }
        Ok(self.values.put(Space::Response, id, &record, expires).await?)
    }

    /// Reads where a response is, with all that it says.
    pub(crate) async fn response_record(&self, id: &str) -> Result<Option<Record>, Problem> {
        let found: Option<Record> = self.values.get(Space::Response, id, self.engine.now()).await?;
        let Some(mut record) = found else { return Ok(None) };
        if let Ok(scope) = record.scope.parse() {
            let words = self.response_words(id, &scope).await?;
            record.give_words(words);
        }
        Ok(Some(record))
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
                ResponseWords { answer: Some(answer), ..ResponseWords::default() }
            }
            None => ResponseWords::default(),
        })
    }

    /// Reads a message of the log as items; what was erased is left out.
    async fn items(&self, scope: &scope::Key, seq: u64) -> Result<Vec<Value>, Problem> {
        let record = self.engine.store().get(scope, Seq(seq)).await?;
        match record.map(|record| record.body()) {
            Some(Ok(Body::Message(role, message))) => {
                Ok(self.marked_at(scope, seq).await?.items(role, &message, seq))
            }
            _ => Ok(Vec::new()),
        }
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
        return Ok(Json(app.shown(record, &scope).await?).into_response());
    }
    // What is still made is told once it is.
    while is_open(&record) {
        sleep(POLL).await;
        (record, _) = app.response(&caller, &id).await?;
        record = app.settle(&id, record).await?;
    }
    let response = app.shown(record, &scope).await?;
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
    pub(crate) async fn shown(&self, record: Record, scope: &scope::Key) -> Result<Value, Problem> {
        let mut output = match (record.words.answer, record.seq) {
            (Some(answer), _) => answer,
            (None, Some(seq)) => {
                let mut output = self.items(scope, seq).await?;
                let text = output.iter_mut().find_map(|item| item.pointer_mut("/content/0/text"));
                if let (Some(notice), Some(Value::String(text))) = (record.words.notice, text) {
                    text.insert_str(0, &notice);
                }
                output
            }
            (None, None) => Vec::new(),
        };
        // Reasoning has ids of its own.
        let said = output.iter_mut().filter(|item| !is_reasoning(item));
        for (item, id) in said.zip(&record.ids) {
            set(item, "id", id.clone().into());
        }
        let mut response = record.head;
        set(&mut response, "output", output.into());
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
    let since = app.head_of(&scope).await?;
    let record = app.settle(&id, record).await?;
    let record = app.cancel(&id, record).await?;
    let shown = app.shown(record, &scope).await?;
    Ok((Extension(Tells::Scope(scope, since)), Json(shown)))
}

/// Lists the items that a response was made of: all that its request said.
pub(crate) async fn input_items(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(id): At<String>,
    Listed(query): Listed,
) -> Result<Json<Value>, Problem> {
    let (mut record, scope) = app.response(&caller, &id).await?;
    let earlier = std::mem::take(&mut record.inputs);
    let mut apart: BTreeMap<usize, Vec<Value>> = record.words.sent.into_iter().collect();
    let mut items = Vec::new();
    for (at, seq) in record.sent.into_iter().chain(earlier.into_iter().map(Some)).enumerate() {
        match seq {
            Some(seq) => items.extend(app.items(&scope, seq).await?),
            None => items.extend(apart.remove(&at).unwrap_or_default()),
        }
    }
    query.page(items).map(Json)
}
