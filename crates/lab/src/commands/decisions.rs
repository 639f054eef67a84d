//! `segue-lab decisions`: labelled conversations through the whole engine, at their own times. Do sessions start
//! where a person would start them?
//!
//! Where the engine asks, the person answers with the truth; where it splits wrongly, the person takes it back with
//! one word, and that must work.

use super::config;
use crate::args::{Common, Decisions};
use crate::out;
use anyhow::{Context as _, bail};
use segue_core::Timestamp;
use segue_core::decision::{Action, Cause};
use segue_core::message::Role;
use segue_core::observed::Answer;
use segue_engine::request::Request;
use segue_engine::{Engine, Inbound, Outcome, Target};
use segue_store::memory::Memory;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::Path;
use std::sync::Arc;

/// The word that takes a false split back, by the language of the conversation.
fn back(lang: &str) -> &'static str {
    if lang == "zh" { "撤销" } else { "undo" }
}

#[derive(Deserialize)]
struct Dialogue {
    id: String,
    #[serde(default)]
    lang: String,
    turns: Vec<Turn>,
}

#[derive(Deserialize)]
struct Turn {
    role: String,
    text: String,
    #[serde(default)]
    boundary: u8,
    #[serde(default, rename = "return")]
    returns: u8,
    at: Option<Timestamp>,
}

/// What was counted. A turn is a message of the person after the first one.
#[derive(Debug, Default, Serialize)]
struct Counts {
    set: String,
    turns: usize,
    boundaries: usize,
    /// Sessions that began where none does, because of time.
    false_by_time: usize,
    /// The same, because of what the message is about or anything else.
    false_by_meaning: usize,
    /// False splits that one word took back.
    undone: usize,
    /// Boundaries at which nothing happened.
    missed: usize,
    /// Boundaries that were found by a question.
    found_by_question: usize,
    questions: usize,
    /// Rotations that later messages took back, rightly and wrongly.
    reversed: usize,
    reversed_wrongly: usize,
    returns: usize,
    returns_offered: usize,
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.turns += other.turns;
        self.boundaries += other.boundaries;
        self.false_by_time += other.false_by_time;
        self.false_by_meaning += other.false_by_meaning;
        self.undone += other.undone;
        self.missed += other.missed;
        self.found_by_question += other.found_by_question;
        self.questions += other.questions;
        self.reversed += other.reversed;
        self.reversed_wrongly += other.reversed_wrongly;
        self.returns += other.returns;
        self.returns_offered += other.returns_offered;
    }
}

pub async fn run(common: &Common, options: &Decisions) -> anyhow::Result<()> {
    let mut overrides = Vec::new();
    if let Some(policy) = &options.policy {
        overrides.push(("lifecycle.policy", policy.as_str()));
    }
    let config = config(common, &overrides)?;
    let mut counts = Vec::new();
    for file in &options.files {
        let engine = Engine::open(Arc::new(Memory::default()), config.clone()).await?;
        counts.push(set(&engine, file, options).await?);
    }
    if counts.len() > 1 {
        let mut all = Counts { set: "all".to_owned(), ..Counts::default() };
        counts.iter().for_each(|set| all.add(set));
        counts.push(all);
    }
    if common.json {
        out::json(&counts)?;
    } else {
        print(&counts)?;
    }
    Ok(())
}

async fn set(engine: &Engine, file: &Path, options: &Decisions) -> anyhow::Result<Counts> {
    let shown = file.display();
    let text = fs::read_to_string(file).with_context(|| format!("{shown} cannot be read: check the path"))?;
    let mut counts = Counts { set: shown.to_string(), ..Counts::default() };
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let dialogue: Dialogue = serde_json::from_str(line)
            .with_context(|| format!("{shown}:{}: it is no labelled dialogue", number + 1))?;
        if dialogue.turns.iter().any(|turn| turn.at.is_none()) {
            bail!("{shown}:{}: a turn has no time: decisions need \"at\"", number + 1);
        }
        let mut run = Run { engine, dialogue: &dialogue, counts: &mut counts, tell: options.show };
        run.play().await?;
    }
    Ok(counts)
}

struct Run<'a> {
    engine: &'a Engine,
    dialogue: &'a Dialogue,
    counts: &'a mut Counts,
    tell: bool,
}

