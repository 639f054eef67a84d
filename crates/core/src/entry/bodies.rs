//! What the entries say that the fold goes by, one shape for each kind.

use crate::Timestamp;
use crate::decision::Cause;
use crate::digest::Digest;
use crate::entry::Seq;
use crate::message::MessageId;
use crate::policy::QuestionMode;
use crate::segment;
use crate::session::{Id, Number, Title};
use crate::span::{Cut, Side, Spans};
use crate::task::assignment::{Described, Stage};
use crate::task::commit::CommitId;
use crate::task::identity::TaskId;
use crate::task::intent::MessageIntent;
use crate::task::observation::Observation;
use serde::{Deserialize, Serialize};

/// A slash command as it was typed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Spoken {
    /// The line.
    pub text: String,
    /// The channel's id of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
    /// Who typed it, where several people share a scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<String>,
    /// The person who typed it, as `channel:peer`, where the scope's key does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Who gave the command.
    #[serde(default, skip_serializing_if = "CommandBy::is_person")]
    pub by: CommandBy,
}

/// Who gave a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandBy {
    /// A person, who typed it.
    #[default]
    Person,
    /// A program: nobody said it. It is written down so that a second request with the same id is recognised.
    Host,
}

impl CommandBy {
    fn is_person(&self) -> bool {
        *self == Self::Person
    }
}

/// A new session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opened {
    /// Its number.
    pub session: Number,
    /// Its id.
    pub id: Id,
    /// The session that was latest before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Number>,
    /// What caused it, if nobody asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<Cause>,
    /// Whether it holds a conversation that was taken over from elsewhere.
    #[serde(default, skip_serializing_if = "Source::is_own")]
    pub source: Source,
}

/// Where what a session says was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Here.
    #[default]
    Own,
    /// Elsewhere.
    Imported,
}

impl Source {
    fn is_own(&self) -> bool {
        *self == Self::Own
    }
}

/// The end of a segment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sealed {
    /// The digest over the entries before this one.
    pub digest: Digest,
    /// That digest, chained to the seals before.
    pub chain: Digest,
    /// When the segment was last written before this entry; it is told here because the seal outlives the
    /// content.
    pub updated_at: Timestamp,
}

/// An older session is latest again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resumed {
    /// The session.
    pub session: Number,
    /// The session that was latest before.
    pub from: Number,
    /// What it took along from there: a message that was held, and what came after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<Moved>,
    /// Why.
    #[serde(default, skip_serializing_if = "ResumedBy::is_choice")]
    pub by: ResumedBy,
}

impl Resumed {
    /// A session that somebody chose.
    pub fn chosen(session: Number, from: Number, moved: Option<Moved>) -> Self {
        Self { session, from, moved, by: ResumedBy::Choice }
    }
}

/// Why a session is latest again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResumedBy {
    /// Somebody chose it.
    #[default]
    Choice,
    /// A conversation from elsewhere was taken over, which was latest meanwhile. There is nothing to undo.
    ImportEnd,
}

impl ResumedBy {
    #[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_choice(&self) -> bool {
        *self == Self::Choice
    }
}

/// A part of one session's view that went to another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    /// What the session keeps that it came from.
    pub kept: Spans,
    /// What went.
    pub taken: Spans,
}

/// The user was asked about a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asked {
    /// The message, which is held until there is an answer.
    pub held: Seq,
    /// What kind of evidence led to the question.
    pub cause: Cause,
    /// An older session that the message may belong to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub older: Option<Number>,
    /// What the message is to the open task, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<MessageIntent>,
    /// Whether the message waits for the answer.
    #[serde(default, skip_serializing_if = "QuestionMode::is_hold")]
    pub manner: QuestionMode,
    /// For how many later messages of the person an offer stays open. A question, and an offer of an older version, end with the next.
    #[serde(default, rename = "outlives", skip_serializing_if = "crate::extras::is_zero")]
    pub messages_left: u32,
}

/// A session's own control model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Controlled {
    /// The session.
    pub session: Number,
    /// The model's name in the configuration; nothing for the usual one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

/// A session that begins with a part of another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Branched {
    /// Its number.
    pub session: Number,
    /// Its id.
    pub id: Id,
    /// The session whose part it begins with.
    pub parent: Number,
    /// The session that was latest before.
    pub from: Number,
    /// The message at which the parent was cut; nothing if it was taken whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Seq>,
    /// Where the parent's view was cut. What the new session begins with is not listed: it is what the parent saw then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
    /// What the parent keeps, if it lost a part; written by older versions, which listed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<Spans>,
    /// What the new session begins with; written by older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken: Option<Spans>,
}

impl Branched {
    /// Makes the beginning of a session with a part of another one, or with all of it.
    pub fn new(session: Number, id: Id, parent: Number, from: Number, cut: Option<Cut>) -> Self {
        let at = cut.as_ref().map(|cut| cut.message);
        Self { session, id, parent, from, at, cut, kept: None, taken: None }
    }

