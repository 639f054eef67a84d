//! A complete chat bot: every message is kept, put where it belongs, and answered by a model. `bot.toml` names the model:
//!
//! ```text
//! [models.main]
//! base_url = "http://localhost:11434/v1"
//! model = "qwen3"
//! ```
//!
//! ```text
//! cargo run -p segue --example bot
//! ```

use segue::models::{Client, Message};
use segue::{Inbound, Segue};
use std::io::{BufRead, Write};
use std::path::Path;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Answers line by line.
pub async fn chat(segue: &Segue, input: impl BufRead, mut out: impl Write) -> Result<()> {
    let main = segue.engine().config().models.get("main").ok_or("bot.toml has no [models.main]")?;
    let model = Client::with_keys(main, &|name| std::env::var(name).ok())?;
    let scope: segue::scope::Key = "agent:main:cli:direct:me".parse()?;
    for line in input.lines() {
        // When this returns, the message is durable and decided about. Commands such as /new and /undo are done.
        let outcome = segue.receive(Inbound::user(scope.clone(), segue.now(), line?)).await?;
        if let Some(notice) = outcome.say() {
            writeln!(out, "* {notice}")?;
        }
        if !outcome.wants_reply() {
            continue;
        }
        let said = segue.context(&scope).await?.said().into_iter();
        let messages: Vec<_> = said.map(|(role, said)| Message::new(role, said.text)).collect();
        let (mut pieces, mut reply) = (model.stream(&messages).await?, String::new());
        while let Some(piece) = pieces.next().await.transpose()? {
            write!(out, "{piece}")?;
            out.flush()?;
            reply.push_str(&piece);
        }
        writeln!(out)?;
        segue.reply(&outcome, reply).await?;
    }
    Ok(())
}

/// Talks on standard input and output.
#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<()> {
    let segue = Segue::builder().config(Path::new("bot.toml")).store("sqlite:bot.db").build().await?;
    chat(&segue, std::io::stdin().lock(), std::io::stdout()).await
}
