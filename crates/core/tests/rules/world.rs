//! A scope that lives in memory.

use segue_core::Timestamp;
use segue_core::decide::{Circumstances, Command, Decided, TaskCommand, TaskVerb, decide, needs};
use segue_core::entry::{Body, Bytes, Record, Seq};
use segue_core::erasure::Trace;
use segue_core::evidence::Window;
use segue_core::evolve::evolve;
use segue_core::facts::{Facts, Need, pruned_by};
use segue_core::message::{Message, Role};
use segue_core::observed::Observed;
use segue_core::policy::{Backlog, Excess, Policy};
use segue_core::refusal::Refusal;
use segue_core::session::{Id, Number};
use segue_core::state::State;
use segue_core::task::history::TaskHistory;

pub struct World {
    pub state: State,
    pub policy: Policy,
    pub log: Vec<Record>,
    pub now: Timestamp,
    pub folds: Folds,
    ids: u128,
}

/// Whether the log is folded after every step.
#[derive(PartialEq)]
pub enum Folds {
    Always,
    Never,
}

impl World {
    pub fn new() -> Self {
        let state = State::empty("agent:main:cli:direct:me".parse().unwrap());
        let now = "2026-03-01T10:00:00Z".parse().unwrap();
        Self { state, policy: Policy::default(), log: Vec::new(), now, folds: Folds::Always, ids: 0 }
    }

    pub fn with_backlog(limit: u32, excess: Excess) -> Self {
        let mut world = Self::new();
        (world.policy.backlog, world.policy.excess) = (Backlog::new(limit).unwrap(), excess);
        world
    }

    pub fn run(&mut self, command: Command) -> Result<Decided, Refusal> {
        self.now += jiff::SignedDuration::from_secs(1);
        self.ids += 1;
        let at = Circumstances { now: self.now, fresh: Id(uuid::Uuid::from_u128(self.ids)), spoken: None };
        let mut facts = Facts::default();
        for need in needs(&self.state, &self.policy, &command, &at) {
            match need {
                Need::TaskHistory { session, reach } => {
                    let task = &self.state.extras.tasks.get(&session).unwrap();
                    let mut history = TaskHistory::new(task, reach, String::new(), String::new());
                    let after = history.after();
                    self.log.iter().filter(|r| r.seq > after).for_each(|record| history.read(record));
                    facts.task = Some(Box::new(history));
                }
                Need::Derived { sources } => {
                    let mut trace = Trace::new(self.state.scope.clone(), sources);
                    self.log.iter().for_each(|record| trace.read(record));
                    facts.derived = trace.finish().0;
                }
                Need::Pruned { boundary } => {
                    let behind: Vec<Record> = self.log.iter().filter(|r| r.seq > boundary).cloned().collect();
                    facts.pruned = pruned_by(&behind);
                }
                Need::Memories { .. } => {}
            }
        }
        let decided = decide(&self.state, &self.policy, &command, &facts, &at)?;
        self.log.extend(decided.records.clone());
        let swept: Vec<_> = decided.swept().collect();
        self.log.retain(|record| record.kind.is_structural() || !swept.contains(&record.segment));
        let erased: Vec<_> = decided.erased().collect();
        for record in self.log.iter_mut().filter(|record| erased.contains(&record.seq)) {
            record.bytes = Bytes::Erased(record.body_hash());
        }
        self.state = decided.state.clone();
        if self.folds == Folds::Always {
            assert_eq!(self.folded(), self.state, "the fold of the log is the state");
        }
        Ok(decided)
    }

    pub fn folded(&self) -> State {
        let mut state = State::empty(self.state.scope.clone());
        for record in &self.log {
            evolve(&mut state, record).unwrap();
        }
        state
    }

    pub fn say(&mut self, text: &str) -> Seq {
        let command = Command::Say { role: Role::User, message: Message::text(text) };
        self.run(command).unwrap().about.unwrap()
    }

    /// Says something when the window is full.
    pub fn overflow(&mut self, text: &str) -> Decided {
        let mut observed = Observed::default();
        (observed.window.band, observed.window.percent) = (Window::Emergency, 97);
        let (message, observed) = (Message::text(text), Box::new(observed));
        self.run(Command::UserMessage { message, observed, summary: Some("a summary".into()) }).unwrap()
    }

    pub fn new_session(&mut self) -> Number {
        self.run(Command::New { first: None }).unwrap().session
    }

    pub fn undo(&mut self) -> Result<Number, Refusal> {
        self.run(Command::Undo).map(|decided| decided.session)
    }

    pub fn redo(&mut self) -> Result<Number, Refusal> {
        self.run(Command::Redo).map(|decided| decided.session)
    }

    pub fn task(&mut self, verb: TaskVerb) -> Result<Decided, Refusal> {
        self.run(Command::Task(TaskCommand { session: None, verb }))
    }

    pub fn listed(&self) -> Vec<u32> {
        self.state.list().map(|(number, _)| number.0).collect()
    }

    /// Returns what a session says, in order.
    pub fn texts(&self, session: u32) -> Vec<String> {
        let view = self.state.view(Number(session));
        let seen = self.log.iter().filter(|record| view.hold(record.segment, record.seq));
        let text = |record: &Record| match record.body() {
            Ok(Body::Message(_, message)) => Some(message.text),
            _ => None,
        };
        seen.filter_map(text).collect()
    }

    /// Returns the messages that no session sees.
    pub fn unseen(&self) -> Vec<Seq> {
        let seen = |record: &&Record| {
            self.state.all().any(|(number, _)| self.state.view(number).hold(record.segment, record.seq))
        };
        let messages = self.log.iter().filter(|record| record.kind.role().is_some());
        messages.filter(|record| !seen(record)).map(|record| record.seq).collect()
    }
}
