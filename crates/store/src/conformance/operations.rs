//! Random operations, done to a store and to the naive model, and what must hold after each.

use super::Bench;
use super::model::Model;
use super::world::{World, text};
use crate::{Reading, Store, Take};
use proptest::prelude::*;
use segue_core::decide::Command;
use segue_core::entry::{Body, Bytes, Record, Seq};
use segue_core::evolve::evolve;
use segue_core::message::{Message, Role};
use segue_core::pins::{Pinned, Texts};
use segue_core::policy::{Backlog, Excess};
use segue_core::refusal::Refusal;
use segue_core::retention::KeepChoice;
use segue_core::session::{Number, Title};
use segue_core::state::State;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An operation; the numbers pick among what there is.
#[derive(Debug, Clone)]
pub enum Operation {
    Say(u8),
    SayAfterDays,
    SayFromThePast,
    Reply(u8),
    New,
    Clear,
    Resume(u8),
    Undo,
    Redo,
    Fork(u8, Option<u8>),
    Split(u8),
    Merge(u8, u8),
    Rename(u8),
    Pin(u8, u8),
    Prune(u8),
    Delete(u8),
    Erase(u8),
    Sweep,
    Reopen,
    Search,
    Import(u8),
    Wish(u8, bool),
    Restore(u8),
    /// The other process goes on.
    Switch,
}

pub fn any_operations() -> impl Strategy<Value = Vec<Operation>> {
    use Operation::*;
    let one = prop_oneof![
        8 => any::<u8>().prop_map(Say),
        2 => Just(SayAfterDays),
        1 => Just(SayFromThePast),
        2 => any::<u8>().prop_map(Reply),
        3 => Just(New),
        1 => Just(Clear),
        3 => any::<u8>().prop_map(Resume),
        4 => Just(Undo),
        2 => Just(Redo),
        3 => (any::<u8>(), any::<Option<u8>>()).prop_map(|(a, b)| Fork(a, b)),
        3 => any::<u8>().prop_map(Split),
        1 => (any::<u8>(), any::<u8>()).prop_map(|(a, b)| Merge(a, b)),
        1 => any::<u8>().prop_map(Rename),
        2 => (any::<u8>(), any::<u8>()).prop_map(|(a, b)| Pin(a, b)),
        1 => (1u8..5).prop_map(Prune),
        1 => any::<u8>().prop_map(Delete),
        1 => any::<u8>().prop_map(Erase),
        1 => Just(Sweep),
        1 => Just(Reopen),
        1 => Just(Search),
        2 => (0u8..4).prop_map(Import),
        2 => (any::<u8>(), any::<bool>()).prop_map(|(session, keep)| Wish(session, keep)),
        1 => any::<u8>().prop_map(Restore),
        2 => Just(Switch),
    ];
    prop::collection::vec(one, 1..40)
}

fn pick<T: Copy>(of: impl IntoIterator<Item = T>, by: u8) -> Option<T> {
    let all: Vec<T> = of.into_iter().collect();
    (!all.is_empty()).then(|| all[by as usize % all.len()])
}

pub struct Pair<'a> {
    bench: &'a dyn Bench,
    world: World,
    model: Model,
    /// Where each message of the model stands in the log.
    places: BTreeMap<u64, Seq>,
    /// What stood in sealed segments when they were sealed.
    sealed: BTreeMap<Seq, Record>,
    /// The store as another process has it open.
    other: Option<Arc<dyn Store>>,
}

/// How many sessions are listed.
const LISTED_MAX: usize = 6;

impl<'a> Pair<'a> {
    pub fn new(bench: &'a dyn Bench, excess: Excess) -> Self {
        let mut world = World::new(bench.open());
        world.policy.backlog = Backlog::new(LISTED_MAX as u32).unwrap();
        world.policy.excess = excess;
        let (places, sealed) = (BTreeMap::new(), BTreeMap::new());
        Self { bench, world, model: Model::new(), places, sealed, other: bench.open_beside() }
    }

    fn keep_backlog(&mut self) {
        self.model.keep_backlog(LISTED_MAX, self.world.policy.excess);
    }

