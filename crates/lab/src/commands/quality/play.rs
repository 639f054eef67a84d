//! Streams through the whole engine. The person tells the truth: takes an offer where something new begins, and takes a false
//! split back.

use super::streams::{Stream, Turn};
use anyhow::Context as _;
use segue_core::Timestamp;
use segue_core::decision::Action;
use segue_core::message::{Message, Role};
use segue_core::notice::Notice;
use segue_core::observed::Answer;
use segue_core::session::Number;
use segue_engine::config::Config;
use segue_engine::request::Request;
use segue_engine::{Engine, Inbound, Outcome, Target};
use segue_store::memory::Memory;
use std::collections::HashMap;
use std::sync::Arc;

/// What the engine did with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Did {
    Split,
    Suggested,
    Held,
    Resumed,
    Merged,
    WentOn,
}

/// What was done with a message, and which earlier session was named first.
pub struct Played {
    pub turn: Turn,
    pub did: Did,
    /// Whether the session that the message goes back to was offered or resumed.
    pub right_one: bool,
    /// Whether another one was.
    pub wrong_one: bool,
    pub belongs: Option<f64>,
    /// How long the engine looked at it, earlier sessions included, in microseconds.
    pub took_us: u64,
    /// What was decided, and why.
    pub why: String,
}

pub struct Player {
    engine: Engine,
    scope: segue_core::scope::Key,
    back: &'static str,
}

impl Player {
    pub async fn new(config: &Config, stream: &Stream) -> anyhow::Result<Self> {
        let engine = Engine::open(Arc::new(Memory::default()), config.clone()).await?.trusting_stamps();
        let scope = format!("agent:main:eval:direct:{}", stream.id.to_lowercase()).parse()?;
        Ok(Self { engine, scope, back: if stream.lang == "zh" { "撤销" } else { "undo" } })
    }

    pub async fn say(&self, at: Timestamp, role: Role, text: &str) -> anyhow::Result<Outcome> {
        let message = Message::text(text);
        let to = Target::Scope(self.scope.clone());
        Ok(self.engine.receive(Inbound { at, to, role, message, session: None }).await?)
    }

    /// Plays a whole stream.
    pub async fn play(&self, stream: &Stream) -> anyhow::Result<Vec<Played>> {
        let mut homes: HashMap<usize, Number> = HashMap::new();
        let mut all = Vec::new();
        for (at, turn) in stream.turns.iter().enumerate() {
            let mut outcome = self.say(turn.at, turn.role()?, &turn.text).await?;
            if turn.is_user() && at > 0 {
                let home = turn.returns_to.and_then(|conv| homes.get(&conv).copied());
                let played = played(turn, &outcome, home);
                if let Some(after) = self.settle(turn, &played).await? {
                    outcome = after;
                }
                all.push(played);
            }
            homes.insert(turn.conv, outcome.session);
        }
        Ok(all)
    }

    /// The person sets right what can be set right by a word.
    async fn settle(&self, turn: &Turn, played: &Played) -> anyhow::Result<Option<Outcome>> {
        let answer = match (played.did, turn.is_new()) {
            (Did::Held | Did::Suggested, true) if played.right_one => Answer::Older,
            (Did::Held | Did::Suggested, true) => Answer::Fresh,
            (Did::Held, false) => Answer::Continue,
            (Did::Split, false) => {
                return self.say(turn.at, Role::User, self.back).await.map(Some);
            }
            (Did::Resumed, false) => return self.say(turn.at, Role::User, "/undo").await.map(Some),
            _ => return Ok(None),
        };
        let answered = self.engine.request(&self.scope, turn.at, &Request::Answer(answer)).await;
        answered.map(Some).with_context(|| format!("{answer:?} was refused"))
    }
}

/// Reads what was done.
pub fn did(outcome: &Outcome) -> Did {
    match (outcome.action, &outcome.announces) {
        (_, Some(Notice::Question { .. })) => Did::Held,
        (_, Some(Notice::Offer { .. })) => Did::Suggested,
        (Action::New | Action::NewCarryOver, _) => Did::Split,
        (Action::Resume, _) => Did::Resumed,
        (Action::Merge, _) => Did::Merged,
        _ => Did::WentOn,
    }
}

fn played(turn: &Turn, outcome: &Outcome, home: Option<Number>) -> Played {
    let did = did(outcome);
    let named = match &outcome.announces {
        Some(Notice::Question { older, .. } | Notice::Offer { older, .. }) => *older,
        Some(Notice::Shifted { like, .. }) => *like,
        _ if matches!(did, Did::Resumed | Did::Merged) => Some(outcome.session),
        _ => None,
    };
    let belongs = outcome.observed.as_ref().and_then(|observed| observed.meaning.belongs);
    Played {
        turn: turn.clone(),
        did,
        right_one: named.is_some() && named == home,
        wrong_one: named.is_some() && named != home,
        belongs: belongs.map(|share| share.value()),
        took_us: outcome.observed.as_ref().map_or(0, |observed| observed.took_us),
        why: format!("{} {}: {}", outcome.action, outcome.cause, outcome.reasons().join(" ")),
    }
}
