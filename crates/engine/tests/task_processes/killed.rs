//! Kill tests: a child moves a task from state to state and is killed. Each step is there whole, or not at all (C-2, C-7).

use segue_core::scope::Key;
use segue_core::task::state::{StateName, TaskState};
use segue_engine::Engine;
use segue_engine::config::Config;
use segue_engine::tasks::Tasks;
use segue_store::Location;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Arc;

const STORE: &str = "TASK_CHILD_STORE";
const ROUNDS: u64 = 25;

fn scope() -> Key {
    "agent:main:cli:direct:me".parse().unwrap()
}

async fn tasks(store: &Location) -> (Arc<Engine>, Tasks) {
    let config = Config::load(vec![], &jiff::tz::TimeZone::UTC).unwrap();
    let engine = Arc::new(Engine::open(store.open().unwrap(), config).await.unwrap());
    (engine.clone(), Tasks::new(engine, scope()))
}

/// The child's side: does nothing in an ordinary test run.
#[test]
fn moves_a_task_until_it_is_killed() {
    let Ok(store) = std::env::var(STORE) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let (engine, tasks) = tasks(&store.parse().unwrap()).await;
        for round in 0.. {
            let session = tasks.start_session(&format!("task {round}")).await.unwrap();
            println!("started {round}");
            session.observe_note(&format!("note {round}")).await.unwrap();
            println!("noted {round}");
            session.ask(&format!("question {round}")).await.unwrap();
            println!("asked {round}");
            session.set_state(TaskState::Running).await.unwrap();
            engine.interrupt(&scope(), engine.now(), &format!("said {round}")).await.unwrap();
            println!("interrupted {round}");
            assert_eq!(session.look_for_interrupts().await.unwrap().len(), 1);
            session.finish(&format!("summary {round}")).await.unwrap();
            println!("finished {round}");
            session.set_state(TaskState::Complete).await.unwrap();
            println!("complete {round}");
        }
    });
}

fn round(store: &Location, kill_after: usize) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["killed::moves_a_task_until_it_is_killed", "--exact", "--nocapture"])
        .env(STORE, store.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let words = ["started", "noted", "asked", "interrupted", "finished", "complete"];
    let told = lines.map_while(Result::ok).filter(|line| words.iter().any(|word| line.starts_with(word)));
    let last = told.take(kill_after).last().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(check(store, &last));
}

async fn check(store: &Location, last: &str) {
    let (engine, tasks) = tasks(store).await;
    let report = segue_store::verify::verify(engine.store().as_ref(), &scope()).await.unwrap();
    assert_eq!(report.problems, Vec::<String>::new(), "after {last:?}");
    let state = engine.state(&scope()).await.unwrap();
    let latest = state.latest().unwrap();
    let session = tasks.session(latest).await.unwrap();
    let number = session.task_description().await.unwrap().replace("task ", "");
    // The child may have gone on while the signal was under way, so what is there is whole, at or after what was told.
    match session.full_state().await.unwrap() {
        TaskState::AwaitingUser { question, .. } => assert_eq!(question, format!("question {number}")),
        TaskState::PendingComplete { summary } => assert_eq!(summary, format!("summary {number}")),
        TaskState::Interrupted { messages } => assert_eq!(messages.len(), 1),
        TaskState::Complete => {
            let kept = engine.kept(&scope()).await.unwrap();
            assert_eq!(kept.last().unwrap().commit.summary, format!("summary {number}"));
        }
        TaskState::Running | TaskState::Aborted { .. } => {}
    }
    let told: u64 = last.split(' ').nth(1).unwrap().parse().unwrap();
    assert!(number.parse::<u64>().unwrap() >= told, "{last:?} was told, and the log is at task {number}");
    if last.starts_with("noted") && number.parse::<u64>().unwrap() == told {
        assert!(session.progress().await.unwrap().totals.notes >= 1, "an acknowledged note is there");
    }
    // The next child starts over: what was left open is kept first.
    if session.state().await.unwrap().is_open() {
        session.abort("killed").await.unwrap();
    }
    assert!(session.state().await.unwrap() != StateName::Running);
}

#[test]
fn c2_c7_each_step_survives_a_kill_or_was_never_made() {
    let _alone = crate::alone();
    let folder = tempfile::tempdir().unwrap();
    let stores =
        [Location::Sqlite(folder.path().join("segue.db")), Location::Files(folder.path().join("files"))];
    for store in stores {
        for kill_after in 1..=ROUNDS {
            round(&store, kill_after as usize % 13 + 1);
        }
    }
}
