//! `segue-lab recall`: questions about archived sessions. Is the right session found, and how far up?

mod histories;
mod peers;

use super::config;
use crate::args::Common;
use crate::out;
use anyhow::{Context as _, bail};
use jiff::SignedDuration;
use peers::{Peer, Peers};
use segue_core::Timestamp;
use segue_core::message::{Message, Role};
use segue_core::scope;
use segue_core::session::Number;
use segue_engine::Engine;
use segue_engine::recall::Recall;
use segue_engine::request::Request;
use segue_store::memory::Memory;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How many fragments are asked for.
const FRAGMENTS: usize = 50;

/// A line of a set.
#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum Line {
    /// An archived session.
    Session { id: String, at: Timestamp, turns: Vec<Turn> },
    /// A question, and the session that answers it.
    Question { id: String, text: String, session: String, split: Split },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Turn {
    role: Role,
    text: String,
}

/// What a question is for: choosing weights, or measuring what they come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Split {
    Dev,
    Test,
}

struct Question {
    id: String,
    text: String,
    session: Number,
    split: Split,
}

/// What was counted.
#[derive(Debug, Serialize)]
struct Counts {
    set: String,
    split: Split,
    sessions: usize,
    questions: usize,
    first: usize,
    first_three: usize,
    /// The questions whose session did not come first.
    not_first: Vec<String>,
    /// The same of what recall is compared with.
    peers: BTreeMap<Peer, PeerCounts>,
}

/// What another way to find messages comes to.
#[derive(Debug, Default, Serialize)]
struct PeerCounts {
    first: usize,
    first_three: usize,
}

/// The sessions of a set, with what was said in them, and its questions.
struct Set {
    sessions: usize,
    said: Vec<(Number, String)>,
    questions: Vec<Question>,
}

pub async fn run(common: &Common, files: &[PathBuf]) -> anyhow::Result<()> {
    // All sessions of a set are kept, however many there are.
    let config = config(common, &[("session.backlog_limit", "100000")])?;
    let (histories, files): (Vec<PathBuf>, Vec<PathBuf>) =
        files.iter().cloned().partition(|file| histories::is_history(file));
    for file in &histories {
        histories::run(common, &config, file).await?;
    }
    if files.is_empty() {
        return Ok(());
    }
    let files = &files;
    let mut counts = Vec::new();
    for file in files {
        let engine = Engine::open(Arc::new(Memory::default()), config.clone()).await?;
        counts.extend(set(&engine, file).await?);
    }
    if common.json {
        out::json(&counts)?;
        return Ok(());
    }
    out::line(format!(
        "{:28} {:5} {:>9} {:>10} {:>8} {:>12}",
        "set", "split", "sessions", "questions", "first", "first three"
    ))?;
    for set in &counts {
        let share = |part: usize| part as f64 * 100.0 / set.questions.max(1) as f64;
        let split = match set.split {
            Split::Dev => "dev",
            Split::Test => "test",
        };
        out::line(format!(
            "{:28} {split:5} {:>9} {:>10} {:>7.1}% {:>11.1}%",
            set.set,
            set.sessions,
            set.questions,
            share(set.first),
            share(set.first_three),
        ))?;
        for (peer, counts) in &set.peers {
            out::line(format!(
                "  {:53} {:>7.1}% {:>11.1}%",
                peer.name(),
                share(counts.first),
                share(counts.first_three)
            ))?;
        }
    }
    Ok(())
}

async fn set(engine: &Engine, file: &Path) -> anyhow::Result<Vec<Counts>> {
    let scope: scope::Key = "agent:eval:cli:direct:recall".parse()?;
    let Set { sessions, said, questions } = fill(engine, &scope, file).await?;
    engine.prepare_recall(&scope).await?;
    let peers = Peers::of(said.iter().map(|(_, text)| text.as_str()))?;
    let mut sets = Vec::new();
    for split in [Split::Dev, Split::Test] {
        let mut counts = Counts {
            set: file.display().to_string(),
            split,
            sessions,
            questions: 0,
            first: 0,
            first_three: 0,
            not_first: Vec::new(),
            peers: BTreeMap::new(),
        };
        for question in questions.iter().filter(|question| question.split == split) {
            let place = place(engine, &scope, question).await?;
            counts.questions += 1;
            counts.first += usize::from(place == Some(0));
            counts.first_three += usize::from(place.is_some_and(|place| place < 3));
            if place != Some(0) {
                counts.not_first.push(question.id.clone());
            }
            for peer in Peer::ALL {
                let ranked = peers.ranked(peer, &question.text).into_iter();
                let found = sessions_of(ranked.map(|message| said[message].0));
                let place = found.iter().position(|session| *session == question.session);
                let counts = counts.peers.entry(peer).or_default();
                counts.first += usize::from(place == Some(0));
                counts.first_three += usize::from(place.is_some_and(|place| place < 3));
            }
        }
        sets.push(counts);
    }
    sets.retain(|set| set.questions > 0);
    if sets.is_empty() {
        bail!("{}: there are no questions in it", file.display());
    }
    Ok(sets)
}

/// Tells at which place the right session is, among the sessions that were found.
async fn place(engine: &Engine, scope: &scope::Key, question: &Question) -> anyhow::Result<Option<usize>> {
    let recall =
        Recall { count_max: FRAGMENTS, tokens_max: u64::MAX, ..Recall::new(&question.text, "an evaluation") };
    let found = engine.recall(scope, &recall).await?.fragments;
    let sessions = sessions_of(found.iter().map(|fragment| fragment.session.number));
    Ok(sessions.iter().position(|session| *session == question.session))
}

/// The sessions of what was found, each where it comes first.
fn sessions_of<T: PartialEq>(found: impl Iterator<Item = T>) -> Vec<T> {
    found.fold(Vec::new(), |mut sessions, session| {
        if !sessions.contains(&session) {
            sessions.push(session);
        }
        sessions
    })
}

/// Writes the sessions of a file into a scope, and reads its questions.
async fn fill(engine: &Engine, scope: &scope::Key, file: &Path) -> anyhow::Result<Set> {
    let shown = file.display();
    let text = fs::read_to_string(file).with_context(|| format!("{shown} cannot be read: check the path"))?;
    let mut numbers: HashMap<String, Number> = HashMap::new();
    let (mut said, mut questions) = (Vec::new(), Vec::new());
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let line: Line = serde_json::from_str(line)
            .with_context(|| format!("{shown}:{}: it is neither a session nor a question", number + 1))?;
        match line {
            Line::Session { id, mut at, turns } => {
                let opened = engine.request(scope, at, &Request::New(None)).await?;
                for turn in turns {
                    at += SignedDuration::from_secs(20);
                    said.push((opened.session, turn.text.clone()));
                    let request = Request::Keep(turn.role, Message::text(turn.text));
                    engine.request(scope, at, &request).await?;
                }
                numbers.insert(id, opened.session);
            }
            Line::Question { id, text, session, split } => match numbers.get(&session) {
                Some(session) => questions.push(Question { id, text, session: *session, split }),
                None => bail!("{shown}:{}: no session {session} stands above it", number + 1),
            },
        }
    }
    // The last session is archived too.
    let now = engine.state(scope).await.map(|state| state.clock)?;
    engine.request(scope, now, &Request::New(None)).await?;
    Ok(Set { sessions: numbers.len(), said, questions })
}