    fn live(&self, by: u8) -> Option<u32> {
        pick(self.model.live.keys().copied(), by)
    }

    fn message_of(&self, session: u32, by: u8) -> Option<u64> {
        pick(self.model.live[&session].iter().copied(), by)
    }

    fn next_message(&self) -> u64 {
        self.places.len() as u64 + 1
    }

    async fn run(&mut self, command: &Command) -> Result<(), Refusal> {
        self.world.now += jiff::SignedDuration::from_secs(1);
        self.world.run(command).await.map(drop)
    }

    /// Says something and notes where it went; the command must write exactly one message.
    async fn arrives(&mut self, command: &Command) {
        let decided = self.world.run(command).await.unwrap();
        self.places.insert(self.next_message(), decided.about.unwrap());
    }

    fn say(&self, role: Role) -> Command {
        Command::Say { role, message: Message::text(format!("message {}", self.next_message())) }
    }

    pub async fn step(&mut self, operation: &Operation) {
        let message = self.next_message();
        match operation {
            Operation::Say(by) => {
                self.world.now += jiff::SignedDuration::from_secs(1);
                self.arrives(&self.say(Role::ALL[*by as usize % 4])).await;
                self.model.say(message);
            }
            Operation::SayAfterDays => {
                self.world.now += jiff::SignedDuration::from_hours(50);
                self.arrives(&self.say(Role::User)).await;
                if self.model.latest.is_some() {
                    self.model.new_session();
                }
                self.model.say(message);
                self.keep_backlog();
            }
            Operation::SayFromThePast => {
                if self.model.latest.is_none() {
                    return;
                }
                let now = self.world.now;
                self.world.now -= jiff::SignedDuration::from_hours(1000);
                self.arrives(&self.say(Role::User)).await;
                self.world.now = now;
                self.model.say(message);
            }
            Operation::Reply(by) => {
                // To any number that was ever given: merged sessions pass it on, dropped ones refuse.
                let session = u32::from(*by) % self.model.next.max(1) + 1;
                let said = Message::text(format!("message {message}"));
                let command =
                    Command::Reply { role: Role::Assistant, message: said, session: Number(session) };
                match self.model.home(session) {
                    Some(_) => {
                        self.arrives(&command).await;
                        self.model.reply(session, message);
                    }
                    None => assert!(matches!(self.run(&command).await, Err(Refusal::NoSession(_)))),
                }
            }
            Operation::New => {
                self.run(&Command::New { first: None }).await.unwrap();
                self.model.new_session();
                self.keep_backlog();
            }
            Operation::Clear => {
                self.world.legacy().await.unwrap();
                self.model.clear();
            }
            Operation::Resume(by) => {
                let Some(session) = self.live(*by) else { return };
                let done = self.run(&Command::Resume { session: Number(session) }).await;
                if self.model.latest == Some(session) {
                    assert_eq!(done, Err(Refusal::AlreadyActive(Number(session))));
                } else {
                    done.unwrap();
                    self.model.resume(session);
                }
            }
            Operation::Undo => {
                let done = self.run(&Command::Undo).await;
                if self.model.can_undo() {
                    done.unwrap();
                    self.model.undo();
                } else {
                    assert_eq!(done, Err(Refusal::NothingToUndo));
                }
            }
            Operation::Redo => {
                let done = self.run(&Command::Redo).await;
                if self.model.can_redo() {
                    done.unwrap();
                    self.model.redo();
                } else {
                    assert_eq!(done, Err(Refusal::NothingToRedo));
                }
            }
            Operation::Fork(by, at) => {
                let Some(session) = self.live(*by) else { return };
                let at = at.and_then(|at| self.message_of(session, at));
                let cut = match at {
                    Some(at) => Some(self.world.cut(Number(session), self.places[&at]).await),
                    None => None,
                };
                self.run(&Command::Fork { session: Number(session), at: cut }).await.unwrap();
                self.model.fork(session, at);
                self.keep_backlog();
            }
            Operation::Split(by) => {
                let Some(session) = self.model.latest else { return };
                let Some(at) = self.message_of(session, *by) else { return };
                let cut = self.world.cut(Number(session), self.places[&at]).await;
                let done = self.run(&Command::Split { at: cut }).await;
                if self.model.live[&session].first() == Some(&at) {
                    assert_eq!(done, Err(Refusal::NothingBefore(self.places[&at])));
                } else {
                    done.unwrap();
                    self.model.split(at);
                    self.keep_backlog();
                }
            }
            Operation::Merge(a, b) => {
                let (Some(from), Some(into)) = (self.live(*a), self.live(*b)) else { return };
                let done = self.run(&Command::Merge { from: Number(from), into: Number(into) }).await;
                if from == into {
                    assert_eq!(done, Err(Refusal::SameSession));
                } else {
                    done.unwrap();
                    self.model.merge(from, into);
                }
            }
            Operation::Rename(by) => {
                let Some(session) = self.live(*by) else { return };
                let title = Title::new(&format!("title {by}")).unwrap();
                self.run(&Command::Rename { session: Number(session), title }).await.unwrap();
            }
            Operation::Pin(by, what) => {
                let Some(session) = self.live(*by) else { return };
                let change = self.model.pin(session, *what);
                let texts = if *by < 200 { Texts::Known } else { Texts::Anew };
                let command = Command::Pin { session: Number(session), change: Box::new(change), texts };
                self.run(&command).await.unwrap();
            }
            Operation::Prune(keep) => {
                let keep = u32::from(*keep);
                let done = self.run(&Command::Prune { keep: Backlog::new(keep).unwrap() }).await;
                assert_eq!(done.is_ok(), self.model.latest.is_some());
                self.model.prune(keep as usize);
            }
            Operation::Delete(by) => {
                let Some(session) = self.live(*by) else { return };
                let done = self.run(&Command::Delete { session: Number(session) }).await;
                if self.model.latest == Some(session) {
                    assert_eq!(done, Err(Refusal::Active(Number(session))));
                } else {
                    done.unwrap();
                    self.model.drop_session(session);
                }
            }
            Operation::Erase(by) => {
                let Some(session) = self.live(*by) else { return };
                let Some(message) = self.message_of(session, *by) else { return };
                self.run(&Command::Erase { entries: vec![self.places[&message]], along: Vec::new() })
                    .await
                    .unwrap();
                self.model.erased.insert(message);
            }
            Operation::Sweep => {
                self.world.store.sweep().await.unwrap();
            }
            Operation::Search => self.search().await,
            Operation::Import(messages) => {
                self.run(&Command::OpenImported).await.unwrap();
                self.model.import();
                for _ in 0..*messages {
                    let message = self.next_message();
                    let said = Message::text(format!("message {message}"));
                    self.arrives(&Command::Keep { role: Role::User, message: said }).await;
                    self.model.say(message);
                }
                // Some are cut off: the session that was opened stays the latest one.
                if messages.is_multiple_of(2) {
                    let ended = self.run(&Command::EndImport).await;
                    assert_eq!(ended.is_ok(), self.model.end_import(), "{ended:?}");
                }
            }
            Operation::Wish(by, keep) => {
                let Some(session) = self.live(*by) else { return };
                let wish = if *keep { KeepChoice::Keep } else { KeepChoice::Release };
                self.run(&Command::KeepChoice { session: Number(session), wish }).await.unwrap();
                self.model.wish(session, *keep);
            }
            Operation::Restore(by) => {
                let Some(session) = self.live(*by) else { return };
                self.run(&Command::Restore { session: Number(session) }).await.unwrap();
                self.model.restore(session);
            }
            Operation::Switch => {
                if let Some(other) = &mut self.other {
                    std::mem::swap(other, &mut self.world.store);
                }
            }
            Operation::Reopen => {
                if self.bench.is_durable() {
                    self.other = None;
                    self.world.store = Arc::new(crate::memory::Memory::default());
                    self.world.store = self.bench.open();
                    self.other = self.bench.open_beside();
                }
            }
        }
    }

