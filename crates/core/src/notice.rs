//! Notices: what the user is told, in a form that can be told in any language.

use crate::Timestamp;
use crate::digest::Digest;
use crate::entry::Seq;
use crate::pins::Model;
use crate::retention::{KeepChoice, Past};
use crate::session::Number;
use crate::task::identity::TaskId;
use crate::task::notice::TaskNotice;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

/// One line for the user.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Notice {
    /// A command started a new session.
    Started {
        /// The session.
        session: Number,
        /// How many old sessions were pruned.
        pruned: u32,
    },
    /// A new session began because too much time had passed.
    Expired {
        /// The session.
        session: Number,
        /// The session before it.
        previous: Number,
        /// How long it has been.
        gap_ms: i64,
        /// Since what.
        #[serde(default, skip_serializing_if = "Since::is_message")]
        since: Since,
        /// What ran out.
        limit: Limit,
        /// An earlier session that the message belongs to, and which is offered.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        like: Option<Number>,
        /// How many old sessions were pruned.
        pruned: u32,
        /// Whether `/undo` takes it back.
        #[serde(default, skip_serializing_if = "Undoable::is_open")]
        way_back: Undoable,
    },
    /// A new session began because the user asked for one, in words.
    StartedOver {
        /// The session.
        session: Number,
        /// The session before it.
        previous: Number,
        /// How many old sessions were pruned.
        pruned: u32,
        /// Whether `/undo` takes it back.
        #[serde(default, skip_serializing_if = "Undoable::is_open")]
        way_back: Undoable,
    },
    /// A new session began because the message is about something else.
    Shifted {
        /// The session.
        session: Number,
        /// The session before it.
        previous: Number,
        /// An earlier session that is like it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        like: Option<Number>,
        /// How many old sessions were pruned.
        pruned: u32,
        /// Whether `/undo` takes it back.
        #[serde(default, skip_serializing_if = "Undoable::is_open")]
        way_back: Undoable,
    },
    /// A new session began because the context window was full.
    Overflowed {
        /// The session.
        session: Number,
        /// The session before it.
        previous: Number,
        /// How full the window was, in percent.
        percent: u32,
        /// Whether the summary went along.
        summary: Summary,
        /// How many old sessions were pruned.
        pruned: u32,
        /// Whether `/undo` takes it back.
        #[serde(default, skip_serializing_if = "Undoable::is_open")]
        way_back: Undoable,
    },
    /// The user is asked where a message belongs.
    Question {
        /// The session that holds it.
        session: Number,
        /// What is at stake.
        stake: QuestionTopic,
        /// An older session that it may belong to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        older: Option<Number>,
    },
    /// The message goes on, and may begin a session of its own.
    Offer {
        /// The session that it goes on in.
        session: Number,
        /// An older session that it may belong to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        older: Option<Number>,
    },
    /// The user answered: the message stays.
    Stays {
        /// The session.
        session: Number,
    },
    /// The user answered: the message begins a new session.
    Fresh {
        /// The session.
        session: Number,
        /// The session that it was sent to.
        previous: Number,
        /// Whether a summary went along.
        summary: Summary,
        /// How many old sessions were pruned.
        pruned: u32,
        /// Whether `/undo` takes it back.
        #[serde(default, skip_serializing_if = "Undoable::is_open")]
        way_back: Undoable,
    },
    /// The user answered: the message belongs to an older session, which is latest again.
    BackTo {
        /// The session.
        session: Number,
        /// The session that the message was sent to.
        previous: Number,
    },
    /// A rotation was taken back: by the user's words, or because what was said since belongs to the session
    /// before.
    Rejoined {
        /// The session that is latest now.
        session: Number,
        /// The session that was latest before.
        from: Number,
        /// Who took it back.
        by: Reversal,
    },
    /// A session got a control model of its own, or the usual one again.
    Controlled {
        /// The session.
        session: Number,
        /// The model's name; nothing for the usual one.
        model: Option<String>,
    },
    /// A session is held to something else.
    Pinned {
        /// The session.
        session: Number,
        /// What.
        pinned: Repinned,
    },
    /// A legacy session was emptied.
    Cleared {
        /// The session.
        session: Number,
    },
    /// An older session is latest again.
    Resumed {
        /// The session.
        session: Number,
        /// How many messages it holds.
        messages: u32,
    },
    /// A session was forked.
    Forked {
        /// The new session.
        session: Number,
        /// The session that it was forked from.
        parent: Number,
        /// The message at which it was forked.
        at: Option<Seq>,
        /// How many old sessions were pruned.
        pruned: u32,
        /// Whether `/undo` takes it back.
        #[serde(default, skip_serializing_if = "Undoable::is_open")]
        way_back: Undoable,
    },
    /// A session was split.
    Split {
        /// The new session.
        session: Number,
        /// The session that keeps the part before.
        parent: Number,
        /// The first message of the new session.
        at: Seq,
        /// How many old sessions were pruned.
        pruned: u32,
        /// Whether `/undo` takes it back.
        #[serde(default, skip_serializing_if = "Undoable::is_open")]
        way_back: Undoable,
    },
    /// Two sessions became one.
    Merged {
        /// The session that is no more.
        from: Number,
        /// The session that holds it now.
        into: Number,
    },
    /// A boundary was taken back.
    Undone {
        /// The session that is latest now.
        session: Number,
        /// The session that was latest before, if it is another one.
        from: Option<Number>,
        /// What had been said in that one.
        #[serde(default, skip_serializing_if = "LeftSession::held_messages")]
        left: LeftSession,
        /// How many sessions it had deleted from the backlog: those are gone.
        #[serde(default, skip_serializing_if = "is_zero")]
        lost: u32,
    },
    /// A boundary that was taken back is there again.
    Redone {
        /// The session that is latest now.
        session: Number,
        /// The session that was latest before.
        from: Number,
    },
    /// An archived session is listed again.
    Restored {
        /// The session.
        session: Number,
    },
    /// A session got a title.
    Renamed {
        /// The session.
        session: Number,
    },
    /// A session was deleted.
    Deleted {
        /// The session.
        session: Number,
    },
    /// Old sessions were pruned.
    Pruned {
        /// How many.
        sessions: u32,
    },
    /// What was said before cannot be read any more. It was set aside, and nothing of it was deleted.
    Aside,
    /// Sessions will go by themselves.
    Going {
        /// The sessions.
        sessions: Vec<Number>,
        /// Why, if it is the same for all.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        past: Option<Past>,
        /// The first day on which one may go.
        on: Date,
    },
    /// A session is kept, whatever its age; or not any more.
    Wished {
        /// The session.
        session: Number,
        /// What the person wants.
        wish: KeepChoice,
    },
    /// What was erased or deleted is not gone from the store's files yet. Never stored: it is true for a while only.
    Unfinished,
    /// Bodies were erased.
    Erased {
        /// How many.
        entries: u32,
    },
    /// Something about a task.
    Task(TaskNotice),
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Whether a summary of the session before went along.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Summary {
    /// It did.
    Carried,
    /// It did not.
    Left,
}

