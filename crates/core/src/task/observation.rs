//! Observations: what happened in a task (C-6).

use crate::digest::Digest;
use crate::entry::Seq;
use crate::task::blob::Blob;
use crate::task::encoder::Encoder;
use crate::task::node::{Edge, NodeId};
use crate::task::path::WorkPath;
use serde::{Deserialize, Serialize};

/// The longest text of a note, a plan or a command, in bytes.
pub(crate) const TEXT_BYTES_MAX: usize = 1 << 20;

/// The longest evidence of a relation, in bytes.
pub(crate) const EVIDENCE_BYTES_MAX: usize = 4 << 10;

/// The most relations in one observation.
pub(crate) const EDGES_MAX: usize = 1000;

words! {
    /// What a note is about, and by that who it is from.
    NoteKind {
        /// Something that the agent wants to remember.
        Note = "note",
        /// A decision that the agent took. Compaction keeps it.
        Decision = "decision",
        /// Something that went wrong.
        Diagnostic = "diagnostic",
        /// A question of the agent. It is open until it is answered; compaction keeps it.
        Question = "question",
        /// The person's answer to a question.
        Response = "response",
        /// What the person said while the agent was working.
        Intervention = "intervention",
        /// What the person wants in addition.
        Request = "request",
        /// The person's word that the task is done.
        Confirmation = "confirmation",
    }
}

impl NoteKind {
    /// Tells whether it is the agent's own, and not a note of what the person said.
    pub(crate) fn is_by_agent(self) -> bool {
        match self {
            Self::Note | Self::Decision | Self::Diagnostic | Self::Question => true,
            Self::Response | Self::Intervention | Self::Request | Self::Confirmation => false,
        }
    }
}

/// A note.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Note {
    /// What it is about.
    pub kind: NoteKind,
    /// What it says; nothing where the message says it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The message that it is about, so that what people said stands in their messages only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Seq>,
    /// The question that a response answers; nothing stands for the last one that is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answers: Option<Seq>,
}

impl Note {
    /// Makes a note of the agent.
    pub fn text(kind: NoteKind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into(), message: None, answers: None }
    }

    /// Makes a note of something that a message says.
    pub fn of_message(kind: NoteKind, message: Seq) -> Self {
        Self { kind, text: String::new(), message: Some(message), answers: None }
    }
}

/// Something that happened in a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Observation {
    /// A note.
    Note(Note),
    /// A file was read.
    FileRead {
        /// Which one.
        path: WorkPath,
        /// What was in it.
        content: Blob,
    },
    /// A file was written.
    FileWrite {
        /// Which one.
        path: WorkPath,
        /// What is in it now.
        content: Blob,
    },
    /// A command was run.
    Command {
        /// The command line.
        command: String,
        /// How it ended; nothing if it was killed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit_code: Option<i32>,
        /// What it printed.
        output: Blob,
    },
    /// What the agent is going to do.
    Plan {
        /// The plan.
        text: String,
    },
    /// How things hang together.
    Relations {
        /// The edges.
        edges: Vec<Edge>,
    },
}

/// Why an observation is refused. Nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ObservationRefusal {
    /// It says nothing.
    #[error("this {0} is empty")]
    Empty(&'static str),
    /// A text is too long.
    #[error(
        "this {what} has {bytes} bytes, and {bytes_max} at most are kept: write it to a file and observe that"
    )]
    TooLong {
        /// Which text.
        what: &'static str,
        /// Its length.
        bytes: usize,
        /// The longest that is taken.
        bytes_max: usize,
    },
    /// There are too many edges.
    #[error("these are {0} relations, and one observation holds {EDGES_MAX} at most: observe them in parts")]
    TooManyEdges(usize),
}

