//! Tests of what only this store does; `tests/conformance` has what every store does.

mod crash;
mod damage;
mod erased;
mod fault;
mod healing;
mod index;
mod layout;
mod old_formats;
mod power;
mod power_cut;
mod quarantine;
mod random;
mod sweeping;
mod torn;

use super::Files;
use super::disk::{Disk, Machine};
use crate::error::Error;
use crate::types::{Append, Page, Reading, Take};
use segue_core::Timestamp;
use segue_core::decide::{Circumstances, Command, decide};
use segue_core::entry::{Body, Bytes, Record, Seq, Spoken};
use segue_core::facts::Facts;
use segue_core::message::{Message, MessageId, Role};
use segue_core::policy::{Backlog, Policy};
use segue_core::refusal::Refusal;
use segue_core::scope::Key;
use segue_core::session::{Id, Number, Title};
use segue_core::span::Cut;
use segue_core::state::State;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(super) const ME: &str = "agent:main:cli:direct:me";

pub(super) fn folder() -> tempfile::TempDir {
    // Thousands of small stores need no real disk.
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.unwrap()
}

/// What a store must know of a scope: the naive reading of the trait.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Expected {
    pub state: Option<Arc<State>>,
    pub log: BTreeMap<Seq, Record>,
}

impl Expected {
    fn after(&self, append: &Append) -> Self {
        let mut log = self.log.clone();
        log.extend(append.records.iter().map(|record| (record.seq, record.clone())));
        for seq in &append.erase {
            if let Some(record) = log.get_mut(seq) {
                record.bytes = Bytes::Erased(record.body_hash());
            }
        }
        Self { state: Some(Arc::clone(&append.next)), log }
    }

    /// The entries that must be there whether or not a sweep came through.
    fn kept(&self) -> Vec<Record> {
        let Some(state) = &self.state else { return Vec::new() };
        let open = state.open.as_ref().map(|open| open.number);
        let kept = |r: &&Record| {
            r.kind.is_structural() || Some(r.segment) == open || state.segments.contains_key(&r.segment)
        };
        self.log.values().filter(kept).cloned().collect()
    }
}

/// A store in a folder, and one scope that is talked to.
pub(super) struct Fixture {
    pub dir: PathBuf,
    pub files: Option<Files>,
    pub scope: Key,
    pub policy: Policy,
    pub expected: Expected,
    pub now: Timestamp,
    ids: u128,
}

impl Fixture {
    pub fn new(dir: &Path) -> Self {
        let mut fixture = Self::closed(dir);
        fixture.open(Arc::new(Machine)).unwrap();
        fixture
    }

