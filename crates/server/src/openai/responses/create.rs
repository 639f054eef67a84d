//! Making a response.

use super::background::{Maker, end};
use super::build::Building;
use super::native;
use super::record::{Record, is_reasoning};
use super::translate;
use crate::app::App;
use crate::auth::{Caller, Right};
use crate::body::Body;
use crate::idempotency;
use crate::openai::chat::{is_stream, message_id, set, without_scope};
use crate::openai::relay::{Ended, Events, Sink, passed_on, through};
use crate::openai::reply::Reply;
use crate::openai::said::{self, Said};
use crate::openai::turn::{self, Next, Sends, Turn};
use crate::openai::upstream::{Api, Upstream, whole};
use crate::openai::{conversations, scope};
use crate::problem::Problem;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use segue_core::message::Message;
use segue_engine::{Pick, Request};
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
    caller.may(Right::Write)?;
    let mut fields = Value::Object(fields);
    let upstream = app.upstreams().find(fields.get("model").and_then(Value::as_str))?;
    let model = fields.get("model").and_then(Value::as_str).unwrap_or(&upstream.name).to_owned();
    let streams = fields.get("stream").and_then(Value::as_bool).unwrap_or(false);
    let said = said::of_input(fields.get("input").unwrap_or(&Value::Null))?;
    let when = When::of(&fields)?;
    let conversation = conversations::named(&app, &caller, &fields).await?;
    let previous = fields.get("previous_response_id").and_then(Value::as_str).map(str::to_owned);
    let explicit = scope::explicit(&app, &caller, &headers, &fields)?;
    let found = match &previous {
        Some(id) => app.response(&caller, id).await.ok(),
        None => None,
    };
    let scope = match (explicit, conversation, &found) {
        (Some(scope), ..) => Some(scope),
        (None, Some(scope), _) => Some(scope),
        (None, None, Some((_, scope))) => Some(scope.clone()),
        (None, None, None) => scope::of_request(&app, &caller, &headers, &fields)?,
    };
    let Some(scope) = scope else {
        if when == When::Background && upstream.api_for_responses() == Api::Chat {
            return Err(
                Problem::wrong("a response in the background belongs to a scope").hint("send \"user\"")
            );
        }
        if let Some(id) = previous.filter(|_| upstream.api_for_responses() == Api::Chat) {
            return Err(Problem::not_found(format!("there is no response {id:?}")));
        }
        return pass(app, upstream, fields, &model, &said).await;
    };
    without_scope(&mut fields);
    let message_id = message_id(&headers, key)?;
    let says_new = previous.is_some() || fields.get("conversation").is_some_and(|value| !value.is_null());
    let sends = if says_new { Sends::OnlyNew } else { Sends::Unsaid };
    match (&previous, &found) {
        (Some(_), Some((record, of))) if *of == scope => go_back(&app, record, of).await?,
        (Some(id), _) => return Err(Problem::not_found(format!("there is no response {id:?}"))),
        (None, _) => {}
    }
    let turn = turn::begin(&app, &caller, scope, said.clone(), sends, message_id).await?;
    let notices = app.serve().notices;
    let custom = translate::custom_tools(&fields);
    let created = app.engine.now().as_second();
    let marks = turn.marks.clone();
    let building = Building::new(&fields, &model, created, turn.prefix(notices), custom);
    let making = Making { app: Arc::clone(&app), upstream, turn, building, fields, maker: None };
    let mut response = match when {
        When::Now => making.answer(&said, streams).await?,
        When::Background => making.in_background(said, streams).await?,
    };
    marks.write(&mut response, notices);
    Ok(response)
}

/// Goes back to where a response was made: a session that has gone on since is forked there.
async fn go_back(app: &App, record: &Record, scope: &segue_core::scope::Key) -> Result<(), Problem> {
    let Some(seq) = record.seq else { return Ok(()) };
    let state = app.state(scope).await?;
    let number = record.number();
    if state.live(number).is_none() {
        return Ok(());
    }
    let stored = app.stored(&state, &state.view(number)).await?;
    let goes_on = stored.last().is_some_and(|last| last.seq.0 > seq);
    let pick = Pick::Numbered(number);
    if goes_on && stored.iter().any(|told| told.seq.0 == seq) {
        app.request(scope, &Request::Fork(pick, Some(segue_core::entry::Seq(seq)))).await?;
    } else if !goes_on && state.latest() != Some(number) {
        app.request(scope, &Request::Resume(pick)).await?;
    }
    Ok(())
}

