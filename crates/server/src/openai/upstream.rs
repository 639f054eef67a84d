//! Upstreams: the endpoints of `[models]`, asked with patience and, before the first byte, more than once.

use crate::app::{App, Keys};
use crate::problem::Problem;
use crate::traces::ModelCall;
use axum::http::HeaderMap;
use segue_engine::config::{Config, Wire};
use segue_engine::models::{CallLimits, Endpoint, Failure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The first pause before a request is tried again; each further one is twice as long.
const BACK_OFF: Duration = Duration::from_millis(200);

/// The longest answer that is read as a whole.
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// Which of OpenAI's interfaces is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Api {
    /// Chat completions.
    Chat,
    /// Responses.
    Responses,
}

impl Api {
    fn path(self) -> &'static [&'static str] {
        match self {
            Self::Chat => &["chat", "completions"],
            Self::Responses => &["responses"],
        }
    }
}

/// One model's endpoint.
pub(crate) struct Upstream {
    /// Its name in the configuration.
    pub(crate) name: String,
    /// What the endpoint calls the model.
    pub(crate) model: String,
    endpoint: Result<Endpoint, Failure>,
    wire: Wire,
    /// What was found out about the interfaces it speaks: 0 nothing, 1 chat, 2 responses.
    found: AtomicU8,
    retries: usize,
    /// How long a whole answer may take.
    timeout: Duration,
}

/// The endpoints of all models.
pub(crate) struct Upstreams {
    by_name: BTreeMap<String, Arc<Upstream>>,
    usual: String,
}

impl Upstreams {
    /// Makes the endpoints of a configuration. One that cannot be used says so when it is asked.
    pub(crate) fn new(config: &Config, keys: &Keys) -> Self {
        let patience = CallLimits {
            connect: config.serve.upstream_connect_timeout.unsigned_abs(),
            idle: config.serve.upstream_idle_timeout.unsigned_abs(),
        };
        let upstream = |(name, model): (&String, &segue_engine::config::Model)| {
            let endpoint = Endpoint::new(model, &|variable| keys(variable), patience);
            if let Err(error) = &endpoint {
                tracing::warn!(model = name, %error, "a model cannot be used");
            }
            let upstream = Upstream {
                name: name.clone(),
                model: model.model.clone(),
                endpoint,
                wire: model.wire,
                found: AtomicU8::new(0),
                retries: config.serve.upstream_retries,
                timeout: config.serve.upstream_timeout.unsigned_abs(),
            };
            (name.clone(), Arc::new(upstream))
        };
        Self { by_name: config.models.iter().map(upstream).collect(), usual: config.agents.model.clone() }
    }

    /// Lists the names of the models.
    pub(crate) fn names(&self) -> impl Iterator<Item = &String> {
        self.by_name.keys()
    }

    /// Finds the endpoint that a request names: by its name here, or by the name that the endpoint has for it.
    pub(crate) fn find(&self, model: Option<&str>) -> Result<Arc<Upstream>, Problem> {
        let model = model.filter(|model| !model.is_empty()).unwrap_or(&self.usual);
        let by_model = || self.by_name.values().find(|upstream| upstream.model == model);
        self.by_name.get(model).or_else(by_model).cloned().ok_or_else(|| {
            let known: Vec<&str> = self.names().map(String::as_str).collect();
            let problem = Problem::not_found(format!("there is no model {model:?}"));
            match known.is_empty() {
                true => problem.hint("add one to [models] of the configuration"),
                false => problem.hint(format!("there are {}", known.join(", "))),
            }
        })
    }
}

impl Upstream {
    /// Tells which interface to ask for a request to `/v1/responses`: its own one first, until it is known to be missing.
    pub(crate) fn api_for_responses(&self) -> Api {
        match (self.wire, self.found.load(Ordering::Relaxed)) {
            (Wire::Chat, _) | (Wire::Auto, 1) => Api::Chat,
            (Wire::Responses | Wire::Auto, _) => Api::Responses,
        }
    }

    /// Remembers which interface answered, if it did.
    pub(crate) fn learn_from(&self, api: Api, answer: &reqwest::Response) {
        if answer.status().is_success() {
            self.found.store(if api == Api::Chat { 1 } else { 2 }, Ordering::Relaxed);
        }
    }

    /// Tells whether the other interface may be tried, after this one was not there.
    pub(crate) fn may_speak_other(&self) -> bool {
        self.wire == Wire::Auto && self.found.load(Ordering::Relaxed) == 0
    }

    /// Asks, again and again where that may help, until the head of an answer is there. The call ends with the answer.
    pub(crate) async fn send(
        &self,
        api: Api,
        body: &Value,
        more: &HeaderMap,
        app: &App,
    ) -> Result<(reqwest::Response, ModelCall), Problem> {
        let metrics = &app.metrics;
        let endpoint = self.endpoint.as_ref().map_err(|error| Problem::upstream(error.to_string()))?;
        let bytes = serde_json::to_vec(body).map_err(|error| Problem::malformed(error.to_string()))?;
        let call = app.traces.model_call(&self.name, endpoint.host());
        let mut headers = more.clone();
        app.traces.inject(&call, &mut headers);
        let begun = Instant::now();
        let mut pause = BACK_OFF;
        for left in (0..=self.retries).rev() {
            let request = endpoint.post(api.path(), bytes.clone());
            let request = request.map_err(|error| Problem::upstream(error.to_string()))?;
            let answer = request.headers(headers.clone()).timeout(self.timeout).send().await;
            let (again, result) = match &answer {
                Ok(response) => {
                    let status = response.status().as_u16();
                    (matches!(status, 408 | 500 | 502 | 503 | 504), status.to_string())
                }
                // A time-out is not tried again: the person has waited long enough.
                Err(error) if error.is_timeout() && !error.is_connect() => (false, "timeout".to_owned()),
                Err(_) => (true, "unreachable".to_owned()),
            };
            metrics.upstream.add(&[("model", &self.name), ("result", &result)], 1);
            if again && left > 0 {
                sleep(pause).await;
                pause *= 2;
                continue;
            }
            metrics.upstream_seconds.observe(&[("model", &self.name)], begun.elapsed().as_secs_f64());
            match &answer {
                Ok(response) if response.status().is_success() => {}
                Ok(_) => call.refused(&result),
                Err(_) => call.failed(&result),
            }
            return answer.map(|answer| (answer, call)).map_err(|error| {
                let failure = Failure::from(error);
                match failure {
                    Failure::Timeout => Problem::upstream_timeout(failure.to_string()),
                    _ => Problem::upstream(failure.to_string()),
                }
            });
        }
        Err(Problem::upstream("the endpoint cannot be reached"))
    }
}

/// Reads an answer as a whole.
pub(crate) async fn whole(mut response: reqwest::Response) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if bytes.len() + chunk.len() > ANSWER_BYTES_MAX => {
                return Err(Problem::upstream("the answer of the model's endpoint is too long"));
            }
            Ok(Some(chunk)) => bytes.extend_from_slice(&chunk),
            Ok(None) => return Ok(bytes),
            Err(error) => {
                let failure = Failure::from(error);
                return Err(match failure {
                    Failure::Timeout => Problem::upstream_timeout(failure.to_string()),
                    _ => Problem::upstream(failure.to_string()),
                });
            }
        }
    }
}
