//! What a scope keeps in mind between messages, besides its sessions: a question that waits for an answer,
//! and the last rotation that nobody asked for.
//!
//! It is folded from entries that outlive dropped content, so that a pruned log still leads to it.

use crate::Timestamp;
use crate::decision::Cause;
use crate::entry::Seq;
use crate::memory::MemoryEntry;
use crate::observed::Answer;
use crate::policy::QuestionMode;
use crate::retention::AnnouncedDeletion;
use crate::segment;
use crate::session::Number;
use crate::shared_map::{Entry, SharedMap};
use crate::span::Cut;
use crate::task::assignment::Assignment;
use crate::task::commit::CommitId;
use crate::task::intent::MessageIntent;
use crate::task::state::StateName;
use crate::undo::Walk;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What a scope keeps in mind.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScopeExtras {
    /// The question that waits for an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<PendingQuestion>,
    /// When the last question was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked_at: Option<Timestamp>,
    /// The rotation that the latest session began with, if nobody asked for it and it is still open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotation: Option<Rotation>,
    /// When a session last began because of what a message is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shifted_at: Option<Timestamp>,
    /// The models that help to decide, for sessions that have their own.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub control_models: BTreeMap<Number, String>,
    /// The last task of each session that has one. Those that are open are listed.
    #[serde(default, skip_serializing_if = "SharedMap::is_empty")]
    pub tasks: SharedMap<Number, Assignment>,
    /// The end of the chain of canonical commits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canonical: Option<CommitId>,
    /// The step that made the last canonical commit: each names the one before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub canonical_at: Option<Seq>,
    /// How many canonical commits there are.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub compactions: u64,
    /// The entries that hold what is kept of each session's tasks, so that a delete can erase them.
    #[serde(default, skip_serializing_if = "SharedMap::is_empty")]
    pub kept: SharedMap<Number, Vec<Seq>>,
    /// Messages that described a task which is kept for good, and the entries that say so still.
    #[serde(default, skip_serializing_if = "SharedMap::is_empty")]
    pub copies: SharedMap<Seq, Seq>,
    /// What is remembered of sessions that are gone, and what was and is not any more, in the order of the log. That of the
    /// others stands with them.
    #[serde(default, skip_serializing_if = "is_empty", with = "shared_list")]
    pub memories: Arc<Vec<MemoryEntry>>,
    /// The sessions that were announced to go.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub retiring: BTreeMap<Number, AnnouncedDeletion>,
    /// Where a person stands who goes back and forth between sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub walk: Option<Box<Walk>>,
    /// The sessions that a person wants to be kept.
    #[serde(default, rename = "spared", skip_serializing_if = "BTreeSet::is_empty")]
    pub kept_on_request: BTreeSet<Number>,
}

pub(crate) fn is_zero<T: Default + PartialEq>(number: &T) -> bool {
    *number == T::default()
}

fn is_empty(list: &Arc<Vec<MemoryEntry>>) -> bool {
    list.is_empty()
}

/// A list that copies share, written as a list.
mod shared_list {
    use super::{Arc, MemoryEntry};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<S: Serializer>(list: &Arc<Vec<MemoryEntry>>, to: S) -> Result<S::Ok, S::Error> {
        list.as_ref().serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Arc<Vec<MemoryEntry>>, D::Error> {
        Vec::deserialize(from).map(Arc::new)
    }
}

/// Tasks that are open are listed: to find them costs nothing for those that are not.
impl Entry for Assignment {
    fn is_listed(&self) -> bool {
        self.is_open()
    }

    fn is_live(&self) -> bool {
        true
    }
}

impl Entry for Vec<Seq> {
    fn is_listed(&self) -> bool {
        false
    }

    fn is_live(&self) -> bool {
        true
    }
}

impl Entry for Seq {
    fn is_listed(&self) -> bool {
        false
    }

    fn is_live(&self) -> bool {
        true
    }
}

impl ScopeExtras {
    /// Returns what does not grow with the sessions and tasks of a scope: that is written as a whole when any of it
    /// changes. The rest is written entry by entry.
    #[must_use]
    pub fn without_lists(&self) -> Self {
        Self {
            tasks: SharedMap::default(),
            kept: SharedMap::default(),
            copies: SharedMap::default(),
            memories: Arc::default(),
            ..self.clone()
        }
    }

    /// Returns the open task of a session.
    pub fn open_task(&self, session: Number) -> Option<&Assignment> {
        self.tasks.get(&session).filter(|task| task.is_open())
    }

    /// Returns the session in which an open task goes on that came through the given one: its staged observations and
    /// the contents that it read are there still (C-7).
    pub fn worked_in(&self, session: Number) -> Option<Number> {
        let came = |(at, task): &(&Number, &Assignment)| **at != session && task.came_from.contains(&session);
        self.tasks.listed().find(came).map(|(at, _)| *at)
    }

    /// Returns the state of a session's task.
    pub fn task_state(&self, session: Number) -> StateName {
        self.tasks.get(&session).map_or(StateName::None, Assignment::state)
    }
}

/// A question to the user about a message, which is held where it was sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingQuestion {
    /// The message that it is about.
    pub held: Seq,
    /// The segment that holds it.
    pub segment: segment::Number,
    /// How many messages of the segment come before it.
    pub before: u32,
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
    /// For how many more messages of the person it stays open.
    #[serde(default, rename = "outlives", skip_serializing_if = "is_zero")]
    pub messages_left: u32,
}

/// For how many later messages of the person an offer stays open: who reads the answer first can still take it.
pub const OFFER_MESSAGES: u32 = 2;

impl PendingQuestion {
    /// Tells whether a message can answer it. Who goes on after an offer just goes on.
    pub fn takes(&self, answer: Answer) -> bool {
        match (self.manner, answer) {
            (QuestionMode::Propose, Answer::Continue) => false,
            (QuestionMode::Propose, Answer::Fresh | Answer::Older) | (QuestionMode::Hold, _) => true,
        }
    }

    /// Returns the place at which "fresh" cuts the session in two.
    pub fn cut(&self) -> Cut {
        Cut { message: self.held, segment: self.segment, before: vec![(self.segment, self.before)] }
    }
}

/// A rotation that nobody asked for. It is watched for a few messages: it may have been a mistake (M-E2).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rotation {
    /// The session before it.
    pub from: Number,
    /// The session that it began.
    pub to: Number,
    /// What caused it.
    pub cause: Cause,
    /// How many messages the user has sent since, the first one of the session included; at most [`MESSAGES_SINCE_MAX`].
    #[serde(rename = "heard", deserialize_with = "at_most_counted")]
    pub messages_since: u32,
}

/// Messages after a rotation are counted up to here: no rule looks further.
pub(crate) const MESSAGES_SINCE_MAX: u32 = 4;

/// Older versions counted on and on.
fn at_most_counted<'de, D: serde::Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    u32::deserialize(from).map(|counted| counted.min(MESSAGES_SINCE_MAX))
}
