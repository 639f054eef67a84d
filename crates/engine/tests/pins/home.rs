//! A home with skills and a persona, and an engine on each kind of store.

use jiff::SignedDuration;
use jiff::tz::TimeZone;
use segue_core::Timestamp;
use segue_core::scope::Key;
use segue_core::session::Number;
use segue_core::state::State;
use segue_engine::config::{Config, Layer, Origin};
use segue_engine::pins::{Folders, Pinned};
use segue_engine::skills::{Roots, Surroundings};
use segue_engine::{Engine, Inbound, Outcome, Pick, Request};
use segue_store::{Location, Store};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

pub const SETTINGS: &str = "
[agents.defaults]
model = 'main'
[agents.work]
description = 'Looks after the day job'
model = 'fast'
instructions = 'You are a careful colleague.'
[agents.play]
instructions = 'You tell jokes.'
[models.main]
base_url = 'http://localhost:1/v1'
model = 'qwen3'
temperature = 0.7
[models.fast]
base_url = 'http://localhost:1/v1'
model = 'tiny'
thinking = 'low'
verbosity = 'high'
";

pub struct Home {
    pub folder: tempfile::TempDir,
    pub engine: Arc<Engine>,
    pub scope: Key,
    pub now: Timestamp,
    location: Location,
    settings: String,
    store: Arc<dyn Store>,
}

/// Runs a test at homes with every kind of store, and verifies each store at the end.
pub async fn everywhere(test: impl AsyncFn(&mut Home)) {
    for store in ["memory:", "sqlite:log.db", "files:log"] {
        let mut home = Home::new(store, SETTINGS).await;
        test(&mut home).await;
        home.verify().await;
    }
}

impl Home {
    pub async fn new(store: &str, settings: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let location = match store.parse().unwrap() {
            Location::Sqlite(path) => Location::Sqlite(folder.path().join(path)),
            Location::Files(path) => Location::Files(folder.path().join(path)),
            other @ (Location::Memory | Location::Postgres(_)) => other,
        };
        let store = location.open().unwrap();
        let engine = engine(&store, folder.path(), settings).await;
        let scope = "agent:main:cli:direct:me".parse().unwrap();
        let now = "2026-03-02T08:00:00Z".parse().unwrap();
        let settings = settings.to_owned();
        let home = Self { folder, engine, scope, now, location, settings, store };
        home.skill("tides", "Reads tide tables", "Open the table, find the harbour.");
        home.file("SOUL.md", "Be kind.");
        home.file("AGENTS.md", "Ask before you send.");
        home
    }

    pub fn file(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn skill(&self, name: &str, description: &str, body: &str) {
        let text = format!("---\nname: {name}\ndescription: {description}\n---\n{body}\n");
        self.file(&format!("skills/{name}/SKILL.md"), &text);
    }

    pub fn remove(&self, name: &str) {
        let path = self.folder.path().join(name);
        if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
    }

    /// Ends the program and starts it again, perhaps with other settings.
    pub async fn restart(&mut self, settings: &str) {
        self.settings = settings.to_owned();
        if self.location != Location::Memory {
            let nothing = Location::Memory.open().unwrap();
            self.engine = engine(&nothing, self.folder.path(), settings).await;
            self.store = nothing;
            self.store = self.location.open().unwrap();
        }
        self.engine = engine(&self.store, self.folder.path(), settings).await;
    }

    pub async fn say(&mut self, text: &str) -> Outcome {
        let scope = self.scope.clone();
        self.say_in(&scope, text).await
    }

    pub async fn say_in(&mut self, scope: &Key, text: &str) -> Outcome {
        self.now += SignedDuration::from_secs(60);
        self.engine.receive(Inbound::user(scope.clone(), self.now, text)).await.unwrap()
    }

    pub async fn reply(&mut self, text: &str) -> String {
        self.say(text).await.reply.unwrap()
    }

    pub async fn state(&self) -> Arc<State> {
        self.engine.state(&self.scope).await.unwrap()
    }

    pub async fn pinned(&self, session: u32) -> Pinned {
        self.engine.pinned(&*self.state().await, Number(session)).await.unwrap()
    }

    pub async fn drift(&self, session: u32) -> Vec<String> {
        let found = self.engine.drift(&*self.state().await, Number(session)).await.unwrap();
        let told = |d| segue_engine::words::pins::drifted(segue_engine::words::Language::En, d);
        found.iter().map(told).collect()
    }

    /// Every field of a session as bytes, by its name.
    pub async fn fields(&self, session: u32) -> BTreeMap<&'static str, String> {
        let state = self.state().await;
        let number = Number(session);
        let pinned = self.engine.pinned(&state, number).await.unwrap();
        let told = self.engine.messages(&state, number, usize::MAX).await.unwrap();
        let raw = state.sessions.get(&number).unwrap();
        let json = |value: serde_json::Value| value.to_string();
        BTreeMap::from([
            ("session_id", raw.id.to_string()),
            ("title", format!("{:?}", raw.title)),
            ("spans", format!("{:?}", state.view(number).messages())),
            ("created_at", raw.created_at.to_string()),
            ("active_agent", format!("{} {:?}", pinned.agent, pinned.instructions)),
            ("agent_pin", json(serde_json::to_value(&raw.pins.agent).unwrap())),
            ("skill_snapshot", json(serde_json::to_value(&*pinned.skills).unwrap())),
            ("skills_pin", json(serde_json::to_value(&raw.pins.skills).unwrap())),
            ("persona", json(serde_json::to_value(&*pinned.persona).unwrap())),
            ("persona_pin", json(serde_json::to_value(&raw.pins.persona).unwrap())),
            ("model_config", json(serde_json::to_value(&pinned.model).unwrap())),
            ("conversation_state", format!("{told:?}")),
        ])
    }

    /// What the model would be given, as text.
    pub async fn front(&self) -> String {
        let context = self.engine.context(&self.scope).await.unwrap();
        context.front.iter().map(|front| front.text.clone()).collect::<Vec<_>>().join("\n\n")
    }

    pub async fn ask(&mut self, request: &Request) -> Outcome {
        self.now += SignedDuration::from_secs(60);
        self.engine.request(&self.scope, self.now, request).await.unwrap()
    }

    pub async fn fork(&mut self, session: u32) -> Outcome {
        self.ask(&Request::Fork(Pick::Numbered(Number(session)), None)).await
    }

    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    pub async fn verify(&self) {
        let report = segue_store::verify::verify(self.store.as_ref(), &self.scope).await.unwrap();
        assert_eq!(report.problems, Vec::<String>::new(), "{}", self.location);
    }
}

async fn engine(store: &Arc<dyn Store>, folder: &Path, settings: &str) -> Arc<Engine> {
    let calm = if settings.contains("auto_route") { "" } else { "lifecycle.auto_route = 'never'\n" };
    let text = format!("timezone = 'UTC'\n{calm}{settings}");
    let layer = Layer::toml(Origin::Workspace("test.toml".into()), text);
    let config = Config::load(vec![layer], &TimeZone::UTC).unwrap();
    let roots = Roots { workspace: Some(folder.join("skills")), ..Roots::default() };
    let around = Arc::new(|| Surroundings { platform: "linux".to_owned(), ..Surroundings::default() });
    let host = Folders { persona: folder.to_owned(), roots, around };
    Arc::new(Engine::open(store.clone(), config).await.unwrap().with_host(Arc::new(host)))
}
