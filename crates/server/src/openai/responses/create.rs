//! Making a response.

use super::background::{Maker, end};
use super::build::Building;
use super::from_chat::from_chat;
use super::keeper::{Keeper, KeepsResponse, PendingReply};
use super::pass::{is_missing, pass};
use super::replay::replayed;
use super::{native, translate};
use crate::app::App;
use crate::auth::{Caller, Right};
use crate::body::Body;
use crate::idempotency::{self, Tells};
use crate::openai::chat::{message_id, without_scope};
use crate::openai::relay::passed_on;
use crate::openai::reply::Delta;
use crate::openai::request_message::{self, RequestMessage};
use crate::openai::scope::Place;
use crate::openai::sends::Sends;
use crate::openai::turn::{self, Asked, Next, Turn};
use crate::openai::upstream::{Api, Upstream};
use crate::openai::{conversations, scope};
use crate::problem::Problem;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use opentelemetry::Context;
use opentelemetry::trace::FutureExt as _;
use segue_core::entry::Seq;
use segue_core::message::Message;
use serde_json::{Map, Value};
use std::sync::Arc;

/// How much of an endpoint's error is read.
const ERROR_BYTES_MAX: usize = 1 << 20;

/// A response on its way.
pub(crate) struct Making {
    pub(crate) app: Arc<App>,
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) turn: Turn,
    pub(crate) building: Building,
    pub(crate) fields: Value,
    /// Set if the response is made in the background.
    pub(crate) maker: Option<Arc<Maker>>,
}

/// Answers a request for a response.
pub(crate) async fn create(
    State(app): State<Arc<App>>,
    caller: Caller,
    key: Option<Extension<idempotency::Key>>,
    headers: HeaderMap,
    Body(fields): Body<Map<String, Value>>,
) -> Result<Response, Problem> {
    let mut fields = Value::Object(fields);
    let upstream = app.upstreams().find(fields.get("model").and_then(Value::as_str))?;
    let model = fields.get("model").and_then(Value::as_str).unwrap_or(&upstream.name).to_owned();
    let streams = fields.get("stream").and_then(Value::as_bool).unwrap_or(false);
    let conversation = conversations::named(&app, &caller, &fields).await?;
    let previous = fields.get("previous_response_id").and_then(Value::as_str).map(str::to_owned);
    let explicit = scope::explicit(&app, &caller, &headers, &fields)?;
    let found = match &previous {
        Some(id) => app.response(&caller, id).await.ok(),
        None => None,
    };
    let place = match (explicit, conversation, &found) {
        // A header that names nobody leaves it to the response before.
        (Some(Place { names_nobody: true, .. }), None, Some((_, scope))) => Some(scope.clone().into()),
        (Some(place), ..) => Some(place),
        (None, Some(named), _) => Some(named.scope.into()),
        (None, None, Some((_, scope))) => Some(scope.clone().into()),
        (None, None, None) => scope::of_request(&app, &caller, &headers, &fields)?,
    };
    caller.may(Right::Write)?;
    let Some(place) = place else { return pass(&app, &upstream, &fields, &model, &headers).await };
    let said = request_message::of_input(fields.get("input").unwrap_or(&Value::Null))?;
    let when = When::of(&fields)?;
    without_scope(&mut fields);
    // A request that is sent again makes the same response.
    let fresh = || crate::ids::fresh().simple().to_string();
    let id = key.as_ref().map_or_else(fresh, |Extension(key)| key.digits().to_owned());
    let message_id = message_id(&headers, key)?;
    let says_new = previous.is_some() || fields.get("conversation").is_some_and(|value| !value.is_null());
    let sends = if says_new { Sends::OnlyNew } else { Sends::Unsaid };
    let previous = match (&previous, &found) {
        (Some(_), Some((record, of))) if *of == app.scope_of(&place.to) => {
            record.seq.map(|seq| (record.number(), Seq(seq)))
        }
        (Some(id), _) => return Err(Problem::not_found(format!("there is no response {id:?}"))),
        (None, _) => None,
    };
    let asked = Asked { place, said: said.clone(), sends, message_id, previous };
    let mut turn = turn::begin(&app, &caller, asked).await?;
    if KeepsResponse::of(&fields) == KeepsResponse::Yes {
        turn.sent = turn.sent_items(fields.get("input").unwrap_or(&Value::Null), &said, &id);
    }
    let notices = app.serve().notices;
    let custom = translate::custom_tools(&fields);
    let created = app.engine.now().as_second();
    let (marks, tells) = (turn.marks.clone(), Tells::Scope(turn.scope.clone(), turn.since));
    let building = Building::new(&fields, &model, &id, created, turn.prefix(notices), custom);
    let making = Making { app: Arc::clone(&app), upstream, turn, building, fields, maker: None };
    let made = match when {
        When::Now => making.answer(&said, streams).await,
        When::Background => making.in_background(said, streams).await,
    };
    // The message is kept by now: also an error tells where.
    let mut response = made.unwrap_or_else(Problem::into_response);
    marks.write(&mut response, notices);
    response.extensions_mut().get_or_insert(tells);
    Ok(response)
}

/// When the response is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    /// While the client waits.
    Now,
    /// While nobody waits.
    Background,
}

