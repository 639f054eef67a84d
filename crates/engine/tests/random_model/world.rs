//! Two engines on one database, and what the naive model says about it.

use super::operations::{Channel, Operation, Verb};
use jiff::SignedDuration;
use jiff::tz::TimeZone;
use segue_core::Timestamp;
use segue_core::message::{Message, MessageId, Role};
use segue_core::policy::Excess;
use segue_core::scope::Key;
use segue_core::session::Number;
use segue_core::state::State;
use segue_engine::config::{Config, Layer, Origin};
use segue_engine::port::Conversation;
use segue_engine::route::Address;
use segue_engine::{Delivery, Engine, Inbound, Request, Target};
use segue_store::conformance::model::Model;
use segue_store::conformance::{folder, text};
use segue_store::{Location, Reading, Take};
use std::collections::BTreeMap;
use std::sync::Arc;

/// How many sessions are listed.
const LISTED_MAX: usize = 4;

/// How an erased message is read.
const ERASED: &str = "(erased)";

const CONFIG: &str = "timezone = 'UTC'
session = { backlog_limit = 4, identity_links = { ann = ['telegram:111', 'signal:7'] } }
lifecycle = { auto_route = 'never' }
memory = { keep = 'nothing' }";

/// A fault that is planted: the engines are asked for something else than the model is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    ArchiveDrops,
    KeepIgnored,
    DeleteIgnored,
    EraseIgnored,
    ImportPushesOut,
    UndoOrphans,
    RedoMixes,
    SecondIsStale,
    IdsWithoutChannel,
}

impl Channel {
    const ALL: [Self; 3] = [Self::AnnTelegram, Self::AnnSignal, Self::BobTelegram];

    fn address(self) -> Address {
        match self {
            Self::AnnTelegram => Address::direct("telegram", "111"),
            Self::AnnSignal => Address::direct("signal", "7"),
            Self::BobTelegram => Address::direct("telegram", "222"),
        }
    }

    fn scope(self) -> Key {
        let key = match self {
            Self::AnnTelegram | Self::AnnSignal => "agent:main:direct:ann",
            Self::BobTelegram => "agent:main:telegram:direct:222",
        };
        key.parse().unwrap()
    }
}

/// A scope as the model has it.
struct Person {
    model: Model,
    /// What each message says.
    texts: BTreeMap<u64, String>,
}

impl Person {
    /// Tells whether anything was ever said or asked for.
    fn is_there(&self) -> bool {
        self.model.latest.is_some()
    }
}

pub struct World {
    engines: [Engine; 2],
    people: BTreeMap<Key, Person>,
    /// What each channel has delivered: the id, the text, and which message it is.
    delivered: BTreeMap<Channel, Vec<(String, String, u64)>>,
    now: Timestamp,
    imports: u32,
    fault: Option<Fault>,
    /// What the second process last saw, where it does not look again.
    stale: BTreeMap<Key, Arc<State>>,
    _folder: tempfile::TempDir,
}

fn pick<T: Copy>(of: impl IntoIterator<Item = T>, by: u8) -> Option<T> {
    let all: Vec<T> = of.into_iter().collect();
    (!all.is_empty()).then(|| all[by as usize % all.len()])
}

impl World {
    pub async fn new(fault: Option<Fault>) -> Self {
        let folder = folder();
        let open = async || {
            let layer = Layer::toml(Origin::Workspace("t.toml".into()), CONFIG.to_owned());
            let config = Config::load(vec![layer], &TimeZone::UTC).unwrap();
            Engine::open(Location::Sqlite(folder.path().join("segue.db")).open().unwrap(), config)
                .await
                .unwrap()
        };
        let engines = [open().await, open().await];
        let person = || Person { model: Model::new(), texts: BTreeMap::new() };
        let people = Channel::ALL.map(|channel| (channel.scope(), person())).into_iter().collect();
        let now = "2026-03-01T10:00:00Z".parse().unwrap();
        let (delivered, stale) = (BTreeMap::new(), BTreeMap::new());
        Self { engines, people, delivered, now, imports: 0, fault, stale, _folder: folder }
    }

    fn is(&self, fault: Fault) -> bool {
        self.fault == Some(fault)
    }

    async fn send(&mut self, operation: &Operation, text: &str, id: Option<&str>) -> Delivery {
        self.now += SignedDuration::from_secs(1);
        let message = Message { message_id: id.map(|id| MessageId(id.into())), ..Message::text(text) };
        let to = match self.is(Fault::IdsWithoutChannel) {
            true => Target::Scope(operation.channel.scope()),
            false => Target::Address(operation.channel.address()),
        };
        let inbound = Inbound { at: self.now, to, role: Role::User, message, session: None };
        self.engines[operation.process].receive(inbound).await.unwrap().delivery
    }

    async fn command(&mut self, operation: &Operation, text: &str) {
        self.send(operation, text, None).await;
    }

    fn person(&mut self, channel: Channel) -> &mut Person {
        self.people.get_mut(&channel.scope()).unwrap()
    }

