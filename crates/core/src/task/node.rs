//! Relations: nodes, and labelled edges between them with weight and evidence (C-6).

use crate::entry::Seq;
use crate::session::Number;
use crate::task::identity::TaskId;
use crate::task::path::{BadPath, WorkPath};
use crate::task::text::headline;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

words! {
    /// What a node is.
    NodeKind {
        /// A session.
        Session = "session",
        /// A task.
        Task = "task",
        /// A message.
        Message = "message",
        /// A note.
        Note = "note",
        /// A decision of the task.
        Decision = "decision",
        /// A command that was run.
        Command = "command",
        /// Something that went wrong.
        Diagnostic = "diagnostic",
        /// A file.
        File = "file",
    }
}

/// A node of the relation graph. Its text form is `kind:id`, and there is one for each node.
///
/// ```
/// use segue_core::entry::Seq;
/// use segue_core::task::node::NodeId;
/// let node: NodeId = "note:12".parse()?;
/// assert_eq!(node, NodeId::Note(Seq(12)));
/// assert_eq!("file:./src/a.rs".parse::<NodeId>()?.to_string(), "file:src/a.rs");
/// # Ok::<(), segue_core::task::node::NotANode>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum NodeId {
    /// A session, by its number.
    Session(Number),
    /// A task.
    Task(TaskId),
    /// A message, by its entry.
    Message(Seq),
    /// A note, by its entry.
    Note(Seq),
    /// A decision of the task, by the entry of its note.
    Decision(Seq),
    /// A command that was run, by its entry.
    Command(Seq),
    /// Something that went wrong, by the entry of its note.
    Diagnostic(Seq),
    /// A file, by its path in the workspace.
    File(WorkPath),
}

impl NodeId {
    /// Returns what the node is.
    pub fn kind(&self) -> NodeKind {
        match self {
            Self::Session(_) => NodeKind::Session,
            Self::Task(_) => NodeKind::Task,
            Self::Message(_) => NodeKind::Message,
            Self::Note(_) => NodeKind::Note,
            Self::Decision(_) => NodeKind::Decision,
            Self::Command(_) => NodeKind::Command,
            Self::Diagnostic(_) => NodeKind::Diagnostic,
            Self::File(_) => NodeKind::File,
        }
    }

    /// Returns the entry that the node stands for; sessions and files are no entries.
    pub fn entry(&self) -> Option<Seq> {
        match self {
            Self::Task(TaskId(seq)) => Some(*seq),
            Self::Message(seq) | Self::Note(seq) | Self::Decision(seq) => Some(*seq),
            Self::Command(seq) | Self::Diagnostic(seq) => Some(*seq),
            Self::Session(_) | Self::File(_) => None,
        }
    }
}

/// Why a text does not name a node.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotANode {
    /// It does not begin with a kind of node.
    #[error("{0:?} names no node: it is KIND:ID, and KIND is one of {kinds}", kinds = kinds())]
    Kind(String),
    /// What follows the kind is not a number from 1 up.
    #[error("{text:?} names no node: after '{kind}:' comes a number from 1 up")]
    Number {
        /// The text.
        text: String,
        /// The kind that it begins with.
        kind: NodeKind,
    },
    /// What follows `file:` is not a path in the workspace.
    #[error(transparent)]
    Path(#[from] BadPath),
}

fn kinds() -> String {
    NodeKind::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ")
}

impl FromStr for NodeId {
    type Err = NotANode;

    fn from_str(text: &str) -> Result<Self, NotANode> {
        let unknown = || NotANode::Kind(headline(text, 80));
        let (kind, id) = text.split_once(':').ok_or_else(unknown)?;
        let kind = NodeKind::named(kind).ok_or_else(unknown)?;
        if kind == NodeKind::File {
            return Ok(Self::File(WorkPath::new(id)?));
        }
        let wrong = || NotANode::Number { text: headline(text, 80), kind };
        let number = id.parse().ok().filter(|_| !id.starts_with(['0', '+'])).map(Seq).ok_or_else(wrong)?;
        Ok(match kind {
            NodeKind::Session => Self::Session(Number(u32::try_from(number.0).map_err(|_| wrong())?)),
            NodeKind::Task => Self::Task(TaskId(number)),
            NodeKind::Message => Self::Message(number),
            NodeKind::Note => Self::Note(number),
            NodeKind::Decision => Self::Decision(number),
            NodeKind::Command => Self::Command(number),
            NodeKind::Diagnostic => Self::Diagnostic(number),
            NodeKind::File => return Err(wrong()),
        })
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind();
        match self {
            Self::Session(number) => write!(f, "{kind}:{number}"),
            Self::Task(id) => write!(f, "{kind}:{id}"),
            Self::Message(seq) | Self::Note(seq) | Self::Decision(seq) => write!(f, "{kind}:{seq}"),
            Self::Command(seq) | Self::Diagnostic(seq) => write!(f, "{kind}:{seq}"),
            Self::File(path) => write!(f, "{kind}:{path}"),
        }
    }
}

