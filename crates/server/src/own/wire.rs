//! The shapes of Segue's own interface. They are stable: fields may be added, never renamed.

use super::replies::Usage;
use segue_core::decision::{Action, Cause};
use segue_core::observed::Observed;
use segue_core::scope;
use segue_core::segment;
use segue_core::title::TitledBy;
use segue_engine::Outcome;
use segue_engine::context::Part;
use segue_engine::history::{Explained, Listed, StoredMessage};
use segue_engine::outcome::Delivery;
use segue_engine::words::{self, Language};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, ToSchema};

/// What came of a message.
#[derive(Debug, Serialize, ToSchema)]
pub struct Turn {
    /// The scope that it fell into.
    pub scope: String,
    /// The session's key, which a reply has to name.
    pub session: String,
    /// The session's id; null if there is no session yet.
    pub session_id: Option<String>,
    /// The segment that it was written to.
    pub segment: Option<String>,
    /// Its place in the log.
    pub seq: Option<u64>,
    /// What was done: continue, new, ask, ...
    pub action: String,
    /// What kind of evidence decided.
    pub cause: String,
    /// How sure that is, from 0 to 1.
    pub confidence: f64,
    /// Where the session's task stands.
    pub state: String,
    /// What to show to the person now, or null.
    pub say: Option<String>,
    /// Whether the model is to be called.
    pub wants_reply: bool,
    /// The question that the person is asked, or null.
    pub question: Option<Question>,
    /// What the person is offered although the message goes on and is answered, or null: a session of its own for it.
    pub suggestion: Option<Question>,
    /// What the person is told about a boundary.
    pub notice: Option<String>,
    /// What a command answers.
    pub reply: Option<String>,
    /// Why, in sentences.
    pub reasons: Vec<String>,
    /// What was observed.
    #[schema(value_type = Object)]
    pub signals: Value,
    /// The model that helped to decide.
    pub control_model: String,
    /// Whether the message had been taken before; then this is the answer of then.
    pub duplicate: bool,
    /// The context for the model, if it was asked for.
    pub context: Option<Context>,
}

/// A question with buttons.
#[derive(Debug, Serialize, ToSchema)]
pub struct Question {
    /// The question.
    pub text: String,
    /// The answers that can be given.
    pub options: Vec<AnswerOption>,
}

/// An answer that can be given.
#[derive(Debug, Serialize, ToSchema)]
pub struct AnswerOption {
    /// What `POST .../answer` takes.
    pub answer: String,
    /// What a button says.
    pub label: String,
}

impl Turn {
    /// Tells what came of a message.
    pub(crate) fn of(outcome: &Outcome, context: Option<Context>) -> Self {
        Self {
            scope: outcome.scope.as_str().to_owned(),
            session: outcome.session_key().to_string(),
            session_id: outcome.session_id.map(|id| id.to_string()),
            segment: outcome.segment.map(|number| segment_name(&outcome.scope, number)),
            seq: outcome.seq.map(|seq| seq.0),
            action: outcome.action.name().to_owned(),
            cause: outcome.cause.name().to_owned(),
            confidence: outcome.confidence.value(),
            state: outcome.state.name().to_owned(),
            say: outcome.say(),
            wants_reply: outcome.wants_reply(),
            question: outcome.question().map(question),
            suggestion: outcome.suggestion().map(question),
            notice: outcome.notice.clone(),
            reply: outcome.reply.clone(),
            reasons: outcome.reasons(),
            signals: outcome.observed.as_deref().map_or_else(|| Value::Object(Map::new()), signals),
            control_model: outcome.control_model().to_owned(),
            duplicate: outcome.delivery == Delivery::Again,
            context,
        }
    }
}

/// Shows a question.
pub(crate) fn question(asked: segue_engine::Question) -> Question {
    let option = |choice: segue_engine::Choice| AnswerOption {
        answer: choice.answer.name().to_owned(),
        label: choice.label,
    };
    Question { text: asked.text, options: asked.options.into_iter().map(option).collect() }
}

/// Names a segment so that no other scope has one of that name.
pub(crate) fn segment_name(scope: &scope::Key, number: segment::Number) -> String {
    format!("{scope}/{number}")
}

fn signals(observed: &Observed) -> Value {
    let mut value = serde_json::to_value(observed).unwrap_or_default();
    if let Value::Object(fields) = &mut value {
        fields.remove("took_us");
    }
    value
}

