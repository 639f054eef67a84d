//! A scope on a store, with a clock that stands where the test sets it.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use segue_core::decide::{TaskCommand, TaskVerb};
use segue_core::scope::Key;
use segue_core::task::state::StateName;
use segue_engine::clock::{Clock, RandomIds};
use segue_engine::config::{Config, Layer};
use segue_engine::tasks::Tasks;
use segue_engine::{Engine, Inbound, Outcome, Request};
use segue_store::{Location, Store};
use std::sync::{Arc, Mutex};

pub struct Hands(Mutex<Timestamp>);

impl Clock for Hands {
    fn now(&self) -> Timestamp {
        *self.0.lock().unwrap()
    }
}

pub struct World {
    _folder: Option<tempfile::TempDir>,
    location: Location,
    pub engine: Arc<Engine>,
    clock: Arc<Hands>,
    pub scope: Key,
    policy: &'static str,
}

pub fn start() -> Timestamp {
    "2026-03-01T10:00:00Z".parse().unwrap()
}

fn locations() -> Vec<(Option<tempfile::TempDir>, Location)> {
    let (sqlite, files) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (db, dir) = (sqlite.path().join("segue.db"), files.path().join("log"));
    vec![(None, Location::Memory), (Some(sqlite), Location::Sqlite(db)), (Some(files), Location::Files(dir))]
}

async fn engine(location: &Location, policy: &str, clock: Arc<Hands>) -> Arc<Engine> {
    let layer = Layer::options([
        ("lifecycle.policy", policy),
        ("session.backlog_limit", "4"),
        ("session.backlog", "delete"),
    ]);
    let config = Config::load(vec![layer], &TimeZone::UTC).unwrap();
    let engine = Engine::open(open(location).await, config).await.unwrap();
    Arc::new(engine.with(clock, Arc::new(RandomIds)))
}

/// Opens a store. What an engine that is gone was embedding in the background may have it open for a moment yet.
async fn open(location: &Location) -> Arc<dyn Store> {
    loop {
        match location.open() {
            Ok(store) => return store,
            Err(error) if !error.to_string().contains("another process") => panic!("{error}"),
            Err(_) => tokio::task::yield_now().await,
        }
    }
}

/// A world on each store.
pub async fn worlds() -> Vec<World> {
    let mut worlds = Vec::new();
    for (folder, location) in locations() {
        let clock = Arc::new(Hands(Mutex::new(start())));
        let engine = engine(&location, "layered", clock.clone()).await;
        let scope = "agent:main:cli:direct:me".parse().unwrap();
        worlds.push(World { _folder: folder, location, engine, clock, scope, policy: "layered" });
    }
    worlds
}

/// Runs a test on each store.
pub fn on_each<F: Future<Output = ()>>(test: impl Fn(World) -> F) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        for world in worlds().await {
            test(world).await;
        }
    });
}

impl World {
    pub fn pass(&self, time: SignedDuration) {
        let mut now = self.clock.0.lock().unwrap();
        *now += time;
    }

    pub fn tasks(&self) -> Tasks {
        Tasks::new(self.engine.clone(), self.scope.clone())
    }

    pub async fn say(&self, text: &str) -> Outcome {
        self.pass(SignedDuration::from_secs(1));
        self.engine.receive(Inbound::user(self.scope.clone(), self.engine.now(), text)).await.unwrap()
    }

    pub async fn act(&self, verb: TaskVerb) -> Outcome {
        self.pass(SignedDuration::from_secs(1));
        let request = Request::Task(TaskCommand { session: None, verb });
        self.engine.request(&self.scope, self.engine.now(), &request).await.unwrap()
    }

    pub async fn state(&self) -> StateName {
        let Ok(state) = self.engine.state(&self.scope).await else { return StateName::None };
        state.latest().map_or(StateName::None, |latest| state.extras.task_state(latest))
    }

    /// Opens another engine on the same store, with connections of its own.
    pub async fn another(&self) -> Arc<Engine> {
        engine(&self.location, self.policy, self.clock.clone()).await
    }

    /// Closes the store and opens it again, as a restart does. What is in memory only is its own restart.
    pub async fn restart(&mut self) {
        if self.location != Location::Memory {
            let held = self.engine.clone();
            self.engine = engine(&Location::Memory, self.policy, self.clock.clone()).await;
            drop(held);
            self.engine = engine(&self.location, self.policy, self.clock.clone()).await;
        }
    }

    pub async fn verify(&self) {
        let report = segue_store::verify::verify(self.engine.store().as_ref(), &self.scope).await.unwrap();
        assert_eq!(report.problems, Vec::<String>::new());
    }
}
