//! Long histories with questions and their evidence (LoCoMo, MemoryBank): are the messages found, and their sessions?

use super::peers::{Peer, Peers};
use super::sessions_of;
use crate::args::Common;
use crate::out;
use anyhow::Context as _;
use jiff::SignedDuration;
use segue_core::Timestamp;
use segue_core::entry::Seq;
use segue_core::message::{Message, Role};
use segue_core::scope;
use segue_core::session::Number;
use segue_engine::Engine;
use segue_engine::config::Config;
use segue_engine::recall::{FRAGMENTS_MAX, Fragment, Recall, TOKENS_MAX};
use segue_engine::request::Request;
use segue_store::sqlite::Sqlite;
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How many messages the scope has in which the first recall is timed.
const MESSAGES_TIMED: usize = 600;

#[derive(Deserialize)]
struct History {
    conversation: String,
    sessions: Vec<Session>,
    questions: Vec<Asked>,
}

#[derive(Deserialize)]
struct Session {
    n: u32,
    at: Timestamp,
    messages: Vec<HistoryMessage>,
}

#[derive(Deserialize)]
struct HistoryMessage {
    id: String,
    role: Role,
    text: String,
}

#[derive(Deserialize)]
struct Asked {
    q: String,
    category: serde_json::Value,
    evidence: Vec<String>,
}

/// What was counted of some questions.
#[derive(Debug, Default)]
struct Counts {
    questions: usize,
    /// Of the evidence among the first five messages.
    message_recall: f64,
    /// Where evidence names messages.
    with_messages: usize,
    /// With an evidence session first, and among the first five.
    session_first: usize,
    session_first_five: usize,
}

impl Counts {
    fn add(&mut self, asked: &Asked, messages: &[String], sessions: &[String]) {
        let named: Vec<&String> = asked.evidence.iter().filter(|id| id.contains(':')).collect();
        self.questions += 1;
        if !named.is_empty() {
            let found = named.iter().filter(|id| messages.iter().take(5).any(|found| found == **id)).count();
            self.message_recall += found as f64 / named.len() as f64;
            self.with_messages += 1;
        }
        let session = |id: &String| id.split(':').next().unwrap_or_default().to_owned();
        let right: Vec<String> = asked.evidence.iter().map(session).collect();
        let within = |count: usize| sessions.iter().take(count).any(|found| right.contains(found));
        self.session_first += usize::from(within(1));
        self.session_first_five += usize::from(within(5));
    }

    fn shown(&self, name: &str) -> String {
        let share = |part: f64, whole: usize| part / whole.max(1) as f64;
        let recall = match self.with_messages {
            0 => "    -".to_owned(),
            whole => format!("{:.3}", share(self.message_recall, whole)),
        };
        format!(
            "{name:24} {:>9} {recall:>12} {:>14.3} {:>14.3}",
            self.questions,
            share(self.session_first as f64, self.questions),
            share(self.session_first_five as f64, self.questions)
        )
    }
}

/// Tells whether a file holds histories, rather than a set like those in `eval/`.
pub fn is_history(file: &Path) -> bool {
    std::fs::read_to_string(file).is_ok_and(|text| text.starts_with("{\"conversation\""))
}

pub async fn run(common: &Common, config: &Config, file: &Path) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))?;
    let mut counts: BTreeMap<String, Counts> = BTreeMap::new();
    let mut said = Vec::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let history: History =
            serde_json::from_str(line).with_context(|| format!("{}: no history", file.display()))?;
        said.extend(
            history.sessions.iter().flat_map(|session| &session.messages).map(|said| said.text.clone()),
        );
        measure(common, config, &history, &mut counts).await?;
    }
    if common.json {
        return Ok(());
    }
    let question = "what did we say about that again?";
    let (first, again) = time_first(config, &said, question).await?;
    out::line(format!(
        "{:24} {:>9} {:>12} {:>14} {:>14}",
        file.file_name().unwrap_or_default().display(),
        "questions",
        "message R@5",
        "session hit@1",
        "session hit@5"
    ))?;
    for (name, counts) in &counts {
        out::line(counts.shown(name))?;
    }
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    out::line(format!(
        "first recall in a scope of {MESSAGES_TIMED} messages, just opened: {:.1} ms; again: {:.1} ms",
        ms(first),
        ms(again)
    ))?;
    Ok(())
}

