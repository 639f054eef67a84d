//! What one process writes wakes the agent that waits in another one, on the same SQLite file (C-4).

use segue_core::scope::Key;
use segue_engine::Engine;
use segue_engine::config::Config;
use segue_engine::tasks::Tasks;
use segue_store::Location;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::time::Duration;

const STORE: &str = "INTERRUPTING_STORE";

/// Stands before the time at which the child had committed.
const COMMITTED: &str = "committed at ";

/// Within which time what another process wrote is known here.
const KNOWN_WITHIN_US: i64 = 1_000_000;

/// The time of the machine, which both processes have.
#[allow(clippy::disallowed_methods, reason = "two processes are compared by the one clock that they share")]
fn now_us() -> i64 {
    jiff::Timestamp::now().as_microsecond()
}

/// Tells by how much the longest of many short waits was too long: how late this machine is, whatever is to be done.
async fn lateness_us(ended: Arc<AtomicBool>) -> i64 {
    const TICK_US: i64 = 20_000;
    let mut longest = 0;
    while !ended.load(SeqCst) {
        let before = now_us();
        tokio::time::sleep(Duration::from_micros(TICK_US as u64)).await;
        longest = longest.max(now_us() - before - TICK_US);
    }
    longest
}

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
        println!("\n{COMMITTED}{}", now_us());
    });
}

/// The one test here that measures time: that it is within a second is what was promised. How late the machine is at the same
/// time, by its own short waits, is added to that.
#[test]
fn c4_a_waiting_agent_is_woken_by_another_process_within_a_second() {
    let _alone = crate::alone();
    let folder = tempfile::tempdir().unwrap();
    let store = Location::Sqlite(folder.path().join("segue.db"));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(4).enable_all().build().unwrap();
    runtime.block_on(async {
        let tasks = Tasks::new(engine(&store).await, scope());
        let session = tasks.start_session("Add retry logic").await.unwrap();
        let waiting = tokio::spawn(async move { (session.wait_for_interrupts().await.unwrap(), now_us()) });
        let ended = Arc::new(AtomicBool::new(false));
        let lateness = tokio::spawn(lateness_us(Arc::clone(&ended)));
        let child = tokio::task::spawn_blocking(move || {
            Command::new(std::env::current_exe().unwrap())
                .args(["interrupts::interrupts_another_process", "--exact", "--nocapture"])
                .env(STORE, store.to_string())
                .output()
        });
        let child = child.await.unwrap().unwrap();
        assert!(child.status.success());
        let out = String::from_utf8(child.stdout).unwrap();
        let committed = out.lines().find_map(|line| line.strip_prefix(COMMITTED)).unwrap();
        let committed: i64 = committed.parse().unwrap();
        // What hangs is to fail and not to hang.
        let (said, woken) = tokio::time::timeout(Duration::from_secs(60), waiting).await.unwrap().unwrap();
        assert_eq!(said[0].text.as_deref(), Some("wait, use jitter"));
        ended.store(true, SeqCst);
        let lateness = lateness.await.unwrap();
        let took = woken - committed;
        assert!(took <= KNOWN_WITHIN_US + 2 * lateness, "{took} us, and the machine is {lateness} us late");
    });
}
