//! Bodies and paths: read within bounds, refused with a clear word.

use crate::app::App;
use crate::auth::Caller;
use crate::problem::Problem;
use axum::body::{BodyDataStream, Bytes};
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Path, Query, Request};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, EXPECT};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method};
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;
use segue_core::scope;
use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

/// How much of a body that is refused is read, and for how long.
const DRAINED_BYTES_MAX: usize = 256 << 20;
const DRAIN_PATIENCE: Duration = Duration::from_secs(10);

/// A JSON body.
pub(crate) struct Body<T>(pub(crate) T);

/// A JSON body that may be left out.
pub(crate) struct Optional<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<Arc<App>> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        check_type(request.headers())?;
        parse(&read(request, app).await?).map(Self)
    }
}

impl<T: DeserializeOwned + Default> FromRequest<Arc<App>> for Optional<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &Arc<App>) -> Result<Self, Problem> {
        let typed = check_type(request.headers());
        let bytes = read(request, app).await?;
        if bytes.is_empty() || (bytes.trim_ascii() == b"null" && typed.is_ok()) {
            return Ok(Self(T::default()));
        }
        typed?;
        parse(&bytes).map(Self)
    }
}

/// Reads the whole body, within the bounds of the configuration.
pub(crate) async fn read(request: Request, app: &App) -> Result<Bytes, Problem> {
    let settings = app.serve();
    let (bytes_max, patience) = (settings.body_bytes_max, settings.body_timeout.unsigned_abs());
    let too_large = || {
        Problem::too_large(format!("a body has at most {bytes_max} bytes"))
            .hint("serve.body_bytes_max of the configuration is the bound")
    };
    let (parts, body) = request.into_parts();
    let length = parts.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    // A client that asks first sends nothing that would have to be read.
    let asks_first = parts.headers.contains_key(EXPECT);
    let mut body = body.into_data_stream();
    let mut is_too_large = length.is_some_and(|length: usize| length > bytes_max);
    let mut bytes = Vec::with_capacity(length.unwrap_or(0).min(bytes_max));
    let read = async {
        while !is_too_large && let Some(chunk) = body.next().await {
            let chunk = chunk.map_err(|_| Problem::malformed("the body broke off"))?;
            is_too_large = bytes.len() + chunk.len() > bytes_max;
            bytes.extend_from_slice(if is_too_large { &[] } else { &chunk });
        }
        Ok::<(), Problem>(())
    };
    match timeout(patience, read).await {
        Ok(done) => done?,
        Err(_) => return Err(Problem::malformed("the body took too long to arrive")),
    }
    if is_too_large {
        if !asks_first {
            drain(body).await;
        }
        return Err(too_large());
    }
    Ok(bytes.into())
}

/// Reads the rest of a body that is refused, within bounds: a client that sends all of it first would else see a connection
/// that is reset, and not why.
async fn drain(mut body: BodyDataStream) {
    let read = async {
        let mut left = DRAINED_BYTES_MAX;
        while let Some(Ok(chunk)) = body.next().await {
            left = left.saturating_sub(chunk.len());
            if left == 0 {
                break;
            }
        }
    };
    // What is not read by then ends with the connection.
    let _ = timeout(DRAIN_PATIENCE, read).await;
}

fn check_type(headers: &HeaderMap) -> Result<(), Problem> {
    let kind = headers.get(CONTENT_TYPE).map(|kind| kind.to_str().unwrap_or_default());
    let essence = kind.map(|kind| kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase());
    match essence.as_deref() {
        Some("application/json") => Ok(()),
        Some(kind) if kind.starts_with("application/") && kind.ends_with("+json") => Ok(()),
        Some(kind) => Err(Problem::media(format!("the body is said to be {kind:?}"))),
        None => Err(Problem::media("the request does not say what its body is")),
    }
}

/// Reads JSON: what is no JSON is malformed, what has the wrong fields is wrong.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let error = match serde_json::from_slice(bytes) {
        Ok(Object(read)) => return Ok(read),
        Err(error) => error,
    };
    // A wrong field may come before the place where it ceases to be JSON.
    let mut value = serde_json::from_slice(bytes)
        .map_err(|error| Problem::malformed(format!("the body is no JSON: {error}")))?;
    // To JSON, 2.0 is a whole number. A field that is there twice stays wrong: two readers take different ones.
    let is_other = whole_numbers(&mut value) && !error.to_string().starts_with("duplicate field");
    if !is_other {
        return Err(Problem::wrong(format!("the body is wrong: {error}")));
    }
    let read: Result<Object<T>, _> = serde_json::from_value(value);
    read.map(|Object(read)| read).map_err(|_| Problem::wrong(format!("the body is wrong: {error}")))
}

