//! The way to the collector: our own HTTP client, so that there is one TLS in the program, and no thread waits for it but
//! the one that sends spans.

use crate::app::Keys;
use async_trait::async_trait;
use jiff::SignedDuration;
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _, WithHttpConfig as _};
use segue_engine::config::{Model, Serve, Wire};
use segue_engine::models::{CallLimits, Endpoint};
use tokio::runtime::Handle;

/// The largest answer of a collector that is read.
const ANSWER_BYTES_MAX: usize = 1 << 20;

/// Makes what sends spans; nothing without the setting, or if the collector cannot be used.
pub(super) fn exporter(settings: &Serve, keys: &Keys) -> Option<SpanExporter> {
    let url = settings.traces_url.as_ref()?;
    let timeout = settings.traces_timeout.unsigned_abs();
    let patience = CallLimits { connect: timeout, idle: timeout };
    let place = Model {
        base_url: url.trim_end_matches('/').trim_end_matches("/v1/traces").to_owned(),
        model: String::new(),
        api_key_env: settings.traces_key_env.clone(),
        wire: Wire::Auto,
        timeout: SignedDuration::ZERO,
        price_in: None,
        price_out: None,
        temperature: None,
        thinking: None,
        verbosity: None,
    };
    let made = Endpoint::new(&place, &|variable| keys(variable), patience);
    let endpoint = match made {
        Ok(endpoint) => endpoint,
        Err(error) => {
            tracing::error!(%error, "traces are not sent: serve.traces_url cannot be used");
            return None;
        }
    };
    let client = Client { endpoint, runtime: Handle::try_current().ok()? };
    let built = SpanExporter::builder()
        .with_http()
        .with_http_client(client)
        // The address that counts is the client's.
        .with_endpoint("http://collector/v1/traces")
        .with_timeout(timeout)
        .build();
    match built {
        Ok(exporter) => Some(exporter),
        Err(error) => {
            tracing::error!(%error, "traces are not sent");
            None
        }
    }
}

#[derive(Debug)]
struct Client {
    endpoint: Endpoint,
    runtime: Handle,
}

#[async_trait]
impl HttpClient for Client {
    /// Sends spans. The thread that waits for it is none of the runtime's.
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let (head, body) = request.into_parts();
        let mut headers = head.headers;
        // The key is the client's to know.
        headers.remove("authorization");
        let post = self.endpoint.post(&["v1", "traces"], body.to_vec())?.headers(headers);
        let sent = self.runtime.spawn(async move {
            let mut answer = post.send().await.map_err(reqwest::Error::without_url)?;
            let (status, mut bytes) = (answer.status(), Vec::new());
            while let Some(chunk) = answer.chunk().await.map_err(reqwest::Error::without_url)? {
                if bytes.len() + chunk.len() > ANSWER_BYTES_MAX {
                    break;
                }
                bytes.extend_from_slice(&chunk);
            }
            Ok::<_, reqwest::Error>((status, bytes))
        });
        let (status, bytes) = sent.await??;
        let mut response = Response::new(Bytes::from(bytes));
        *response.status_mut() = status;
        Ok(response)
    }
}
