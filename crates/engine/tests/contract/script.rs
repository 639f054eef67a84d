//! Transcripts as tests: what is said, and what must come of it.
//!
//! ```text
//! 10:00 user: hello          => continue #1
//! 1d 09:00 user: morning     => new temporal #2
//! ```
//!
//! A line is `[day] time role: text => action [cause] #session`, the day counted from the first one. What
//! stands behind `=>` may be left out. `@ID` behind the role is the channel's id of the message, `>N` the
//! session that a reply was made for.

use jiff::civil::date;
use jiff::tz::TimeZone;
use segue_core::Timestamp;
use segue_core::decision::Cause;
use segue_core::message::{Message, MessageId, Role};
use segue_core::scope::Key;
use segue_core::session::{Id, Number};
use segue_core::state::State;
use segue_engine::clock::{Clock, Ids};
use segue_engine::config::{Config, Layer, Origin};
use segue_engine::{Engine, Inbound, Outcome, Target};
use segue_store::Store;
use segue_store::files::Files;
use segue_store::memory::Memory;
use segue_store::sqlite::Sqlite;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Ids in a row.
#[derive(Default)]
struct Row(AtomicU64);

impl Ids for Row {
    fn fresh(&self, _: Timestamp) -> Id {
        Id(uuid::Uuid::from_u64_pair(7, self.0.fetch_add(1, Ordering::Relaxed)))
    }
}

/// A clock that stands still: the same script leads to the same bytes.
struct Still;

impl Clock for Still {
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH
    }
}

/// A stage on which scripts are played.
pub struct Stage {
    pub engine: Engine,
    pub scope: Key,
    pub outcomes: Vec<Outcome>,
}

pub fn config(text: &str) -> Config {
    let layer = Layer::toml(Origin::Workspace("test.toml".into()), format!("timezone = 'UTC'\n{text}"));
    Config::load(vec![layer], &TimeZone::UTC).unwrap()
}

/// Makes one store of each kind in a folder.
pub fn every_store(folder: &Path) -> [Arc<dyn Store>; 3] {
    [
        Arc::new(Memory::default()),
        Arc::new(Sqlite::open(&folder.join("segue.db")).unwrap()),
        Arc::new(Files::open(&folder.join("files")).unwrap()),
    ]
}

pub async fn stage_on(store: Arc<dyn Store>, settings: &str) -> Stage {
    let engine = Engine::open(store, config(settings)).await.unwrap();
    let engine = engine.with(Arc::new(Still), Arc::new(Row::default())).trusting_stamps();
    Stage { engine, scope: "agent:main:cli:direct:me".parse().unwrap(), outcomes: Vec::new() }
}

/// Plays a script on every kind of engine's store that needs no folder of its own name.
pub async fn play(settings: &str, script: &str) -> Stage {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = Arc::new(Sqlite::open(&folder.path().join("segue.db")).unwrap());
    let mut durable = stage_on(sqlite, settings).await;
    durable.play(script).await;
    durable.verify().await;
    let mut stage = stage_on(Arc::new(Memory::default()), settings).await;
    stage.play(script).await;
    assert_eq!(stage.state().await, durable.state().await, "both stores lead to the same state");
    stage
}

impl Stage {
    /// Plays a script and checks what it expects.
    pub async fn play(&mut self, script: &str) {
        for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let (said, expected) = match line.split_once("=>") {
                Some((said, expected)) => (said.trim(), Some(expected.trim())),
                None => (line, None),
            };
            let outcome = self.say(said).await;
            if let Some(expected) = expected {
                let cause = match outcome.cause {
                    Cause::None => String::new(),
                    cause => format!("{cause} "),
                };
                let found = format!("{} {cause}#{}", outcome.action, outcome.session);
                assert_eq!(found, expected, "{line}\nreply: {:?}", outcome.reply);
            }
        }
    }

    pub async fn say(&mut self, said: &str) -> Outcome {
        let inbound = self.inbound(said);
        let outcome = self.engine.receive(inbound).await.unwrap_or_else(|error| panic!("{said}: {error}"));
        self.outcomes.push(outcome.clone());
        outcome
    }

    pub fn inbound(&self, said: &str) -> Inbound {
        let (when, text) = said.split_once(": ").unwrap_or((said.trim_end_matches(':'), ""));
        let mut words: Vec<&str> = when.split_whitespace().collect();
        let mut session = None;
        let mut message_id = None;
        while let Some(last) = words.last() {
            if let Some(id) = last.strip_prefix('@') {
                message_id = Some(MessageId(id.to_owned()));
            } else if let Some(number) = last.strip_prefix('>') {
                session = Some(Number(number.parse().unwrap()));
            } else {
                break;
            }
            words.pop();
        }
        let role = Role::named(words.pop().unwrap()).unwrap();
        let time: jiff::civil::Time = words.pop().unwrap().parse().unwrap();
        let day: i64 = words.pop().map_or(0, |day| day.trim_end_matches('d').parse().unwrap());
        let at = date(2026, 3, 1).to_datetime(time).to_zoned(TimeZone::UTC).unwrap().timestamp();
        let message = Message { message_id, ..Message::text(text) };
        let at = at + jiff::SignedDuration::from_hours(24 * day);
        Inbound { at, to: Target::Scope(self.scope.clone()), role, message, session }
    }

    pub async fn state(&self) -> Arc<State> {
        self.engine.state(&self.scope).await.unwrap()
    }

    pub async fn texts(&self, session: u32) -> Vec<String> {
        let messages = self.engine.messages(&*self.state().await, Number(session), usize::MAX).await.unwrap();
        messages.into_iter().map(|told| told.text).collect()
    }

    pub async fn verify(&self) {
        let report = segue_store::verify::verify(self.engine.store().as_ref(), &self.scope).await.unwrap();
        assert_eq!(report.problems, Vec::<String>::new());
    }

    pub fn last(&self) -> &Outcome {
        self.outcomes.last().unwrap()
    }

    pub fn reply(&self) -> &str {
        self.last().reply.as_deref().unwrap()
    }
}
