//! The span of a call of a model: from the request until its answer was whole, broke off, or was given up.

use super::conversation;
use super::names::{
    ERROR_TYPE, GEN_AI_OPERATION_NAME, GEN_AI_PROVIDER_NAME, GEN_AI_REQUEST_MODEL,
    GEN_AI_RESPONSE_FINISH_REASONS, GEN_AI_RESPONSE_MODEL, GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS,
    GEN_AI_USAGE_INPUT_TOKENS, GEN_AI_USAGE_OUTPUT_TOKENS, GEN_AI_USAGE_REASONING_OUTPUT_TOKENS,
    SERVER_ADDRESS,
};
use crate::openai::Reply;
use opentelemetry::trace::{SpanBuilder, SpanKind, Status, TraceContextExt as _, Tracer as _};
use opentelemetry::{Array, Context, KeyValue, StringValue, Value};
use opentelemetry_sdk::trace::SdkTracer;
use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};

/// What both of OpenAI's interfaces do.
const OPERATION: &str = "chat";

/// What a call ended with that nobody waited for.
const GIVEN_UP: &str = "cancelled";

/// A call of a model. At the latest it ends when it is dropped: then it was given up.
#[derive(Default)]
pub(crate) struct ModelCall(Option<Context>, AtomicBool);

impl ModelCall {
    /// Begins the span, under the request that is at work.
    pub(super) fn begin(tracer: &SdkTracer, model: &str, host: &str) -> Self {
        let attributes = [
            KeyValue::new(GEN_AI_OPERATION_NAME, OPERATION),
            // Whatever stands there, it speaks OpenAI's interface.
            KeyValue::new(GEN_AI_PROVIDER_NAME, "openai"),
            KeyValue::new(GEN_AI_REQUEST_MODEL, model.to_owned()),
            KeyValue::new(SERVER_ADDRESS, host.to_owned()),
        ];
        let parent = Context::current();
        let span = SpanBuilder::from_name(format!("{OPERATION} {model}"))
            .with_kind(SpanKind::Client)
            .with_attributes(attributes);
        Self(Some(parent.with_span(tracer.build_with_context(span, &parent))), AtomicBool::new(false))
    }

    /// Returns the span.
    pub(super) fn context(&self) -> Option<&Context> {
        self.0.as_ref()
    }

    /// Tells whether there is a span.
    pub(crate) fn is_traced(&self) -> bool {
        self.0.is_some()
    }

    /// Says which conversation it belongs to.
    pub(crate) fn belongs_to(&self, session_id: String) {
        if let Some(context) = &self.0 {
            context.span().set_attributes(conversation(Some(session_id)));
        }
    }

    /// Ends the span: the answer is whole.
    pub(crate) fn whole(&self, reply: &Reply) {
        let Some(context) = &self.0 else { return };
        let mut attributes = Vec::new();
        if let Some(finish) = &reply.finish {
            let reasons = Array::String(vec![StringValue::from(finish.clone())]);
            attributes.push(KeyValue::new(GEN_AI_RESPONSE_FINISH_REASONS, Value::Array(reasons)));
        }
        attributes.extend(reply.model.clone().map(|model| KeyValue::new(GEN_AI_RESPONSE_MODEL, model)));
        if let Some(usage) = reply.usage {
            let count = |name, tokens: u64| KeyValue::new(name, i64::try_from(tokens).unwrap_or(i64::MAX));
            attributes.push(count(GEN_AI_USAGE_INPUT_TOKENS, usage.tokens_in));
            attributes.push(count(GEN_AI_USAGE_OUTPUT_TOKENS, usage.tokens_out));
            attributes.push(count(GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS, usage.tokens_cached));
            attributes.push(count(GEN_AI_USAGE_REASONING_OUTPUT_TOKENS, usage.tokens_reasoning));
        }
        let span = context.span();
        span.set_attributes(attributes);
        span.end();
    }

    /// Notes that the endpoint refused. The span ends with the call.
    pub(crate) fn refused(&self, status: &str) {
        self.1.store(true, Ordering::Relaxed);
        self.note(status);
    }

    fn note(&self, why: &str) {
        let Some(context) = &self.0 else { return };
        let span = context.span();
        span.set_attribute(KeyValue::new(ERROR_TYPE, why.to_owned()));
        span.set_status(Status::Error { description: Cow::Borrowed("") });
    }

    /// Ends the span: there is no answer. What went wrong is a word of ours or a status, never the endpoint's.
    pub(crate) fn failed(&self, why: &str) {
        self.note(why);
        self.passed();
    }

    /// Ends the span of a call whose answer was passed through unread.
    pub(crate) fn passed(&self) {
        if let Some(context) = &self.0 {
            context.span().end();
        }
    }
}

impl Drop for ModelCall {
    fn drop(&mut self) {
        if self.0.as_ref().is_some_and(|context| context.span().is_recording()) {
            match self.1.load(Ordering::Relaxed) {
                true => self.passed(),
                false => self.failed(GIVEN_UP),
            }
        }
    }
}
