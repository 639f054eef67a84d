//! Random work on tasks, among everything else that moves sessions: after each step the fold of the log is what the
//! store has, also after a clean-up and when the store is opened again (C-7, C-8).

use super::Bench;
use super::world::{World, said};
use crate::Append;
use proptest::prelude::*;
use segue_core::decide::{Command, TaskCommand, TaskVerb};
use segue_core::entry::{Body, Seq};
use segue_core::evolve::evolve;
use segue_core::facts::{Facts, Need};
use segue_core::policy::{Backlog, Excess};
use segue_core::refusal::Refusal;
use segue_core::session::Number;
use segue_core::state::State;
use segue_core::task::blob::Blob;
use segue_core::task::history::{Reach, TaskHistory};
use segue_core::task::identity::Description;
use segue_core::task::observation::{Note, NoteKind, Observation};
use segue_core::task::path::WorkPath;

/// A step; the numbers pick among what there is.
#[derive(Debug, Clone)]
pub enum Step {
    Say(u16),
    Start,
    Ask,
    Respond,
    Interrupt,
    Incorporate,
    Finish,
    Confirm,
    Request,
    Abort,
    Observe(u8, Option<u8>),
    Flush,
    Compact,
    Resume(u16),
    New,
    Undo,
    Fork(u8),
    ResumeSession(u8),
    Split(u8),
    Merge(u8, u8),
    Prune(u8),
    Delete(u8),
    Erase(u8),
    Sweep,
    Reopen,
}

pub fn any_steps() -> impl Strategy<Value = Vec<Step>> {
    use Step::*;
    let one = prop_oneof![
        4 => any::<u16>().prop_map(Say),
        4 => Just(Start),
        3 => Just(Ask),
        2 => Just(Respond),
        3 => Just(Interrupt),
        2 => Just(Incorporate),
        3 => Just(Finish),
        2 => Just(Confirm),
        1 => Just(Request),
        1 => Just(Abort),
        8 => (any::<u8>(), any::<Option<u8>>()).prop_map(|(what, session)| Observe(what, session)),
        3 => Just(Flush),
        2 => Just(Compact),
        2 => any::<u16>().prop_map(Resume),
        2 => Just(New),
        3 => Just(Undo),
        2 => any::<u8>().prop_map(Fork),
        2 => any::<u8>().prop_map(ResumeSession),
        2 => any::<u8>().prop_map(Split),
        1 => (any::<u8>(), any::<u8>()).prop_map(|(a, b)| Merge(a, b)),
        1 => (1u8..4).prop_map(Prune),
        1 => any::<u8>().prop_map(Delete),
        1 => any::<u8>().prop_map(Erase),
        1 => Just(Sweep),
        1 => Just(Reopen),
    ];
    prop::collection::vec(one, 1..50)
}

pub struct Fixture<'a> {
    bench: &'a dyn Bench,
    world: World,
}

impl<'a> Fixture<'a> {
    pub fn new(bench: &'a dyn Bench) -> Self {
        let mut world = World::new(bench.open());
        world.policy.backlog = Backlog::new(5).unwrap();
        world.policy.excess = Excess::Delete;
        Self { bench, world }
    }

    fn session(state: &State, by: u8) -> Number {
        let all: Vec<Number> = state.list().map(|(number, _)| number).collect();
        if all.is_empty() { Number::FIRST } else { all[by as usize % all.len()] }
    }

    /// Reads the history of a task as the engine does.
    async fn history(&self, state: &State, session: Number, reach: Reach) -> TaskHistory {
        let task = state.extras.tasks.get(&session).unwrap();
        let log = self.world.whole_log().await;
        let words = |seq: Seq| {
            let record = log.iter().find(|record| record.seq == seq)?;
            match record.body().unwrap() {
                Body::Message(_, message) => Some(message.text),
                Body::Worded(worded) => Some(worded.text),
                _ => None,
            }
        };
        let description = words(task.described.entry()).unwrap_or_default();
        let stage = task.stage.words().and_then(words).unwrap_or_default();
        let mut history = TaskHistory::new(task, reach, description, stage);
        let after = history.after();
        log.iter().filter(|record| record.seq > after).for_each(|record| history.read(record));
        history
    }

    /// Decides and appends; a refusal must leave everything as it was, and be none of damage.
    async fn run(&mut self, command: Command) {
        self.world.now += jiff::SignedDuration::from_secs(1);
        let state = self.world.state().await;
        let mut facts = Facts::default();
        for need in self.world.needs(&state, &command) {
            if let Need::TaskHistory { session, reach } = need {
                facts.task = Some(Box::new(self.history(&state, session, reach).await));
            }
        }
        let decided = self.world.decide_knowing(&state, &command, &facts);
        match decided {
            Ok(decided) if decided.records.is_empty() => {}
            Ok(mut decided) => {
                let append = Append::of(self.world.append_id(), state, &mut decided, None);
                self.world.store.append(append).await.unwrap();
            }
            Err(refusal @ Refusal::Damaged(_)) => panic!("{refusal}"),
            Err(_) => {}
        }
    }