/// The context that a model is given.
#[derive(Debug, Serialize, ToSchema)]
pub struct Context {
    /// The session that it comes from.
    pub session: String,
    /// How many tokens it takes.
    pub tokens: u64,
    /// How many fit into the model's window.
    pub window: u64,
    /// The messages, in the shape of OpenAI's chat.
    #[schema(value_type = Vec<Object>)]
    pub messages: Vec<Value>,
    /// How many older messages are not in it.
    pub older: usize,
    /// The messages that no provider takes, and why.
    pub left_out: Vec<LeftOut>,
    /// Where everything comes from, and why it is there.
    pub sources: Vec<Source>,
    /// The shape that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
    /// The request's fields in the shape that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub request: Option<Value>,
}

/// Where a part of a context comes from.
#[derive(Debug, Serialize, ToSchema)]
pub struct Source {
    /// Which part of the context it is: persona, skills, instructions, carry_over, summary or messages.
    #[schema(value_type = String)]
    pub part: Part,
    /// The session.
    pub session: String,
    /// The segment, where it comes from the log.
    pub segment: Option<String>,
    /// How many messages it is, or stands for.
    pub messages: usize,
    /// Why it is there.
    pub why: String,
}

/// A message that is left out.
#[derive(Debug, Serialize, ToSchema)]
pub struct LeftOut {
    /// Its place in the log.
    pub seq: u64,
    /// Why.
    pub why: String,
}

/// What came of moving a session.
#[derive(Debug, Serialize, ToSchema)]
pub struct Moved {
    /// What was done.
    pub action: String,
    /// The session that is latest now.
    pub session: String,
    /// Its id.
    pub session_id: Option<String>,
    /// What to tell the person.
    pub notice: Option<String>,
}

impl Moved {
    /// Tells what came of moving a session.
    pub(crate) fn of(outcome: &Outcome) -> Self {
        Self {
            action: outcome.action.name().to_owned(),
            session: outcome.session_key().to_string(),
            session_id: outcome.session_id.map(|id| id.to_string()),
            notice: outcome.notice.clone().or_else(|| outcome.reply.clone()),
        }
    }
}

/// A session of a list.
#[derive(Debug, Serialize, ToSchema)]
pub struct Session {
    /// Its number in the scope.
    pub index: u32,
    /// Its key.
    pub key: String,
    /// Its id.
    pub session_id: String,
    /// Its title.
    pub title: Option<String>,
    /// Who gave it the title.
    #[schema(value_type = Option<String>)]
    pub titled_by: Option<TitledBy>,
    /// How many messages it holds.
    pub messages: u32,
    /// Whether it is the latest one.
    pub active: bool,
    /// Where its task stands.
    pub state: String,
    /// The session that it came from.
    pub parent: Option<String>,
    /// When it was created.
    pub created_at: String,
    /// When anything was last written into it.
    pub updated_at: String,
    /// Whether somebody asked for it to be kept.
    pub kept: bool,
    /// Whether it is archived: out of the list, and still there.
    pub archived: bool,
    /// When it goes by itself, if that was announced.
    pub goes_at: Option<String>,
}

impl Session {
    /// Shows a session.
    pub(crate) fn of(listed: &Listed) -> Self {
        Self {
            index: listed.key.number.0,
            key: listed.key.to_string(),
            session_id: listed.session_id.to_string(),
            title: listed.title.clone(),
            titled_by: listed.titled_by,
            messages: listed.messages,
            active: listed.active,
            state: listed.state.name().to_owned(),
            parent: listed.parent.as_ref().map(ToString::to_string),
            created_at: listed.created_at.to_string(),
            updated_at: listed.updated_at.to_string(),
            kept: listed.kept,
            archived: listed.archived,
            goes_at: listed.goes_at.map(|at| at.to_string()),
        }
    }
}

/// A message.
#[derive(Debug, Serialize, ToSchema)]
pub struct Message {
    /// Its place in the log.
    pub seq: u64,
    /// Who spoke: user, assistant, tool or system.
    pub role: String,
    /// What was said; empty if it was erased.
    pub text: String,
    /// When.
    pub at: String,
    /// Who said it, where several people share a scope.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sender: Option<String>,
    /// The channel's id of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// The tools that the agent calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// The call that a tool's message answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_call_id: Option<String>,
    /// The model that said it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What that took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Whether it was erased.
    pub erased: bool,
}