/// Asks the questions of a history. As JSON it prints the ranked messages of each, for another scorer.
async fn measure(
    common: &Common,
    config: &Config,
    history: &History,
    counts: &mut BTreeMap<String, Counts>,
) -> anyhow::Result<()> {
    let folder = tempfile::tempdir()?;
    let store = Arc::new(Sqlite::open(&folder.path().join("segue.db"))?);
    let engine = Engine::open(store, config.clone()).await?.trusting_stamps();
    let scope: scope::Key = "agent:eval:cli:direct:recall".parse()?;
    let mut ids: HashMap<Seq, &str> = HashMap::new();
    let mut numbers: HashMap<Number, u32> = HashMap::new();
    let said: Vec<&HistoryMessage> = history.sessions.iter().flat_map(|session| &session.messages).collect();
    let peers = match common.json {
        true => None,
        false => Some(Peers::of(said.iter().map(|said| said.text.as_str()))?),
    };
    for session in &history.sessions {
        let mut at = session.at;
        numbers.insert(engine.request(&scope, at, &Request::New(None)).await?.session, session.n);
        for said in &session.messages {
            at += SignedDuration::from_secs(30);
            let keep = Request::Keep(said.role, Message::text(said.text.clone()));
            let kept = engine.request(&scope, at, &keep).await?;
            ids.extend(kept.seq.map(|seq| (seq, said.id.as_str())));
        }
    }
    let now = engine.state(&scope).await?.clock;
    engine.request(&scope, now, &Request::New(None)).await?;
    engine.prepare_recall(&scope).await?;
    for asked in history.questions.iter().filter(|asked| !asked.evidence.is_empty()) {
        let recall = Recall {
            count_max: FRAGMENTS_MAX,
            tokens_max: TOKENS_MAX,
            ..Recall::new(&asked.q, "an evaluation")
        };
        let found = engine.recall(&scope, &recall).await?.fragments;
        let messages: Vec<String> =
            found.iter().filter_map(|found| ids.get(&found.seq)).map(|id| (*id).to_owned()).collect();
        let number_of = |found: &Fragment| numbers.get(&found.session.number).copied().unwrap_or(0);
        let sessions = sessions_of(found.iter().map(|found| format!("D{}", number_of(found))));
        if common.json {
            out::json(&serde_json::json!({
                "conversation": history.conversation, "q": asked.q, "ranked": messages,
            }))?;
        }
        let category = match &asked.category {
            serde_json::Value::String(name) => name.clone(),
            other => format!("category {other}"),
        };
        for name in ["all".to_owned(), category, format!("of {}", history.conversation)] {
            counts.entry(name).or_default().add(asked, &messages, &sessions);
        }
        let Some(peers) = &peers else { continue };
        for peer in Peer::ALL {
            let ranked = peers.ranked(peer, &asked.q).into_iter();
            let messages: Vec<String> = ranked.map(|message| said[message].id.clone()).collect();
            let session = |id: &String| id.split(':').next().unwrap_or_default().to_owned();
            let sessions = sessions_of(messages.iter().map(session));
            counts.entry(format!("all: {}", peer.name())).or_default().add(asked, &messages, &sessions);
        }
    }
    Ok(())
}

/// Times the first recall of an engine that has read nothing, and the second one.
#[allow(clippy::disallowed_methods, reason = "it measures time")]
async fn time_first(
    config: &Config,
    said: &[String],
    question: &str,
) -> anyhow::Result<(Duration, Duration)> {
    let folder = tempfile::tempdir()?;
    let store = Arc::new(Sqlite::open(&folder.path().join("segue.db"))?);
    let scope: scope::Key = "agent:eval:cli:direct:recall".parse()?;
    let engine = Engine::open(store.clone(), config.clone()).await?.trusting_stamps();
    let mut at: Timestamp = "2026-01-01T08:00:00Z".parse()?;
    for (n, text) in said.iter().cycle().take(MESSAGES_TIMED).enumerate() {
        at += SignedDuration::from_mins(1);
        if n % 20 == 0 {
            engine.request(&scope, at, &Request::New(None)).await?;
        }
        let role = if n % 2 == 0 { Role::User } else { Role::Assistant };
        engine.request(&scope, at, &Request::Keep(role, Message::text(text.clone()))).await?;
    }
    engine.request(&scope, at, &Request::New(None)).await?;
    // The worker has done its part.
    engine.prepare_recall(&scope).await?;
    let engine = Engine::open(store, config.clone()).await?;
    let mut times = [Duration::ZERO; 2];
    for time in &mut times {
        let begun = Instant::now();
        engine.recall(&scope, &Recall::new(question, "an evaluation")).await?;
        *time = begun.elapsed();
    }
    Ok((times[0], times[1]))
}
