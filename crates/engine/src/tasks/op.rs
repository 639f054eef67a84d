//! What a host does with a task, as a line of a replay or a body of the HTTP interface says it.

use crate::engine::Engine;
use crate::error::Error;
use crate::outcome::Outcome;
use crate::request::{HostCommand, Request};
use segue_core::decide::{TaskCommand, TaskVerb};
use segue_core::entry::Seq;
use segue_core::refusal::Refusal;
use segue_core::scope;
use segue_core::task::blob::Blob;
use segue_core::task::canonical::CommitKind;
use segue_core::task::identity::Description;
use segue_core::task::node::Edge;
use segue_core::task::observation::{Note, NoteKind, Observation};
use segue_core::task::path::WorkPath;
use serde_json::Value;

/// The names of the operations.
pub const OPS: [&str; 17] = [
    "start",
    "ask",
    "respond",
    "finish",
    "confirm",
    "interrupt",
    "incorporate",
    "abort",
    "note",
    "file_read",
    "file_write",
    "command",
    "plan",
    "relations",
    "flush",
    "compact",
    "resume",
];

/// How much of a wrong word is repeated, in characters.
const SHOWN_CHARS_MAX: usize = 60;

/// Why something is not an operation, in one sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadOp(String);

impl BadOp {
    fn of(why: impl ToString) -> Self {
        Self(why.to_string())
    }
}

/// An operation.
#[derive(Debug, Clone)]
pub enum Op {
    /// Something that the rules decide on.
    Verb(TaskVerb),
    /// The person says something while the agent works.
    Interrupt(String),
    /// The person has come back.
    Resume,
}

/// The fields that an operation takes.
fn fields(name: &str) -> &'static [&'static str] {
    match name {
        "start" => &["task", "description"],
        "ask" => &["question"],
        "respond" | "plan" => &["text"],
        "finish" => &["summary"],
        "interrupt" => &["text", "message"],
        "abort" => &["reason"],
        "note" => &["kind", "text"],
        "file_read" | "file_write" => &["path", "content"],
        "command" => &["command", "exit_code", "output"],
        "relations" => &["edges"],
        "compact" => &["summary", "kind"],
        _ => &[],
    }
}

/// The fields that an operation cannot do without.
fn needed(name: &str) -> &'static [&'static str] {
    match name {
        "ask" => &["question"],
        "respond" | "note" | "plan" => &["text"],
        "file_read" | "file_write" => &["path"],
        "command" => &["command"],
        _ => &[],
    }
}

impl Op {
    /// Reads an operation of a host that can be told at once what is wrong: nothing is missing, and nothing is there that no
    /// one reads.
    pub fn parse_strictly(name: &str, value: &Value) -> Result<Self, BadOp> {
        let op = Self::parse(name, value)?;
        for field in needed(name) {
            if word(value, field)?.is_none_or(|text| text.trim().is_empty()) {
                return Err(BadOp(format!("{name} needs \"{field}\"")));
            }
        }
        let known = fields(name);
        let given = value.as_object().into_iter().flat_map(|fields| fields.keys());
        match given.into_iter().find(|field| !known.contains(&field.as_str())) {
            None => Ok(op),
            Some(field) if known.is_empty() => {
                Err(BadOp(format!("{name} takes no field, and \"{}\" is one", short(field))))
            }
            Some(field) => {
                let known = known.join(", ");
                Err(BadOp(format!("{name} takes no field \"{}\": it takes {known}", short(field))))
            }
        }
    }

