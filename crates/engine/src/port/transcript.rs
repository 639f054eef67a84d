//! A conversation in a file of another program, as far as it can be read.

use super::blocks::join;
use crate::route::Address;
use segue_core::Timestamp;
use segue_core::entry::Seq;
use segue_core::message::{Message, MessageId, Role};
use segue_core::pins::Capture;
use segue_core::scope;
use segue_core::session::{Id, Title};
use serde_json::Value;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

/// The forms of transcripts that are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// Segue's own: a header, then a message a line.
    Segue,
    /// OpenAI chat messages.
    Openai,
    /// A session of PicoClaw.
    Picoclaw,
    /// A transcript of OpenClaw.
    Openclaw,
    /// A transcript of Claude Code.
    ClaudeCode,
    /// A rollout of Codex.
    Codex,
    /// A session of goose, row by row.
    Goose,
    /// A session of Hermes, row by row.
    Hermes,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Segue,
        Self::Openai,
        Self::Picoclaw,
        Self::Openclaw,
        Self::ClaudeCode,
        Self::Codex,
        Self::Goose,
        Self::Hermes,
    ];

    /// Returns the name, as it is typed.
    pub fn name(self) -> &'static str {
        match self {
            Self::Segue => "segue",
            Self::Openai => "openai",
            Self::Picoclaw => "picoclaw",
            Self::Openclaw => "openclaw",
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Goose => "goose",
            Self::Hermes => "hermes",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its number, counted from 1.
    pub number: usize,
    /// What it says, or why that cannot be read.
    pub text: Result<String, String>,
}

/// What stands beside a file and says more about it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FileContext {
    /// The name of the file, without what comes behind the first dot.
    pub name: String,
    /// The agent whose folder it is in, if it is in one.
    pub agent: Option<String>,
    /// What PicoClaw keeps in `NAME.meta.json`.
    pub meta: Option<Value>,
    /// What OpenClaw keeps in `sessions.json`, for all transcripts of a folder.
    pub index: Option<Arc<Value>>,
}

/// Where a conversation took place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Home {
    /// In a scope that has a key.
    Scope(scope::Key),
    /// Somewhere that routing turns into a scope.
    Address(Address),
    /// In a folder that a coding agent worked in.
    Folder {
        /// The program, as the name of a channel.
        channel: String,
        /// The folder.
        folder: String,
    },
    /// The file does not say.
    Unknown,
}

impl Home {
    /// A chat of a channel, or a folder that a coding agent worked in.
    pub(super) fn chat(agent: Option<&str>, channel: &str, peer: &str) -> Self {
        let agent = agent.unwrap_or_default().to_owned();
        Self::Address(Address { agent, ..Address::direct(channel, peer) })
    }

    /// The folder that a coding agent worked in.
    pub(super) fn workspace(channel: &str, folder: Option<&str>) -> Self {
        let folder = folder.filter(|folder| !folder.is_empty()).unwrap_or("unknown").to_owned();
        Self::Folder { channel: channel.to_owned(), folder }
    }

    /// Returns where it was, as routing takes it. A folder is spelled as coding agents spell it. A worktree belongs to its
    /// repository: one that lies inside is known by its name, `repository` finds it for any other folder that is still
    /// there.
    pub fn address(&self, repository: impl Fn(&str) -> Option<String>) -> Option<Address> {
        let (channel, folder) = match self {
            Self::Address(address) => return Some(address.clone()),
            Self::Scope(_) | Self::Unknown => return None,
            Self::Folder { channel, folder } => (channel, folder),
        };
        let inside = ["/.claude/worktrees/", "/.worktrees/"].iter().find_map(|mark| folder.split_once(mark));
        let of = inside.map(|(repository, _)| repository.to_owned()).or_else(|| repository(folder));
        let spelled = |c: char| if c.is_alphanumeric() { c } else { '-' };
        let peer: String = of.as_ref().unwrap_or(folder).chars().map(spelled).collect();
        Some(Address::direct(channel, peer))
    }
}

/// A message of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Taken {
    /// The line that it ends on; for a list of messages its place in the list.
    pub line: usize,
    /// Its number where it comes from.
    pub seq: Option<Seq>,
    /// When it was said.
    pub at: Timestamp,
    /// Who said it.
    pub role: Role,
    /// What was said.
    pub message: Message,
    /// The id that an earlier version of Segue gave it.
    pub former: Option<MessageId>,
    /// Where it ended when its file had fewer lines: it may have been taken over then.
    pub beginnings: Vec<Beginning>,
}

/// The beginning of a message that a program writes piece by piece.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beginning {
    /// The id that it had.
    pub id: MessageId,
    /// How long its text was.
    pub text_bytes: usize,
    /// How many calls it made.
    pub calls: usize,
    /// How many thoughts it had.
    pub reasoning: usize,
}

