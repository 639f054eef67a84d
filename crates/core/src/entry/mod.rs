//! Entries: the records that the log is made of.
//!
//! A [`Record`] is an entry as a store keeps it: a header and the bytes of a body. A [`Body`] is what
//! those bytes mean. The encoding is part of the domain, because the digests cover its bytes: a body
//! is hashed as it was written and never written again.

mod bodies;

pub use bodies::*;

use crate::Timestamp;
use crate::decision::Decision;
use crate::digest::Digest;
use crate::memory::{Extraction, Remembered};
use crate::message::{Message, Role};
use crate::pins::Pinned;
use crate::retention::Retiring;
use crate::segment;
use crate::task::canonical::CanonicalCommit;
use crate::task::commit::WorkCommit;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The place of an entry in its scope's log: 1, 2, 3, ...
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seq(pub u64);

impl Seq {
    /// The place before the first entry: the head of an empty log.
    pub const ZERO: Self = Self(0);

    /// Returns the place after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// Returns the place before this one.
    #[must_use]
    pub fn previous(self) -> Self {
        Self(self.0.saturating_sub(1))
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident = $code:literal, $name:literal;)*) => {
        /// What an entry is. Codes and names are for good: they stand on disk.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Kind {
            $($(#[$doc])* $kind,)*
        }

        impl Kind {
            /// All kinds.
            pub const ALL: &[Self] = &[$(Self::$kind),*];

            /// Returns the number that stands for the kind in digests and databases.
            pub fn code(self) -> u8 {
                match self { $(Self::$kind => $code,)* }
            }

            /// Returns the word that stands for the kind in files.
            pub fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }
        }
    };
}

kinds! {
    /// A message of the person.
    User = 1, "user";
    /// A message of the agent.
    Assistant = 2, "assistant";
    /// A tool's answer.
    Tool = 3, "tool";
    /// A message of the host.
    System = 4, "system";
    /// A slash command that changed something.
    Command = 10, "command";
    /// What was decided for a message or command, and why.
    Decision = 11, "decision";
    /// Something that was observed in a task.
    Observation = 14, "observation";
    /// A flushed step of a task.
    WorkCommit = 15, "work_commit";
    /// Words that belong to a task.
    Worded = 16, "worded";
    /// A new session and its first segment.
    Opened = 20, "opened";
    /// The end of a segment, with its digest.
    Sealed = 21, "sealed";
    /// A new segment for an older session, which is latest again.
    Resumed = 22, "resumed";
    /// A new session that shares its parent's past up to a message.
    Forked = 23, "forked";
    /// A new session that takes the later part of its parent.
    Split = 24, "split";
    /// A session's view went into another one.
    Merged = 25, "merged";
    /// The last boundary was taken back.
    Undone = 26, "undone";
    /// The one session of a legacy scope was emptied in place.
    Cleared = 27, "cleared";
    /// A small segment for a session that is not latest: a late reply.
    Attached = 28, "attached";
    /// A session got a title.
    Renamed = 29, "renamed";
    /// Old sessions were dropped to keep the backlog.
    Pruned = 30, "pruned";
    /// A session was dropped on request.
    Deleted = 31, "deleted";
    /// Bodies were erased on request.
    Erased = 32, "erased";
    /// The user was asked about a message.
    Asked = 33, "asked";
    /// A session got a control model of its own, or lost it.
    Controlled = 34, "controlled";
    /// The user answered that the message stays where it is.
    Answered = 35, "answered";
    /// A task moved, or its work did.
    Task = 36, "task";
    /// What is kept of a task for good.
    Compacted = 37, "compacted";
    /// The description of a task that was kept for good, where a person gave it.
    Copied = 38, "copied";
    /// What a session is pinned to, or a text that pins point at.
    Pinned = 39, "pinned";
    /// Something that is remembered.
    Remembered = 40, "remembered";
    /// A session was looked at for what is worth keeping.
    Extracted = 41, "archived";
    /// Sessions are announced to go, or are not to go after all.
    Retiring = 42, "retiring";
    /// A model named a session.
    Named = 43, "named";
    /// Sessions were archived, or are listed again.
    Backlog = 44, "backlog";
    /// The sessions before and after are gone through, one by one.
    Stepped = 45, "stepped";
    /// A boundary that was taken back is there again.
    Redone = 46, "redone";
}