/// A value that has to be written as an object: fields of a struct are also read from a list, which nobody means.
#[derive(Debug)]
pub(crate) struct Object<T>(pub(crate) T);

impl<'de, T: DeserializeOwned> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(ObjectVisitor(PhantomData))
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: DeserializeOwned> Visitor<'de> for ObjectVisitor<T> {
    type Value = Object<T>;

    fn expecting(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(Object)
    }
}

/// Reads a field that is an object.
pub(crate) fn object<'de, D: Deserializer<'de>, T: DeserializeOwned>(from: D) -> Result<T, D::Error> {
    Object::deserialize(from).map(|Object(read)| read)
}

/// Reads a field that is a list of objects.
pub(crate) fn objects<'de, D: Deserializer<'de>, T: DeserializeOwned>(from: D) -> Result<Vec<T>, D::Error> {
    let objects: Vec<Object<T>> = Vec::deserialize(from)?;
    Ok(objects.into_iter().map(|Object(read)| read).collect())
}

/// Reads a field that is an object or null.
pub(crate) fn optional_object<'de, D: Deserializer<'de>, T: DeserializeOwned>(
    from: D,
) -> Result<Option<T>, D::Error> {
    Ok(Option::<Object<T>>::deserialize(from)?.map(|Object(read)| read))
}

/// From here on a float is no whole number that fits: 2 to the power of 63.
const WHOLE_END: f64 = 9_223_372_036_854_775_808.0;

/// Writes numbers without a fraction as whole ones, and tells whether there were any.
fn whole_numbers(value: &mut serde_json::Value) -> bool {
    use serde_json::Value;
    match value {
        Value::Number(number) => {
            let whole = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < WHOLE_END);
            let whole = whole.filter(|_| number.is_f64()).map(|whole| whole as i64);
            whole.map(|whole| *value = Value::from(whole)).is_some()
        }
        Value::Array(values) => values.iter_mut().fold(false, |any, value| whole_numbers(value) | any),
        Value::Object(fields) => fields.values_mut().fold(false, |any, value| whole_numbers(value) | any),
        Value::Null | Value::Bool(_) | Value::String(_) => false,
    }
}

/// How many digits a number in a query or a header has. All numbers of so many fit wherever one is kept.
const DIGITS_MAX: usize = 18;

/// Reads a number of decimal digits and nothing else.
pub(crate) fn digits(text: &str) -> Option<u64> {
    let is_number = (1..=DIGITS_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

/// The query of a request.
pub(crate) struct Asked<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Asked<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let read: Result<Query<T>, QueryRejection> = Query::from_request_parts(parts, state).await;
        match read {
            Ok(Query(query)) => Ok(Self(query)),
            Err(error) => Err(Problem::wrong(format!("the query is wrong: {}", error.body_text()))),
        }
    }
}

/// The parts of a path.
pub(crate) struct At<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for At<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let read: Result<Path<T>, PathRejection> = Path::from_request_parts(parts, state).await;
        match read {
            Ok(Path(path)) => Ok(Self(path)),
            Err(error) => Err(Problem::wrong(format!("the path is wrong: {}", error.body_text()))
                .hint("percent-encode the parts of a path")),
        }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let caller = parts.extensions.get::<Self>().cloned();
        caller.ok_or_else(|| Problem::unauthorized("there is no token in the request"))
    }
}

/// Reads the scope of a path. What the caller may not know of is not there, and neither is what no scope can be.
pub(crate) fn scope_there(caller: &Caller, text: &str) -> Result<scope::Key, Problem> {
    scope(caller, text).map_err(|problem| Problem::not_found(problem.detail()))
}

/// Reads the scope of a body or a header. What the caller may not know of is not there.
pub(crate) fn scope(caller: &Caller, text: &str) -> Result<scope::Key, Problem> {
    let key: scope::Key = match text.parse() {
        Ok(key) => key,
        Err(error) => {
            let error: scope::KeyError = error;
            return Err(Problem::wrong(format!("{text:?} is no scope: {error}")));
        }
    };
    caller.check(&key)?;
    Ok(key)
}

/// Answers for paths that are not there.
pub(crate) async fn no_such_path(method: Method, request: Request) -> Response {
    let path = request.uri().path();
    Problem::not_found(format!("there is no {method} {path}"))
        .hint("/api/docs describes Segue's own interface, /v1 is OpenAI's")
        .into_response()
}

/// Answers for methods that a path does not have.
pub(crate) async fn no_such_method(method: Method, request: Request) -> Response {
    Problem::method(format!("{} takes no {method}", request.uri().path())).into_response()
}