    /// Reads an operation.
    pub fn parse(name: &str, value: &Value) -> Result<Self, BadOp> {
        let text = |field: &str| -> Result<String, BadOp> { Ok(word(value, field)?.unwrap_or_default()) };
        let observe = |observation| Ok(Self::Verb(TaskVerb::Observe { observations: vec![observation] }));
        Ok(Self::Verb(match name {
            "start" => {
                let given = word(value, "task")?.or(word(value, "description")?);
                let description = given.map(|task| Description::new(&task)).transpose().map_err(BadOp::of)?;
                TaskVerb::Start { description, message: None, cut: None }
            }
            "ask" => TaskVerb::Ask { question: text("question")? },
            "respond" => TaskVerb::Respond { message: None, text: text("text")? },
            "finish" => TaskVerb::Finish { summary: text("summary")? },
            "confirm" => TaskVerb::Confirm,
            "interrupt" => match word(value, "text")?.or(word(value, "message")?) {
                Some(said) => return Ok(Self::Interrupt(said)),
                None => TaskVerb::Interrupt { message: Seq::ZERO },
            },
            "incorporate" => TaskVerb::Incorporate { messages: None },
            "abort" => TaskVerb::Abort { reason: text("reason")? },
            "note" => {
                let kind = word(value, "kind")?.unwrap_or_else(|| "note".to_owned());
                let kind = NoteKind::named(&kind)
                    .ok_or_else(|| BadOp(format!("there is no kind of note \"{}\"", short(&kind))))?;
                return observe(Observation::Note(Note::text(kind, text("text")?)));
            }
            "file_read" | "file_write" => {
                let path = WorkPath::new(&text("path")?).map_err(BadOp::of)?;
                let content = Blob::of(text("content")?.as_bytes());
                return observe(match name {
                    "file_read" => Observation::FileRead { path, content },
                    _ => Observation::FileWrite { path, content },
                });
            }
            "command" => {
                let exit_code = value.get("exit_code").and_then(Value::as_i64);
                let exit_code = exit_code.map(i32::try_from).transpose().map_err(BadOp::of)?;
                let output = Blob::of(text("output")?.as_bytes());
                return observe(Observation::Command { command: text("command")?, exit_code, output });
            }
            "plan" => return observe(Observation::Plan { text: text("text")? }),
            "relations" => {
                let edges = value.get("edges").cloned().unwrap_or_default();
                let edges: Vec<Edge> = serde_json::from_value(edges)
                    .map_err(|error| BadOp(format!("\"edges\" cannot be read: {error}")))?;
                return observe(Observation::Relations { edges });
            }
            "flush" => TaskVerb::Flush,
            "compact" => {
                let kind = word(value, "kind")?;
                let kind = kind.map(|kind| {
                    CommitKind::named(&kind)
                        .ok_or_else(|| BadOp(format!("there is no kind of commit \"{}\"", short(&kind))))
                });
                TaskVerb::Compact { summary: text("summary")?, kind: kind.transpose()? }
            }
            "resume" => return Ok(Self::Resume),
            _ => {
                let known = OPS.join(", ");
                return Err(BadOp(format!("there is no operation \"{}\": there are {known}", short(name))));
            }
        }))
    }

    /// Tells whether it may begin a scope.
    pub fn begins(&self) -> bool {
        matches!(self, Self::Verb(TaskVerb::Start { .. }))
    }

    /// Does it.
    pub async fn run(
        &self,
        engine: &Engine,
        scope: &scope::Key,
        at: segue_core::Timestamp,
    ) -> Result<Outcome, Error> {
        self.run_as(engine, scope, at, None).await
    }

    /// Does it, once if the host gives it an id.
    pub async fn run_as(
        &self,
        engine: &Engine,
        scope: &scope::Key,
        at: segue_core::Timestamp,
        by: Option<HostCommand>,
    ) -> Result<Outcome, Error> {
        match self {
            Self::Resume => engine.come_back_as(scope, at, by).await,
            Self::Interrupt(said) => engine.interrupt_as(scope, at, said, by).await,
            Self::Verb(verb) => {
                let command = TaskCommand { session: None, verb: verb.clone() };
                engine.request_as(scope, at, &Request::Task(command), by).await
            }
        }
        .map_err(|error| match error {
            // A scope in which nothing was said has no task.
            Error::NoScope { .. } => Error::Refused(Refusal::NothingSaid),
            error => error,
        })
    }

    /// Says it in a few words, for a person who reads the replay.
    pub fn describe(name: &str, value: &Value) -> String {
        let fields = ["task", "question", "summary", "reason", "text", "path", "command"];
        let words = fields.iter().find_map(|field| value.get(*field).and_then(Value::as_str));
        format!("[{name}] {}", words.unwrap_or_default()).trim_end().to_owned()
    }
}

/// Reads a field that is a text, if it is there.
fn word(value: &Value, field: &str) -> Result<Option<String>, BadOp> {
    match value.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        // People write ids as numbers.
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        Some(_) => Err(BadOp(format!("\"{field}\" is not text"))),
    }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(SHOWN_CHARS_MAX) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
