//! Taking conversations over from elsewhere: readers of what other programs keep, and the import itself.
//!
//! A message keeps the id that the other program gave it, or gets one that depends on what it says. So a second import
//! changes nothing, and one of a file that has grown takes over what is new.

mod account;
mod attachment;
mod batch;
mod blocks;
mod branches;
mod claude_code;
mod codex;
mod detect;
mod goose;
mod hermes;
mod host_words;
mod importing;
mod openai;
mod openclaw;
mod own;
mod picoclaw;
mod reading;
mod transcript;
mod way_back;
pub mod writing;

pub use account::Account;
pub use detect::{began, detect};
pub use importing::Importing;
pub use openai::tool_calls;
pub use reading::{InMemory, Part, Reading, Source};
pub use transcript::{Bad, FileContext, Format, Home, Line, Taken, Transcript, Unreadable};

use segue_core::Timestamp;
use segue_core::message::{Message, Role};
use segue_core::pins::Capture;
use segue_core::session::{Key, Title};

/// The reason under which entries are counted that the conversation did not go on from.
pub(crate) const GIVEN_UP: &str = "branch that was given up";

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
    /// How many of those that were taken over had been deleted here, and are back.
    pub back: usize,
}

/// A file that was read as a whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Read {
    /// The conversations in it, with their messages.
    pub talks: Vec<Transcript>,
    /// What became of its records.
    pub account: Account,
}

/// Reads a file that is in memory as a whole.
pub fn read(
    format: Format,
    lines: &[Line],
    context: &FileContext,
    now: Timestamp,
) -> Result<Read, Unreadable> {
    let mut reading = Reading::open(format, Box::new(InMemory::from(lines.to_vec())), context, now)?;
    let mut parts = Vec::new();
    while let Some(part) = reading.part()? {
        parts.push(part);
    }
    let mut talks = Vec::new();
    while let Some(talk) = reading.about(talks.len()) {
        talks.push(talk.clone());
    }
    for Part { talk, messages } in parts {
        if let Some(talk) = talks.get_mut(talk) {
            talk.messages.extend(messages);
        }
    }
    Ok(Read { talks, account: reading.account().clone() })
}

/// Tells a conversation from every other one, so that its messages have ids of their own.
fn fingerprint(hasher: &mut blake3::Hasher, role: Role, message: &Message) {
    hasher.update(role.name().as_bytes());
    hasher.update(&(message.text.len() as u64).to_le_bytes());
    hasher.update(message.text.as_bytes());
}

/// What ids of messages begin with that have none.
fn prefix(fingerprint: &blake3::Hasher) -> String {
    fingerprint.finalize().to_hex().chars().take(16).collect()
}
