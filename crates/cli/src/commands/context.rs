//! `segue context`: what the model would be given.

use super::sessions::list::title;
use crate::Exit;
use crate::args::Common;
use crate::setup;
use crate::transcript::{PrintedMessage, Transcript};
use crate::{json, layout, out, paint};
use segue_core::scope;
use segue_engine::context::{Budget, Context, Front, Source};
use segue_engine::shapes::Shape;
use segue_engine::shapes::pair::Why;
use segue_signals::context::OpenAiTokens;
use serde_json::{Value, json};

/// How much of a text in front is shown to a person, in lines.
const FRONT_LINES_MAX: usize = 12;

pub async fn run(
    common: &Common,
    scope: Option<&scope::Key>,
    window: Option<u64>,
    shape: Option<Shape>,
) -> anyhow::Result<Exit> {
    let engine = setup::reader(common)?;
    let scope = &setup::scope_or_last(&engine, scope).await?;
    let counter = OpenAiTokens::new();
    let window = window.unwrap_or_else(|| engine.config().context_window_for(scope, None));
    let context = engine.assemble(scope, &Budget::of_window(window, &counter)).await?;
    if let Some(shape) = shape.filter(|_| !common.json) {
        json::print(&context.project(shape))?;
        return Ok(Exit::Done);
    }
    if common.json {
        json::print(&shown(scope, &context, shape))?;
        return Ok(Exit::Done);
    }
    let zone = engine.config().time_zone_for(scope, None);
    let mut transcript = Transcript::new();
    let listed = engine.describe(&*engine.state(scope).await?, context.session.number).await?;
    out::line(paint::strong(format!("#{}  {}", context.session.number, title(&listed))))?;
    out::line(scope)?;
    for front in &context.front {
        in_front(front)?;
    }
    for told in &context.messages {
        let at = told.at.to_zoned(zone.clone());
        transcript.say(&PrintedMessage {
            seq: None,
            at,
            role: told.role,
            message: told.message.as_ref(),
            remark: None,
        })?;
    }
    let count = context.messages.len();
    let mut sources: Vec<String> = context
        .sources
        .iter()
        .filter_map(|source| source.segment)
        .map(|segment| segment.to_string())
        .collect();
    sources.dedup();
    let messages = if count == 1 { "message" } else { "messages" };
    let older = if context.older == 0 { String::new() } else { format!(" ({} older)", context.older) };
    let segments = if sources.len() == 1 { "segment" } else { "segments" };
    let sources = sources.join(", ");
    let tokens = context.tokens;
    out::line(paint::dim(format!(
        "{count} {messages}{older}, {tokens} of {window} tokens, from {segments} {sources}"
    )))?;
    Ok(Exit::Done)
}

fn shown(scope: &scope::Key, context: &Context, shape: Option<Shape>) -> Value {
    let source = |source: &Source| {
        json!({
            "part": source.part,
            "session": source.session.to_string(),
            "segment": source.segment.map(|segment| json::segment(scope, segment)),
            "messages": source.messages,
            "why": source.why,
        })
    };
    let left_out =
        |(seq, why): &(segue_core::entry::Seq, Why)| json!({ "seq": seq.0, "why": why.to_string() });
    let mut value = json!({
        "session": context.session.to_string(),
        "tokens": context.tokens,
        "window": context.window,
        "messages": json::context(context),
        "older": context.older,
        "left_out": context.left_out().iter().map(left_out).collect::<Vec<Value>>(),
        "sources": context.sources.iter().map(source).collect::<Vec<Value>>(),
    });
    if let (Some(shape), Value::Object(fields)) = (shape, &mut value) {
        fields.insert("shape".into(), shape.name().into());
        fields.insert("request".into(), context.project(shape));
    }
    value
}

fn in_front(front: &Front) -> anyhow::Result<()> {
    out::line(paint::dim(format!("{}, {} tokens", front.part, front.tokens)))?;
    let lines: Vec<String> = layout::wrap(&front.text, layout::width() - 2);
    for line in lines.iter().take(FRONT_LINES_MAX) {
        out::line(format!("  {line}"))?;
    }
    if lines.len() > FRONT_LINES_MAX {
        out::line(paint::dim(format!(
            "  ... {} lines more; --json shows all",
            lines.len() - FRONT_LINES_MAX
        )))?;
    }
    Ok(())
}
