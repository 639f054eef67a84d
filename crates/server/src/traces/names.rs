//! The names of attributes, by OpenTelemetry's conventions for HTTP and for generative AI. The latter live in a repository of
//! their own, for which there is no crate yet.

pub(super) const HTTP_REQUEST_METHOD: &str = "http.request.method";
pub(super) const HTTP_RESPONSE_STATUS_CODE: &str = "http.response.status_code";
pub(super) const HTTP_ROUTE: &str = "http.route";
pub(super) const SERVER_ADDRESS: &str = "server.address";
pub(super) const ERROR_TYPE: &str = "error.type";

pub(super) const GEN_AI_CONVERSATION_ID: &str = "gen_ai.conversation.id";
pub(super) const GEN_AI_OPERATION_NAME: &str = "gen_ai.operation.name";
pub(super) const GEN_AI_PROVIDER_NAME: &str = "gen_ai.provider.name";
pub(super) const GEN_AI_REQUEST_MODEL: &str = "gen_ai.request.model";
pub(super) const GEN_AI_RESPONSE_FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
pub(super) const GEN_AI_RESPONSE_MODEL: &str = "gen_ai.response.model";
pub(super) const GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
pub(super) const GEN_AI_USAGE_INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
pub(super) const GEN_AI_USAGE_OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
pub(super) const GEN_AI_USAGE_REASONING_OUTPUT_TOKENS: &str = "gen_ai.usage.reasoning.output_tokens";
