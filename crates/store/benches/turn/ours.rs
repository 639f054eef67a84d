//! Our side: a scope, its state in memory as the engine keeps it, and its turns.

use crate::Outcome;
use crate::figure::{answer, question};
use segue_core::decide::{Circumstances, Command, Decided, decide};
use segue_core::facts::Facts;
use segue_core::message::{Message, Role};
use segue_core::policy::Policy;
use segue_core::session::Id;
use segue_core::state::State;
use segue_store::sqlite::Sqlite;
use segue_store::{Append, AppendId, Store};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub fn open(folder: &Path) -> Outcome<Arc<dyn Store>> {
    Ok(Arc::new(Sqlite::open(&folder.join("segue.db"))?))
}

pub fn scope(number: usize) -> String {
    format!("agent:main:telegram:direct:{number:09}")
}

pub struct Scope {
    store: Arc<dyn Store>,
    pub state: Arc<State>,
    policy: Policy,
}

impl Scope {
    pub fn new(store: Arc<dyn Store>, number: usize) -> Outcome<Self> {
        let state = Arc::new(State::empty(scope(number).parse()?));
        Ok(Self { store, state, policy: Policy::default() })
    }

    /// A scope whose state is read from the store.
    pub async fn cold(store: Arc<dyn Store>, number: usize) -> Outcome<Self> {
        let state = store.load(&scope(number).parse()?).await?.ok_or("no such scope")?;
        Ok(Self { store, state, policy: Policy::default() })
    }

    pub fn decide(&self, state: &State, turn: usize, command: &Command) -> Outcome<Decided> {
        let now = jiff::Timestamp::from_second(1_772_359_200 + turn as i64)?;
        let fresh = Id(uuid::Uuid::from_u128(turn as u128));
        Ok(decide(
            state,
            &self.policy,
            command,
            &Facts::default(),
            &Circumstances { now, fresh, spoken: None },
        )?)
    }

    /// Decides a question and its answer, to be kept by one append.
    fn decide_turn(&self, state: &State, turn: usize) -> Outcome<Decided> {
        let say = |role, text| Command::Say { role, message: Message::text(text) };
        let asked = self.decide(state, turn, &say(Role::User, question(turn)))?;
        let mut answered = self.decide(&asked.state, turn, &say(Role::Assistant, answer(turn)))?;
        answered.records.splice(0..0, asked.records);
        Ok(answered)
    }

    /// A question, what was decided for it, its answer, and the scope's row, durable.
    pub async fn turn(&mut self, turn: usize) -> Outcome<()> {
        let mut decided = self.decide_turn(&self.state, turn)?;
        let append = Append::of(append_id(), self.state.clone(), &mut decided, None);
        let next = append.next.clone();
        self.store.append(append).await?;
        self.state = next;
        Ok(())
    }

    /// Many turns in one append.
    pub async fn turns(&mut self, turns: std::ops::Range<usize>) -> Outcome<()> {
        let (mut state, mut records) = (self.state.clone(), Vec::new());
        for turn in turns {
            let decided = self.decide_turn(&state, turn)?;
            records.extend(decided.records);
            state = Arc::new(decided.state);
        }
        let prior = std::mem::replace(&mut self.state, state.clone());
        let (garbage, erase) = (Vec::new(), Vec::new());
        Ok(self
            .store
            .append(Append { id: append_id(), prior, next: state, records, message_id: None, garbage, erase })
            .await?)
    }

    pub async fn run(&mut self, turn: usize, command: &Command) -> Outcome<()> {
        let mut decided = self.decide(&self.state, turn, command)?;
        let append = Append::of(append_id(), self.state.clone(), &mut decided, None);
        let next = append.next.clone();
        self.store.append(append).await?;
        self.state = next;
        Ok(())
    }
}

/// Makes ids that differ.
fn append_id() -> AppendId {
    static IDS: AtomicU64 = AtomicU64::new(1);
    AppendId(u128::from(IDS.fetch_add(1, Ordering::Relaxed)).to_be_bytes())
}

pub fn runtime() -> Outcome<tokio::runtime::Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().worker_threads(2).build()?)
}