    async fn verb(&mut self, session: Option<Number>, verb: TaskVerb) {
        self.run(Command::Task(TaskCommand { session, verb })).await;
    }

    pub async fn step(&mut self, step: &Step) {
        let state = self.world.state().await;
        let text = || "some words".to_owned();
        let last = state.head;
        match step {
            Step::Say(minutes) => {
                self.world.now += jiff::SignedDuration::from_mins(i64::from(*minutes) / 4);
                self.run(said("a message")).await;
            }
            Step::Start => {
                let description = Some(Description::new("do it").unwrap());
                self.verb(None, TaskVerb::Start { description, message: None, cut: None }).await;
            }
            Step::Ask => self.verb(None, TaskVerb::Ask { question: text() }).await,
            Step::Respond => self.verb(None, TaskVerb::Respond { message: None, text: text() }).await,
            Step::Interrupt => self.verb(None, TaskVerb::Interrupt { message: last }).await,
            Step::Incorporate => self.verb(None, TaskVerb::Incorporate { messages: None }).await,
            Step::Finish => self.verb(None, TaskVerb::Finish { summary: text() }).await,
            Step::Confirm => self.verb(None, TaskVerb::Confirm).await,
            Step::Request => self.verb(None, TaskVerb::Request { text: text() }).await,
            Step::Abort => self.verb(None, TaskVerb::Abort { reason: text() }).await,
            Step::Observe(what, session) => {
                let session = session.map(|by| Self::session(&state, by));
                let path = WorkPath::new("src/a.rs").unwrap();
                let observation = match what % 4 {
                    0 => Observation::Note(Note::text(NoteKind::Decision, text())),
                    1 => Observation::FileRead { path, content: Blob::of(b"x") },
                    2 => Observation::FileWrite { path, content: Blob::of(b"y") },
                    _ => Observation::Plan { text: text() },
                };
                self.verb(session, TaskVerb::Observe { observations: vec![observation] }).await;
            }
            Step::Flush => self.verb(None, TaskVerb::Flush).await,
            Step::Compact => self.verb(None, TaskVerb::Compact { summary: text(), kind: None }).await,
            Step::Resume(minutes) => {
                self.world.now += jiff::SignedDuration::from_mins(i64::from(*minutes) / 4);
                self.verb(None, TaskVerb::Resume).await;
            }
            Step::New => self.run(Command::New { first: None }).await,
            Step::Undo => self.run(Command::Undo).await,
            Step::Fork(by) => {
                let session = Self::session(&state, *by);
                self.run(Command::Fork { session, at: None }).await;
            }
            Step::ResumeSession(by) => {
                let session = Self::session(&state, *by);
                self.run(Command::Resume { session }).await;
            }
            Step::Split(by) => {
                let Some(latest) = state.latest() else { return };
                let reading = crate::Reading::messages(state.view(latest), crate::Take::Newest(10_000));
                let messages = self.world.store.read(&self.world.scope, &reading).await.unwrap();
                if messages.is_empty() {
                    return;
                }
                let at = messages[*by as usize % messages.len()].seq;
                let at = self.world.cut(latest, at).await;
                self.run(Command::Split { at }).await;
            }
            Step::Merge(a, b) => {
                let (from, into) = (Self::session(&state, *a), Self::session(&state, *b));
                self.run(Command::Merge { from, into }).await;
            }
            Step::Prune(keep) => {
                self.run(Command::Prune { keep: Backlog::new(u32::from(*keep)).unwrap() }).await;
            }
            Step::Delete(by) => {
                let session = Self::session(&state, *by);
                self.run(Command::Delete { session }).await;
            }
            Step::Erase(by) => {
                let log = self.world.whole_log().await;
                let messages: Vec<_> = log.iter().filter(|record| record.kind.role().is_some()).collect();
                if !messages.is_empty() {
                    let seq = messages[*by as usize % messages.len()].seq;
                    self.run(Command::Erase { entries: vec![seq], along: Vec::new() }).await;
                }
            }
            Step::Sweep => drop(self.world.store.sweep().await.unwrap()),
            Step::Reopen => {
                if self.bench.is_durable() {
                    self.world.store = std::sync::Arc::new(crate::memory::Memory::default());
                    self.world.store = self.bench.open();
                }
            }
        }
    }

    /// What must hold after every step.
    pub async fn check(&self) {
        let stored = self.world.state().await;
        let mut folded = State::empty(self.world.scope.clone());
        for record in &self.world.whole_log().await {
            evolve(&mut folded, record).unwrap();
            match record.body().unwrap() {
                Body::Compacted(commit) => {
                    assert!(commit.is_intact() && commit.parent == folded.extras.canonical);
                }
                Body::WorkCommit(commit) => assert!(commit.is_intact()),
                _ => {}
            }
        }
        assert_eq!(&folded, stored.as_ref(), "the fold of the log is what the store has");
        for number in stored.extras.tasks.keys() {
            assert!(stored.live(*number).is_some(), "a task is in a session that is there");
        }
    }

    pub async fn verify(&self) {
        self.world.verify().await;
    }
}