impl Run<'_> {
    async fn play(&mut self) -> anyhow::Result<()> {
        let mut spoken = false;
        for turn in &self.dialogue.turns {
            let role = Role::named(&turn.role).context("a turn has no role that is known")?;
            let outcome = self.receive(turn.at.unwrap_or_default(), role, &turn.text).await?;
            if role != Role::User {
                continue;
            }
            if spoken {
                self.count(turn, &outcome).await?;
            }
            spoken = true;
        }
        Ok(())
    }

    async fn receive(&self, at: Timestamp, role: Role, text: &str) -> anyhow::Result<Outcome> {
        let scope = format!("agent:main:eval:direct:{}", self.dialogue.id.to_lowercase()).parse()?;
        let message = segue_core::message::Message::text(text);
        let inbound = Inbound { at, to: Target::Scope(scope), role, message, session: None };
        Ok(self.engine.receive(inbound).await?)
    }

    async fn count(&mut self, turn: &Turn, outcome: &Outcome) -> anyhow::Result<()> {
        let (boundary, at) = (turn.boundary == 1, turn.at.unwrap_or_default());
        self.counts.turns += 1;
        self.counts.boundaries += usize::from(boundary);
        self.counts.returns += usize::from(turn.returns == 1);
        match outcome.action {
            Action::Ask => {
                self.counts.questions += 1;
                self.counts.found_by_question += usize::from(boundary);
                let older = turn.returns == 1 && outcome.options().contains(&Answer::Older);
                self.counts.returns_offered += usize::from(older);
                let answer = match (boundary, older) {
                    (_, true) => Answer::Older,
                    (true, false) => Answer::Fresh,
                    (false, false) => Answer::Continue,
                };
                self.engine.request(&outcome.scope, at, &Request::Answer(answer)).await?;
            }
            Action::New | Action::NewCarryOver if !boundary => {
                match outcome.cause {
                    Cause::Temporal => self.counts.false_by_time += 1,
                    _ => self.counts.false_by_meaning += 1,
                }
                let undone = self.receive(at, Role::User, back(&self.dialogue.lang)).await?;
                self.counts.undone += usize::from(undone.action == Action::Merge);
            }
            Action::Merge => {
                self.counts.reversed += 1;
                self.counts.reversed_wrongly += usize::from(boundary);
                self.counts.missed += usize::from(boundary);
            }
            Action::New | Action::NewCarryOver => {}
            _ => self.counts.missed += usize::from(boundary),
        }
        if self.tell && (boundary || outcome.action != Action::Continue) {
            let belongs = outcome.observed.as_ref().and_then(|observed| observed.meaning.belongs);
            let belongs = belongs.map_or("-".to_owned(), |share| format!("{:.3}", share.value()));
            let label = if boundary { "boundary" } else { "-" };
            let text: String = turn.text.split_whitespace().collect::<Vec<_>>().join(" ");
            let text: String = text.chars().take(60).collect();
            out::line(format!(
                "{}\t{label}\t{}\t{}\t{belongs}\t{text}",
                self.dialogue.id, outcome.action, outcome.cause
            ))?;
        }
        Ok(())
    }
}

fn print(counts: &[Counts]) -> anyhow::Result<()> {
    for set in counts {
        let of = |count: usize, all: usize| 100.0 * count as f64 / all.max(1) as f64;
        let splits = set.false_by_time + set.false_by_meaning;
        out::line(format!("{}: {} turns, {} boundaries", set.set, set.turns, set.boundaries))?;
        out::line(format!(
            "  false splits      {:5.1} % of turns ({}: {} by the clock, {} by meaning; {} undone by one word)",
            of(splits, set.turns),
            splits,
            set.false_by_time,
            set.false_by_meaning,
            set.undone
        ))?;
        out::line(format!(
            "  missed boundaries {:5.1} % of boundaries ({}; {} were found by a question)",
            of(set.missed, set.boundaries),
            set.missed,
            set.found_by_question
        ))?;
        out::line(format!(
            "  questions         {:5.1} % of turns ({})",
            of(set.questions, set.turns),
            set.questions
        ))?;
        out::line(format!(
            "  reversed by later messages: {}, of which wrongly: {}; returns: {}, offered: {}",
            set.reversed, set.reversed_wrongly, set.returns, set.returns_offered
        ))?;
    }
    Ok(())
}