/// A call of a tool.
#[derive(Debug, Clone, Serialize, ToSchema)]
pub struct ToolCall {
    /// The id that the result will carry.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments, as the model wrote them.
    pub arguments: String,
}

impl Message {
    /// Shows a message.
    pub(crate) fn of(stored: &StoredMessage) -> Self {
        let said = stored.message.clone().unwrap_or_default();
        let call = |call: segue_core::message::ToolCall| ToolCall {
            id: call.id,
            name: call.name,
            arguments: call.arguments,
        };
        Self {
            seq: stored.seq.0,
            role: stored.role.name().to_owned(),
            text: stored.text.clone(),
            at: stored.at.to_string(),
            sender: said.sender,
            message_id: said.message_id.map(|id| id.0),
            tool_calls: said.tool_calls.into_iter().map(call).collect(),
            tool_call_id: said.tool_call_id,
            model: said.model,
            usage: said.usage.map(Usage::of),
            erased: stored.message.is_none(),
        }
    }
}

/// Why something was decided.
#[derive(Debug, Serialize, ToSchema)]
pub struct DecisionRecord {
    /// When.
    pub at: String,
    /// The entry that it was about.
    pub about: u64,
    /// The first words of the message.
    pub preview: Option<String>,
    /// The session that it ended up in.
    pub session: String,
    /// What was done.
    pub action: String,
    /// What kind of evidence decided.
    pub cause: String,
    /// How sure that was.
    pub confidence: f64,
    /// Why, in sentences.
    pub reasons: Vec<String>,
    /// What was observed.
    #[schema(value_type = Object)]
    pub signals: Value,
    /// The whole record.
    #[schema(value_type = Object)]
    pub decision: Value,
    /// What the person was told.
    pub notice: Option<String>,
}

impl DecisionRecord {
    /// Shows a decision.
    pub(crate) fn of(explained: &Explained) -> Self {
        let decision = &explained.decision;
        let scope = &explained.session.scope;
        Self {
            at: explained.at.to_string(),
            about: decision.about.0,
            preview: explained.preview.clone(),
            session: explained.session.to_string(),
            action: decision.action.name().to_owned(),
            cause: decision.cause.name().to_owned(),
            confidence: decision.confidence.value(),
            reasons: decision.reasons.iter().map(|why| words::reason(Language::En, why)).collect(),
            signals: decision.signals.as_deref().map_or_else(|| Value::Object(Map::new()), signals),
            decision: serde_json::to_value(decision).unwrap_or_default(),
            notice: decision.notice.as_ref().map(|notice| words::notice(Language::En, scope, notice)),
        }
    }
}

/// A page of something.
#[derive(Debug, Serialize, ToSchema)]
pub struct Page<T: ToSchema> {
    /// What is on the page.
    pub items: Vec<T>,
    /// The cursor of the next page; null on the last one.
    pub next: Option<String>,
}

/// What page is asked for.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct PageQuery {
    /// Where the page begins: `next` of the page before.
    #[serde(default)]
    pub cursor: Option<String>,
    /// How many at most.
    #[serde(default)]
    #[param(minimum = 1, maximum = 1_000_000)]
    pub limit: Option<usize>,
}

/// How many a page has unless it is said.
pub(crate) const LIMIT: usize = 50;
/// How many a page has at most.
pub(crate) const LIMIT_MAX: usize = 500;
/// How many may be asked for. Who asks for more than a page holds gets a full one.
const LIMIT_ASKED_MAX: usize = 1_000_000;

/// Reads the length of a page.
pub(crate) fn limit(asked: Option<usize>) -> Result<usize, crate::problem::Problem> {
    match asked.unwrap_or(LIMIT) {
        limit @ 1..=LIMIT_ASKED_MAX => Ok(limit.min(LIMIT_MAX)),
        _ => {
            Err(crate::problem::Problem::wrong(format!("\"limit\" is a number from 1 to {LIMIT_ASKED_MAX}")))
        }
    }
}

/// Reads a cursor that is a number.
pub(crate) fn cursor(text: &str) -> Result<u64, crate::problem::Problem> {
    crate::body::digits(text).ok_or_else(|| crate::problem::Problem::wrong("there is no such cursor"))
}

/// Names the labels of a turn in the metrics.
pub(crate) fn labels(action: Action, cause: Cause) -> [(&'static str, &'static str); 2] {
    [("action", action.name()), ("cause", cause.name())]
}
