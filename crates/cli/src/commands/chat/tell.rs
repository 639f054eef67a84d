//! What a person reads in a chat.

use crate::commands::replay::shortened;
use crate::{layout, out, paint};
use segue_core::decision::Cause;
use segue_core::observed::Answer;
use segue_engine::Outcome;
use segue_engine::context::Context;
use segue_signals::context::{OpenAiTokens, TokenCounter};
use std::io;

/// Tells what the engine has to say: an answer to a command, a notice, a question with its answers.
pub fn outcome(outcome: &Outcome) -> io::Result<()> {
    let options = outcome.options();
    match (&outcome.reply, &outcome.notice) {
        (Some(reply), _) => paragraph(&shortened(&outcome.scope, reply), paint::engine)?,
        (None, Some(notice)) => paragraph(&shortened(&outcome.scope, notice), paint::boundary)?,
        (None, None) => {}
    }
    self::options(&options)
}

/// Tells what can be answered to a question that is open.
pub fn options(options: &[Answer]) -> io::Result<()> {
    if options.is_empty() {
        return Ok(());
    }
    let option = |(at, answer): (usize, &Answer)| format!("{} /{}", at + 1, answer.name());
    let options: Vec<String> = options.iter().enumerate().map(option).collect();
    paragraph(&format!("{}   (your message waits)", options.join("   ")), paint::strong)
}

/// Tells what was decided, for whom no model answers.
pub fn decision(outcome: &Outcome) -> io::Result<()> {
    if outcome.reply.is_some() {
        return Ok(());
    }
    let action = outcome.action.name().replace('_', " ");
    let cause = match outcome.cause {
        Cause::None => String::new(),
        cause => format!("cause {cause}, "),
    };
    let (session, sure) = (outcome.session, outcome.confidence.value());
    // The last reason is the one that tipped it; /why tells them all.
    let reason = outcome.reasons().pop().unwrap_or_default();
    let reason = shortened(&outcome.scope, &reason);
    let decision = format!("{action} in #{session} ({cause}confidence {sure:.2}). {reason}");
    paragraph(&decision, paint::dim)
}

/// Tells what a model would be given.
pub fn context(context: &Context, tokens: &OpenAiTokens) -> io::Result<()> {
    let said = context.said();
    let count: u64 = said.iter().map(|(_, message)| tokens.count(&message.text)).sum();
    let many = |n: u64, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    let messages = many(said.len() as u64, "message");
    let tokens = many(count, "token");
    let session = context.session.number;
    paragraph(&format!("A model would be given {messages} of #{session}, {tokens}."), paint::dim)
}

fn paragraph(text: &str, style: fn(String) -> String) -> io::Result<()> {
    for line in text.lines() {
        for part in layout::wrap_hanging(line, layout::width() - 2) {
            out::line(format!("  {}", style(part)))?;
        }
    }
    Ok(())
}
