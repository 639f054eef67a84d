//! Replies of models, and results of tools.

use super::id::{Id, PresentId};
use super::messages::time_stamp;
use super::turns::{no_session, refused};
use crate::app::App;
use crate::auth::{Caller, Right};
use crate::body::{self, Body};
use crate::idempotency::{self, AsOf, InScope};
use crate::problem::Problem;
use axum::extract::State;
use axum::{Extension, Json};
use segue_core::decision::Action;
use segue_core::message::{self, Message, MessageId, Role};
use segue_core::session::{self, Number};
use segue_core::{Timestamp, scope};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use utoipa::ToSchema;

/// A reply of a model.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewReply {
    /// The scope.
    scope: String,
    /// The session that it was made for, as the turn told it; the latest one if nothing is said.
    #[serde(default)]
    session: Option<String>,
    /// What the model said. It may be empty if tools are called.
    #[serde(default)]
    text: Option<String>,
    /// The tools that it calls.
    #[serde(default)]
    tool_calls: Option<Vec<NewToolCall>>,
    /// What it thought before.
    #[serde(default)]
    reasoning: Option<NewReasoning>,
    /// The model that made it.
    #[serde(default)]
    model: Option<String>,
    /// How many tokens it took: `tokens_in`, `tokens_out`.
    #[serde(default, deserialize_with = "body::optional_object")]
    usage: Option<NewUsage>,
    /// An id of it: a second delivery with the same one changes nothing.
    #[serde(default)]
    message_id: Option<Id>,
    /// When it was made; now by the clock of the host's messages if nothing is said.
    #[serde(default)]
    #[schema(example = "2026-03-01T10:00:05Z", format = DateTime)]
    at: Option<String>,
}

/// A call of a tool, as OpenAI's chat has it or flat.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum NewToolCall {
    /// As OpenAI's chat has it.
    Nested {
        /// The id that the result will carry.
        #[schema(value_type = PresentId)]
        id: Id,
        /// What is called.
        #[serde(deserialize_with = "body::object")]
        function: NewFunction,
    },
    /// Flat.
    Flat {
        /// The id that the result will carry.
        #[schema(value_type = PresentId)]
        id: Id,
        /// The tool's name.
        #[schema(min_length = 1)]
        name: String,
        /// The arguments, as the model wrote them, or as JSON.
        #[serde(default)]
        #[schema(value_type = Value)]
        arguments: Value,
    },
}

/// What is called.
#[derive(Debug, Deserialize, ToSchema)]
pub struct NewFunction {
    /// The tool's name.
    #[schema(min_length = 1)]
    name: String,
    /// The arguments, as the model wrote them, or as JSON.
    #[serde(default)]
    #[schema(value_type = Value)]
    arguments: Value,
}

impl NewToolCall {
    fn read(self) -> Result<message::ToolCall, Problem> {
        let (id, name, arguments) = match self {
            Self::Nested { id, function } => (id.text(), function.name, function.arguments),
            Self::Flat { id, name, arguments } => (id.text(), name, arguments),
        };
        if id.trim().is_empty() || name.is_empty() {
            return Err(Problem::wrong("a call of a tool has an \"id\" and a \"name\""));
        }
        let arguments = match arguments {
            Value::Null => String::new(),
            Value::String(text) => text,
            other => other.to_string(),
        };
        Ok(message::ToolCall { id, name, arguments })
    }
}

/// What a model thought: a text, or the blocks of its provider.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum NewReasoning {
    /// The thoughts.
    Text(String),
    /// One block.
    One(#[serde(deserialize_with = "body::object")] Thought),
    /// Several blocks, in order.
    Several(#[serde(deserialize_with = "body::objects")] Vec<Thought>),
}

/// A block of reasoning.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Thought {
    /// Whose interface it comes from.
    form: ThoughtForm,
    /// The thoughts, or a summary of them.
    #[serde(default)]
    text: String,
    /// What the provider knows its own by.
    #[serde(default)]
    signature: String,
    /// The provider's id of it.
    #[serde(default)]
    id: Option<String>,
    /// The model that made it; the reply's if nothing is said.
    #[serde(default)]
    model: Option<String>,
}

