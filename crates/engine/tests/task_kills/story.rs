//! A story in which a task makes each transition of the table at least once, step by step. Clock and ids depend on the
//! step alone, so that a step leads to the same bytes however often it is made.

use jiff::{SignedDuration, Timestamp, tz::TimeZone};
use segue_core::entry::{Record, Seq};
use segue_core::scope::Key;
use segue_core::session::Id;
use segue_core::state::State;
use segue_core::task::intent::MessageIntent;
use segue_core::task::state::TaskState;
use segue_engine::clock::{Clock, Ids};
use segue_engine::config::Config;
use segue_engine::tasks::Tasks;
use segue_engine::{Engine, Inbound};
use segue_store::Location;
use std::sync::Arc;

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Start(&'static str),
    Note,
    FileWrite,
    Flush,
    Ask,
    Respond,
    Interrupt,
    Incorporate,
    Finish,
    Request,
    Confirm,
    Abort,
    Compact,
    Undo,
}

use Step::*;

pub const STORY: &[Step] = &[
    Start("Add retry logic"),
    Note,
    Flush,
    FileWrite,
    Ask,
    Respond,
    Note,
    Interrupt,
    Interrupt,
    Incorporate,
    FileWrite,
    Finish,
    Request,
    Finish,
    Confirm,
    // In a session of its own; given up while it waits.
    Start("Add a pool"),
    Note,
    Ask,
    Abort,
    Start("Add a cache"),
    Interrupt,
    Abort,
    Start("Add a log"),
    Finish,
    Abort,
    // What was done is kept before another task begins; that is taken back, and the task is open again.
    Start("Add metrics"),
    Note,
    Start("Add traces"),
    Note,
    Undo,
    Abort,
    Start("Add docs"),
    Note,
    Compact,
];

struct At(Timestamp);

impl Clock for At {
    fn now(&self) -> Timestamp {
        self.0
    }
}

struct ByTime;

impl Ids for ByTime {
    fn fresh(&self, at: Timestamp) -> Id {
        Id(uuid::Uuid::from_u128(at.as_microsecond().unsigned_abs().into()))
    }
}

pub fn scope() -> Key {
    "agent:main:cli:direct:me".parse().unwrap()
}

/// Opens a store at the time of a step.
pub async fn open(store: &Location, step: usize) -> Arc<Engine> {
    let begin: Timestamp = "2026-03-01T10:00:00Z".parse().unwrap();
    let at = begin + SignedDuration::from_mins(i64::try_from(step).unwrap());
    let config = Config::load(vec![], &TimeZone::UTC).unwrap();
    let engine = Engine::open(store.open().unwrap(), config).await.unwrap();
    Arc::new(engine.with(Arc::new(At(at)), Arc::new(ByTime)))
}

/// Makes a step.
pub async fn make(engine: &Arc<Engine>, step: usize) {
    let (tasks, now) = (Tasks::new(engine.clone(), scope()), engine.now());
    let say = async |text: String, intent| {
        let inbound = Inbound::user(scope(), now, &text);
        engine.receive_stated(inbound, intent).await.unwrap();
    };
    if let Start(text) = STORY[step] {
        return drop(tasks.start_session(text).await.unwrap());
    }
    let session = tasks.active_session().await.unwrap().unwrap();
    match STORY[step] {
        Start(_) => {}
        Note => {
            session.observe_decision(&format!("decision {step}")).await.unwrap();
        }
        FileWrite => {
            let content = format!("fn step{step}() {{}}\n").repeat(50);
            session.observe_file_write("src/net.rs", content.as_bytes()).await.unwrap();
        }
        Flush => assert!(session.flush_step().await.unwrap().is_some()),
        Ask => session.ask(&format!("question {step}?")).await.unwrap(),
        Respond => say(format!("answer {step}"), MessageIntent::Response).await,
        Interrupt => say(format!("wait, {step}"), MessageIntent::Modification).await,
        Incorporate => assert_eq!(session.look_for_interrupts().await.unwrap().len(), 2),
        Finish => session.finish(&format!("summary {step}")).await.unwrap(),
        Request => say(format!("also {step}"), MessageIntent::Modification).await,
        Confirm => say("looks good".to_owned(), MessageIntent::Confirmation).await,
        Abort => session.abort(&format!("reason {step}")).await.unwrap(),
        Compact => drop(tasks.compact_session(&format!("summary {step}")).await.unwrap()),
        Undo => drop(engine.request(&scope(), now, &segue_engine::Request::Undo).await.unwrap()),
    }
}

/// All that can be seen of a scope: the log to the byte, what is folded from it, and the words of the task's state.
#[derive(Debug, PartialEq)]
pub struct Seen {
    pub log: Vec<Record>,
    pub state: Option<State>,
    pub task: Option<TaskState>,
}

pub async fn look(engine: &Arc<Engine>) -> Seen {
    let log = engine.store().tail(&scope(), Seq::ZERO, usize::MAX).await.unwrap();
    let state = engine.store().load(&scope()).await.unwrap().map(|state| State::clone(&state));
    let latest =
        state.as_ref().and_then(|state| state.latest().filter(|n| state.extras.tasks.contains_key(n)));
    let task = match latest {
        Some(latest) => {
            let session = Tasks::new(engine.clone(), scope()).session(latest).await.unwrap();
            Some(session.full_state().await.unwrap())
        }
        None => None,
    };
    Seen { log, state, task }
}
