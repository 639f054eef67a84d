//! Relays: from an upstream to a client, piece by piece, storing the reply when it is whole and before the client is
//! told that it is.

use super::chat::ChatPieces;
use super::reply::Reply;
use super::responses::background::Maker;
use super::sse::{Decoder, Event, written};
use super::turn::Turn;
use super::upstream::{Api, Upstream, whole};
use crate::app::App;
use crate::idempotency::Tells;
use crate::problem::Problem;
use crate::traces::ModelCall;
use axum::body::{Body, Bytes};
use axum::http::HeaderMap;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

/// How many pieces wait for a slow client before the upstream has to.
const PIECES_MAX: usize = 64;

/// How long the rest of a stream is waited for once the reply is whole. What it took comes last.
const REST_PATIENCE: Duration = Duration::from_secs(5);

/// Passes a request through untouched. Nothing is stored.
pub(crate) async fn through(
    app: &App,
    upstream: &Upstream,
    api: Api,
    fields: &Value,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    let (answer, call) = upstream.send(api, fields, &passing(headers, &REQUEST_ENDS), app).await?;
    Ok(streamed_through(answer, call))
}

/// Passes an answer through as it comes.
pub(crate) fn streamed_through(answer: reqwest::Response, call: ModelCall) -> Response {
    let (status, headers) = (answer.status(), passing(answer.headers(), &ANSWER_ENDS));
    let body = Body::from_stream(futures_util::stream::unfold(Some((answer, call)), |state| async move {
        let (mut answer, call) = state?;
        match answer.chunk().await {
            Ok(Some(chunk)) => Some((Ok(chunk), Some((answer, call)))),
            Ok(None) => {
                call.passed();
                None
            }
            // The client sees a connection that broke off, as it would without us.
            Err(error) => {
                call.failed("broken");
                Some((Err(std::io::Error::other(error.without_url())), None))
            }
        }
    }));
    let mut response = (status, headers, body).into_response();
    response.extensions_mut().insert(Tells::Private);
    response
}

/// Passes on an upstream's failure as it is. Nobody keeps it: it may pass.
pub(crate) async fn passed_on(answer: reqwest::Response) -> Result<Response, Problem> {
    let (status, headers) = (answer.status(), passing(answer.headers(), &ANSWER_ENDS));
    let bytes = whole(answer).await?;
    let mut response = (status, headers, bytes).into_response();
    response.extensions_mut().insert(Tells::Private);
    Ok(response)
}

/// Headers of a request that end here: they are about a connection, about the bytes of a body, or secrets.
pub(crate) const REQUEST_ENDS: [&str; 17] = [
    "accept-encoding",
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "host",
    "keep-alive",
    "origin",
    "te",
    "traceparent",
    "tracestate",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Headers of an answer that end here.
const ANSWER_ENDS: [&str; 7] =
    ["connection", "content-length", "keep-alive", "set-cookie", "trailer", "transfer-encoding", "upgrade"];

/// Picks the headers that pass through.
pub(crate) fn passing(headers: &HeaderMap, ends: &[&str]) -> HeaderMap {
    let ours = ["x-segue-", "proxy-", "x-forwarded-", "sec-"];
    let ends = |name: &str| ends.contains(&name) || ours.iter().any(|ours| name.starts_with(ours));
    let passes = headers.iter().filter(|(name, _)| !ends(name.as_str()));
    passes.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// The other end of an answer that is sent piece by piece. Who hangs up is noticed.
pub(crate) struct Sink {
    pieces: mpsc::Sender<Bytes>,
    /// Set if the answer is made in the background: then nobody has to listen, and it can be cancelled.
    maker: Option<Arc<Maker>>,
}

impl Sink {
    /// Makes a sink, and the body of the answer that comes out of it.
    pub(crate) fn new(maker: Option<Arc<Maker>>) -> (Self, Response) {
        let (sender, pieces) = mpsc::channel(PIECES_MAX);
        let body = futures_util::stream::unfold(pieces, |mut pieces| async move {
            let piece: Bytes = pieces.recv().await?;
            Some((Ok::<_, Infallible>(piece), pieces))
        });
        let headers = [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-cache")];
        (Self { pieces: sender, maker }, (headers, Body::from_stream(body)).into_response())
    }

    /// Sends a piece; false if nobody takes it any more.
    pub(crate) async fn send(&self, piece: String) -> bool {
        let is_taken = self.pieces.send(piece.into()).await.is_ok();
        match &self.maker {
            Some(maker) => !maker.is_cancelled(),
            None => is_taken,
        }
    }

    /// Waits until the client hangs up, or somebody cancels what is made in the background.
    pub(crate) async fn closed(&self) {
        match &self.maker {
            Some(maker) => maker.cancelled().await,
            None => self.pieces.closed().await,
        }
    }
}

/// What comes of a stream.
pub(crate) enum Ended {
    /// The endpoint said that it is done.
    Done,
    /// It ended without a word.
    Broke(String),
    /// The client hung up.
    HungUp,
}

/// Reads the events of an upstream until they end or the client hangs up.
pub(crate) struct Events {
    answer: reqwest::Response,
    decoder: Decoder,
    waiting: std::collections::VecDeque<Event>,
    is_over: bool,
    /// How long the rest is waited for, once the reply is whole.
    rest_until: Option<Instant>,
}

impl Events {
    /// Reads the events of an answer.
    pub(crate) fn new(answer: reqwest::Response) -> Self {
        Self {
            answer,
            decoder: Decoder::default(),
            waiting: std::collections::VecDeque::new(),
            is_over: false,
            rest_until: None,
        }
    }

    /// Waits for the next event of a reply; nothing at the end of the stream. When the reply is whole, the stream may also
    /// break off, or not end at all: what comes behind it is waited for once, however much of it comes.
    pub(crate) async fn next_of(&mut self, reply: &Reply, sink: &Sink) -> Result<Option<Event>, Ended> {
        if !reply.is_whole() {
            return self.next(sink).await;
        }
        let until = *self.rest_until.get_or_insert_with(|| Instant::now() + REST_PATIENCE);
        // What is there already is never late.
        if Instant::now() >= until {
            return Ok(None);
        }
        match timeout_at(until, self.next(sink)).await {
            Ok(Err(Ended::Broke(_))) | Err(_) => Ok(None),
            Ok(next) => next,
        }
    }

    /// Waits for the next event; nothing at the end of the stream.
    pub(crate) async fn next(&mut self, sink: &Sink) -> Result<Option<Event>, Ended> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                return Ok(Some(event));
            }
            if self.is_over {
                return Ok(None);
            }
            let chunk = tokio::select! {
                chunk = self.answer.chunk() => chunk,
                () = sink.closed() => return Err(Ended::HungUp),
            };
            let broke = |why: &dyn std::fmt::Display| Ended::Broke(why.to_string());
            match chunk {
                Ok(Some(chunk)) => {
                    let events = self.decoder.push(&chunk).map_err(|error| broke(&error))?;
                    self.waiting.extend(events);
                }
                Ok(None) => {
                    self.is_over = true;
                    self.waiting.extend(self.decoder.finish().map_err(|error| broke(&error))?);
                }
                Err(error) => {
                    return Err(broke(&segue_engine::models::Failure::from(error)));
                }
            }
        }
    }
}