/// Whose interface reasoning comes from.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThoughtForm {
    /// A block of Anthropic's, with its text and a signature.
    Thinking,
    /// A block of Anthropic's that nobody else can read.
    Redacted,
    /// An item of OpenAI's responses.
    Item,
}

impl NewReasoning {
    fn read(self, model: &str) -> Vec<message::Reasoning> {
        let read = |thought: Thought| message::Reasoning {
            form: match thought.form {
                ThoughtForm::Thinking => message::ReasoningForm::Thinking,
                ThoughtForm::Redacted => message::ReasoningForm::Redacted,
                ThoughtForm::Item => message::ReasoningForm::Item,
            },
            text: thought.text,
            signature: thought.signature,
            id: thought.id,
            model: thought.model.unwrap_or_else(|| model.to_owned()),
        };
        let plain = |text| Thought {
            form: ThoughtForm::Thinking,
            text,
            signature: String::new(),
            id: None,
            model: None,
        };
        match self {
            Self::Text(text) => vec![read(plain(text))],
            Self::One(thought) => vec![read(thought)],
            Self::Several(thoughts) => thoughts.into_iter().map(read).collect(),
        }
    }
}

/// The most tokens that a reply can be said to have taken: what every reader of JSON can count to.
const TOKENS_MAX: u64 = (1 << 53) - 1;

/// A number of tokens.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tokens(u64);

impl<'de> Deserialize<'de> for Tokens {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        match u64::deserialize(from)? {
            tokens @ 0..=TOKENS_MAX => Ok(Self(tokens)),
            _ => Err(serde::de::Error::custom(format!("a number of tokens is at most {TOKENS_MAX}"))),
        }
    }
}

/// How many tokens a reply took, by the names of here or by those of OpenAI's interfaces. Other fields are not read.
#[derive(Debug, Clone, Copy, Default, Deserialize, ToSchema)]
pub struct NewUsage {
    /// Tokens that the model read.
    #[serde(default)]
    #[schema(value_type = Option<u64>, maximum = 9_007_199_254_740_991_u64)]
    tokens_in: Option<Tokens>,
    /// The same, as OpenAI's chat calls it.
    #[serde(default)]
    #[schema(value_type = Option<u64>, maximum = 9_007_199_254_740_991_u64)]
    prompt_tokens: Option<Tokens>,
    /// The same, as OpenAI's responses call it.
    #[serde(default)]
    #[schema(value_type = Option<u64>, maximum = 9_007_199_254_740_991_u64)]
    input_tokens: Option<Tokens>,
    /// Tokens that the model wrote.
    #[serde(default)]
    #[schema(value_type = Option<u64>, maximum = 9_007_199_254_740_991_u64)]
    tokens_out: Option<Tokens>,
    /// The same, as OpenAI's chat calls it.
    #[serde(default)]
    #[schema(value_type = Option<u64>, maximum = 9_007_199_254_740_991_u64)]
    completion_tokens: Option<Tokens>,
    /// The same, as OpenAI's responses call it.
    #[serde(default)]
    #[schema(value_type = Option<u64>, maximum = 9_007_199_254_740_991_u64)]
    output_tokens: Option<Tokens>,
    /// Tokens of those it read that it had in its cache.
    #[serde(default)]
    #[schema(value_type = Option<u64>, maximum = 9_007_199_254_740_991_u64)]
    tokens_cached: Option<Tokens>,
    /// Tokens of those it wrote that it thought.
    #[serde(default)]
    #[schema(value_type = Option<u64>, maximum = 9_007_199_254_740_991_u64)]
    tokens_reasoning: Option<Tokens>,
}