    /// What must hold after every step.
    pub async fn check(&mut self) {
        let state = self.world.state().await;
        assert_eq!(state.latest().map(|n| n.0), self.model.latest);
        assert_eq!(state.next_session.0, self.model.next, "a number is never used again");
        let expected: Vec<u32> = self.model.listed().rev().collect();
        assert_eq!(state.list().map(|(number, _)| number.0).collect::<Vec<_>>(), expected);
        let there: Vec<u32> = self.model.live.keys().rev().copied().collect();
        assert_eq!(state.all().map(|(number, _)| number.0).collect::<Vec<_>>(), there, "archived ones too");
        let kept: Vec<u32> = self.model.live.keys().copied().filter(|n| state.is_kept(Number(*n))).collect();
        assert_eq!(kept, self.model.kept.iter().copied().collect::<Vec<_>>());
        for (session, messages) in &self.model.live {
            let said: Vec<String> = messages.iter().map(|m| self.told(*m)).collect();
            let number = Number(*session);
            assert_eq!(self.world.texts(number).await, said, "session {session}");
            assert_eq!(state.messages_of(number) as usize, said.len());
            self.both_ends(&state, number, &said).await;
            self.pinned(&state, *session).await;
        }
        self.fold_is_projection(&state).await;
    }

    fn told(&self, message: u64) -> String {
        match self.model.erased.contains(&message) {
            true => "(erased)".to_owned(),
            false => format!("message {message}"),
        }
    }

