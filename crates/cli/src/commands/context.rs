//! `segue context`: what the model would be given.

use crate::Exit;
use crate::args::Common;
use crate::setup::{self, Absent};
use crate::transcript::{Said, Transcript};
use crate::{json, out, paint};
use segue_core::scope;
use segue_engine::context::Source;
use segue_signals::context::{OpenAiTokens, TokenCounter};
use serde_json::{Value, json};

pub async fn run(common: &Common, scope: &scope::Key, window: usize) -> anyhow::Result<Exit> {
    let engine = setup::engine(common, Absent::Empty).await?;
    let context = engine.context(scope).await?;
    let counter = OpenAiTokens::new();
    let tokens: u64 = context.messages.iter().map(|told| counter.count(&told.text)).sum();
    if common.json {
        let source = |source: &Source| {
            json!({
                "session": source.session.to_string(),
                "segment": json::segment(scope, source.segment),
                "why": source.why,
            })
        };
        json::print(&json!({
            "session": context.session.to_string(),
            "tokens": tokens,
            "window": window,
            "messages": context.messages.iter().map(json::chat).collect::<Vec<Value>>(),
            "sources": context.sources.iter().map(source).collect::<Vec<Value>>(),
        }))?;
        return Ok(Exit::Done);
    }
    let zone = engine.config().time_zone_for(scope, None);
    let mut transcript = Transcript::new();
    out::line(paint::strong(&context.session))?;
    for told in &context.messages {
        let at = told.at.to_zoned(zone.clone());
        transcript.say(&Said {
            seq: None,
            at,
            role: told.role,
            message: told.message.as_ref(),
            remark: None,
        })?;
    }
    let count = context.messages.len();
    let sources: Vec<String> = context.sources.iter().map(|source| source.segment.to_string()).collect();
    let messages = if count == 1 { "message" } else { "messages" };
    let segments = if sources.len() == 1 { "segment" } else { "segments" };
    let sources = sources.join(", ");
    out::line(paint::dim(format!(
        "{count} {messages}, {tokens} of {window} tokens, from {segments} {sources}"
    )))?;
    Ok(Exit::Done)
}
