//! Taking conversations over from elsewhere: readers of what other programs keep, and the import itself.
//!
//! A message keeps the id that the other program gave it, or gets one that depends on what it says. So a second import
//! changes nothing, and one of a file that has grown takes over what is new.

mod batch;
mod blocks;
mod branches;
mod claude_code;
mod codex;
mod detect;
mod openai;
mod openclaw;
mod own;
mod picoclaw;
mod transcript;

pub use detect::{began, detect};
pub use openai::tool_calls;
pub use transcript::{Bad, Beside, Format, Home, Line, Taken, Transcript, Unreadable};

use crate::engine::Engine;
use crate::error::Error;
use crate::outcome::{Delivery, Outcome};
use crate::pins::Repin;
use crate::request::{Pick, Request};
use segue_core::Timestamp;
use segue_core::entry::Seq;
use segue_core::message::{Message, MessageId, Role};
use segue_core::pins::Capture;
use segue_core::scope;
use segue_core::session::{Key, Number, Title};
use std::collections::VecDeque;

/// A conversation from elsewhere.
#[derive(Debug, Clone, PartialEq)]
pub struct Conversation {
    /// Its title.
    pub title: Option<Title>,
    /// What it was pinned to, with all texts.
    pub pins: Option<Box<Capture>>,
    /// Its messages, with their times, in order.
    pub messages: Vec<(Timestamp, Role, Message)>,
}

/// What came of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// The session that holds the conversation; nothing if all of it was there before.
    pub session: Option<Key>,
    /// How many messages were taken over.
    pub taken: usize,
    /// How many had been taken over before.
    pub known: usize,
}

/// Reads a transcript. What cannot be read of it is noted, line by line; where nothing can be, it is an error.
pub fn read(
    format: Format,
    lines: &[Line],
    beside: &Beside,
    now: Timestamp,
) -> Result<Transcript, Unreadable> {
    let mut read = match format {
        Format::Segue => own::read(lines),
        Format::Openai => openai::read(lines, now),
        Format::Picoclaw => picoclaw::read(lines, beside),
        Format::Openclaw => Ok(openclaw::read(lines, beside)),
        Format::ClaudeCode => Ok(claude_code::read(lines)),
        Format::Codex => Ok(codex::read(lines, beside)),
    }?;
    // Where a file names no time at all, it is taken over when it is taken over.
    for taken in read.messages.iter_mut().filter(|taken| taken.at == Timestamp::UNIX_EPOCH) {
        taken.at = now;
    }
    Ok(read)
}

impl Engine {
    /// Takes a conversation over into a session of its own, which is latest then. What was taken over
    /// before is left alone: a second import changes nothing.
    pub async fn import(&self, scope: &scope::Key, conversation: Conversation) -> Result<Imported, Error> {
        for (_, role, message) in &conversation.messages {
            self.check(*role, message)?;
        }
        let prefix = fingerprint(&conversation);
        let mut imported = Imported { session: None, taken: 0, known: 0 };
        let mut last_known = None;
        let with_id = |(at, (time, role, mut message)): (usize, (Timestamp, Role, Message))| {
            let own = || MessageId(format!("import:{prefix}:{at}"));
            message.message_id.get_or_insert_with(own);
            (time, role, message)
        };
        let mut rest: VecDeque<_> = conversation.messages.into_iter().enumerate().map(with_id).collect();
        while let Some((time, role, message)) = rest.pop_front() {
            if let Some(id) = &message.message_id
                && let Some(seq) = self.store.seen(scope, id).await?
            {
                imported.known += 1;
                last_known = Some(seq);
                continue;
            }
            let home = match &imported.session {
                Some(session) => Some(session.number),
                None => self.home(scope, last_known, time).await?,
            };
            let latest = self.find_state(scope).await?.and_then(|state| state.latest());
            let request = match home {
                // An import that was cut off goes on where it began, which need not be latest any more.
                Some(session) if latest != Some(session) => Request::Reply(role, message, session),
                _ => Request::Keep(role, message),
            };
            let outcome: Outcome = self.request(scope, time, &request).await?;
            imported.session = Some(outcome.session_key());
            match outcome.delivery {
                Delivery::First => imported.taken += 1,
                Delivery::Again => imported.known += 1,
            }
            imported.taken += self.keep_more(scope, outcome.session, &mut rest).await?;
        }
        // Where a part had been there before, the session has its pins already.
        if let (Some(session), Some(pins), 0) = (&imported.session, conversation.pins, imported.known) {
            let pin = Request::Pin(Pick::Numbered(session.number), Repin::All(pins));
            let at = self.state(scope).await?.clock;
            self.request(scope, at, &pin).await?;
        }
        if let (Some(session), Some(title)) = (&imported.session, conversation.title) {
            let state = self.state(scope).await?;
            // A file that has grown is called what it was called; a person may have renamed the session since.
            if state.live(session.number).is_some_and(|session| session.title.is_none()) {
                let rename = Request::Rename(Pick::Numbered(session.number), title);
                self.request(scope, state.clock, &rename).await?;
            }
        }
        Ok(imported)
    }

    /// Finds the session that an import goes on in, or opens one for it where others are.
    async fn home(
        &self,
        scope: &scope::Key,
        last_known: Option<Seq>,
        at: Timestamp,
    ) -> Result<Option<Number>, Error> {
        let Some(state) = self.find_state(scope).await? else { return Ok(None) };
        if let Some(seq) = last_known
            && let Some(record) = self.store.get(scope, seq).await?
            && let Some((number, _)) = state.all().find(|(n, _)| state.view(*n).hold(record.segment, seq))
        {
            return Ok(Some(number));
        }
        Ok(Some(self.request(scope, at, &Request::OpenImported).await?.session))
    }
}

/// Tells a conversation from every other one, so that its messages have ids of their own.
fn fingerprint(conversation: &Conversation) -> String {
    let mut hasher = blake3::Hasher::new();
    for (_, role, message) in &conversation.messages {
        hasher.update(role.name().as_bytes());
        hasher.update(&(message.text.len() as u64).to_le_bytes());
        hasher.update(message.text.as_bytes());
    }
    hasher.finalize().to_hex().chars().take(16).collect()
}
