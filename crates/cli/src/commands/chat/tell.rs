//! What a person reads in a chat.

use crate::{layout, out, paint};
use segue_core::observed::Answer;
use segue_engine::context::Context;
use segue_engine::{Outcome, words};
use segue_signals::context::{OpenAiTokens, TokenCounter};
use std::io;

/// Tells what the engine has to say: an answer to a command, a notice, a question with its answers.
pub fn outcome(outcome: &Outcome) -> io::Result<()> {
    let options = outcome.options();
    let style = if outcome.reply.is_some() { paint::engine } else { paint::boundary };
    if let Some(text) = outcome.say() {
        paragraph(&text, style)?;
    }
    self::options(outcome.language, &options)
}

/// Tells what can be answered to a question that is open.
fn options(language: words::Language, options: &[Answer]) -> io::Result<()> {
    if options.is_empty() {
        return Ok(());
    }
    paragraph(&words::answers(language, options), paint::strong)
}

/// Tells what the chat itself has to say.
pub fn engine(text: &str) -> io::Result<()> {
    paragraph(text, paint::engine)
}

/// Tells what was decided, for whom no model answers.
pub fn decision(outcome: &Outcome) -> io::Result<()> {
    if outcome.reply.is_some() {
        return Ok(());
    }
    // The last reason is the one that tipped it; /why tells them all.
    paragraph(&words::decided(outcome), paint::dim)
}

/// Tells what a model would be given.
pub fn context(language: words::Language, context: &Context, tokens: &OpenAiTokens) -> io::Result<()> {
    let said = context.said();
    let count: u64 = said.iter().map(|(_, message)| tokens.count(&message.text)).sum();
    let [messages, tokens] = [said.len() as u64, count].map(|n| u32::try_from(n).unwrap_or(u32::MAX));
    let told = words::chat::would_be_given(language, context.session.number, messages, tokens);
    paragraph(&told, paint::dim)
}

fn paragraph(text: &str, style: fn(String) -> String) -> io::Result<()> {
    for line in text.lines() {
        for part in layout::wrap_hanging(line, layout::width() - 2) {
            out::line(format!("  {}", style(part)))?;
        }
    }
    Ok(())
}