    pub fn closed(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            files: None,
            scope: ME.parse().unwrap(),
            policy: Policy::default(),
            expected: Expected::default(),
            now: "2026-03-01T10:00:00Z".parse().unwrap(),
            ids: 0,
        }
    }

    pub fn open(&mut self, disk: Arc<dyn Disk>) -> Result<(), Error> {
        self.files = None;
        self.files = Some(Files::open_on(disk, &self.dir, None)?);
        Ok(())
    }

    pub fn reopen(&mut self) {
        self.open(Arc::new(Machine)).unwrap();
    }

    pub fn close(&mut self) {
        self.files = None;
    }

    pub fn inner(&self) -> &super::Inner {
        &self.files.as_ref().unwrap().inner
    }

    pub fn load(&self) -> Result<Option<Arc<State>>, Error> {
        self.inner().with(&self.scope, |scope| Ok(scope.state.clone()))
    }

    pub fn state(&self) -> Arc<State> {
        self.load().unwrap().unwrap()
    }

    pub fn log(&self) -> Vec<Record> {
        self.inner().with(&self.scope, |scope| scope.log(Seq::ZERO, usize::MAX)).unwrap()
    }

    pub fn append_of(&mut self, command: &Command) -> Append {
        self.decide(command).unwrap()
    }

    pub fn decide(&mut self, command: &Command) -> Result<Append, Refusal> {
        self.ids += 1;
        self.now += jiff::SignedDuration::from_secs(60);
        let state = self.expected.state.clone();
        let state = state.unwrap_or_else(|| Arc::new(State::empty(self.scope.clone())));
        let spoken = match command {
            Command::Say { .. } | Command::Reply { .. } => None,
            _ => Some(Spoken { text: "/command".into(), ..Spoken::default() }),
        };
        let at = Circumstances { now: self.now, fresh: Id(uuid::Uuid::from_u128(self.ids)), spoken };
        let mut decided = decide(&state, &self.policy, command, &Facts::default(), &at)?;
        let id = match command {
            Command::Say { message, .. } => message.message_id.clone(),
            _ => None,
        };
        let append = crate::AppendId(self.ids.to_be_bytes());
        Ok(Append::of(append, state, &mut decided, id))
    }

    pub(crate) fn try_run(&mut self, command: &Command) -> Result<(), (Error, Expected)> {
        let append = self.append_of(command);
        self.try_append(append)
    }

    pub(crate) fn try_append(&mut self, append: Append) -> Result<(), (Error, Expected)> {
        let after = self.expected.after(&append);
        match self.inner().append(append) {
            Ok(()) => {
                self.expected = after;
                Ok(())
            }
            Err(error) => Err((error, after)),
        }
    }

    pub fn run(&mut self, command: &Command) {
        self.try_run(command).map_err(|(error, _)| error).unwrap();
    }

    pub fn say(&mut self, text: &str) {
        self.run(&say(text));
    }

    pub fn new_session(&mut self) {
        self.run(&Command::New { first: None });
    }

    pub fn texts(&self, session: u32) -> Vec<String> {
        let reading = Reading::messages(self.state().view(Number(session)), Take::Newest(10_000));
        let records = self.inner().with(&self.scope, |scope| scope.read(&reading)).unwrap();
        records.iter().map(text).collect()
    }

    pub fn listed(&self) -> Vec<u32> {
        self.state().list().map(|(number, _)| number.0).collect()
    }

    pub fn scopes(&self) -> Vec<String> {
        let rows = self.inner().scopes(&Page::first(usize::MAX)).unwrap();
        rows.rows.into_iter().map(|row| row.scope.to_string()).collect()
    }

    /// Reads the index, once the changes of it are folded in.
    pub fn index(&self) -> serde_json::Value {
        super::lock(&self.inner().index).fold().unwrap();
        serde_json::from_slice(&std::fs::read(self.path("index.json")).unwrap()).unwrap()
    }

    /// Returns the sessions that the index lists.
    pub fn indexed(&self) -> Vec<String> {
        let sessions = self.index()["scopes"][self.scope.as_str()]["ordered_sessions"].clone();
        serde_json::from_value(sessions).unwrap_or_default()
    }

    pub fn problems(&self) -> Vec<String> {
        let mut problems = super::audit::store(self.inner()).unwrap();
        problems.extend(super::audit::scope(self.inner(), &self.scope).unwrap());
        problems
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join("sessions").join(name)
    }

    pub(crate) fn scope_path(&self, name: &str) -> PathBuf {
        self.path(&super::name::folder(&self.scope)).join(name)
    }

    /// Checks that the store has what is expected, in memory and after it is opened again.
    pub fn check(&mut self) {
        for _ in 0..2 {
            assert_eq!(self.load().unwrap(), self.expected.state);
            let expected = self.expected.kept();
            let kept: Vec<Seq> = expected.iter().map(|record| record.seq).collect();
            let log: Vec<Record> = self.log().into_iter().filter(|r| kept.contains(&r.seq)).collect();
            assert_eq!(log, expected);
            assert_eq!(self.problems(), Vec::<String>::new());
            self.reopen();
        }
    }
}

pub(super) fn say(text: &str) -> Command {
    Command::Say { role: Role::User, message: Message::text(text) }
}

pub(super) fn say_as(text: &str, id: &str) -> Command {
    let message = Message { message_id: Some(MessageId(id.into())), ..Message::text(text) };
    Command::Say { role: Role::User, message }
}

fn text(record: &Record) -> String {
    match record.body().unwrap() {
        Body::Message(_, message) => message.text,
        other => format!("{other:?}"),
    }
}

/// Commands that touch every file in every way. Each is made when its turn comes.
pub(super) type Step = fn(&Fixture) -> Command;

pub(super) const SCRIPT: &[Step] = &[
    |_| say_as("one", "a"),
    |_| Command::Say { role: Role::Assistant, message: Message::text("an answer") },
    |_| Command::Rename { session: Number(1), title: Title::new("a secret title").unwrap() },
    |_| Command::New { first: Some(Message::text("two")) },
    |_| Command::Reply { role: Role::Assistant, message: Message::text("late"), session: Number(1) },
    |_| say_as("three", "b"),
    |fixture| Command::Erase { entries: vec![message_seq(fixture, "three")], along: Vec::new() },
    |fixture| Command::Fork { session: Number(1), at: Some(cut(fixture, 1, "one")) },
    |_| say("four"),
    |_| say("five"),
    |fixture| Command::Split { at: cut(fixture, 3, "five") },
    |_| Command::Undo,
    |_| Command::Resume { session: Number(2) },
    |_| Command::Delete { session: Number(1) },
    |_| Command::New { first: None },
    |_| say_as("six", "c"),
    |_| Command::Prune { keep: Backlog::new(1).unwrap() },
    |_| say("seven"),
];

fn message_seq(fixture: &Fixture, wanted: &str) -> Seq {
    let record = fixture.expected.log.values().find(|r| r.kind.role().is_some() && text(r) == wanted);
    record.unwrap().seq
}

fn cut(fixture: &Fixture, session: u32, wanted: &str) -> Cut {
    let message = message_seq(fixture, wanted);
    let across = fixture.state().view(Number(session)).across(message);
    fixture
        .inner()
        .with(&fixture.scope, |scope| {
            let before = across.iter().map(|segment| (*segment, scope.before(message, *segment))).collect();
            Ok(Cut { message, segment: fixture.expected.log[&message].segment, before })
        })
        .unwrap()
}