impl When {
    fn of(fields: &Value) -> Result<Self, Problem> {
        let in_background = fields.get("background").and_then(Value::as_bool).unwrap_or(false);
        match (in_background, KeepsResponse::of(fields)) {
            (false, _) => Ok(Self::Now),
            (true, KeepsResponse::Yes) => Ok(Self::Background),
            (true, KeepsResponse::No) => {
                Err(Problem::wrong("a response in the background has to be stored")
                    .hint("leave \"store\" out"))
            }
        }
    }
}

impl Making {
    async fn answer(mut self, said: &[RequestMessage], streams: bool) -> Result<Response, Problem> {
        if let Next::Answer(message) = &self.turn.next {
            let message = message.clone();
            return self.own_answer(&message, streams).await;
        }
        let first = self.upstream.api_for_responses();
        let answer = self.ask(first, said).await?;
        if is_missing(&answer) && self.upstream.may_speak_other() {
            let other = if first == Api::Chat { Api::Responses } else { Api::Chat };
            let second = self.ask(other, said).await?;
            if !is_missing(&second) {
                self.upstream.learn_from(other, &second);
                return self.finish(other, second, streams).await;
            }
            return passed_on(answer).await;
        }
        self.upstream.learn_from(first, &answer);
        self.finish(first, answer, streams).await
    }

    /// Answers at once that the response has begun, and makes it.
    async fn in_background(mut self, said: Vec<RequestMessage>, streams: bool) -> Result<Response, Problem> {
        if let Next::Answer(_) = &self.turn.next {
            return self.answer(&said, streams).await;
        }
        let begun = self.building.response().clone();
        let ((id, record), since) = (self.turn.record(None, &begun), self.turn.since);
        let maker = Arc::new(Maker::begin(&self.app, &id, record.clone(), since).await?);
        self.maker = Some(Arc::clone(&maker));
        if streams {
            return self.answer(&said, streams).await;
        }
        let request = Context::current();
        tokio::spawn(async move {
            let app = Arc::clone(&self.app);
            let why = tokio::select! {
                made = self.answer(&said, false).with_context(request) => why_not(made).await,
                () = maker.cancelled() => None,
            };
            if let Some(why) = why
                && maker.store().is_ok()
            {
                let mut record = record;
                end(&mut record, "failed", Some(&why));
                if let Err(problem) = app.keep_response(&id, record, since).await {
                    tracing::warn!(why = problem.detail(), "the end of a response was not written down");
                }
            }
        });
        Ok(Json(begun).into_response())
    }

    async fn ask(&mut self, api: Api, said: &[RequestMessage]) -> Result<reqwest::Response, Problem> {
        let managed = match &self.turn.next {
            Next::Managed(messages) => Some(messages.clone()),
            Next::AsSent | Next::Answer(_) => None,
        };
        let body = match api {
            Api::Chat => translate::request(&self.fields, &self.upstream.model, said, managed),
            Api::Responses => native::request(&self.fields, &self.upstream.model, managed)?,
        };
        let (answer, call) = self.upstream.send(api, &body, &HeaderMap::new(), &self.app).await?;
        self.turn.called(&self.app, call).await;
        Ok(answer)
    }

    async fn finish(self, api: Api, answer: reqwest::Response, streams: bool) -> Result<Response, Problem> {
        if !answer.status().is_success() {
            return passed_on(answer).await;
        }
        let keeps = KeepsResponse::of(&self.fields);
        let Self { app, upstream, turn, maker, .. } = self;
        let keeper = Keeper::Turn(Box::new(PendingReply { app, upstream, turn, keeps, maker }));
        match api {
            Api::Chat => from_chat(answer, self.building, streams, keeper).await,
            Api::Responses => native::relay(answer, self.building, keeper).await,
        }
    }

    /// Answers for Segue itself, or with a reply that is in the log.
    async fn own_answer(&mut self, message: &Message, streams: bool) -> Result<Response, Problem> {
        let id = self.building.id().to_owned();
        if let Some(record) = self.app.response_record(&id).await? {
            let response = self.app.shown(record, &self.turn.scope).await?;
            return Ok(match streams {
                true => replayed(&response, None),
                false => Json(response).into_response(),
            });
        }
        let mut events = self.building.begin();
        if !message.text.is_empty() {
            events += &self.building.text(&message.text);
        }
        for (at, call) in message.tool_calls.iter().enumerate() {
            events += &self.building.take(&Delta::of_call(at, call));
        }
        events += &self.building.end_items();
        events += &self.building.complete("stop", message.usage);
        let response = self.building.response().clone();
        if KeepsResponse::of(&self.fields) == KeepsResponse::Yes {
            let output = response.get("output").and_then(Value::as_array).cloned();
            let (id, mut record) = self.turn.record(None, &response);
            record.words.answer = output;
            self.app.keep_response(&id, record, self.turn.since).await?;
        }
        Ok(match streams {
            true => ([(axum::http::header::CONTENT_TYPE, "text/event-stream")], events).into_response(),
            false => Json(response).into_response(),
        })
    }
}

/// Tells why there is no response.
async fn why_not(made: Result<Response, Problem>) -> Option<String> {
    let response = match made {
        Err(problem) => return Some(problem.detail().to_owned()),
        Ok(response) if response.status().is_success() => return None,
        Ok(response) => response,
    };
    let status = response.status();
    let bytes = axum::body::to_bytes(response.into_body(), ERROR_BYTES_MAX).await.unwrap_or_default();
    let value: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let message = value.pointer("/error/message").and_then(Value::as_str);
    Some(message.map_or_else(|| format!("the model's endpoint answered with {status}"), str::to_owned))
}