impl Taken {
    /// Adds what comes later in the same message.
    pub(super) fn join(&mut self, more: Message) {
        let Message { text, tool_calls, reasoning, message_id, .. } = &self.message;
        let (text_bytes, calls, reasoning) = (text.len(), tool_calls.len(), reasoning.len());
        self.beginnings.extend(message_id.clone().map(|id| Beginning { id, text_bytes, calls, reasoning }));
        join(&mut self.message, more);
    }

    /// Leaves out what was taken over before.
    pub(super) fn behind(&mut self, beginning: &Beginning) {
        let message = &mut self.message;
        let text = message.text.get(beginning.text_bytes..).unwrap_or_default();
        message.text = text.trim_start_matches('\n').to_owned();
        message.tool_calls.drain(..beginning.calls.min(message.tool_calls.len()));
        message.reasoning.drain(..beginning.reasoning.min(message.reasoning.len()));
    }
}

/// A line that cannot be taken over.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bad {
    /// The line.
    pub line: usize,
    /// Why.
    pub why: String,
}

/// Why a file cannot be read at all.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Unreadable(pub String);

impl Unreadable {
    pub(super) fn new(why: impl Into<String>) -> Self {
        Self(why.into())
    }
}

/// A conversation in a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Transcript {
    /// The form that it was read in.
    pub format: Format,
    /// What the other program calls the conversation.
    pub id: Option<String>,
    /// The conversation that it came from, in the other program's words.
    pub parent: Option<String>,
    /// Where it took place.
    pub home: Home,
    /// The session that it was exported from.
    pub session_id: Option<Id>,
    /// Its title.
    pub title: Option<Title>,
    /// When it began, as far as the file says so.
    pub began: Option<Timestamp>,
    /// What it was pinned to, with all texts.
    pub pins: Option<Box<Capture>>,
    /// Its messages, in the order of the file.
    pub messages: Vec<Taken>,
    /// How often each text without an id was said, by its hash.
    pub(super) said: HashMap<String, usize>,
}

impl Transcript {
    pub(super) fn new(format: Format) -> Self {
        Self {
            format,
            id: None,
            parent: None,
            home: Home::Unknown,
            session_id: None,
            title: None,
            began: None,
            pins: None,
            messages: Vec::new(),
            said: HashMap::new(),
        }
    }

    /// Adds a message. Without a time of its own it was said when the one before it was.
    pub(super) fn say(&mut self, line: usize, at: Option<Timestamp>, role: Role, message: Message) {
        let before = self.messages.last().map(|taken| taken.at);
        let at = at.or(before).or(self.began).unwrap_or(Timestamp::UNIX_EPOCH);
        self.messages.push(Taken {
            line,
            seq: None,
            at,
            role,
            message,
            former: None,
            beginnings: Vec::new(),
        });
    }

    /// Returns the last message, if it is the agent's: calls and texts that came one by one are one message.
    pub(super) fn assistant(&mut self) -> Option<&mut Taken> {
        self.messages.last_mut().filter(|taken| taken.role == Role::Assistant)
    }

    /// Takes out the messages that nothing can be added to any more: all of them at the end, else all but the last.
    pub(super) fn drain(&mut self, end: End) -> Vec<Taken> {
        let keep = match end {
            End::Reached => 0,
            End::Ahead => 1,
        };
        let rest = self.messages.split_off(self.messages.len().saturating_sub(keep));
        let mut ready = std::mem::replace(&mut self.messages, rest);
        for taken in &mut ready {
            self.number_by_content(taken);
        }
        ready
    }

    /// Gives a message an id that depends on what it says, where the other program gave it none. The same words said
    /// again are counted, and words that were cut off in front change nothing.
    fn number_by_content(&mut self, taken: &mut Taken) {
        if taken.message.message_id.is_some() {
            return;
        }
        let of = self.id.as_deref().unwrap_or_default();
        let mut hasher = blake3::Hasher::new();
        for part in [of, taken.role.name(), taken.message.text.as_str()] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        for call in &taken.message.tool_calls {
            hasher.update(call.id.as_bytes());
        }
        hasher.update(taken.message.tool_call_id.as_deref().unwrap_or_default().as_bytes());
        let hash: String = hasher.finalize().to_hex().chars().take(24).collect();
        let nth = self.said.entry(hash.clone()).or_default();
        *nth += 1;
        taken.message.message_id = Some(MessageId(format!("import:{}:{hash}:{nth}", self.format)));
    }
}

/// Whether more of a file is to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// There may be more lines.
    Ahead,
    /// All lines were read.
    Reached,
}
