//! The client of one model.

use super::deltas::Deltas;
use super::failure::{Failure, Trouble, Unusable};
use super::secret::Secret;
use super::tls::{self, Trust};
use super::types::{Completion, Message, Options};
use super::wire::{self, Request};
use crate::config;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::redirect::Policy;
use reqwest::{Response, Url};
use segue_core::pins::{Temperature, Thinking, Verbosity};
use std::fmt;
use std::time::Duration;

/// How long it may take to connect for an answer that comes piece by piece.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long such an answer may pause. Large models on small machines think for long before they speak.
const READ_TIMEOUT: Duration = Duration::from_secs(120);

/// How long such an answer may take altogether, however steadily it comes.
pub(crate) const STREAM_TIMEOUT: Duration = Duration::from_secs(30 * 60);
/// How much of a refusal is read.
const REFUSAL_BYTES_MAX: usize = 64 * 1024;

/// The client of one model.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    url: Url,
    model: String,
    key: Option<HeaderValue>,
    timeout: Duration,
    manner: SamplingOptions,
}

/// How a model answers; where it is not said, as its endpoint likes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct SamplingOptions {
    pub(super) temperature: Option<Temperature>,
    pub(super) thinking: Option<Thinking>,
    pub(super) verbosity: Option<Verbosity>,
}

impl Client {
    /// Makes the client of a model, with its key if it needs one. Nothing is sent yet.
    pub fn new(model: &config::Model, key: Option<&Secret>) -> Result<Self, Failure> {
        let url = address(&model.base_url).ok_or(Failure::Unusable(Unusable::Address))?;
        let key = key.map(bearer).transpose()?;
        let trust = if url.scheme() == "https" { Trust::Machine } else { Trust::Nobody };
        let http = reqwest::Client::builder()
            .tls_backend_preconfigured(tls::config(&trust)?)
            // The key is for this endpoint, not for where it points to.
            .redirect(Policy::none())
            // Proxies would be read from the environment.
            .no_proxy()
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(READ_TIMEOUT)
            .build()
            .map_err(|_| Failure::Unusable(Unusable::Tls))?;
        let timeout = model.timeout.unsigned_abs();
        let config::Model { temperature, thinking, verbosity, .. } = *model;
        let manner = SamplingOptions { temperature, thinking, verbosity };
        Ok(Self { http, url, model: model.model.clone(), key, timeout, manner })
    }

    /// Makes the client of a model; `keys` looks up the environment variable that holds its key.
    pub fn with_keys(model: &config::Model, keys: &dyn Fn(&str) -> Option<String>) -> Result<Self, Failure> {
        let Some(name) = &model.api_key_env else { return Self::new(model, None) };
        let key = keys(name).map(|key| Secret::new(&key)).filter(|key| !key.reveal().is_empty());
        Self::new(model, Some(&key.ok_or(Failure::Unusable(Unusable::KeyMissing))?))
    }

    /// Asks for an answer, and waits for it as long as the model's `timeout` says.
    pub async fn complete(&self, messages: &[Message], options: &Options) -> Result<Completion, Failure> {
        let request = self.post(&Request::whole(&self.model, messages, options))?;
        let mut response = answered(request.timeout(self.timeout).send().await?)?;
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await? {
            if bytes.len() + chunk.len() > options.bytes_max {
                return Err(Failure::TooLong);
            }
            bytes.extend_from_slice(&chunk);
        }
        wire::completion(&bytes)
    }

    /// Asks for an answer that comes piece by piece, within [`STREAM_TIMEOUT`]. An endpoint that gives it at once is heard,
    /// too.
    pub async fn stream(&self, messages: &[Message]) -> Result<Deltas, Failure> {
        self.stream_within(messages, STREAM_TIMEOUT).await
    }

    /// Asks for an answer that comes piece by piece and is there after some time, or fails.
    pub async fn stream_within(&self, messages: &[Message], total: Duration) -> Result<Deltas, Failure> {
        self.ask_within(messages, total).await.map_err(|trouble| trouble.failure)
    }

    /// Like [`stream`](Self::stream), with what the endpoint says where it refuses.
    pub async fn ask(&self, messages: &[Message]) -> Result<Deltas, Trouble> {
        self.ask_within(messages, STREAM_TIMEOUT).await
    }