impl TryFrom<String> for NodeId {
    type Error = NotANode;

    fn try_from(text: String) -> Result<Self, NotANode> {
        text.parse()
    }
}

impl From<NodeId> for String {
    fn from(node: NodeId) -> Self {
        node.to_string()
    }
}

words! {
    /// What an edge says.
    EdgeLabel {
        /// It speaks of it.
        Mentions = "mentions",
        /// It answers it.
        Answers = "answers",
        /// It changes what it is about.
        Modifies = "modifies",
        /// It reads it.
        Reads = "reads",
        /// It writes it.
        Writes = "writes",
        /// It runs it.
        Runs = "runs",
        /// It is the cause of it.
        Causes = "causes",
        /// It puts it right.
        Fixes = "fixes",
        /// It needs it.
        DependsOn = "depends_on",
        /// It has to do with it.
        Relates = "relates",
    }
}

/// How strong a relation is, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Weight(f64);

impl Eq for Weight {}

impl Weight {
    /// As strong as can be.
    pub const FULL: Self = Self(1.0);

    /// Makes a weight of a number from 0 to 1.
    pub fn new(value: f64) -> Result<Self, BadWeight> {
        // Adding zero makes one zero of the two, so that equal weights have equal bytes.
        if (0.0..=1.0).contains(&value) { Ok(Self(value + 0.0)) } else { Err(BadWeight(value)) }
    }

    /// Returns the number.
    pub fn value(self) -> f64 {
        self.0
    }
}

/// The number is not a weight.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("a relation's weight is a number from 0 to 1, not {0}")]
pub struct BadWeight(pub f64);

impl TryFrom<f64> for Weight {
    type Error = BadWeight;

    fn try_from(value: f64) -> Result<Self, BadWeight> {
        Self::new(value)
    }
}

impl From<Weight> for f64 {
    fn from(weight: Weight) -> Self {
        weight.0
    }
}

/// A relation between two nodes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    /// From where.
    pub from: NodeId,
    /// To where.
    pub to: NodeId,
    /// What it says.
    pub label: EdgeLabel,
    /// How strong it is.
    pub weight: Weight,
    /// What it is known from.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub evidence: String,
}

impl Edge {
    /// Makes an edge of full weight.
    pub fn new(from: NodeId, to: NodeId, label: EdgeLabel, evidence: impl Into<String>) -> Self {
        Self { from, to, label, weight: Weight::FULL, evidence: evidence.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c6_nodes_have_one_spelling() {
        for kind in NodeKind::ALL {
            let text = if *kind == NodeKind::File { "file:a b/c.rs".to_owned() } else { format!("{kind}:7") };
            let node: NodeId = text.parse().unwrap();
            assert_eq!((node.kind(), node.to_string()), (*kind, text.clone()));
            assert_eq!(serde_json::to_value(&node).unwrap(), text);
        }
        for text in [
            "",
            "note",
            "note:",
            "note:0",
            "note:01",
            "note:+1",
            "note:x",
            "nota:1",
            "session:9999999999",
            "file:",
        ] {
            assert!(text.parse::<NodeId>().is_err(), "{text}");
        }
        let error = "nota:1".parse::<NodeId>().unwrap_err().to_string();
        assert!(
            error.contains("session, task, message, note, decision, command, diagnostic, file"),
            "{error}"
        );
    }

    #[test]
    fn c6_a_weight_is_from_0_to_1() {
        for value in [0.0, 0.5, 1.0, -0.0] {
            assert_eq!(Weight::new(value).map(Weight::value), Ok(value));
        }
        assert_eq!(Weight::new(-0.0).unwrap().value().to_bits(), 0);
        for value in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert!(Weight::new(value).is_err(), "{value}");
        }
        assert!(serde_json::from_str::<Weight>("2").is_err());
    }
}