    /// Returns what the parent of a fork handed on, of all that it sees.
    pub(crate) fn forked(&self, whole: &Spans) -> Spans {
        match (&self.taken, &self.cut) {
            (Some(taken), _) => taken.clone(),
            (None, Some(cut)) => whole.cut(cut, Side::Behind).0,
            (None, None) => whole.clone(),
        }
    }

    /// Returns what the parent of a split keeps, of all that it sees, and what it handed on.
    pub(crate) fn split(&self, whole: &Spans) -> (Spans, Spans) {
        match (&self.taken, &self.cut) {
            (Some(taken), _) => (self.kept.as_ref().unwrap_or(whole).clone(), taken.clone()),
            (None, Some(cut)) => whole.cut(cut, Side::InFront),
            (None, None) => (whole.clone(), Spans::default()),
        }
    }
}

/// A session's view went into another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Merged {
    /// The session that is no more.
    pub from: Number,
    /// The session that holds it now.
    pub into: Number,
}

/// Something about one session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Of {
    /// The session.
    pub session: Number,
}

/// A session got a title.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Renamed {
    /// The session.
    pub session: Number,
    /// The title.
    pub title: Title,
}

/// A model named a session. It stands in an entry of its own, so that it goes with the words that it was made of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Named {
    /// The session.
    pub session: Number,
    /// The title.
    pub title: Title,
    /// The model, by its name in the configuration.
    pub model: String,
    /// How many messages the session had then.
    pub messages: u32,
}

/// Sessions leave the list and the index, or come back to them. Nothing of them is deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Backlog {
    /// There were more than the list holds.
    Archived {
        /// The sessions.
        sessions: Vec<Number>,
        /// The boundary that made them too many: who takes it back lists them again.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        boundary: Option<Seq>,
    },
    /// They are listed again.
    Restored {
        /// The sessions.
        sessions: Vec<Number>,
    },
}

/// A step through the sessions that were latest before: each stays as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stepped {
    /// The session that is latest now.
    pub session: Number,
    /// The session that was latest before.
    pub from: Number,
    /// Which way.
    pub way: Way,
    /// How many of the boundaries that can be taken back are older than the session.
    pub cursor: u32,
}

/// Which way a step goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// To the session before.
    Back,
    /// To the session that was left by a step back.
    Forward,
}

/// Sessions were dropped, with what nobody else needs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropped {
    /// The sessions.
    pub sessions: Vec<Number>,
    /// The segments that no other session sees.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub segments: Vec<segment::Number>,
    /// The entries whose bodies told the sessions' titles, and texts that only they were pinned to; they are erased.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub erased: Vec<Seq>,
}

/// Bodies were erased on request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Erased {
    /// The entries whose bodies are gone.
    pub entries: Vec<Seq>,
}

/// Something that was observed in a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observing {
    /// The session.
    pub session: Number,
    /// The task.
    pub task: TaskId,
    /// What.
    pub observation: Observation,
}

/// Words that belong to a task and that nobody said in a message: what the host or the agent gave.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worded {
    /// What they are.
    pub wording: Wording,
    /// The words.
    pub text: String,
}

/// What words of a task are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wording {
    /// What is to be done.
    Description,
    /// What was done.
    Summary,
    /// Why it was given up.
    Reason,
}

/// A task moved, or its work did. It holds no words: they may have to go, and this stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskStep {
    /// The session.
    pub session: Number,
    /// What changed.
    pub change: Change,
    /// The work commit that was made with it, if something was staged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flushed: Option<CommitId>,
    /// Where the task stood, if it ends because a session begins: who takes that back opens it again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub was: Option<Stage>,
}

impl TaskStep {
    /// Makes a step with which no work commit was made.
    pub fn new(session: Number, change: Change) -> Self {
        Self { session, change, flushed: None, was: None }
    }
}

/// What changed about a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It was started; this entry is its id.
    Started {
        /// Where its description stands.
        described: Described,
    },
    /// It stands somewhere else.
    Went {
        /// Where.
        to: Stage,
    },
    /// A step was flushed, and nothing else.
    Flushed,
    /// What is kept of it was written.
    Compacted {
        /// Where it stands now.
        to: Stage,
        /// The canonical commit.
        commit: CommitId,
        /// The entries that hold what is kept, so that a delete can erase them.
        kept: Vec<Seq>,
        /// The step of this kind before it in its scope, or zero: what is kept is found by number.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        before: Option<Seq>,
    },
    /// The boundary that ended it was taken back: it is open again.
    Reopened {
        /// Where it stands, which is where it stood.
        to: Stage,
    },
    /// It goes on in this session.
    CameFrom {
        /// The session that it was in.
        from: Number,
    },
}

/// The description of a task that a person gave in a message, kept beside the canonical commit because the commit
/// outlives the message, and apart from it because the person may erase the message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Copied {
    /// The message.
    pub message: Seq,
    /// What it said.
    pub text: String,
}
