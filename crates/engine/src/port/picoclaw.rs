//! Sessions of PicoClaw: `KEY.json` with everything in it, or `KEY.jsonl` with a message a line and `KEY.meta.json`
//! beside it. Messages are OpenAI's, without ids and times of their own.

use super::blocks::{Content, text, time};
use super::openai;
use super::transcript::{Bad, Beside, Format, Home, Line, Transcript, Unreadable};
use segue_core::message::{Message, Role};
use segue_core::session;
use serde_json::Value;

pub(super) fn read(lines: &[Line], beside: &Beside) -> Result<Transcript, Unreadable> {
    let mut read = Transcript::new(Format::Picoclaw);
    let whole = openai::whole(lines).filter(|whole| whole.get("messages").is_some());
    let about = whole.as_ref().or(beside.meta.as_ref());
    let about = about.cloned().unwrap_or_default();
    let values: Vec<(usize, Value)> = match whole.as_ref().and_then(|whole| whole.get("messages")) {
        Some(Value::Array(list)) => list.iter().cloned().zip(1..).map(|(value, at)| (at, value)).collect(),
        Some(_) => return Err(Unreadable::new("its \"messages\" are not a list")),
        None if is_torn(lines) => {
            return Err(Unreadable::new("it is not whole: a session of PicoClaw is one JSON object"));
        }
        None => read.values(lines),
    };
    // A key lost its colons in the name of the file; the first one is what tells the channel.
    let key = text(&about, "key").filter(|key| !key.is_empty()).map(str::to_owned);
    let key = key.unwrap_or_else(|| beside.name.replacen('_', ":", 1));
    read.home = home(&key);
    read.id = Some(key);
    read.title = text(&about, "title").and_then(session::Title::new);
    read.began = time(about.get("created").or(about.get("created_at")));
    let ended = time(about.get("updated").or(about.get("updated_at")));
    // The summary stands for what PicoClaw has cut off.
    if let Some(summary) = text(&about, "summary").filter(|summary| !summary.trim().is_empty()) {
        read.say(0, None, Role::System, Message::text(summary));
    }
    for (line, value) in values {
        match openai::message(&value) {
            Ok((role, mut message)) => {
                if message.text.is_empty() {
                    message.text = Content::of(value.get("content_parts")).text();
                }
                let at = time(value.get("created_at").or(value.get("timestamp")));
                read.say(line, at, role, message);
            }
            Err(why) => read.bad.push(Bad { line, why }),
        }
    }
    read.bad.sort();
    if let (Some(last), Some(ended)) = (read.messages.last_mut(), ended) {
        last.at = last.at.max(ended);
    }
    read.number_by_content();
    Ok(read)
}

/// Tells whether it begins as a session does that is one object. It is asked where it cannot be read as one.
pub(super) fn is_torn(lines: &[Line]) -> bool {
    let head: String = lines.iter().take(8).filter_map(|line| line.text.as_deref().ok()).collect();
    head.trim_start().starts_with('{') && head.contains("\"key\"") && head.contains("\"messages\"")
}

/// `agent:main:telegram:direct:user123#2` is a scope and a number; `telegram:123456` is a chat.
fn home(key: &str) -> Home {
    if key.starts_with("agent:")
        && let Ok(key) = key.parse::<session::Key>()
    {
        return Home::Scope(key.scope);
    }
    let (chat, _) = key.split_once('#').unwrap_or((key, ""));
    let (channel, peer) = chat.split_once(':').unwrap_or(("picoclaw", chat));
    Home::chat(None, channel, peer)
}