/// What a question is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum QuestionTopic {
    /// The message seems to be about something else.
    Topic,
    /// The user has been away.
    Pause {
        /// For how long.
        gap_ms: i64,
    },
    /// The conversation seems to be stuck.
    Stuck,
    /// The message may be for the open task or for another one.
    Unclear,
    /// A task was left open.
    Unfinished {
        /// Which one.
        task: TaskId,
        /// When it was started.
        started_at: Timestamp,
    },
}

/// Who took a rotation back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reversal {
    /// The user, in words.
    User,
    /// Later messages.
    Evidence,
}

/// What ran out when a session expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// The time that a session stays fresh.
    Window {
        /// That time.
        window_ms: i64,
    },
    /// The day.
    Day,
}

/// Whether a boundary can be taken back. It cannot if the session before it was pruned with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Undoable {
    /// `/undo` takes it back.
    #[default]
    Open,
    /// There is nothing to go back to.
    Gone,
}

impl Undoable {
    fn is_open(&self) -> bool {
        *self == Self::Open
    }
}

/// What had been said in a session that was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeftSession {
    /// Something.
    #[default]
    HeldMessages,
    /// Nothing.
    Empty,
}

impl LeftSession {
    fn held_messages(&self) -> bool {
        *self == Self::HeldMessages
    }
}

/// What the time is counted from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Since {
    /// The user's last message.
    #[default]
    Message,
    /// The opening of the session, or coming back to it, where nothing was said since.
    Opening,
}

impl Since {
    pub(crate) fn is_message(&self) -> bool {
        *self == Self::Message
    }
}

/// What a session is held to now. It holds no words of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Repinned {
    /// All that was given.
    All,
    /// An agent; nothing for the one that the scope names.
    Agent {
        /// Its name.
        agent: Option<String>,
    },
    /// The skills as they are now.
    Skills {
        /// Their content hash; nothing if there are none.
        version: Option<Digest>,
        /// Whether it is another one than before.
        changed: bool,
    },
    /// The persona as it is now.
    Persona {
        /// Its content hash; nothing if there is none.
        version: Option<Digest>,
        /// Whether it is another one than before.
        changed: bool,
    },
    /// A model; nothing for the usual one.
    Model {
        /// The model.
        model: Option<Model>,
    },
}
