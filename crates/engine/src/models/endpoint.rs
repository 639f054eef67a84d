//! The endpoint of a model, for hosts that speak its language themselves.

use super::client::bearer;
use super::failure::{Failure, Unusable};
use super::secret::Secret;
use super::tls::{self, Trust};
use crate::config;
use reqwest::Url;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::redirect::Policy;
use std::fmt;
use std::time::Duration;

/// How long an endpoint may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallLimits {
    /// To be reached.
    pub connect: Duration,
    /// Between two pieces of an answer.
    pub idle: Duration,
}

/// The endpoint of a model. Cheap to clone.
#[derive(Clone)]
pub struct Endpoint {
    http: reqwest::Client,
    base: Url,
    key: Option<HeaderValue>,
}

impl Endpoint {
    /// Makes the endpoint of a model; `keys` looks up the environment variable that holds its key. Nothing is sent yet.
    pub fn new(
        model: &config::Model,
        keys: &dyn Fn(&str) -> Option<String>,
        patience: CallLimits,
    ) -> Result<Self, Failure> {
        let key = match &model.api_key_env {
            None => None,
            Some(name) => {
                let key = keys(name).map(|key| Secret::new(&key)).filter(|key| !key.reveal().is_empty());
                Some(bearer(&key.ok_or(Failure::Unusable(Unusable::KeyMissing))?)?)
            }
        };
        let base = Url::parse(model.base_url.trim()).ok().filter(Url::has_host);
        let mut base = base.ok_or(Failure::Unusable(Unusable::Address))?;
        let path = base.path().trim_end_matches('/');
        let path = path.strip_suffix("/chat/completions").unwrap_or(path).to_owned();
        base.set_path(&path);
        let trust = if base.scheme() == "https" { Trust::Machine } else { Trust::Nobody };
        let http = reqwest::Client::builder()
            .tls_backend_preconfigured(tls::config(&trust)?)
            // The key is for this endpoint, not for where it points to.
            .redirect(Policy::none())
            // Proxies would be read from the environment.
            .no_proxy()
            .connect_timeout(patience.connect)
            .read_timeout(patience.idle)
            .build()
            .map_err(|_| Failure::Unusable(Unusable::Tls))?;
        Ok(Self { http, base, key })
    }

    /// Returns the host.
    pub fn host(&self) -> &str {
        self.base.host_str().unwrap_or_default()
    }

    /// Prepares a call: `path` is behind the base, such as `["chat", "completions"]`.
    pub fn post(&self, path: &[&str], body: Vec<u8>) -> Result<reqwest::RequestBuilder, Failure> {
        let mut url = self.base.clone();
        let segments = url.path_segments_mut();
        segments.map_err(|()| Failure::Unusable(Unusable::Address))?.pop_if_empty().extend(path);
        let post = self.http.post(url).header(CONTENT_TYPE, "application/json").body(body);
        Ok(match &self.key {
            Some(key) => post.header(AUTHORIZATION, key.clone()),
            None => post,
        })
    }
}

impl fmt::Debug for Endpoint {
    /// Shows neither the key nor the address, which may hold a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("host", &self.base.host_str()).finish_non_exhaustive()
    }
}
