//! `segue task`: what an agent, or a script around one, does with a task.

mod read;

use crate::args::Common;
use crate::setup::{self, Absent};
use crate::task_args::Task;
use crate::{Exit, json, layout, out};
use anyhow::Context as _;
use segue_core::decide::{TaskCommand, TaskVerb};
use segue_core::decision::Action;
use segue_core::scope;
use segue_core::task::blob::{Blob, BlobWriter};
use segue_core::task::identity::{DESCRIPTION_BYTES_MAX, Description};
use segue_core::task::node::{Edge, EdgeLabel, Weight};
use segue_core::task::observation::{Note, Observation};
use segue_core::task::path::{BadPath, WorkPath};
use segue_engine::{Engine, Outcome, Request};
use serde_json::json;
use std::io::Read;
use std::path::Path;

pub async fn run(common: &Common, task: Task) -> anyhow::Result<Exit> {
    let (scope, verb) = match task {
        Task::Start { given } => {
            let (scope, description) = scope_and_words(given)?;
            let description = match description.as_deref() {
                Some("-") => Some(Description::new(&read_words()?)?),
                given => given.map(Description::new).transpose()?,
            };
            let engine = setup::engine(common, Absent::Make).await?;
            let scope = setup::scope_or_last(&engine, scope.as_ref()).await?;
            let verb = TaskVerb::Start { description, message: None, cut: None };
            return done(common, act(&engine, &scope, verb).await?);
        }
        Task::Ask { scope, question } => (scope, TaskVerb::Ask { question }),
        Task::Finish { scope, summary } => (scope, TaskVerb::Finish { summary }),
        Task::Abort { given } => {
            let (scope, reason) = scope_and_words(given)?;
            (scope, TaskVerb::Abort { reason: reason.unwrap_or_default() })
        }
        Task::Compact { given } => {
            let (scope, summary) = scope_and_words(given)?;
            (scope, TaskVerb::Compact { summary: summary.unwrap_or_default(), kind: None })
        }
        Task::Flush { scope } => (scope, TaskVerb::Flush),
        Task::Incorporate { scope } => (scope, TaskVerb::Incorporate { messages: None }),
        Task::Note { scope, text, kind } => {
            (scope, observe(Observation::Note(Note::text(kind.into(), text))))
        }
        Task::Plan { scope, text } => (scope, observe(Observation::Plan { text })),
        Task::File { scope, path, write } => {
            let not_text = || BadPath::NotText(path.to_string_lossy().into_owned());
            let path = WorkPath::new(path.to_str().ok_or_else(not_text)?)?;
            stay_inside(&path)?;
            let content = read_whole(Path::new(path.as_str()))?;
            let observation = match write {
                true => Observation::FileWrite { path, content },
                false => Observation::FileRead { path, content },
            };
            (scope, observe(observation))
        }
        Task::Command { scope, command, exit, output } => {
            let output = read_whole(&output)?;
            (scope, observe(Observation::Command { command, exit_code: exit, output }))
        }
        Task::Relate { scope, from, label, to, evidence, weight } => {
            let label = EdgeLabel::named(&label).with_context(|| {
                let all: Vec<&str> = EdgeLabel::ALL.iter().map(|label| label.name()).collect();
                format!("there is no label {label:?}: it is one of {}", all.join(", "))
            })?;
            let mut edge = Edge::new(from.parse()?, to.parse()?, label, evidence);
            edge.weight = Weight::new(weight)?;
            (scope, observe(Observation::Relations { edges: vec![edge] }))
        }
        Task::Resume { scope } => {
            let (engine, scope) = open(common, scope.as_ref()).await?;
            let outcome = engine.come_back(&scope, engine.now()).await?;
            return done(common, outcome);
        }
        Task::Status { scope } => return read::status(common, scope.as_ref()).await,
        Task::Log { scope, task } => return read::log(common, scope.as_ref(), task).await,
        Task::Show { scope, task } => return read::show(common, scope.as_ref(), task).await,
        Task::Graph { scope, task } => return read::graph(common, scope.as_ref(), task).await,
    };
    let (engine, scope) = open(common, scope.as_ref()).await?;
    let outcome = act(&engine, &scope, verb).await?;
    done(common, outcome)
}

