//! A scope in a store, driven by the rules and nothing else.

use crate::{Append, AppendId, Error, Reading, Store, Take};
use segue_core::Timestamp;
use segue_core::decide::{Circumstances, Command, Decided, decide, needs};
use segue_core::entry::{Body, Record, Seq, Spoken};
use segue_core::facts::{Facts, Need};
use segue_core::message::{Message, MessageId, Role};
use segue_core::policy::{Mode, Policy};
use segue_core::refusal::Refusal;
use segue_core::scope::Key;
use segue_core::session::{Id, Number};
use segue_core::span::Cut;
use segue_core::state::State;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub struct World {
    pub store: Arc<dyn Store>,
    pub scope: Key,
    pub now: Timestamp,
    pub policy: Policy,
    ids: u128,
}

pub fn said(text: &str) -> Command {
    Command::Say { role: Role::User, message: Message::text(text) }
}

impl World {
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self::at(store, "agent:main:cli:direct:me")
    }

    pub fn at(store: Arc<dyn Store>, scope: &str) -> Self {
        let now = "2026-03-01T10:00:00Z".parse().unwrap();
        Self { store, scope: scope.parse().unwrap(), now, policy: Policy::default(), ids: 0 }
    }

    pub async fn state(&self) -> Arc<State> {
        let state = self.store.load(&self.scope).await.unwrap();
        state.unwrap_or_else(|| Arc::new(State::empty(self.scope.clone())))
    }

    /// Makes an id that no other append has.
    pub fn append_id(&self) -> AppendId {
        static IDS: AtomicU64 = AtomicU64::new(1);
        AppendId(u128::from(IDS.fetch_add(1, Ordering::Relaxed)).to_be_bytes())
    }

    pub fn decide(&mut self, state: &State, command: &Command) -> Result<Decided, Refusal> {
        self.decide_knowing(state, command, &Facts::default())
    }

    pub fn needs(&self, state: &State, command: &Command) -> Vec<Need> {
        let fresh = Id(uuid::Uuid::nil());
        needs(state, &self.policy, command, &Circumstances { now: self.now, fresh, spoken: None })
    }

    pub fn decide_knowing(
        &mut self,
        state: &State,
        command: &Command,
        facts: &Facts,
    ) -> Result<Decided, Refusal> {
        self.ids += 1;
        let spoken = match command {
            Command::Say { .. } | Command::Reply { .. } => None,
            _ => Some(Spoken { text: "/command".into(), ..Spoken::default() }),
        };
        let fresh = Id(uuid::Uuid::from_u128(self.ids));
        decide(state, &self.policy, command, facts, &Circumstances { now: self.now, fresh, spoken })
    }

    pub fn append_of(&mut self, state: Arc<State>, command: &Command) -> Result<(Append, Decided), Refusal> {
        let mut decided = self.decide(&state, command)?;
        let id = match command {
            Command::Say { message, .. } => message.message_id.clone(),
            _ => None,
        };
        Ok((Append::of(self.append_id(), state, &mut decided, id), decided))
    }

    /// Decides and appends.
    pub async fn run(&mut self, command: &Command) -> Result<Decided, Refusal> {
        let state = self.state().await;
        let (append, decided) = self.append_of(state, command)?;
        self.store.append(append).await.unwrap();
        Ok(decided)
    }

    pub async fn say(&mut self, text: &str) -> Decided {
        self.run(&said(text)).await.unwrap()
    }

    pub async fn say_as(&mut self, text: &str, id: &str) -> Result<(), Error> {
        let message = Message { message_id: Some(MessageId(id.into())), ..Message::text(text) };
        let state = self.state().await;
        let (append, _) = self.append_of(state, &Command::Say { role: Role::User, message }).unwrap();
        self.store.append(append).await
    }

    pub async fn legacy(&mut self) -> Result<Decided, Refusal> {
        self.policy.mode = Mode::Legacy;
        let done = self.run(&Command::New { first: None }).await;
        self.policy.mode = Mode::Segmented;
        done
    }

    /// Reads what a session says, through the store.
    pub async fn texts(&self, session: Number) -> Vec<String> {
        let view = self.state().await.view(session);
        let reading = Reading::messages(view, Take::Newest(100_000));
        let records = self.store.read(&self.scope, &reading).await.unwrap();
        records.iter().map(text).collect()
    }

    /// Finds where a view can be cut, as the engine does.
    pub async fn cut(&self, session: Number, message: Seq) -> Cut {
        let record = self.store.get(&self.scope, message).await.unwrap().unwrap();
        let across = self.state().await.view(session).across(message);
        let before = self.store.count_before(&self.scope, message, &across).await.unwrap();
        Cut { message, segment: record.segment, before }
    }

    pub async fn whole_log(&self) -> Vec<Record> {
        let mut all: Vec<Record> = Vec::new();
        loop {
            let after = all.last().map_or(Seq::ZERO, |record| record.seq);
            let page = self.store.tail(&self.scope, after, 1_000).await.unwrap();
            if page.is_empty() {
                return all;
            }
            all.extend(page);
        }
    }

    pub async fn verify(&self) {
        let report = crate::verify::verify(self.store.as_ref(), &self.scope).await.unwrap();
        assert_eq!(report.problems, Vec::<String>::new());
    }
}

pub fn text(record: &Record) -> String {
    match record.body().unwrap() {
        Body::Message(_, message) => message.text,
        Body::Gone(_) => "(erased)".into(),
        other => panic!("not a message: {other:?}"),
    }
}
