//! `segue chat`: talk to the engine in a terminal and see what it decides.

mod input;

use crate::args::{Chat, Common};
use crate::setup::{self, Absent};
use crate::{Exit, json, layout, out, paint};
use input::Input;
use segue_core::decision::Action;
use segue_core::scope;
use segue_engine::route::{Address, route};
use segue_engine::{Engine, Inbound, Outcome};
use segue_signals::context::{OpenAiTokens, TokenCounter};

pub async fn run(common: &Common, chat: &Chat) -> anyhow::Result<Exit> {
    let engine = setup::engine(common, Absent::Make).await?;
    let scope = match &chat.scope {
        Some(scope) => scope.clone(),
        None => route(&engine.config().routing, &Address::direct("cli", setup::user())),
    };
    let mut input = Input::open()?;
    if input.is_terminal() && !common.json {
        let store = &engine.config().store_url;
        out::line(paint::strong(&scope))?;
        let hint = format!("kept in {store}; /help lists the commands, Ctrl-D ends");
        out::line(paint::dim(hint))?;
    }
    let tokens = OpenAiTokens::new();
    let mut line = 0;
    while let Some(text) = input.read(&prompt(&engine, &scope).await?)? {
        line += 1;
        if text.trim().is_empty() {
            continue;
        }
        match engine.receive(Inbound::user(scope.clone(), engine.now(), text)).await {
            Ok(outcome) if common.json => json::print(&json::outcome(line, &outcome, None))?,
            Ok(outcome) => tell(&engine, &tokens, &outcome).await?,
            Err(error) => out::error(error),
        }
    }
    Ok(Exit::Done)
}

/// Shows in which session the next message will be said, as far as can be told before it is.
async fn prompt(engine: &Engine, scope: &scope::Key) -> anyhow::Result<String> {
    let state = engine.store().load(scope).await?;
    Ok(match state.and_then(|state| state.latest()) {
        Some(session) => format!("#{session}"),
        None => "#1".to_owned(),
    })
}

async fn tell(engine: &Engine, tokens: &OpenAiTokens, outcome: &Outcome) -> anyhow::Result<()> {
    if let Some(reply) = &outcome.reply {
        return Ok(paragraph(reply, paint::engine)?);
    }
    if let Some(notice) = &outcome.notice {
        paragraph(notice, paint::boundary)?;
    }
    for reason in &outcome.reasons {
        paragraph(reason, paint::dim)?;
    }
    let context = engine.context(&outcome.scope).await?;
    let count: u64 = context.messages.iter().map(|told| tokens.count(&told.text)).sum();
    let verb = if outcome.action == Action::Continue { "continue" } else { outcome.action.name() };
    let (session, messages) = (outcome.session, context.messages.len());
    let plural = if messages == 1 { "message" } else { "messages" };
    let summary =
        format!("{verb} in #{session}; the model would be given {messages} {plural}, {count} tokens");
    Ok(paragraph(&summary, paint::dim)?)
}

fn paragraph(text: &str, style: fn(String) -> String) -> std::io::Result<()> {
    for line in text.lines() {
        for part in layout::wrap(line, layout::width() - 2) {
            out::line(format!("  {}", style(part)))?;
        }
    }
    Ok(())
}