    async fn ask_within(&self, messages: &[Message], total: Duration) -> Result<Deltas, Trouble> {
        let request = self.post(&Request::piecewise(&self.model, messages, &self.manner))?;
        let mut response = request.timeout(total).send().await.map_err(Failure::from)?;
        let status = response.status();
        if status.is_success() {
            return Ok(Deltas::new(response));
        }
        let mut bytes = Vec::new();
        while bytes.len() < REFUSAL_BYTES_MAX
            && let Ok(Some(chunk)) = response.chunk().await
        {
            bytes.extend_from_slice(&chunk);
        }
        let said = wire::refusal(&bytes).map(|said| self.without_key(said));
        Err(Trouble { failure: Failure::Status(status.as_u16()), said })
    }

    /// Some endpoints repeat the key that they refuse.
    fn without_key(&self, said: String) -> String {
        let key = self.key.as_ref().and_then(|key| key.to_str().ok()?.strip_prefix("Bearer "));
        match key.filter(|key| !key.is_empty()) {
            Some(key) => said.replace(key, "[key]"),
            None => said,
        }
    }

    fn post(&self, request: &Request<'_>) -> Result<reqwest::RequestBuilder, Failure> {
        // Texts and numbers can always be written as JSON.
        let body = serde_json::to_vec(request).map_err(|_| Failure::Unusable(Unusable::Address))?;
        let post = self.http.post(self.url.clone()).header(CONTENT_TYPE, "application/json").body(body);
        Ok(match &self.key {
            Some(key) => post.header(AUTHORIZATION, key.clone()),
            None => post,
        })
    }
}

impl fmt::Debug for Client {
    /// Shows neither the key nor the address, which may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = self.url.host_str();
        f.debug_struct("Client").field("model", &self.model).field("host", &host).finish_non_exhaustive()
    }
}

fn answered(response: Response) -> Result<Response, Failure> {
    let status = response.status();
    if status.is_success() { Ok(response) } else { Err(Failure::Status(status.as_u16())) }
}

/// Returns where chat completions are asked for. A query of the base stays, some endpoints need one.
fn address(base_url: &str) -> Option<Url> {
    let mut url = Url::parse(base_url.trim()).ok().filter(|url| url.has_host())?;
    if !url.path().trim_end_matches('/').ends_with("/chat/completions") {
        url.path_segments_mut().ok()?.pop_if_empty().extend(["chat", "completions"]);
    }
    Some(url)
}

pub(super) fn bearer(key: &Secret) -> Result<HeaderValue, Failure> {
    let value = HeaderValue::from_str(&format!("Bearer {}", key.reveal()));
    let mut value = value.map_err(|_| Failure::Unusable(Unusable::Key))?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::SignedDuration;

    fn model(base_url: &str) -> config::Model {
        config::Model {
            base_url: base_url.to_owned(),
            model: "m".to_owned(),
            api_key_env: Some("KEY".to_owned()),
            wire: config::Wire::default(),
            timeout: SignedDuration::from_secs(3),
            price_in: None,
            price_out: None,
            temperature: None,
            thinking: None,
            verbosity: None,
        }
    }

    #[test]
    fn finds_the_address() {
        for (base, whole) in [
            ("http://localhost:11434/v1", "http://localhost:11434/v1/chat/completions"),
            ("http://localhost/v1/", "http://localhost/v1/chat/completions"),
            ("http://localhost", "http://localhost/chat/completions"),
            ("http://h/v1?api-version=2", "http://h/v1/chat/completions?api-version=2"),
            ("http://h/v1/chat/completions", "http://h/v1/chat/completions"),
        ] {
            assert_eq!(address(base).unwrap().as_str(), whole);
        }
        assert!(address("http://").is_none() && address("").is_none());
    }

    #[test]
    fn what_makes_no_client_is_said_without_the_key() {
        let made = |url: &str, key: Option<&str>| {
            Client::with_keys(&model(url), &|_| key.map(str::to_owned)).map_err(|failure| failure.to_string())
        };
        let shown = format!("{:?}", made("http://ann:pass@h/v1", Some("sk-123\n")).unwrap());
        assert_eq!(shown, "Client { model: \"m\", host: Some(\"h\"), .. }");
        let refused = made("http://h", Some("sk\n123")).unwrap_err();
        assert_eq!(refused, "the model cannot be used: its key holds characters that cannot be sent");
        let missing =
            "the model cannot be used: the environment variable that its api_key_env names is not set";
        assert_eq!(made("http://h", None).unwrap_err(), missing);
        assert_eq!(made("http://h", Some(" ")).unwrap_err(), missing);
        assert_eq!(
            made("http://", Some("k")).unwrap_err(),
            "the model cannot be used: its base_url is no URL"
        );
    }
}