/// Relays a chat completion.
pub(crate) struct Relay {
    app: Arc<App>,
    upstream: Arc<Upstream>,
    turn: Turn,
}

impl Relay {
    /// Relays the reply of a turn.
    pub(crate) fn new(app: Arc<App>, upstream: Arc<Upstream>, turn: Turn) -> Self {
        Self { app, upstream, turn }
    }

    /// Begins to relay. It goes on by itself until the answer ends or the client hangs up.
    pub(crate) fn run(self, answer: reqwest::Response, pieces: ChatPieces) -> Response {
        let (sink, response) = Sink::new(None);
        tokio::spawn(self.relay(answer, pieces, sink));
        response
    }

    async fn relay(self, answer: reqwest::Response, mut pieces: ChatPieces, sink: Sink) {
        let (mut reply, mut held) = (Reply::default(), Vec::new());
        let ended = self.pass(Events::new(answer), &mut pieces, &mut reply, &mut held, &sink).await;
        // A reply that is whole is kept, also if the client did not wait for the last word.
        if reply.is_whole() {
            if let Err(problem) = self.app.keep_reply(&self.upstream, &self.turn, &reply).await {
                sink.send(failure(problem.detail())).await;
                return;
            }
            held.push(written(None, "[DONE]"));
            for piece in held {
                sink.send(piece).await;
            }
            return;
        }
        let why = match ended {
            Ended::HungUp => return,
            Ended::Done => "the model's endpoint stopped before its answer was whole".to_owned(),
            Ended::Broke(why) => why,
        };
        self.turn.call.failed("broken");
        self.app.metrics.upstream.add(&[("model", &self.upstream.name), ("result", "broken")], 1);
        sink.send(failure(&why)).await;
    }

    /// Passes pieces on. From the one on that says that the reply is whole they are held: a client that is told so may go
    /// on at once, and the reply must be in the log by then.
    async fn pass(
        &self,
        mut events: Events,
        pieces: &mut ChatPieces,
        reply: &mut Reply,
        held: &mut Vec<String>,
        sink: &Sink,
    ) -> Ended {
        let no_completion =
            || Ended::Broke("the model's endpoint sent what is no chat completion".to_owned());
        loop {
            let event = match events.next_of(reply, sink).await {
                Ok(Some(event)) => event,
                Ok(None) => return Ended::Done,
                Err(ended) => return ended,
            };
            let data = event.data.trim();
            if data == "[DONE]" {
                return Ended::Done;
            }
            let Ok(value) = serde_json::from_str::<Value>(data) else { return no_completion() };
            if value.get("error").is_some_and(|error| !error.is_null()) {
                // An error of the endpoint reaches the client as it is; what came before is no reply.
                reply.finish = None;
                sink.send(written(None, data)).await;
                return Ended::HungUp;
            }
            let Some(delta) = reply.take(&value) else { return no_completion() };
            // What is shown is kept: a reply that cannot be is none.
            if let Some(why) = self.app.too_long(reply.bytes()) {
                reply.finish = None;
                return Ended::Broke(why);
            }
            for piece in pieces.pass(&value, &delta.text) {
                if reply.is_whole() {
                    held.push(piece);
                } else if !sink.send(piece).await {
                    return Ended::HungUp;
                }
            }
        }
    }
}

/// Writes an error amid a stream, as OpenAI's clients read it.
pub(crate) fn failure(why: &str) -> String {
    let error = json!({ "message": why, "type": "server_error", "param": null, "code": "upstream_error" });
    written(None, &json!({ "error": error }).to_string())
}
