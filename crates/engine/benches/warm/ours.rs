//! Our side: a session of an engine on SQLite.

use crate::{Outcome, RECENT, TALK};
use segue_core::message::{Message, Role};
use segue_core::scope::Key;
use segue_core::session::Number;
use segue_engine::config::Config;
use segue_engine::context::Budget;
use segue_engine::{Engine, Inbound, Request, Target};
use segue_signals::context::{OpenAiTokens, TokenCounter};
use segue_store::sqlite::Sqlite;
use std::path::Path;
use std::sync::Arc;

pub struct Ours {
    engine: Engine,
    scope: Key,
    window: u64,
    turn: usize,
    /// When the last message came, in seconds after the first.
    seconds: i64,
    /// The session that the last message fell into.
    answering: Option<Number>,
}

/// The window that has room for the recent messages, beside the answer and the summary.
fn window() -> u64 {
    let texts = TALK.iter().flat_map(|(said, answer)| [said, answer]);
    let tokens: u64 = texts.map(|text| OpenAiTokens.count(text) + 4).sum();
    tokens * RECENT as u64 * 64 / (2 * TALK.len() as u64 * 49)
}

impl Ours {
    pub async fn open(path: &Path, messages: usize) -> Outcome<Self> {
        let config = Config::load(vec![], &jiff::tz::TimeZone::UTC)?;
        let engine = Engine::open(Arc::new(Sqlite::open(path)?), config).await?;
        let scope = "agent:main:bench:direct:me".parse()?;
        let mut ours = Self { engine, scope, window: window(), turn: 0, seconds: 0, answering: None };
        for n in 0..messages {
            let (said, answer) = TALK[n / 2 % TALK.len()];
            let (role, text) = if n % 2 == 0 { (Role::User, said) } else { (Role::Assistant, answer) };
            let request = Request::Keep(role, Message::text(text));
            ours.seconds += 1;
            ours.engine.request(&ours.scope, ours.now()?, &request).await?;
        }
        Ok(ours)
    }

    fn now(&self) -> Outcome<jiff::Timestamp> {
        Ok(jiff::Timestamp::from_second(1_772_359_200 + self.seconds)?)
    }

    async fn say(&mut self, role: Role, text: &str, session: Option<Number>) -> Outcome<Number> {
        self.seconds += 5;
        let (to, message) = (Target::Scope(self.scope.clone()), Message::text(text));
        let taken = self.engine.receive(Inbound { at: self.now()?, to, role, message, session }).await?;
        Ok(taken.session)
    }

    /// Assembles what the model is given; returns how many messages are shown.
    pub async fn context(&self) -> Outcome<usize> {
        let budget = Budget::of_window(self.window, &OpenAiTokens);
        Ok(self.engine.assemble(&self.scope, &budget).await?.messages.len())
    }

    /// Takes the person's message and assembles what the model is given.
    pub async fn hear(&mut self) -> Outcome<()> {
        let (said, _) = TALK[self.turn % TALK.len()];
        self.answering = Some(self.say(Role::User, said, None).await?);
        self.context().await?;
        Ok(())
    }

    /// Takes the agent's message, which names the session that it answers, as a host's does.
    pub async fn answer(&mut self) -> Outcome<()> {
        let (_, answer) = TALK[self.turn % TALK.len()];
        self.turn += 1;
        self.say(Role::Assistant, answer, self.answering).await.map(drop)
    }

    /// The figures are about one session that went on all the time.
    pub async fn check(&self) -> Outcome<()> {
        let shown = self.context().await?;
        let latest = self.engine.state(&self.scope).await?.latest();
        if latest != Some(Number(1)) || !(RECENT / 2..=RECENT + 10).contains(&shown) {
            return Err(format!("the latest session is {latest:?} and shows {shown} messages").into());
        }
        Ok(())
    }
}