    /// A message arrives that was not there before.
    async fn arrives(&mut self, operation: &Operation, id: String, text: String) {
        let delivery = self.send(operation, &text, Some(&id)).await;
        assert_eq!(delivery, Delivery::First, "{id} of {:?}", operation.channel);
        let person = self.person(operation.channel);
        let message = person.texts.len() as u64 + 1;
        person.texts.insert(message, text.clone());
        person.model.say(message);
        self.delivered.entry(operation.channel).or_default().push((id, text, message));
    }

    pub async fn step(&mut self, operation: &Operation) {
        let channel = operation.channel;
        let live = |world: &mut Self, by: u8| pick(world.person(channel).model.live.keys().copied(), by);
        match operation.verb {
            Verb::Say => {
                // Each channel counts by itself, and people say the same on both.
                let id = self.delivered.get(&channel).map_or(0, |known| known.len()).to_string();
                self.arrives(operation, id.clone(), format!("remark {id} about the garden")).await;
            }
            Verb::Deliver(by) => {
                let known = self.delivered.get(&channel).map_or(0, |known| known.len());
                let Some(nth) = pick(0..known, by) else { return };
                let (id, text, _) = self.delivered[&channel][nth].clone();
                assert_eq!(self.send(operation, &text, Some(&id)).await, Delivery::Again);
            }
            Verb::Edit(by) => {
                let there = |world: &mut Self, message: u64| {
                    let person = world.person(channel);
                    let is_erased = person.texts[&message] == ERASED;
                    !is_erased && person.model.live.values().any(|said| said.contains(&message))
                };
                let known = self.delivered.get(&channel).map_or(0, |known| known.len());
                let Some(nth) = pick(0..known, by) else { return };
                let (id, _, _) = self.delivered[&channel][nth].clone();
                let first = self.delivered[&channel].iter().find(|(known, _, _)| *known == id);
                let (_, _, message) = first.unwrap();
                // What is gone cannot be compared: then it counts as delivered.
                if there(self, *message) {
                    self.arrives(operation, id, format!("edit {known} about the garden")).await;
                }
            }
            Verb::New => {
                self.command(operation, "/new").await;
                let model = &mut self.person(channel).model;
                model.new_session();
                model.keep_backlog(LISTED_MAX, Excess::Archive);
            }
            Verb::Undo => self.undo(operation).await,
            Verb::Redo => {
                let can = self.person(channel).model.can_redo();
                let text = if can && self.is(Fault::RedoMixes) { "/new" } else { "/redo" };
                self.command(operation, text).await;
                if can {
                    self.person(channel).model.redo();
                }
            }
            Verb::Resume(by) => {
                let Some(session) = live(self, by) else { return };
                self.command(operation, &format!("/session resume {session}")).await;
                let model = &mut self.person(channel).model;
                if model.latest != Some(session) {
                    model.resume(session);
                }
            }
            Verb::Fork => {
                let Some(latest) = self.person(channel).model.latest else { return };
                self.command(operation, "/session fork").await;
                let model = &mut self.person(channel).model;
                model.fork(latest, None);
                model.keep_backlog(LISTED_MAX, Excess::Archive);
            }
            Verb::Keep(by) => {
                let Some(session) = live(self, by) else { return };
                if !self.is(Fault::KeepIgnored) {
                    self.command(operation, &format!("/session keep {session}")).await;
                }
                self.person(channel).model.wish(session, true);
            }
            Verb::Restore(by) => {
                let Some(session) = live(self, by) else { return };
                self.command(operation, &format!("/session restore {session}")).await;
                self.person(channel).model.restore(session);
            }
            Verb::Delete(by) => {
                let Some(session) = live(self, by) else { return };
                if !self.is(Fault::DeleteIgnored) {
                    self.command(operation, &format!("/session delete {session}")).await;
                }
                let model = &mut self.person(channel).model;
                if model.latest != Some(session) {
                    model.drop_session(session);
                }
            }
            Verb::Erase(session, message) => {
                let Some(session) = live(self, session) else { return };
                self.erase(operation, session, message).await;
            }
            Verb::Import(messages) => self.import(operation, messages).await,
        }
        if self.is(Fault::ArchiveDrops) && self.person(channel).is_there() {
            let state = self.engines[0].state(&channel.scope()).await.unwrap();
            let archived: Vec<Number> = state
                .all()
                .map(|(number, _)| number)
                .filter(|n| !state.list().any(|(m, _)| m == *n))
                .collect();
            for session in archived {
                self.command(operation, &format!("/session delete {session}")).await;
            }
        }
    }

    async fn undo(&mut self, operation: &Operation) {
        let model = &self.person(operation.channel).model;
        let (can, latest, before) = (model.can_undo(), model.latest, model.live.clone());
        self.command(operation, "/undo").await;
        if !can {
            return;
        }
        let model = &mut self.person(operation.channel).model;
        model.undo();
        let joined = latest.filter(|latest| !model.live.contains_key(latest) && before.len() > 1);
        if joined.is_some() && self.is(Fault::UndoOrphans) {
            // What was joined goes away with an emptied session.
            let state = self.engines[0].state(&operation.channel.scope()).await.unwrap();
            let into = state.latest().unwrap();
            self.command(operation, "/new").await;
            self.command(operation, &format!("/session delete {into}")).await;
        }
    }

