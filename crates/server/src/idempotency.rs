//! Idempotency keys: the same key gives the same answer, also after a restart.

use crate::app::App;
use crate::auth::Caller;
use crate::problem::Problem;
use crate::values::Space;
use crate::{body, openai};
use axum::Extension;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use jiff::SignedDuration;
use percent_encoding::percent_decode_str;
use segue_core::entry::Seq;
use segue_core::message::MessageId;
use segue_core::scope;
use segue_engine::{HostCommand, Outcome};
use segue_store::values::words_key;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The longest key, in bytes.
const KEY_BYTES_MAX: usize = 255;

/// How long an answer is kept.
const KEPT: SignedDuration = SignedDuration::from_hours(7 * 24);

/// The longest answer that is kept.
const ANSWER_BYTES_MAX: usize = 8 << 20;

/// The longest answer that is read to be kept. What is longer comes from no handler of ours.
const ANSWER_READ_BYTES_MAX: usize = 64 << 20;

/// How many digits of a key's digest stand in ids.
const DIGITS: usize = 32;

/// The key of a request, for handlers that change something: a digest of the caller, the path and the key. A request that
/// was done, and whose answer was lost in a crash, is recognised by the engine.
#[derive(Debug, Clone)]
pub(crate) struct Key(String);

impl Key {
    /// Returns the digits that make ids of what the request creates.
    pub(crate) fn digits(&self) -> &str {
        self.0.get(..DIGITS).unwrap_or(&self.0)
    }

    /// Returns the id that a message of the request gets unless it has one.
    pub(crate) fn message_id(&self) -> String {
        format!("idempotency:{}", self.digits())
    }

    /// Returns the id of one of several messages of the request.
    pub(crate) fn nth_message_id(&self, n: usize) -> String {
        format!("{}:{n}", self.message_id())
    }

    /// Names a request that carries no message.
    pub(crate) fn command(&self, text: impl Into<String>) -> HostCommand {
        HostCommand { text: text.into(), id: MessageId(self.message_id()) }
    }
}

/// What an answer tells, where its path does not say it.
#[derive(Debug, Clone)]
pub(crate) enum Tells {
    /// What was said in a scope, as of an entry.
    Scope(scope::Key, Seq),
    /// Something that nobody may keep.
    Private,
}

/// An answer as it was given.
#[derive(Serialize, Deserialize)]
struct KeptResponse {
    /// What the request was, so that a key is not used for two.
    request: String,
    status: u16,
    #[serde(default)]
    headers: Vec<(String, String)>,
    #[serde(default)]
    body: String,
    /// Where the headers and the body stand, if they tell what was said in a scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    words: Option<String>,
}

/// What an answer tells of a scope. An erasure deletes it.
#[derive(Serialize, Deserialize)]
struct Words {
    headers: Vec<(String, String)>,
    body: String,
}

/// As of which entry an answer tells what was said in a scope. Without a key nobody keeps it, and nothing is read for that.
pub(crate) struct AsOf {
    scope: scope::Key,
    since: Option<Seq>,
}

impl AsOf {
    /// Begins an answer: it holds nothing that was erased before.
    pub(crate) async fn now(
        app: &App,
        scope: &scope::Key,
        key: Option<&Extension<Key>>,
    ) -> Result<Self, Problem> {
        let since = match key {
            Some(_) => Some(app.head_of(scope).await?),
            None => None,
        };
        Ok(Self { scope: scope.clone(), since })
    }

    /// Goes on behind what the request itself has dropped.
    pub(crate) async fn behind(&mut self, app: &App, outcome: &Outcome) {
        if let Some(since) = self.since {
            self.since = Some(app.behind_own(&self.scope, since, outcome).await);
        }
    }

    /// Ends the answer.
    pub(crate) fn answer<R>(self, answer: R) -> InScope<R> {
        InScope { as_of: self, answer }
    }
}

/// An answer that tells what was said in a scope. It is one also if it is a problem.
pub(crate) struct InScope<R> {
    as_of: AsOf,
    answer: R,
}

impl<R: IntoResponse> IntoResponse for InScope<R> {
    fn into_response(self) -> Response {
        let mut response = self.answer.into_response();
        let AsOf { scope, since } = self.as_of;
        if let Some(since) = since {
            response.extensions_mut().insert(Tells::Scope(scope, since));
        }
        response
    }
}

/// Finds the scope that a path names.
fn scope_in(path: &str) -> Option<scope::Key> {
    let (_, rest) = path.split_once("/scopes/")?;
    let part = rest.split(['/', '?']).next()?;
    percent_decode_str(part).decode_utf8().ok()?.parse().ok()
}