    async fn both_ends(&self, state: &State, number: Number, said: &[String]) {
        let few = said.len().min(3);
        for (take, expected) in
            [(Take::Newest(3), &said[said.len() - few..]), (Take::Oldest(3), &said[..few])]
        {
            let reading = Reading::messages(state.view(number), take);
            let records = self.world.store.read(&self.world.scope, &reading).await.unwrap();
            assert_eq!(records.iter().map(text).collect::<Vec<_>>(), expected);
        }
    }

    /// A session is pinned to what it was last told, and the text is where the pin says.
    async fn pinned(&self, state: &State, session: u32) {
        let pins = &state.sessions.get(&Number(session)).unwrap().pins;
        let (agent, persona) = self.model.pins.get(&session).cloned().unwrap_or_default();
        assert_eq!(pins.agent.as_ref().map(|agent| agent.name.clone()), agent);
        let found = match &pins.persona {
            None => None,
            Some(persona) => {
                let record =
                    self.world.store.get(&self.world.scope, persona.files.seq).await.unwrap().unwrap();
                match record.body().unwrap() {
                    Body::Pinned(Pinned::Text { text, .. }) => Some(text),
                    other => panic!("session {session} is pinned to {other:?}"),
                }
            }
        };
        assert_eq!(found, persona, "session {session}");
    }

    async fn fold_is_projection(&mut self, stored: &State) {
        let log = self.world.whole_log().await;
        let mut folded = State::empty(self.world.scope.clone());
        for record in &log {
            evolve(&mut folded, record).unwrap();
        }
        assert_eq!(&folded, stored, "the fold of the log is what the store has");
        for record in &log {
            if !stored.segments.contains_key(&record.segment) {
                continue;
            }
            let before = self.sealed.entry(record.seq).or_insert_with(|| record.clone());
            let erased = matches!(record.bytes, Bytes::Erased(_)) && record.body_hash() == before.body_hash();
            let header = |r: &Record| (r.seq, r.segment, r.at, r.nth, r.kind);
            assert_eq!(header(before), header(record));
            assert!(before.bytes == record.bytes || erased, "sealed bytes never change");
        }
    }

    /// A message is found if a session other than the latest sees it and it was not erased; nothing else is.
    pub async fn search(&self) {
        let state = self.world.state().await;
        let latest = self.model.latest.and_then(|latest| self.model.live.get(&latest));
        for message in self.places.keys() {
            let seen = self.model.live.values().any(|said| said.contains(message));
            let hidden = latest.is_some_and(|said| said.contains(message));
            let expected = seen && !hidden && !self.model.erased.contains(message);
            let hits = super::searching::search(&self.world, &state, &message.to_string()).await;
            let found: Vec<Seq> = hits.iter().map(|hit| hit.record.seq).collect();
            assert_eq!(found.contains(&self.places[message]), expected, "message {message}");
        }
    }

    pub async fn verify(&self) {
        self.world.verify().await;
    }
}