    async fn erase(&mut self, operation: &Operation, session: u32, by: u8) {
        let scope = operation.channel.scope();
        let said = self.person(operation.channel).model.live[&session].clone();
        let Some((nth, message)) = pick(said.into_iter().enumerate(), by) else { return };
        self.now += SignedDuration::from_secs(1);
        let engine = &self.engines[operation.process];
        let state = engine.state(&scope).await.unwrap();
        let reading = Reading::messages(state.view(Number(session)), Take::Newest(10_000));
        let seq = engine.store().read(&scope, &reading).await.unwrap()[nth].seq;
        if !self.is(Fault::EraseIgnored) {
            engine.request(&scope, self.now, &Request::Erase(vec![seq])).await.unwrap();
        }
        self.person(operation.channel).texts.insert(message, ERASED.to_owned());
    }

    async fn import(&mut self, operation: &Operation, messages: u8) {
        self.imports += 1;
        let number = self.imports;
        let texts: Vec<String> = (0..messages).map(|n| format!("import {number}, line {n}")).collect();
        let line = |text: &String| (self.now, Role::User, Message::text(text.clone()));
        let conversation =
            Conversation { title: None, pins: None, messages: texts.iter().map(line).collect() };
        let scope = operation.channel.scope();
        let engine = &self.engines[operation.process];
        engine.import(&scope, conversation).await.unwrap();
        let latest = engine.state(&scope).await.unwrap().latest().map(|number| number.0);
        let person = self.person(operation.channel);
        let oldest = person.model.live.keys().next().copied();
        let is_own = |session: &u32| !person.model.imported.contains(session);
        let is_own = person.model.latest.as_ref().is_some_and(is_own);
        person.model.import();
        for text in texts {
            let message = person.texts.len() as u64 + 1;
            person.texts.insert(message, text);
            person.model.say(message);
        }
        // Who has talked in an imported session stays there, too.
        if is_own || latest != person.model.latest {
            person.model.end_import();
        }
        if let Some(oldest) = oldest.filter(|_| self.is(Fault::ImportPushesOut)) {
            self.command(operation, &format!("/session delete {oldest}")).await;
        }
    }

    /// What must hold after every step, for each process.
    pub async fn check(&mut self) {
        for (scope, person) in self.people.iter().filter(|(_, person)| person.is_there()) {
            for (nth, engine) in self.engines.iter().enumerate() {
                let mut state = engine.state(scope).await.unwrap();
                if nth == 1 && self.fault == Some(Fault::SecondIsStale) {
                    state = Arc::clone(self.stale.entry(scope.clone()).or_insert(state));
                }
                check_scope(engine, &state, person).await;
            }
        }
    }

    /// The log is sound.
    pub async fn verify(&self) {
        for (scope, _) in self.people.iter().filter(|(_, person)| person.is_there()) {
            let store = self.engines[0].store();
            let report = segue_store::verify::verify(store.as_ref(), scope).await.unwrap();
            assert_eq!(report.problems, Vec::<String>::new());
        }
    }
}

async fn check_scope(engine: &Engine, state: &State, person: &Person) {
    let model = &person.model;
    assert_eq!(state.latest().map(|n| n.0), model.latest);
    assert_eq!(state.next_session.0, model.next, "a number is never used again");
    let listed: Vec<u32> = state.list().map(|(number, _)| number.0).collect();
    assert_eq!(listed, model.listed().rev().collect::<Vec<_>>(), "listed");
    let there: Vec<u32> = state.all().map(|(number, _)| number.0).collect();
    assert_eq!(there, model.live.keys().rev().copied().collect::<Vec<_>>(), "archived ones too");
    let kept: Vec<u32> = there.iter().rev().copied().filter(|n| state.is_kept(Number(*n))).collect();
    assert_eq!(kept, model.kept.iter().copied().collect::<Vec<_>>(), "kept");
    for (session, messages) in &model.live {
        let expected: Vec<&str> = messages.iter().map(|m| person.texts[m].as_str()).collect();
        let reading = Reading::messages(state.view(Number(*session)), Take::Newest(10_000));
        let records = engine.store().read(&state.scope, &reading).await.unwrap();
        assert_eq!(records.iter().map(text).collect::<Vec<_>>(), expected, "session {session}");
        if model.latest == Some(*session) {
            let context = engine.context(&state.scope).await.unwrap();
            let expected: Vec<&str> = expected.into_iter().filter(|text| *text != ERASED).collect();
            let shown: Vec<&str> = context.messages.iter().map(|told| told.text.as_str()).collect();
            assert_eq!(shown, expected, "the context");
        }
    }
}