impl Kind {
    /// Finds a kind by its code.
    pub fn coded(code: u8) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.code() == code)
    }

    /// Finds a kind by its name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// Returns the kind of a message by its role.
    pub fn of(role: Role) -> Self {
        match role {
            Role::User => Self::User,
            Role::Assistant => Self::Assistant,
            Role::Tool => Self::Tool,
            Role::System => Self::System,
        }
    }

    /// Returns the role of a message, or nothing if the entry is no message.
    pub fn role(self) -> Option<Role> {
        Role::ALL.into_iter().find(|role| Self::of(*role) == self)
    }

    /// Tells whether what was said before the entry may be gone after it: whoever has read that has to let it go.
    pub fn erases(self) -> bool {
        matches!(self, Self::Cleared | Self::Pruned | Self::Deleted | Self::Erased)
    }

    /// Tells whether the entry makes or takes back a boundary.
    pub fn is_boundary(self) -> bool {
        matches!(
            self,
            Self::Opened
                | Self::Resumed
                | Self::Forked
                | Self::Split
                | Self::Merged
                | Self::Undone
                | Self::Redone
                | Self::Stepped
                | Self::Cleared
        )
    }

    /// Tells whether the entry is structural: it stays when its segment is dropped, so that the rest can be folded and
    /// proved.
    pub fn is_structural(self) -> bool {
        self.code() >= Self::Opened.code() && self.code() < 60
    }
}

/// What an entry says.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// A message.
    Message(Role, Message),
    /// A slash command that changed something.
    Command(Spoken),
    /// What was decided, and why.
    Decision(Box<Decision>),
    /// A new session.
    Opened(Opened),
    /// The end of a segment.
    Sealed(Sealed),
    /// An older session is latest again.
    Resumed(Resumed),
    /// A fork.
    Forked(Branched),
    /// A split.
    Split(Branched),
    /// A merge.
    Merged(Merged),
    /// The last boundary was taken back.
    Undone,
    /// A legacy clear.
    Cleared(Of),
    /// A late reply's segment.
    Attached(Of),
    /// A title.
    Renamed(Renamed),
    /// A prune.
    Pruned(Dropped),
    /// A delete.
    Deleted(Dropped),
    /// An erasure.
    Erased(Erased),
    /// A question to the user.
    Asked(Asked),
    /// A session's own control model.
    Controlled(Controlled),
    /// The message that was asked about stays where it is.
    Answered,
    /// Something that was observed in a task.
    Observation(Box<Observing>),
    /// A flushed step of a task.
    WorkCommit(Box<WorkCommit>),
    /// Words that belong to a task.
    Worded(Worded),
    /// A task moved, or its work did.
    Task(TaskStep),
    /// What is kept of a task for good.
    Compacted(Box<CanonicalCommit>),
    /// The description of a task that was kept for good.
    Copied(Copied),
    /// What a session is pinned to, or a text that pins point at.
    Pinned(Pinned),
    /// Something that is remembered.
    Remembered(Remembered),
    /// A session was looked at for what is worth keeping.
    Extracted(Extraction),
    /// Sessions are announced to go, or are not to go after all.
    Retiring(Retiring),
    /// A model named a session.
    Named(Named),
    /// Sessions were archived, or are listed again.
    Backlog(Backlog),
    /// One step back or forward through the sessions.
    Stepped(Stepped),
    /// A boundary that was taken back is there again.
    Redone,
    /// This body was erased; what it was is known by its kind only.
    Gone(Kind),
}

/// Why a record cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// The body does not have the shape of its kind.
    #[error("entry {seq}: the body of this {kind} entry cannot be read: {why}", kind = .kind.name())]
    Body {
        /// The entry.
        seq: Seq,
        /// Its kind.
        kind: Kind,
        /// What the decoder says.
        why: String,
    },
}