/// Passes a request on that belongs to no scope. Nothing is stored.
async fn pass(
    app: Arc<App>,
    upstream: Arc<Upstream>,
    mut fields: Value,
    model: &str,
    said: &[Said],
) -> Result<Response, Problem> {
    let streams = fields.get("stream").and_then(Value::as_bool).unwrap_or(false);
    if upstream.api_for_responses() == Api::Responses {
        set(&mut fields, "model", upstream.model.clone().into());
        return through(&app, &upstream, Api::Responses, &fields).await;
    }
    let chat = translate::request(&fields, &upstream.model, said, None);
    let answer = upstream.send(Api::Chat, &chat, &app.metrics).await?;
    if is_missing(&answer) && upstream.may_speak_other() {
        upstream.learn(Api::Responses);
        set(&mut fields, "model", upstream.model.clone().into());
        return through(&app, &upstream, Api::Responses, &fields).await;
    }
    if !answer.status().is_success() {
        return passed_on(answer).await;
    }
    upstream.learn(Api::Chat);
    let custom = translate::custom_tools(&fields);
    let building = Building::new(&fields, model, app.engine.now().as_second(), None, custom);
    from_chat(answer, building, streams, Keeper::Nobody).await
}

pub(crate) fn is_missing(answer: &reqwest::Response) -> bool {
    matches!(
        answer.status(),
        StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_IMPLEMENTED
    )
}

/// Who stores the reply.
pub(crate) enum Keeper {
    /// Nobody: the request belongs to no scope.
    Nobody,
    /// The turn.
    Turn(Box<Kept>),
}

/// What is needed to store a reply.
pub(crate) struct Kept {
    app: Arc<App>,
    upstream: Arc<Upstream>,
    turn: Turn,
    keeps: KeepsResponse,
    maker: Option<Arc<Maker>>,
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

/// Whether the response can be asked for later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeepsResponse {
    /// It can.
    Yes,
    /// The client said that it need not.
    No,
}

impl KeepsResponse {
    fn of(fields: &Value) -> Self {
        match fields.get("store").and_then(Value::as_bool) {
            Some(false) => Self::No,
            _ => Self::Yes,
        }
    }
}

impl Keeper {
    /// Stores the reply, and where the response is.
    pub(crate) async fn keep(&self, reply: &Reply, response: &Value) -> Result<(), Problem> {
        let Self::Turn(kept) = self else { return Ok(()) };
        if let Some(maker) = &kept.maker {
            maker.store()?;
        }
        let seq = kept.app.keep_reply(&kept.upstream, &kept.turn, reply).await?;
        match kept.keeps {
            KeepsResponse::Yes => {
                let (id, record) = record(&kept.turn, seq, None, response);
                kept.app.keep_response(&id, record).await
            }
            KeepsResponse::No => Ok(()),
        }
    }

    /// Writes down that a response in the background has failed.
    pub(crate) async fn failed(&self, response: &Value) {
        let Self::Turn(kept) = self else { return };
        if let Some(maker) = &kept.maker
            && maker.store().is_ok()
        {
            let (id, record) = record(&kept.turn, None, None, response);
            if let Err(problem) = kept.app.keep_response(&id, record).await {
                tracing::warn!(why = problem.detail(), "the end of a response was not written down");
            }
        }
    }

    /// Makes the sink of a streamed answer.
    pub(crate) fn sink(&self) -> (Sink, Response) {
        match self {
            Self::Nobody => Sink::new(None),
            Self::Turn(kept) => Sink::new(kept.maker.clone()),
        }
    }
}

/// Tells where a response is, with its id.
fn record(turn: &Turn, seq: Option<u64>, answer: Option<Vec<Value>>, response: &Value) -> (String, Record) {
    let output = response.get("output").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let id_of = |item: &Value| item.get("id").and_then(Value::as_str).map(str::to_owned);
    let record = Record {
        scope: turn.scope.as_str().to_owned(),
        session: turn.session.0,
        seq,
        inputs: turn.inputs.iter().map(|seq| seq.0).collect(),
        ids: output.iter().filter(|item| !is_reasoning(item)).filter_map(id_of).collect(),
        answer,
        head: response.clone(),
    };
    (id_of(response).unwrap_or_default(), record)
}

