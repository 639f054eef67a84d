//! Traces: what a request did and how long it took, as OpenTelemetry spans for a collector (OTLP over HTTP). They are behind
//! a setting; without it nothing is made. No span holds a word of a message, the name of a scope or a token.
//!
//! | span | kind | what |
//! |---|---|---|
//! | `POST /api/v1/messages` | server | a request |
//! | `segue.turn` | internal | a decision, until it was durable |
//! | `chat main` | client | a call of a model, until its answer was whole |

mod collector;
mod model_call;
mod names;

pub(crate) use model_call::ModelCall;

use crate::app::Keys;
use axum::http::{HeaderMap, Method, StatusCode};
use names::{GEN_AI_CONVERSATION_ID, HTTP_REQUEST_METHOD, HTTP_RESPONSE_STATUS_CODE, HTTP_ROUTE};
use opentelemetry::propagation::TextMapPropagator as _;
use opentelemetry::trace::{
    Span as _, SpanBuilder, SpanKind, Status, TraceContextExt as _, Tracer as _, TracerProvider as _,
};
use opentelemetry::{Context, KeyValue};
use opentelemetry_http::{HeaderExtractor, HeaderInjector};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, Sampler, SdkTracer, SdkTracerProvider,
};
use segue_core::Timestamp;
use segue_engine::Outcome;
use segue_engine::config::Serve;
use std::borrow::Cow;
use std::time::{Duration, SystemTime};

/// How often spans are sent.
const EVERY: Duration = Duration::from_secs(1);

/// How many spans are sent at once.
const BATCH_MAX: usize = 512;

/// How many attributes one span has at most.
const ATTRIBUTES_MAX: u32 = 32;

/// Where spans go; nowhere without the setting.
pub(crate) struct Traces(Option<On>);

struct On {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
    propagator: TraceContextPropagator,
}

impl Traces {
    /// Starts what sends spans. A collector that cannot be used is said in the log, and harms nobody.
    pub(crate) fn new(settings: &Serve, keys: &Keys) -> Self {
        let Some(exporter) = collector::exporter(settings, keys) else { return Self(None) };
        let batch = BatchConfigBuilder::default()
            .with_max_queue_size(settings.traces_queue_max)
            .with_max_export_batch_size(BATCH_MAX.min(settings.traces_queue_max))
            .with_scheduled_delay(EVERY)
            .build();
        let processor = BatchSpanProcessor::builder(exporter).with_batch_config(batch).build();
        let ratio = Sampler::TraceIdRatioBased(
            f64::from(u32::try_from(settings.traces_percent).unwrap_or(100)) / 100.0,
        );
        let resource = Resource::builder_empty()
            .with_attributes([
                KeyValue::new("service.name", "segue"),
                KeyValue::new("service.version", env!("CARGO_PKG_VERSION")),
            ])
            .build();
        let provider = SdkTracerProvider::builder()
            .with_span_processor(processor)
            .with_sampler(Sampler::ParentBased(Box::new(ratio)))
            .with_max_attributes_per_span(ATTRIBUTES_MAX)
            .with_resource(resource)
            .build();
        let tracer = provider.tracer("segue");
        Self(Some(On { provider, tracer, propagator: TraceContextPropagator::new() }))
    }

    /// Begins the span of a request. Who asks may have begun a trace (`traceparent`).
    pub(crate) fn request(&self, method: &Method, route: &str, headers: &HeaderMap) -> Option<Context> {
        let on = self.0.as_ref()?;
        let parent = on.propagator.extract_with_context(&Context::new(), &HeaderExtractor(headers));
        let attributes = [
            KeyValue::new(HTTP_REQUEST_METHOD, method.as_str().to_owned()),
            KeyValue::new(HTTP_ROUTE, route.to_owned()),
        ];
        let span = SpanBuilder::from_name(format!("{method} {route}"))
            .with_kind(SpanKind::Server)
            .with_attributes(attributes);
        Some(parent.with_span(on.tracer.build_with_context(span, &parent)))
    }

    /// Writes down a turn that was just made, under the request that is at work.
    pub(crate) fn turn(&self, outcome: &Outcome, took: Duration, now: Timestamp) {
        let Some(on) = &self.0 else { return };
        let mut attributes = vec![
            KeyValue::new("segue.action", outcome.action.name()),
            KeyValue::new("segue.cause", outcome.cause.name()),
        ];
        attributes.extend(conversation(outcome.session_id.map(|id| id.to_string())));
        let now = SystemTime::from(now);
        let span = SpanBuilder::from_name("segue.turn")
            .with_kind(SpanKind::Internal)
            .with_start_time(now.checked_sub(took).unwrap_or(now))
            .with_attributes(attributes);
        on.tracer.build_with_context(span, &Context::current()).end();
    }

    /// Begins the span of a call of a model, under the request that is at work.
    pub(crate) fn model_call(&self, model: &str, host: &str) -> ModelCall {
        let Some(on) = &self.0 else { return ModelCall::default() };
        ModelCall::begin(&on.tracer, model, host)
    }

    /// Tells the endpoint of a model which trace it is part of.
    pub(crate) fn inject(&self, call: &ModelCall, headers: &mut HeaderMap) {
        if let (Some(on), Some(context)) = (&self.0, call.context()) {
            on.propagator.inject_context(context, &mut HeaderInjector(headers));
        }
    }

    /// Sends what is left, within a bound.
    pub(crate) async fn end(&self, patience: Duration) {
        let Some(on) = &self.0 else { return };
        let provider = on.provider.clone();
        let ended = tokio::task::spawn_blocking(move || provider.shutdown_with_timeout(patience)).await;
        if !matches!(ended, Ok(Ok(()))) {
            tracing::debug!("the last spans were not sent");
        }
    }
}

/// Ends the span of a request.
pub(crate) fn answered(context: &Context, status: StatusCode) {
    let span = context.span();
    span.set_attribute(KeyValue::new(HTTP_RESPONSE_STATUS_CODE, i64::from(status.as_u16())));
    if status.is_server_error() {
        span.set_status(Status::Error { description: Cow::Borrowed("") });
    }
    span.end();
}

/// Names the conversation of a span: the session's id, which says nothing about who speaks.
fn conversation(session_id: Option<String>) -> Option<KeyValue> {
    session_id.map(|id| KeyValue::new(GEN_AI_CONVERSATION_ID, id))
}