impl Body {
    /// Returns the kind of the entry.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Message(role, _) => Kind::of(*role),
            Self::Command(_) => Kind::Command,
            Self::Decision(_) => Kind::Decision,
            Self::Opened(_) => Kind::Opened,
            Self::Sealed(_) => Kind::Sealed,
            Self::Resumed(_) => Kind::Resumed,
            Self::Forked(_) => Kind::Forked,
            Self::Split(_) => Kind::Split,
            Self::Merged(_) => Kind::Merged,
            Self::Undone => Kind::Undone,
            Self::Cleared(_) => Kind::Cleared,
            Self::Attached(_) => Kind::Attached,
            Self::Renamed(_) => Kind::Renamed,
            Self::Pruned(_) => Kind::Pruned,
            Self::Deleted(_) => Kind::Deleted,
            Self::Erased(_) => Kind::Erased,
            Self::Asked(_) => Kind::Asked,
            Self::Controlled(_) => Kind::Controlled,
            Self::Answered => Kind::Answered,
            Self::Observation(_) => Kind::Observation,
            Self::WorkCommit(_) => Kind::WorkCommit,
            Self::Worded(_) => Kind::Worded,
            Self::Task(_) => Kind::Task,
            Self::Compacted(_) => Kind::Compacted,
            Self::Copied(_) => Kind::Copied,
            Self::Pinned(_) => Kind::Pinned,
            Self::Remembered(_) => Kind::Remembered,
            Self::Extracted(_) => Kind::Extracted,
            Self::Retiring(_) => Kind::Retiring,
            Self::Named(_) => Kind::Named,
            Self::Backlog(_) => Kind::Backlog,
            Self::Stepped(_) => Kind::Stepped,
            Self::Redone => Kind::Redone,
            Self::Gone(kind) => *kind,
        }
    }

    /// Writes the body as the bytes that the digest covers.
    pub fn encode(&self) -> Result<String, serde_json::Error> {
        match self {
            Self::Message(_, body) => serde_json::to_string(body),
            Self::Command(body) => serde_json::to_string(body),
            Self::Decision(body) => at_once(body),
            Self::Opened(body) => serde_json::to_string(body),
            Self::Sealed(body) => serde_json::to_string(body),
            Self::Resumed(body) => serde_json::to_string(body),
            Self::Forked(body) | Self::Split(body) => serde_json::to_string(body),
            Self::Merged(body) => serde_json::to_string(body),
            Self::Undone | Self::Redone | Self::Answered | Self::Gone(_) => Ok("{}".to_owned()),
            Self::Cleared(body) | Self::Attached(body) => serde_json::to_string(body),
            Self::Renamed(body) => serde_json::to_string(body),
            Self::Pruned(body) | Self::Deleted(body) => serde_json::to_string(body),
            Self::Erased(body) => serde_json::to_string(body),
            Self::Asked(body) => serde_json::to_string(body),
            Self::Controlled(body) => serde_json::to_string(body),
            Self::Observation(body) => serde_json::to_string(body),
            Self::WorkCommit(body) => serde_json::to_string(body),
            Self::Worded(body) => serde_json::to_string(body),
            Self::Task(body) => serde_json::to_string(body),
            Self::Compacted(body) => serde_json::to_string(body),
            Self::Copied(body) => serde_json::to_string(body),
            Self::Pinned(body) => serde_json::to_string(body),
            Self::Remembered(body) => serde_json::to_string(body),
            Self::Extracted(body) => serde_json::to_string(body),
            Self::Retiring(body) => serde_json::to_string(body),
            Self::Named(body) => serde_json::to_string(body),
            Self::Backlog(body) => serde_json::to_string(body),
            Self::Stepped(body) => serde_json::to_string(body),
        }
    }

    fn decode(kind: Kind, text: &str) -> Result<Self, serde_json::Error> {
        Ok(match kind {
            Kind::User => Self::Message(Role::User, serde_json::from_str(text)?),
            Kind::Assistant => Self::Message(Role::Assistant, serde_json::from_str(text)?),
            Kind::Tool => Self::Message(Role::Tool, serde_json::from_str(text)?),
            Kind::System => Self::Message(Role::System, serde_json::from_str(text)?),
            Kind::Command => Self::Command(serde_json::from_str(text)?),
            Kind::Decision => Self::Decision(serde_json::from_str(text)?),
            Kind::Opened => Self::Opened(serde_json::from_str(text)?),
            Kind::Sealed => Self::Sealed(serde_json::from_str(text)?),
            Kind::Resumed => Self::Resumed(serde_json::from_str(text)?),
            Kind::Forked => Self::Forked(serde_json::from_str(text)?),
            Kind::Split => Self::Split(serde_json::from_str(text)?),
            Kind::Merged => Self::Merged(serde_json::from_str(text)?),
            Kind::Undone => Self::Undone,
            Kind::Cleared => Self::Cleared(serde_json::from_str(text)?),
            Kind::Attached => Self::Attached(serde_json::from_str(text)?),
            Kind::Renamed => Self::Renamed(serde_json::from_str(text)?),
            Kind::Pruned => Self::Pruned(serde_json::from_str(text)?),
            Kind::Deleted => Self::Deleted(serde_json::from_str(text)?),
            Kind::Erased => Self::Erased(serde_json::from_str(text)?),
            Kind::Asked => Self::Asked(serde_json::from_str(text)?),
            Kind::Controlled => Self::Controlled(serde_json::from_str(text)?),
            Kind::Answered => Self::Answered,
            Kind::Observation => Self::Observation(serde_json::from_str(text)?),
            Kind::WorkCommit => Self::WorkCommit(serde_json::from_str(text)?),
            Kind::Worded => Self::Worded(serde_json::from_str(text)?),
            Kind::Task => Self::Task(serde_json::from_str(text)?),
            Kind::Compacted => Self::Compacted(serde_json::from_str(text)?),
            Kind::Copied => Self::Copied(serde_json::from_str(text)?),
            Kind::Pinned => Self::Pinned(serde_json::from_str(text)?),
            Kind::Remembered => Self::Remembered(serde_json::from_str(text)?),
            Kind::Extracted => Self::Extracted(serde_json::from_str(text)?),
            Kind::Retiring => Self::Retiring(serde_json::from_str(text)?),
            Kind::Named => Self::Named(serde_json::from_str(text)?),
            Kind::Backlog => Self::Backlog(serde_json::from_str(text)?),
            Kind::Stepped => Self::Stepped(serde_json::from_str(text)?),
            Kind::Redone => Self::Redone,
        })
    }
}