impl NewUsage {
    fn read(self) -> message::Usage {
        let count = |tokens: Option<Tokens>| tokens.unwrap_or_default().0;
        message::Usage {
            tokens_in: count(self.tokens_in.or(self.prompt_tokens).or(self.input_tokens)),
            tokens_cached: count(self.tokens_cached),
            tokens_out: count(self.tokens_out.or(self.completion_tokens).or(self.output_tokens)),
            tokens_reasoning: count(self.tokens_reasoning),
        }
    }
}

/// How many tokens a reply took.
#[derive(Debug, Clone, Copy, Default, Serialize, ToSchema)]
pub struct Usage {
    /// Tokens that the model read.
    tokens_in: u64,
    /// Tokens that the model wrote.
    tokens_out: u64,
    /// Tokens of those it read that it had in its cache.
    tokens_cached: u64,
    /// Tokens of those it wrote that it thought.
    tokens_reasoning: u64,
}

impl Usage {
    /// Shows what a reply took.
    pub(crate) fn of(usage: message::Usage) -> Self {
        let message::Usage { tokens_in, tokens_cached, tokens_out, tokens_reasoning } = usage;
        Self { tokens_in, tokens_out, tokens_cached, tokens_reasoning }
    }
}

/// The result of a tool.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewToolResult {
    /// The scope.
    scope: String,
    /// The session that called the tool; the latest one if nothing is said.
    #[serde(default)]
    session: Option<String>,
    /// The id of the call.
    #[schema(value_type = PresentId)]
    tool_call_id: Id,
    /// What the tool answered.
    #[serde(default)]
    text: Option<String>,
    /// An id of it: a second delivery with the same one changes nothing.
    #[serde(default)]
    message_id: Option<Id>,
    /// When it came; now by the clock of the host's messages if nothing is said.
    #[serde(default)]
    #[schema(example = "2026-03-01T10:00:05Z", format = DateTime)]
    at: Option<String>,
}

/// Where something was written.
#[derive(Debug, Serialize, ToSchema)]
pub struct Written {
    /// The scope.
    scope: String,
    /// The session.
    session: String,
    /// Its place in the log.
    seq: Option<u64>,
    /// Where the session's task stands.
    state: String,
}

/// Store the reply of a model
///
/// It goes to the session that it was made for, also if that is not the latest one any more.
#[utoipa::path(post, path = "/api/v1/replies", tag = "messages", request_body = NewReply,
    responses((status = 200, description = "Where it was written", body = Written)))]
pub(crate) async fn reply(
    State(app): State<Arc<App>>,
    caller: Caller,
    key: Option<Extension<idempotency::Key>>,
    Body(new): Body<NewReply>,
) -> Result<InScope<Result<Json<Written>, Problem>>, Problem> {
    let scope = body::scope(&caller, &new.scope)?;
    caller.may(Right::Write)?;
    let at = new.at.as_deref().map(time_stamp).transpose()?;
    let calls = new.tool_calls.unwrap_or_default().into_iter().map(NewToolCall::read);
    let tool_calls = calls.collect::<Result<Vec<_>, _>>()?;
    let model = new.model.unwrap_or_default();
    let usage = new.usage.map(NewUsage::read);
    let message = Message {
        text: new.text.unwrap_or_default(),
        tool_calls,
        reasoning: new.reasoning.map(|given| given.read(&model)).unwrap_or_default(),
        message_id: id(new.message_id, key.as_ref()),
        usage,
        model: Some(model.clone()).filter(|model| !model.is_empty()),
        ..Message::default()
    };
    let as_of = AsOf::now(&app, &scope, key.as_ref()).await?;
    let answer = written(&app, &scope, new.session.as_deref(), at, Role::Assistant, message).await;
    if answer.is_ok() {
        app.count_tokens(&model, usage.unwrap_or_default());
    }
    Ok(as_of.answer(answer))
}

