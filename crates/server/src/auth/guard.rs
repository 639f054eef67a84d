//! The guard: no request passes without a caller.

use super::Caller;
use crate::app::App;
use crate::problem::Problem;
use axum::extract::{Request, State};
use axum::http::header::AUTHORIZATION;
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use segue_core::Timestamp;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Who is let in without a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Everyone, as long as no token was ever made: the server listens on loopback only.
    Loopback,
    /// Nobody.
    TokensOnly,
}

/// Finds out who asks, and puts the [`Caller`] into the request.
pub(crate) async fn guard(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let mut values = request.headers().get_all(AUTHORIZATION).iter();
    let header = values.next().map(|value| value.to_str().unwrap_or_default());
    let secret = header.and_then(bearer).map(str::to_owned);
    if values.next().is_some() {
        return Problem::malformed("there is more than one Authorization header").into_response();
    }
    match admit(&app, secret.as_deref()).await {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(problem) => problem.into_response(),
    }
}

/// How long it counts that nobody has made a token yet. It saves a read of the store for most requests under load.
const NONE_COUNTS: Duration = Duration::from_millis(10);

/// Whether there are tokens, as far as it is known.
#[derive(Debug, Default)]
pub(crate) struct TokensKnown(Mutex<Known>);

#[derive(Debug, Default, Clone, Copy)]
enum Known {
    #[default]
    Nothing,
    /// There were none at that time.
    NoneAt(Instant),
    /// There are some. Those that are revoked stay, so that this is for good.
    Some,
}

impl App {
    /// Tells whether a token was ever made.
    async fn has_tokens(&self, now: Timestamp) -> Result<bool, super::TokenError> {
        let known = || self.tokens_known.0.lock().unwrap_or_else(PoisonError::into_inner);
        match *known() {
            Known::Some => return Ok(true),
            Known::NoneAt(at) if at.elapsed() < NONE_COUNTS => return Ok(false),
            Known::NoneAt(_) | Known::Nothing => {}
        }
        let asked = Instant::now();
        let any = self.tokens.any(now).await?;
        *known() = if any { Known::Some } else { Known::NoneAt(asked) };
        Ok(any)
    }
}

async fn admit(app: &App, secret: Option<&str>) -> Result<Caller, Problem> {
    let now = app.engine.now();
    let token = match secret {
        Some(secret) => app.tokens.find(secret, now).await.map_err(failed)?,
        None => None,
    };
    let caller = match token {
        Some(token) => Caller::Holder(Arc::new(token)),
        None if app.access == Access::Loopback && !app.has_tokens(now).await.map_err(failed)? => {
            Caller::Local
        }
        None if secret.is_some() => {
            return Err(Problem::unauthorized("the token is unknown, revoked or expired"));
        }
        None => return Err(Problem::unauthorized("there is no token in the request")),
    };
    let per_minute = app.serve().requests_per_minute;
    app.rates.take(caller.id(), per_minute, Instant::now()).map_err(|wait| {
        let detail = format!("at most {per_minute} requests a minute are taken from one token");
        Problem::too_many(wait.as_secs_f64().ceil() as u64, detail)
    })?;
    Ok(caller)
}

fn bearer(header: &str) -> Option<&str> {
    let (scheme, secret) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
}

fn failed(error: super::TokenError) -> Problem {
    match error {
        super::TokenError::Store(error) => error.into(),
        other => Problem::unavailable(other.to_string()),
    }
}
