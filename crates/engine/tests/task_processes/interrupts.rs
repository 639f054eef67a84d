//! What one process writes wakes the agent that waits in another one, on the same SQLite file (C-4).

use segue_core::scope::Key;
use segue_engine::Engine;
use segue_engine::config::Config;
use segue_engine::tasks::Tasks;
use segue_store::Location;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

const STORE: &str = "INTERRUPTING_STORE";

fn scope() -> Key {
    "agent:main:cli:direct:me".parse().unwrap()
}

async fn engine(store: &Location) -> Arc<Engine> {
    let config = Config::load(vec![], &jiff::tz::TimeZone::UTC).unwrap();
    Arc::new(Engine::open(store.open().unwrap(), config).await.unwrap())
}

/// The child's side: does nothing in an ordinary test run.
#[test]
fn interrupts_another_process() {
    let Ok(store) = std::env::var(STORE) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let engine = engine(&store.parse().unwrap()).await;
        engine.interrupt(&scope(), engine.now(), "wait, use jitter").await.unwrap();
    });
}

#[test]
fn c4_a_waiting_agent_is_woken_by_another_process() {
    let _alone = crate::alone();
    let folder = tempfile::tempdir().unwrap();
    let store = Location::Sqlite(folder.path().join("segue.db"));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let tasks = Tasks::new(engine(&store).await, scope());
        let session = tasks.start_session("Add retry logic").await.unwrap();
        let waiting = tokio::spawn(async move { session.wait_for_interrupts().await.unwrap() });
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["interrupts::interrupts_another_process", "--exact"])
            .env(STORE, store.to_string())
            .status();
        assert!(child.unwrap().success());
        // Far more than the second within which it comes: what hangs is to fail and not to hang.
        let said = tokio::time::timeout(Duration::from_secs(20), waiting).await.unwrap().unwrap();
        assert_eq!(said[0].text.as_deref(), Some("wait, use jitter"));
    });
}
