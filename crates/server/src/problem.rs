//! Problems: what went wrong, by what the caller can do about it. Every error of the engine and of the store becomes an
//! HTTP status here, and nowhere else.

use axum::Json;
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use segue_core::refusal::Refusal;
use segue_core::task::refusal::TaskRefusal;
use segue_engine::Error;
use segue_engine::context::Unassembled;
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

/// An error, as `application/problem+json` (RFC 9457).
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct Problem {
    /// Which kind of problem it is, as a URN.
    #[serde(rename = "type", serialize_with = "as_urn")]
    #[schema(value_type = String)]
    kind: &'static str,
    /// The kind in a few words.
    title: &'static str,
    /// The HTTP status.
    #[serde(serialize_with = "as_number")]
    #[schema(value_type = u16)]
    status: StatusCode,
    /// What is wrong here.
    detail: String,
    /// What to do next.
    hint: Option<String>,
    /// After how many seconds to try again.
    #[serde(skip)]
    retry_after: Option<u64>,
    /// The parameter that is wrong, for OpenAI's clients.
    #[serde(skip)]
    parameter: Option<&'static str>,
}

fn as_urn<S: serde::Serializer>(kind: &&'static str, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&format_args!("urn:segue:problem:{kind}"))
}

fn as_number<S: serde::Serializer>(status: &StatusCode, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u16(status.as_u16())
}

impl Problem {
    fn new(status: StatusCode, kind: &'static str, title: &'static str, detail: impl Into<String>) -> Self {
        Self { kind, title, status, detail: detail.into(), hint: None, retry_after: None, parameter: None }
    }

    /// The request cannot be read.
    pub fn malformed(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "malformed", "The request cannot be read", detail)
    }

    /// It was done, and what was answered has been erased since.
    pub fn erased(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "erased", "It was erased", detail)
    }

    /// There is no token, or a bad one.
    pub fn unauthorized(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "unauthorized", "A valid token is needed", detail)
            .hint("send the header Authorization: Bearer sgt_...; `segue token add` makes a token")
    }

    /// The token does not have the right.
    pub fn forbidden(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "forbidden", "Not with this token", detail)
    }

    /// It is not there, or the caller may not know of it.
    pub fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", "Not there", detail)
    }

    /// The path is there, but not with this method.
    pub fn method(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "method", "Not with this method", detail)
    }

    /// The rules refuse it.
    pub fn refused(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "refused", "Refused", detail)
    }

    /// It is larger than allowed.
    pub fn too_large(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", "Too large", detail)
    }

    /// The body is of a kind that is not taken.
    pub fn media(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "media-type", "The body is not JSON", detail)
            .hint("send JSON with the header Content-Type: application/json")
    }

    /// It can be read, and is wrong.
    pub fn wrong(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "wrong", "Well-formed, and wrong", detail)
    }

    /// The caller asks too often.
    pub fn too_many(seconds: u64, detail: impl Into<String>) -> Self {
        let problem = Self::new(StatusCode::TOO_MANY_REQUESTS, "too-many", "Too many requests", detail);
        Self { retry_after: Some(seconds.max(1)), ..problem }
    }

    /// The store does not answer, or the server is about to stop.
    pub fn unavailable(detail: impl Into<String>) -> Self {
        let problem = Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", "Not now", detail);
        Self { retry_after: Some(1), ..problem }
    }

    /// The upstream gives no answer that can be passed on.
    pub fn upstream(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_GATEWAY, "upstream", "The model's endpoint failed", detail)
    }

    /// The upstream takes too long.
    pub fn upstream_timeout(detail: impl Into<String>) -> Self {
        Self::new(
            StatusCode::GATEWAY_TIMEOUT,
            "upstream-timeout",
            "The model's endpoint took too long",
            detail,
        )
    }

    /// A defect of this program.
    pub fn internal(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", "A defect of the server", detail)
    }

    /// Says what to do next.
    #[must_use]
    pub fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    /// Names the parameter that is wrong.
    #[must_use]
    pub fn of_parameter(self, parameter: &'static str) -> Self {
        Self { parameter: Some(parameter), ..self }
    }

    /// Returns the status.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Returns what is wrong.
    pub fn detail(&self) -> &str {
        &self.detail
    }

    /// Gives the problem in the shape in which OpenAI's clients read errors.
    pub fn for_openai(&self) -> Response {
        let (kind, code) = match self.status {
            StatusCode::UNAUTHORIZED => ("authentication_error", "invalid_api_key"),
            StatusCode::FORBIDDEN => ("permission_error", "forbidden"),
            StatusCode::NOT_FOUND => ("invalid_request_error", "not_found"),
            StatusCode::TOO_MANY_REQUESTS => ("rate_limit_error", "rate_limit_exceeded"),
            status if status.is_server_error() => ("server_error", "server_error"),
            _ => ("invalid_request_error", "invalid_request"),
        };
        let message = match &self.hint {
            Some(hint) => format!("{}: {hint}", self.detail),
            None => self.detail.clone(),
        };
        let error = json!({ "message": message, "type": kind, "param": self.parameter, "code": code });
        self.with_headers((self.status, Json(json!({ "error": error }))).into_response())
    }

    fn with_headers(&self, mut response: Response) -> Response {
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.with_headers((self.status, Json(&self)).into_response());
        let kind = HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(CONTENT_TYPE, kind);
        // The OpenAI-compatible part writes it in OpenAI's shape.
        response.extensions_mut().insert(self);
        response
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let detail = error.to_string();
        match error {
            Error::TooLong { .. } => Self::too_large(detail),
            Error::IdTooLong { .. } | Error::BlankPeer { .. } | Error::Empty => Self::wrong(detail),
            Error::NoQuery => Self::wrong(detail).hint("send \"query\""),
            Error::NoRationale => Self::wrong(detail).hint("send \"why\""),
            Error::NoScope { scope } => no_scope(&scope),
            Error::Pins { .. } => Self::refused(detail),
            Error::Refused(refusal) => refusal.into(),
            Error::Store(error) => error.into(),
            // A kind that is newer than this table: better told to try again than blamed on the client.
            Error::Busy { .. } | _ => Self::unavailable(detail),
        }
    }
}

/// Says that there is no such scope, or none that the caller may know of.
pub fn no_scope(scope: &segue_core::scope::Key) -> Problem {
    Problem::not_found(format!("there is no scope {scope}")).hint("GET /api/v1/scopes lists the scopes")
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let detail = refusal.to_string();
        match refusal {
            Refusal::NoSession(_) | Refusal::NotInSession { .. } | Refusal::Task(TaskRefusal::NoTask(_)) => {
                Self::not_found(detail)
            }
            Refusal::Damaged(_) => Self::unavailable(detail),
            _ => Self::refused(detail),
        }
    }
}

impl From<segue_store::Error> for Problem {
    fn from(error: segue_store::Error) -> Self {
        if let segue_store::Error::TooLarge { .. } = error {
            return Self::too_large(error.to_string());
        }
        // The place of a store is nobody's business but the operator's.
        tracing::error!(%error, "the store failed");
        let detail = "the store does not answer";
        Self::unavailable(detail).hint("try again; the server's log says what is wrong")
    }
}

impl From<Unassembled> for Problem {
    fn from(error: Unassembled) -> Self {
        match error {
            Unassembled::Short(short) => Self::wrong(short.to_string()).hint("ask for a larger \"window\""),
            Unassembled::Engine(error) => error.into(),
        }
    }
}