impl Making {
    async fn answer(mut self, said: &[Said], streams: bool) -> Result<Response, Problem> {
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
                self.upstream.learn(other);
                return self.finish(other, second, streams).await;
            }
            return passed_on(answer).await;
        }
        if answer.status().is_success() {
            self.upstream.learn(first);
        }
        self.finish(first, answer, streams).await
    }

    /// Answers at once that the response has begun, and makes it.
    async fn in_background(mut self, said: Vec<Said>, streams: bool) -> Result<Response, Problem> {
        if let Next::Answer(_) = &self.turn.next {
            return self.answer(&said, streams).await;
        }
        let begun = self.building.response().clone();
        let (id, record) = record(&self.turn, None, None, &begun);
        let maker = Arc::new(Maker::begin(&self.app, &id, record.clone()).await?);
        self.maker = Some(Arc::clone(&maker));
        if streams {
            return self.answer(&said, streams).await;
        }
        tokio::spawn(async move {
            let app = Arc::clone(&self.app);
            let why = tokio::select! {
                made = self.answer(&said, false) => why_not(made).await,
                () = maker.cancelled() => None,
            };
            if let Some(why) = why
                && maker.store().is_ok()
            {
                let mut record = record;
                end(&mut record, "failed", Some(&why));
                if let Err(problem) = app.keep_response(&id, record).await {
                    tracing::warn!(why = problem.detail(), "the end of a response was not written down");
                }
            }
        });
        Ok(Json(begun).into_response())
    }

    async fn ask(&self, api: Api, said: &[Said]) -> Result<reqwest::Response, Problem> {
        let managed = match &self.turn.next {
            Next::Managed(messages) => Some(messages.clone()),
            Next::AsSent | Next::Answer(_) => None,
        };
        let body = match api {
            Api::Chat => translate::request(&self.fields, &self.upstream.model, said, managed),
            Api::Responses => native::request(&self.fields, &self.upstream.model, managed)?,
        };
        self.upstream.send(api, &body, &self.app.metrics).await
    }

    async fn finish(self, api: Api, answer: reqwest::Response, streams: bool) -> Result<Response, Problem> {
        if !answer.status().is_success() {
            return passed_on(answer).await;
        }
        let keeps = KeepsResponse::of(&self.fields);
        let Self { app, upstream, turn, maker, .. } = self;
        let keeper = Keeper::Turn(Box::new(Kept { app, upstream, turn, keeps, maker }));
        match api {
            Api::Chat => from_chat(answer, self.building, streams, keeper).await,
            Api::Responses => native::relay(answer, self.building, keeper).await,
        }
    }

    /// Answers for Segue itself.
    async fn own_answer(&mut self, message: &Message, streams: bool) -> Result<Response, Problem> {
        let mut events = self.building.begin();
        if !message.text.is_empty() {
            events += &self.building.text(&message.text);
        }
        events += &self.building.end_items();
        events += &self.building.complete("stop", None);
        let response = self.building.response().clone();
        if KeepsResponse::of(&self.fields) == KeepsResponse::Yes {
            let output = response.get("output").and_then(Value::as_array).cloned();
            let (id, record) = record(&self.turn, None, output, &response);
            self.app.keep_response(&id, record).await?;
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

/// Makes a response of a chat completion, whole or piece by piece.
async fn from_chat(
    answer: reqwest::Response,
    mut building: Building,
    streams: bool,
    keeper: Keeper,
) -> Result<Response, Problem> {
    if is_stream(&answer) {
        let (sink, response) = keeper.sink();
        tokio::spawn(relay(answer, building, keeper, sink));
        return Ok(response);
    }
    let bytes = whole(answer).await?;
    let no_completion = || Problem::upstream("the model's endpoint answered with no chat completion");
    let value: Value = serde_json::from_slice(&bytes).map_err(|_| no_completion())?;
    let reply = Reply::of_chat(&value).ok_or_else(no_completion)?;
    let mut events = building.begin();
    if !reply.text.is_empty() {
        events += &building.text(&reply.text);
    }
    for (at, call) in reply.calls().enumerate() {
        let calls = vec![(at as u64, Some(call.id.clone()), Some(call.name.clone()), call.arguments.clone())];
        events += &building.take(&crate::openai::reply::Delta { text: String::new(), calls });
    }
    events += &building.end_items();
    events += &building.complete(reply.finish.as_deref().unwrap_or("stop"), reply.usage);
    keeper.keep(&reply, building.response()).await?;
    Ok(match streams {
        true => ([(axum::http::header::CONTENT_TYPE, "text/event-stream")], events).into_response(),
        false => Json(building.response().clone()).into_response(),
    })
}

async fn relay(answer: reqwest::Response, mut building: Building, keeper: Keeper, sink: Sink) {
    let mut reply = Reply::default();
    if !sink.send(building.begin()).await {
        return;
    }
    let mut events = Events::new(answer);
    let ended = loop {
        let event = match events.next(&sink).await {
            Ok(Some(event)) => event,
            Ok(None) => break Ended::Done,
            Err(ended) => break ended,
        };
        let data = event.data.trim();
        if data == "[DONE]" {
            break Ended::Done;
        }
        let value: Value = serde_json::from_str(data).unwrap_or_default();
        if let Some(error) = value.get("error").filter(|error| !error.is_null()) {
            let why = error.get("message").and_then(Value::as_str).unwrap_or("the model's endpoint failed");
            break Ended::Broke(why.to_owned());
        }
        match reply.take(&value) {
            Some(delta) => {
                let out = building.take(&delta);
                if !out.is_empty() && !sink.send(out).await {
                    break Ended::HungUp;
                }
            }
            None => break Ended::Broke("the model's endpoint sent what is no chat completion".to_owned()),
        }
    };
    let why = match ended {
        Ended::Broke(why) => Some(why),
        Ended::Done | Ended::HungUp if reply.is_whole() => None,
        Ended::HungUp => return,
        Ended::Done => Some("the model's endpoint stopped before its answer was whole".to_owned()),
    };
    let last = match why {
        Some(why) => {
            let failed = building.fail(&why);
            keeper.failed(building.response()).await;
            failed
        }
        None => {
            let items = building.end_items();
            let complete = building.complete(reply.finish.as_deref().unwrap_or("stop"), reply.usage);
            match keeper.keep(&reply, building.response()).await {
                Ok(()) => items + &complete,
                Err(problem) => items + &building.fail(problem.detail()),
            }
        }
    };
    sink.send(last).await;
}