/// Store the result of a tool
#[utoipa::path(post, path = "/api/v1/tool-results", tag = "messages", request_body = NewToolResult,
    responses((status = 200, description = "Where it was written", body = Written)))]
pub(crate) async fn tool_result(
    State(app): State<Arc<App>>,
    caller: Caller,
    key: Option<Extension<idempotency::Key>>,
    Body(new): Body<NewToolResult>,
) -> Result<InScope<Result<Json<Written>, Problem>>, Problem> {
    let scope = body::scope(&caller, &new.scope)?;
    caller.may(Right::Write)?;
    let at = new.at.as_deref().map(time_stamp).transpose()?;
    let tool_call_id = new.tool_call_id.text();
    if tool_call_id.trim().is_empty() {
        return Err(Problem::wrong("a result needs the \"tool_call_id\" of its call"));
    }
    let message = Message {
        text: new.text.unwrap_or_default(),
        tool_call_id: Some(tool_call_id),
        message_id: id(new.message_id, key.as_ref()),
        ..Message::default()
    };
    let as_of = AsOf::now(&app, &scope, key.as_ref()).await?;
    let answer = written(&app, &scope, new.session.as_deref(), at, Role::Tool, message).await;
    Ok(as_of.answer(answer))
}

fn id(given: Option<Id>, key: Option<&Extension<idempotency::Key>>) -> Option<MessageId> {
    let given = given.map(Id::text).filter(|id| !id.trim().is_empty());
    given.or_else(|| key.map(|Extension(key)| key.message_id())).map(MessageId)
}

async fn written(
    app: &App,
    scope: &scope::Key,
    session: Option<&str>,
    at: Option<Timestamp>,
    role: Role,
    message: Message,
) -> Result<Json<Written>, Problem> {
    let state = app.state(scope).await?;
    let number = match session {
        Some(text) => number(scope, text)?,
        None => state.latest().ok_or_else(|| no_session(scope, Number::FIRST))?,
    };
    if !state.sessions.contains_key(&number) {
        return Err(no_session(scope, number));
    }
    let at = at.unwrap_or_else(|| app.now_in(scope));
    let outcome = app.reply(scope, number, at, role, message).await?;
    if outcome.action == Action::Refused {
        return Err(refused(&outcome));
    }
    Ok(Json(Written {
        scope: scope.as_str().to_owned(),
        session: outcome.session_key().to_string(),
        seq: outcome.seq.map(|seq| seq.0),
        state: outcome.state.name().to_owned(),
    }))
}

/// Reads the key of a session of a scope. What is no key of this scope is not there.
fn number(scope: &scope::Key, text: &str) -> Result<Number, Problem> {
    let key: Option<session::Key> = text.parse().ok();
    let key = key.filter(|key| key.scope == *scope);
    key.map(|key| key.number)
        .ok_or_else(|| Problem::not_found(format!("there is no session {text:?} in the scope {scope}")))
}

impl App {
    /// Writes what was said for a session.
    pub(crate) async fn reply(
        &self,
        scope: &scope::Key,
        session: Number,
        at: Timestamp,
        role: Role,
        message: Message,
    ) -> Result<segue_engine::Outcome, Problem> {
        let to = segue_engine::Target::Scope(scope.clone());
        let inbound = segue_engine::Inbound { at, to, role, message, session: Some(session) };
        self.receive(inbound, None).await
    }

    /// Counts tokens of a model.
    pub(crate) fn count_tokens(&self, model: &str, usage: message::Usage) {
        let known = self.engine.config().models.contains_key(model);
        let model = if known { model } else { "other" };
        let counts = [("in", usage.tokens_in), ("cached", usage.tokens_cached), ("out", usage.tokens_out)];
        for (direction, tokens) in counts {
            self.metrics.tokens.add(&[("model", model), ("direction", direction)], tokens);
        }
    }
}
