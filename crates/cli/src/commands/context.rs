//! `segue context`: what the model would be given.

use crate::Exit;
use crate::args::Common;
use crate::{json, paint, setup};
use segue_core::scope;
use segue_signals::context::{OpenAiTokens, TokenCounter};
use serde_json::{Value, json};

pub async fn run(common: &Common, scope: &scope::Key, window: usize) -> anyhow::Result<Exit> {
    let engine = setup::engine(common).await?;
    let context = engine.context(scope).await?;
    let counter = OpenAiTokens::new();
    let tokens: u64 = context.messages.iter().map(|told| counter.count(&told.text)).sum();
    if common.json {
        let source = |source: &segue_engine::context::Source| {
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
    for told in &context.messages {
        println!("{:>9}  {}", paint::dim(told.role), told.text);
    }
    let sources: Vec<String> = context.sources.iter().map(|source| source.segment.to_string()).collect();
    let line = format!("{}, {tokens} of {window} tokens, segments {}", context.session, sources.join(", "));
    println!("{}", paint::dim(line));
    Ok(Exit::Done)
}
