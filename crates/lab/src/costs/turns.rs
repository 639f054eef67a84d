//! Turns of ours: one message, decided by the rules and appended, and the same through the whole engine.

use segue_core::decide::{Circumstances, Command, decide};
use segue_core::entry::Seq;
use segue_core::facts::Facts;
use segue_core::message::{Message, MessageId, Role};
use segue_core::policy::Policy;
use segue_core::scope::Key;
use segue_core::state::State;
use segue_engine::clock::{Clock as _, Ids as _, RandomIds, SystemClock};
use segue_engine::{Engine, Inbound};
use segue_store::{Append, Store};
use std::sync::Arc;

/// How many appends share a commit while a scope is filled.
const BATCH: usize = 512;

/// What people say, and what they are told.
pub const TALK: [(&str, &str); 4] = [
    (
        "how long should the sourdough bread rise before I bake it?",
        "Four to six hours at room temperature are enough.",
    ),
    (
        "and what temperature does the oven need for the loaf?",
        "Heat it to 230 degrees and bake in a closed pot.",
    ),
    (
        "does the dough need more flour if it sticks to the bowl?",
        "A little on the bowl; sticky sourdough is normal.",
    ),
    (
        "can I let the dough rise in the fridge over night?",
        "Yes, eight to twelve hours in the fridge work well.",
    ),
];

/// A scope that is written by the rules alone.
pub struct Line {
    store: Arc<dyn Store>,
    state: Arc<State>,
    said: u64,
}

impl Line {
    /// Goes on with a scope.
    pub async fn open(store: Arc<dyn Store>, scope: &str) -> anyhow::Result<Self> {
        let scope: Key = scope.parse()?;
        let state = store.load(&scope).await?.unwrap_or_else(|| Arc::new(State::empty(scope)));
        let said = state.messages;
        Ok(Self { store, state, said })
    }

    fn next(&mut self) -> anyhow::Result<Append> {
        self.said += 1;
        let (said, answer) = TALK[(self.said / 2) as usize % TALK.len()];
        let (role, text) = if self.said % 2 == 1 { (Role::User, said) } else { (Role::Assistant, answer) };
        let id = MessageId(format!("m{}", self.said));
        let message = Message { message_id: Some(id.clone()), ..Message::text(text) };
        let now = SystemClock.now();
        let fresh = RandomIds.fresh(now);
        let command = Command::Say { role, message };
        let about = Circumstances { now, fresh, spoken: None };
        let mut decided = decide(&self.state, &Policy::default(), &command, &Facts::default(), &about)
            .map_err(|refused| anyhow::anyhow!("{refused:?}"))?;
        let append = Append::of(fresh.into(), Arc::clone(&self.state), &mut decided, Some(id));
        self.state = Arc::clone(&append.next);
        Ok(append)
    }

    /// Fills the scope up to so many messages.
    pub async fn fill(&mut self, messages: u64) -> anyhow::Result<()> {
        while self.state.messages < messages {
            let count = (messages - self.state.messages).min(BATCH as u64);
            let appends = (0..count).map(|_| self.next()).collect::<anyhow::Result<Vec<_>>>()?;
            self.store.append_many(appends).await.1?;
        }
        Ok(())
    }

    /// Says messages, and returns the microseconds of each.
    pub async fn turns(&mut self, count: usize) -> anyhow::Result<Vec<f64>> {
        let mut times = Vec::with_capacity(count);
        for _ in 0..count {
            let began = SystemClock.ticks_us();
            let append = self.next()?;
            self.store.append(append).await?;
            times.push((SystemClock.ticks_us() - began) as f64);
        }
        Ok(times)
    }

    /// Returns how many entries the last message took.
    pub async fn entries_of_a_turn(&mut self) -> anyhow::Result<usize> {
        let before = self.state.head;
        self.turns(1).await?;
        let Seq(after) = self.state.head;
        Ok(usize::try_from(after - before.0)?)
    }
}

/// Sends messages through the whole engine, and returns the microseconds of each.
pub async fn through_engine(engine: &Engine, scope: &str, count: usize) -> anyhow::Result<Vec<f64>> {
    let scope: Key = scope.parse()?;
    let mut times = Vec::with_capacity(count);
    for n in 0..count {
        let (said, answer) = TALK[(n / 2) % TALK.len()];
        let began = SystemClock.ticks_us();
        let now = engine.now();
        let mut inbound = Inbound::user(scope.clone(), now, if n % 2 == 0 { said } else { answer });
        inbound.role = if n % 2 == 0 { Role::User } else { Role::Assistant };
        inbound.message.message_id = Some(MessageId(RandomIds.fresh(now).0.to_string()));
        Box::pin(engine.receive(inbound)).await?;
        times.push((SystemClock.ticks_us() - began) as f64);
    }
    Ok(times)
}
