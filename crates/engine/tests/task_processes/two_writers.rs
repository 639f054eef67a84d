//! Two processes write to one task, thousands of times: nothing is lost, no step is torn, and who loses is told what
//! to do (C-15).

use segue_core::entry::{Body, Change, Seq};
use segue_core::refusal::Refusal;
use segue_core::scope::Key;
use segue_core::task::assignment::Stage;
use segue_core::task::observation::{NoteKind, Observation};
use segue_core::task::refusal::TaskRefusal;
use segue_core::task::state::TaskState;
use segue_engine::config::Config;
use segue_engine::tasks::{TaskSession, Tasks};
use segue_engine::{Engine, Error};
use segue_store::Location;
use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Stdio};
use std::sync::Arc;

const STORE: &str = "TASK_WRITER_STORE";
const WRITER: &str = "TASK_WRITER_NAME";

/// How many notes each of the two writes.
const NOTES: u32 = 1500;

/// After so many notes a writer asks, and answers itself.
const ASKS_EVERY: u32 = 3;

fn scope() -> Key {
    "agent:main:cli:direct:me".parse().unwrap()
}

async fn tasks(store: &Location) -> (Arc<Engine>, Tasks) {
    let config = Config::load(vec![], &jiff::tz::TimeZone::UTC).unwrap();
    let engine = Arc::new(Engine::open(store.open().unwrap(), config).await.unwrap());
    (engine.clone(), Tasks::new(engine, scope()))
}

/// What became of a writer's tries to ask.
#[derive(Default)]
struct Tries {
    won: u32,
    lost: u32,
    busy: u32,
}

impl Tries {
    /// Tries until the store is not busy any more: the loser of a race decides again by itself, and only who loses
    /// again and again is told so.
    async fn insist<T>(&mut self, tried: impl AsyncFn() -> Result<T, Error>) -> Result<T, Error> {
        loop {
            match tried().await {
                Err(error @ Error::Busy { .. }) => {
                    let told = error.to_string();
                    assert!(told.contains("nothing was stored, try again"), "{told}");
                    self.busy += 1;
                }
                done => return done,
            }
        }
    }

    /// Asks, and answers if it was the one to ask. The other one may be faster with either.
    async fn ask(&mut self, session: &TaskSession, question: &str) {
        match self.insist(async || session.ask(question).await).await {
            Ok(()) => self.won += 1,
            Err(Error::Refused(Refusal::Task(TaskRefusal::Forbidden(forbidden)))) => {
                let told = forbidden.to_string();
                assert!(told.contains("awaiting_user") && told.contains("running or aborted"), "{told}");
                self.lost += 1;
                return;
            }
            Err(error) => panic!("{error}"),
        }
        let answered = self.insist(async || session.set_state(TaskState::Running).await).await;
        answered.unwrap();
    }
}

/// The child's side: does nothing in an ordinary test run.
#[test]
fn writes_beside_another_one() {
    let (Ok(store), Ok(name)) = (std::env::var(STORE), std::env::var(WRITER)) else { return };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let (_, tasks) = tasks(&store.parse().unwrap()).await;
        let session = tasks.active_session().await.unwrap().unwrap();
        let mut tries = Tries::default();
        for n in 0..NOTES {
            let note = format!("{name} {n}");
            tries.insist(async || session.observe_note(&note).await).await.unwrap();
            if n % 50 == 7 {
                tries.insist(async || session.flush_step().await).await.unwrap();
            }
            if n % ASKS_EVERY == 0 {
                tries.ask(&session, &format!("{name} asks {n}")).await;
            }
        }
        println!("tries {} {} {}", tries.won, tries.lost, tries.busy);
    });
}

/// Runs both writers at once and adds up what became of their tries to ask.
fn write_together(store: &Location) -> Tries {
    let writers = ["a", "b"].map(|name| {
        Command::new(std::env::current_exe().unwrap())
            .args(["two_writers::writes_beside_another_one", "--exact", "--nocapture"])
            .env(STORE, store.to_string())
            .env(WRITER, name)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap()
    });
    let mut sum = Tries::default();
    for writer in writers {
        let out = writer.wait_with_output().unwrap();
        assert!(out.status.success());
        let out = String::from_utf8(out.stdout).unwrap();
        let told = out.lines().find_map(|line| line.split_once("tries ")).unwrap().1;
        let mut numbers = told.split(' ').map(|number| number.parse::<u32>().unwrap());
        sum.won += numbers.next().unwrap();
        sum.lost += numbers.next().unwrap();
        sum.busy += numbers.next().unwrap();
    }
    sum
}

#[test]
fn c15_two_processes_on_one_task_lose_nothing() {
    let _alone = crate::alone();
    let folder = tempfile::tempdir().unwrap();
    let store = Location::Sqlite(folder.path().join("segue.db"));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        tasks(&store).await.1.start_session("Write together").await.unwrap();
    });
    let tries = write_together(&store);
    println!("{} asked, {} were told that the other one had, {} busy", tries.won, tries.lost, tries.busy);
    assert_eq!(tries.won + tries.lost, 2 * NOTES.div_ceil(ASKS_EVERY));
    assert!(tries.lost > 0, "they never met");
    runtime.block_on(check(&store, &tries));
}

/// Reads the whole log: each note once and in its writer's order, each question with its step and its answer, and each
/// observation in one work commit or staged.
async fn check(store: &Location, tries: &Tries) {
    let (engine, tasks) = tasks(store).await;
    let report = segue_store::verify::verify(engine.store().as_ref(), &scope()).await.unwrap();
    assert_eq!(report.problems, Vec::<String>::new());
    let log = engine.store().tail(&scope(), Seq::ZERO, usize::MAX).await.unwrap();
    let mut notes: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    let (mut observed, mut in_commits) = (0, 0);
    let (mut questions, mut asked, mut answered) = (BTreeSet::new(), Vec::new(), 0);
    for record in &log {
        match record.body().unwrap() {
            Body::Observation(observing) => {
                observed += 1;
                match observing.observation {
                    Observation::Note(note) if note.kind == NoteKind::Note => {
                        let (writer, n) = note.text.split_once(' ').unwrap();
                        notes.entry(writer.to_owned()).or_default().push(n.parse().unwrap());
                    }
                    Observation::Note(note) if note.kind == NoteKind::Question => {
                        questions.insert(record.seq);
                    }
                    Observation::Note(note) if note.kind == NoteKind::Response => answered += 1,
                    _ => {}
                }
            }
            Body::WorkCommit(commit) => {
                assert!(commit.is_intact());
                in_commits += commit.observations.len();
            }
            Body::Task(step) => {
                if let Change::Went { to: Stage::AwaitingUser { question, .. } } = step.change {
                    asked.push(question);
                }
            }
            _ => {}
        }
    }
    let all: Vec<u32> = (0..NOTES).collect();
    assert_eq!(notes, BTreeMap::from([("a".to_owned(), all.clone()), ("b".to_owned(), all)]));
    assert_eq!((asked.len(), answered), (tries.won as usize, tries.won));
    assert_eq!(asked.into_iter().collect::<BTreeSet<_>>(), questions, "a question comes with its step");
    let session = tasks.active_session().await.unwrap().unwrap();
    let state = engine.state(&scope()).await.unwrap();
    let staged = state.extras.tasks.get(&session.number()).unwrap().staged() as usize;
    assert_eq!(in_commits + staged, observed, "each observation is in one commit, or staged");
}