/// The bytes of a body, or what is left of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Bytes {
    /// The body as it was written.
    Kept(String),
    /// The body was erased; its hash stays, so that the proof still holds.
    Erased(Digest),
}

/// An entry as a store keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its place in the log.
    pub seq: Seq,
    /// The segment that it was written to.
    pub segment: segment::Number,
    /// When it counts as written: never earlier than the entry before it. A message that came with an
    /// earlier time stamp keeps that in its body.
    pub at: Timestamp,
    /// How many messages its segment holds up to here, this one included.
    pub nth: u32,
    /// What it is.
    pub kind: Kind,
    /// What it says.
    pub bytes: Bytes,
}

impl Record {
    /// Returns the hash of the body, which outlives the body.
    pub fn body_hash(&self) -> Digest {
        match &self.bytes {
            Bytes::Kept(text) => Digest::of_body(text.as_bytes()),
            Bytes::Erased(hash) => *hash,
        }
    }

    /// Reads the body.
    pub fn body(&self) -> Result<Body, Unreadable> {
        match &self.bytes {
            Bytes::Erased(_) => Ok(Body::Gone(self.kind)),
            Bytes::Kept(text) => Body::decode(self.kind, text).map_err(|error| Unreadable::Body {
                seq: self.seq,
                kind: self.kind,
                why: error.to_string(),
            }),
        }
    }
}

/// What a decision usually takes, in bytes.
const DECISION_BYTES: usize = 1_024;

/// Writes a body that is long and written often without moving it as it grows.
fn at_once(decision: &Decision) -> Result<String, serde_json::Error> {
    let mut bytes = Vec::with_capacity(DECISION_BYTES);
    serde_json::to_writer(&mut bytes, decision)?;
    String::from_utf8(bytes).map_err(serde::ser::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_one_code_and_one_name_each() {
        for kind in Kind::ALL {
            assert_eq!(Kind::coded(kind.code()), Some(*kind));
            assert_eq!(Kind::named(kind.name()), Some(*kind));
        }
        assert_eq!(Kind::Tool.role(), Some(Role::Tool));
        assert_eq!(Kind::Sealed.role(), None);
        assert!(Kind::Erased.is_structural() && !Kind::Decision.is_structural());
    }

    /// So that a name with a flipped byte is never taken for that of a kind that a newer program has added.
    #[test]
    fn no_flipped_byte_makes_one_kind_of_another() {
        for (one, other) in Kind::ALL.iter().flat_map(|one| Kind::ALL.iter().map(move |other| (one, other))) {
            let (a, b) = (one.name(), other.name());
            let differ = a.bytes().zip(b.bytes()).filter(|(a, b)| a != b).count();
            assert!(one == other || a.len() != b.len() || differ > 1, "{a}, {b}");
        }
    }
}
