//! Two processes write to one task: nothing is lost and no step is torn (C-15).

use segue_core::entry::{Body, Seq};
use segue_core::scope::Key;
use segue_engine::config::Config;
use segue_engine::tasks::Tasks;
use segue_engine::{Engine, Error};
use segue_store::Location;
use std::process::Command;
use std::sync::Arc;

const STORE: &str = "TASK_WRITER_STORE";
const WRITER: &str = "TASK_WRITER_NAME";
const NOTES: u32 = 500;

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
fn writes_beside_another_one() {
    let (Ok(store), Ok(name)) = (std::env::var(STORE), std::env::var(WRITER)) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let (_, tasks) = tasks(&store.parse().unwrap()).await;
        let session = tasks.active_session().await.unwrap().unwrap();
        for n in 0..NOTES {
            // The loser of a race decides again by itself; only who loses again and again is told so.
            loop {
                match session.observe_note(&format!("{name} {n}")).await {
                    Ok(_) => break,
                    Err(Error::Busy { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            if n % 50 == 7 {
                while let Err(error) = session.flush_step().await {
                    assert!(matches!(error, Error::Busy { .. }), "{error}");
                }
            }
        }
    });
}

#[test]
fn c15_two_processes_on_one_task_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = Location::Sqlite(folder.path().join("segue.db"));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        tasks(&store).await.1.start_session("Write together").await.unwrap();
    });
    let writers: Vec<_> = ["a", "b"]
        .iter()
        .map(|name| {
            Command::new(std::env::current_exe().unwrap())
                .args(["two_writers::writes_beside_another_one", "--exact"])
                .env(STORE, store.to_string())
                .env(WRITER, name)
                .spawn()
                .unwrap()
        })
        .collect();
    for mut writer in writers {
        assert!(writer.wait().unwrap().success());
    }
    runtime.block_on(async {
        let (engine, tasks) = tasks(&store).await;
        let report = segue_store::verify::verify(engine.store().as_ref(), &scope()).await.unwrap();
        assert_eq!(report.problems, Vec::<String>::new());
        let log = engine.store().log(&scope(), Seq::ZERO, usize::MAX).await.unwrap();
        let (mut notes, mut in_commits) = (0, 0);
        for record in &log {
            match record.body().unwrap() {
                Body::Observation(_) => notes += 1,
                Body::WorkCommit(commit) => {
                    assert!(commit.is_intact());
                    in_commits += commit.observations.len();
                }
                _ => {}
            }
        }
        assert_eq!(notes, 2 * NOTES);
        let session = tasks.active_session().await.unwrap().unwrap();
        let state = engine.state(&scope()).await.unwrap();
        let staged = state.standing.tasks[&session.number()].staged() as usize;
        assert_eq!(in_commits + staged, notes as usize, "each observation is in one commit, or staged");
    });
}