/// Opens the engine, and finds the scope: a mistyped one must not be made.
async fn open(common: &Common, scope: Option<&scope::Key>) -> anyhow::Result<(Engine, scope::Key)> {
    let engine = setup::engine(common, Absent::Empty).await?;
    let scope = setup::scope_or_last(&engine, scope).await?;
    engine.state(&scope).await?;
    Ok((engine, scope))
}

/// Tells a scope from words: one argument alone is the scope if it looks like one (`agent:...`).
fn scope_and_words(given: Vec<String>) -> anyhow::Result<(Option<scope::Key>, Option<String>)> {
    let mut given = given.into_iter();
    Ok(match (given.next(), given.next()) {
        (Some(scope), Some(words)) => (Some(scope.parse()?), Some(words)),
        (Some(one), None) if one.contains(':') && !one.contains(char::is_whitespace) => {
            (Some(one.parse()?), None)
        }
        (words, _) => (None, words),
    })
}

fn observe(observation: Observation) -> TaskVerb {
    TaskVerb::Observe { observations: vec![observation] }
}

async fn act(engine: &Engine, scope: &scope::Key, verb: TaskVerb) -> anyhow::Result<Outcome> {
    let command = TaskCommand { session: None, verb };
    Ok(engine.request(scope, engine.now(), &Request::Task(command)).await?)
}

/// Reads words from standard input; more than a description may have is not read at all.
fn read_words() -> anyhow::Result<String> {
    let mut words = Vec::new();
    let bytes_max = 4 * DESCRIPTION_BYTES_MAX as u64;
    std::io::stdin().take(bytes_max).read_to_end(&mut words).context("standard input cannot be read")?;
    String::from_utf8(words).context("what came from standard input is not UTF-8")
}

/// Refuses a file of the workspace that is a link to somewhere else. What is not there is said by who reads it.
fn stay_inside(path: &WorkPath) -> anyhow::Result<()> {
    let (Ok(root), Ok(real)) = (std::fs::canonicalize("."), std::fs::canonicalize(path.as_str())) else {
        return Ok(());
    };
    match real.starts_with(&root) {
        true => Ok(()),
        false => Err(BadPath::Outside(path.as_str().to_owned()))
            .with_context(|| format!("{path} is a link to {}", real.display())),
    }
}

/// Reads a content piece by piece: 50 MB of output take no more memory than what is kept of them.
fn read_whole(path: &Path) -> anyhow::Result<Blob> {
    let mut from: Box<dyn Read> = match path == Path::new("-") {
        true => Box::new(std::io::stdin()),
        false => {
            let file = std::fs::File::open(path);
            Box::new(file.with_context(|| format!("{} cannot be read", path.display()))?)
        }
    };
    let mut writer = BlobWriter::default();
    let mut piece = vec![0; 64 << 10];
    loop {
        match from.read(&mut piece).with_context(|| format!("{} cannot be read", path.display()))? {
            0 => return Ok(writer.finish()),
            n => writer.write(piece.get(..n).unwrap_or_default()),
        }
    }
}

fn done(common: &Common, outcome: Outcome) -> anyhow::Result<Exit> {
    let refused = outcome.action == Action::Refused;
    let text = outcome.notice.as_ref().or(outcome.reply.as_ref());
    if common.json {
        json::print(&json!({
            "action": outcome.action,
            "state": outcome.state,
            "session": outcome.session_key().to_string(),
            "session_id": outcome.session_id.map(|id| id.to_string()),
            "seq": outcome.seq,
            "notice": text,
        }))?;
    }
    match text {
        Some(text) if refused => out::refused(text),
        Some(text) if !common.json => out::line(layout::printable(text))?,
        None if !common.json => out::line(outcome.state.name())?,
        _ => {}
    }
    Ok(if refused { Exit::No } else { Exit::Done })
}
