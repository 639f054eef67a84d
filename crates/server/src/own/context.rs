//! The context that a model is given.

use super::wire::{Context, LeftOut, Source, segment_name};
use crate::app::App;
use crate::auth::Caller;
use crate::body::{self, Asked, At};
use crate::problem::Problem;
use axum::Json;
use axum::extract::State;
use segue_core::entry::Seq;
use segue_core::scope;
use segue_engine::context::{self, Budget};
use segue_engine::pins::Pinned;
use segue_engine::shapes::pair::{Paired, Why, pair};
use segue_engine::shapes::{Shape, of_paired};
use segue_signals::context::OpenAiTokens;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// The smallest and the largest window, in tokens.
const WINDOW: std::ops::RangeInclusive<u64> = 256..=100_000_000;

/// What context is asked for.
#[derive(Debug, Clone, Default, Deserialize, ToSchema, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct ContextQuery {
    /// The model's window, in tokens; the configuration's if nothing is said.
    #[serde(default)]
    #[param(minimum = 256, maximum = 100_000_000)]
    #[schema(minimum = 256, maximum = 100_000_000)]
    window: Option<u64>,
    /// A provider's shape: openai_chat, openai_responses or anthropic.
    #[serde(default)]
    shape: Option<String>,
}

/// Show the context of a scope's latest session
#[utoipa::path(get, path = "/api/v1/scopes/{scope}/context", tag = "context",
    params(("scope" = String, Path, description = "The scope, percent-encoded"), ContextQuery),
    responses((status = 200, description = "What a model would be given now", body = Context)))]
pub(crate) async fn show(
    State(app): State<Arc<App>>,
    caller: Caller,
    At(scope): At<String>,
    Asked(query): Asked<ContextQuery>,
) -> Result<Json<Context>, Problem> {
    let scope = body::scope_there(&caller, &scope)?;
    app.state(&scope).await?;
    assemble(&app, &scope, &query).await.map(Json)
}

/// Assembles a context.
pub(crate) async fn assemble(
    app: &App,
    scope: &scope::Key,
    query: &ContextQuery,
) -> Result<Context, Problem> {
    let shape = query.check()?;
    let context = app.context(scope, query.window).await?;
    let source = |source: &context::Source| Source {
        part: source.part,
        session: source.session.to_string(),
        segment: source.segment.map(|number| segment_name(&source.session.scope, number)),
        messages: source.messages,
        why: source.why.clone(),
    };
    let left_out = |(seq, why): &(Seq, Why)| LeftOut { seq: seq.0, why: why.to_string() };
    Ok(Context {
        session: context.session.to_string(),
        tokens: context.tokens,
        window: context.window,
        messages: said(&context),
        older: context.older,
        left_out: context.left_out().iter().map(left_out).collect(),
        sources: context.sources.iter().map(source).collect(),
        shape: shape.map(|shape| shape.name().to_owned()),
        request: shape.map(|shape| context.project(shape)),
    })
}

impl ContextQuery {
    /// Refuses what cannot be assembled, before anything is done.
    pub(crate) fn check(&self) -> Result<Option<Shape>, Problem> {
        if self.window.is_some_and(|window| !WINDOW.contains(&window)) {
            return Err(Problem::wrong(format!(
                "\"window\" is a number of tokens from {} to {}",
                WINDOW.start(),
                WINDOW.end()
            )));
        }
        let shape = self.shape.as_deref().map(|name| {
            Shape::named(name).ok_or_else(|| {
                Problem::wrong(format!("there is no shape {name:?}"))
                    .hint("it is openai_chat, openai_responses or anthropic")
            })
        });
        shape.transpose()
    }
}

/// Shows a context's messages as `segue context` does: those that are there, with their senders.
fn said(context: &context::Context) -> Vec<Value> {
    let said = context.said();
    let mut shown = Vec::new();
    for turn in pair(&said).turns {
        let sender = said.get(turn.at).and_then(|(_, message)| message.sender.clone());
        let one = Paired { turns: vec![turn], left_out: Vec::new() };
        let Value::Object(mut fields) = of_paired(Shape::OpenAiChat, &one) else { continue };
        let Some(Value::Array(mut messages)) = fields.remove("messages") else { continue };
        if let (Some(Value::Object(first)), Some(sender)) = (messages.first_mut(), sender) {
            first.insert("name".into(), sender.into());
        }
        shown.append(&mut messages);
    }
    shown
}

/// Returns a context's messages in the shape of OpenAI's chat.
pub(crate) fn messages(context: &context::Context) -> Vec<Value> {
    match context.project(Shape::OpenAiChat) {
        Value::Object(mut fields) => match fields.remove("messages") {
            Some(Value::Array(messages)) => messages,
            _ => Vec::new(),
        },
        _ => Vec::new(),
    }
}

impl App {
    /// Assembles the context of a scope's latest session.
    pub(crate) async fn context(
        &self,
        scope: &scope::Key,
        window: Option<u64>,
    ) -> Result<context::Context, Problem> {
        let counter = OpenAiTokens::new();
        let window = window.unwrap_or_else(|| self.engine.config().context_window_for(scope, None));
        let budget = Budget::of_window(window, &counter);
        Ok(Box::pin(self.engine.assemble(scope, &budget)).await?)
    }
}

/// What a session is pinned to, as JSON.
pub(crate) struct Pins {
    pub(crate) agent: Option<String>,
    pub(crate) skills: Value,
    pub(crate) persona: Value,
    pub(crate) model: Value,
}

/// Shows what a session is pinned to.
pub(crate) fn pins(pinned: &Pinned) -> Pins {
    let Pinned { agent, skills, persona, model, .. } = pinned;
    Pins {
        agent: Some(agent.clone()),
        skills: json!({
            "version": skills.version, "skills": skills.skills, "diagnostics": skills.diagnostics,
        }),
        persona: json!({
            "version": persona.version, "parts": persona.parts, "diagnostics": persona.diagnostics,
        }),
        model: json!({
            "model": model.name,
            "model_id": model.id,
            "temperature": model.temperature,
            "thinking_level": model.thinking,
            "verbosity": model.verbosity,
        }),
    }
}

/// Stands for pins that cannot be read.
pub(crate) fn no_pins() -> Pins {
    Pins { agent: None, skills: json!({}), persona: json!({}), model: json!({}) }
}