impl Observation {
    /// Returns the word for what was observed.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Note(note) => note.kind.name(),
            Self::FileRead { .. } => "file_read",
            Self::FileWrite { .. } => "file_write",
            Self::Command { .. } => "command",
            Self::Plan { .. } => "plan",
            Self::Relations { .. } => "relations",
        }
    }

    /// Checks what types cannot: that it says something, and not too much.
    pub fn check(&self) -> Result<(), ObservationRefusal> {
        match self {
            Self::Note(note) if note.message.is_some() && note.text.is_empty() => Ok(()),
            Self::Note(note) => check_text("note", &note.text, TEXT_BYTES_MAX),
            Self::FileRead { .. } | Self::FileWrite { .. } => Ok(()),
            Self::Command { command, .. } => check_text("command", command, TEXT_BYTES_MAX),
            Self::Plan { text } => check_text("plan", text, TEXT_BYTES_MAX),
            Self::Relations { edges } if edges.is_empty() => {
                Err(ObservationRefusal::Empty("list of relations"))
            }
            Self::Relations { edges } if edges.len() > EDGES_MAX => {
                Err(ObservationRefusal::TooManyEdges(edges.len()))
            }
            Self::Relations { edges } => {
                let mut given = edges.iter().filter(|edge| !edge.evidence.is_empty());
                given.try_for_each(|edge| check_text("evidence", &edge.evidence, EVIDENCE_BYTES_MAX))
            }
        }
    }

    /// Tells whether it is work that must not be thrown away when another task begins (C-10).
    pub(crate) fn is_meaningful(&self) -> bool {
        match self {
            Self::Note(note) => note.kind.is_by_agent(),
            Self::FileWrite { .. } | Self::Command { .. } | Self::Plan { .. } => true,
            Self::FileRead { .. } | Self::Relations { .. } => false,
        }
    }

    /// Returns the node that stands for it in relations, if it was written as an entry of that number.
    pub fn node(&self, seq: Seq) -> Option<NodeId> {
        match self {
            Self::Note(Note { kind: NoteKind::Decision, .. }) => Some(NodeId::Decision(seq)),
            Self::Note(Note { kind: NoteKind::Diagnostic, .. }) => Some(NodeId::Diagnostic(seq)),
            Self::Note(_) | Self::Plan { .. } => Some(NodeId::Note(seq)),
            Self::FileRead { path, .. } | Self::FileWrite { path, .. } => Some(NodeId::File(path.clone())),
            Self::Command { .. } => Some(NodeId::Command(seq)),
            Self::Relations { .. } => None,
        }
    }

    /// Returns the digest of what it says. What is kept of a content does not count, its hash does: the digest
    /// stays the same when the text is stored elsewhere.
    pub fn digest(&self) -> Digest {
        let encoder = Encoder::new("segue observation 1").text(self.name());
        match self {
            Self::Note(note) => encoder
                .text(&note.text)
                .maybe(note.message, |e, seq| e.number(seq.0))
                .maybe(note.answers, |e, seq| e.number(seq.0)),
            Self::FileRead { path, content } | Self::FileWrite { path, content } => {
                encoder.text(path.as_str()).digest(content.hash).number(content.bytes)
            }
            Self::Command { command, exit_code, output } => encoder
                .text(command)
                .maybe(*exit_code, |e, code| e.signed(i64::from(code)))
                .digest(output.hash)
                .number(output.bytes),
            Self::Plan { text } => encoder.text(text),
            Self::Relations { edges } => encoder.list(edges, encode_edge),
        }
        .finish()
    }
}

pub(crate) fn encode_edge(encoder: Encoder, edge: &Edge) -> Encoder {
    encoder
        .text(&edge.from.to_string())
        .text(&edge.to.to_string())
        .text(edge.label.name())
        .number(edge.weight.value().to_bits())
        .text(&edge.evidence)
}

fn check_text(what: &'static str, text: &str, bytes_max: usize) -> Result<(), ObservationRefusal> {
    match text.len() {
        _ if text.trim().is_empty() => Err(ObservationRefusal::Empty(what)),
        bytes if bytes > bytes_max => Err(ObservationRefusal::TooLong { what, bytes, bytes_max }),
        _ => Ok(()),
    }
}