/// Answers a repeated request as the first one was answered.
pub(crate) async fn replay(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let key = request.headers().get("idempotency-key");
    let (Some(key), &Method::POST) = (key, request.method()) else { return next.run(request).await };
    match key.to_str() {
        Ok(key) if !key.is_empty() && key.len() <= KEY_BYTES_MAX && !key.contains('\t') => {
            let key = key.to_owned();
            once(&app, key, request, next).await.unwrap_or_else(|problem| problem.into_response())
        }
        _ => Problem::wrong(format!("an Idempotency-Key has 1 to {KEY_BYTES_MAX} printable characters"))
            .into_response(),
    }
}

async fn once(app: &App, key: String, request: Request, next: Next) -> Result<Response, Problem> {
    let caller = request.extensions().get::<Caller>().map_or("", Caller::id);
    let path = request.uri().path_and_query().map_or("", |path| path.as_str()).to_owned();
    let name = blake3::hash(format!("{caller}\n{path}\n{key}").as_bytes()).to_hex().to_string();
    let (parts, body) = request.into_parts();
    let their_path = parts.uri.path().to_owned();
    let bytes = body::read(Request::from_parts(parts.clone(), body), app).await?;
    let digest = blake3::hash(&bytes).to_hex().to_string();
    let waits = app.key_turns.of(&name);
    let _turn = waits.lock().await;
    let now = app.engine.now();
    if let Some(answer) = app.values.get::<KeptResponse>(Space::Answer, &name, now).await? {
        if answer.request != digest {
            return Err(Problem::refused("the Idempotency-Key was used for another request")
                .hint("use a new key for every new request"));
        }
        app.metrics.replays.add(&[], 1);
        let Some(key) = &answer.words else { return Ok(again(answer)) };
        let words: Option<Words> = app.values.get(Space::Words, key, now).await?;
        let Some(Words { headers, body }) = words else {
            return Err(Problem::erased("it was done, and what was answered has been erased since"));
        };
        return Ok(again(KeptResponse { headers, body, ..answer }));
    }
    let in_path = match scope_in(&path) {
        Some(scope) => Some(Tells::Scope(scope.clone(), app.head_of(&scope).await?)),
        None => None,
    };
    let mut request = Request::from_parts(parts, Body::from(bytes));
    request.extensions_mut().insert(Key(name.clone()));
    // An error is kept in the shape in which it is told.
    let response = openai::in_their_shape(&their_path, next.run(request).await);
    let tells = response.extensions().get::<Tells>().cloned().or(in_path);
    let is_private = matches!(tells, Some(Tells::Private));
    if is_private || is_stream(response.headers()) || !is_final(response.status()) {
        return Ok(response);
    }
    let (parts, body) = response.into_parts();
    let bytes =
        to_bytes(body, ANSWER_READ_BYTES_MAX).await.map_err(|_| Problem::upstream("the answer broke off"))?;
    if bytes.len() <= ANSWER_BYTES_MAX
        && let Ok(text) = std::str::from_utf8(&bytes)
    {
        let kept = parts.headers.iter().filter(|(name, _)| *name == CONTENT_TYPE || is_ours(name));
        let header = |(name, value): (&HeaderName, &HeaderValue)| {
            Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
        };
        let headers = kept.filter_map(header).collect();
        let (status, expires) = (parts.status.as_u16(), now.checked_add(KEPT).ok());
        let answer = match tells {
            Some(Tells::Scope(scope, since)) => {
                let words = Words { headers, body: text.to_owned() };
                app.keep_words(&scope, since, &name, &words, expires).await?;
                let words = Some(words_key(&scope, &name));
                KeptResponse { request: digest, status, headers: Vec::new(), body: String::new(), words }
            }
            _ => KeptResponse { request: digest, status, headers, body: text.to_owned(), words: None },
        };
        app.values.put(Space::Answer, &name, &answer, expires).await?;
    }
    Ok(Response::from_parts(parts, Body::from(bytes)))
}

/// A failure may pass: only what was done or will never be done is answered the same way again.
fn is_final(status: StatusCode) -> bool {
    !status.is_server_error()
        && !matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
}

fn is_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("text/event-stream"))
}

fn is_ours(name: &HeaderName) -> bool {
    name.as_str().starts_with("x-segue-")
}

fn again(answer: KeptResponse) -> Response {
    let mut response = Response::new(Body::from(answer.body));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK);
    for (name, value) in answer.headers {
        if let (Ok(name), Ok(value)) = (name.parse::<HeaderName>(), value.parse::<HeaderValue>()) {
            response.headers_mut().insert(name, value);
        }
    }
    response.headers_mut().insert("idempotent-replayed", HeaderValue::from_static("true"));
    response
}
