//! Sessions of PicoClaw: `KEY.json` with everything in it, or `KEY.jsonl` with a message a line and `KEY.meta.json`
//! beside it. Messages are OpenAI's, without ids and times of their own.

use super::account::Verdict;
use super::blocks::{Content, text, time};
use super::openai;
use super::reading::{Place, Reader};
use super::transcript::{FileContext, Format, Home, Line, Transcript, Unreadable};
use segue_core::Timestamp;
use segue_core::message::{Message, Role};
use segue_core::session;
use serde_json::Value;

pub(super) struct Picoclaw {
    name: String,
    about: Value,
    talks: Vec<Transcript>,
    ended: Option<Timestamp>,
}

/// What is said about a session that is one object; its list of messages was taken out of it.
fn is_about(place: Place, value: &Value) -> bool {
    place.line == 0 && value.get("role").is_none()
}

impl Picoclaw {
    pub(super) fn new(context: &FileContext) -> Self {
        let about = context.meta.clone().unwrap_or_default();
        Self { name: context.name.clone(), about, talks: Vec::new(), ended: None }
    }
}

impl Reader for Picoclaw {
    fn survey(&mut self, place: Place, value: &Value) {
        if is_about(place, value) {
            self.about = value.clone();
        }
    }

    fn surveyed(&mut self) -> Result<(), Unreadable> {
        let about = std::mem::take(&mut self.about);
        let mut read = Transcript::new(Format::Picoclaw);
        // A key lost its colons in the name of the file; the first one is what tells the channel.
        let key = text(&about, "key").filter(|key| !key.is_empty()).map(str::to_owned);
        let key = key.unwrap_or_else(|| self.name.replacen('_', ":", 1));
        read.home = home(&key);
        read.id = Some(key);
        read.title = text(&about, "title").and_then(session::Title::new);
        read.began = time(about.get("created").or(about.get("created_at")));
        self.ended = time(about.get("updated").or(about.get("updated_at")));
        // The summary stands for what PicoClaw has cut off.
        if let Some(summary) = text(&about, "summary").filter(|summary| !summary.trim().is_empty()) {
            read.say(0, None, Role::System, Message::text(summary));
        }
        self.talks.push(read);
        Ok(())
    }

    fn take(&mut self, place: Place, value: &Value) -> Verdict {
        if is_about(place, value) {
            return Verdict::left_out("header");
        }
        let Some(talk) = self.talks.last_mut() else { return Verdict::bad("there is no conversation") };
        match openai::message(value) {
            Ok((role, mut message)) => {
                if message.text.is_empty() {
                    message.text = Content::of(value.get("content_parts")).text();
                }
                let at = time(value.get("created_at").or(value.get("timestamp")));
                talk.say(place.line, at, role, message);
                Verdict::Taken
            }
            Err(why) => Verdict::Bad(why),
        }
    }

    fn talks(&mut self) -> &mut Vec<Transcript> {
        &mut self.talks
    }

    fn finish(&mut self) -> Result<(), Unreadable> {
        let last = self.talks.last_mut().and_then(|talk| talk.messages.last_mut());
        if let (Some(last), Some(ended)) = (last, self.ended) {
            last.at = last.at.max(ended);
        }
        Ok(())
    }
}

/// Tells whether it begins as a session does that is one object. It is asked where it cannot be read as one.
pub(super) fn is_torn(lines: &[Line]) -> bool {
    let head: String = lines.iter().take(8).filter_map(|line| line.text.as_deref().ok()).collect();
    begins_as_one(&head)
}

pub(super) fn begins_as_one(text: &str) -> bool {
    let head: String = text.chars().take(4096).collect();
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