/// Tells whether something was done that must not be thrown away when another task begins: a step was flushed, a
/// file written, a command run, a plan made, or the agent noted something (C-10).
pub fn has_meaningful_work(flushed_steps: u32, staged: &[Observation]) -> bool {
    flushed_steps > 0 || staged.iter().any(Observation::is_meaningful)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::node::EdgeLabel;

    fn path() -> WorkPath {
        WorkPath::new("src/a.rs").unwrap()
    }

    fn samples() -> Vec<Observation> {
        let content = Blob::of(b"x");
        let edge = Edge::new(NodeId::Note(Seq(1)), NodeId::File(path()), EdgeLabel::Mentions, "line 3");
        let mut all: Vec<_> =
            NoteKind::ALL.iter().map(|kind| Observation::Note(Note::text(*kind, "text"))).collect();
        all.extend([
            Observation::Note(Note::of_message(NoteKind::Response, Seq(3))),
            Observation::FileRead { path: path(), content: content.clone() },
            Observation::FileWrite { path: path(), content: content.clone() },
            Observation::Command { command: "text".into(), exit_code: Some(0), output: content.clone() },
            Observation::Command { command: "text".into(), exit_code: None, output: content },
            Observation::Plan { text: "text".into() },
            Observation::Relations { edges: vec![edge] },
        ]);
        all
    }

    #[test]
    fn c6_observations_come_back_and_each_has_its_own_digest() {
        let mut digests = std::collections::BTreeSet::new();
        for observation in samples() {
            let json = serde_json::to_string(&observation).unwrap();
            assert_eq!(serde_json::from_str::<Observation>(&json).unwrap(), observation);
            assert_eq!(observation.check(), Ok(()));
            assert!(digests.insert(observation.digest()), "{json}");
        }
    }

    #[test]
    fn c6_a_content_that_is_stored_elsewhere_is_the_same_observation() {
        let (path, content) = (path(), Blob::of(b"fn main() {}"));
        let elsewhere = Observation::FileWrite { path: path.clone(), content: content.without_text() };
        assert_eq!(elsewhere.digest(), Observation::FileWrite { path, content }.digest());
    }

    #[test]
    fn c6_what_says_nothing_or_too_much_is_refused() {
        let note = |text: &str| Observation::Note(Note::text(NoteKind::Note, text));
        assert_eq!(note(" \n").check(), Err(ObservationRefusal::Empty("note")));
        assert_eq!(note(&"x".repeat(TEXT_BYTES_MAX)).check(), Ok(()));
        assert!(matches!(
            note(&"x".repeat(TEXT_BYTES_MAX + 1)).check(),
            Err(ObservationRefusal::TooLong { .. })
        ));
        assert_eq!(Observation::Plan { text: String::new() }.check(), Err(ObservationRefusal::Empty("plan")));
        assert!(Observation::Relations { edges: vec![] }.check().is_err());
        let edge = Edge::new(NodeId::Note(Seq(1)), NodeId::Note(Seq(2)), EdgeLabel::Relates, "");
        let many = Observation::Relations { edges: vec![edge; EDGES_MAX + 1] };
        assert_eq!(many.check(), Err(ObservationRefusal::TooManyEdges(EDGES_MAX + 1)));
    }

    #[test]
    fn c10_what_counts_as_meaningful_work() {
        let idle: Vec<_> = samples().into_iter().filter(|o| !o.is_meaningful()).collect();
        let names: Vec<_> = idle.iter().map(Observation::name).collect();
        let expected =
            ["response", "intervention", "request", "confirmation", "response", "file_read", "relations"];
        assert_eq!(names, expected);
        assert!(!has_meaningful_work(0, &[]) && !has_meaningful_work(0, &idle));
        assert!(has_meaningful_work(1, &[]) && has_meaningful_work(0, &samples()));
    }
}
