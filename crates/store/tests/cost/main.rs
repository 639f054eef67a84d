//! Cost is flat: what a turn reads and writes does not depend on how long the session is, nor on how many
//! scopes there are. Rows and steps are counted by SQLite itself.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may do as tests do")]

mod meter;

use meter::Cost;
use rusqlite::Connection;
use segue_core::decide::{Command, TaskCommand, TaskVerb};
use segue_core::entry::Seq;
use segue_core::facts::{Facts, Need};
use segue_core::message::{Message, Role};
use segue_core::session::Number;
use segue_core::task::history::TaskHistory;
use segue_core::task::identity::Description;
use segue_core::task::observation::{Note, NoteKind, Observation};
use segue_store::conformance::World;
use segue_store::sqlite::Sqlite;
use segue_store::{Append, Filter, Page, Reading, Store, Take};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

const SHORT: usize = 10;
const LONG: usize = 100_000;

/// The meter counts everything in this program.
static ALONE: Mutex<()> = Mutex::new(());

fn folder() -> tempfile::TempDir {
    let shm = Path::new("/dev/shm");
    if shm.is_dir() { tempfile::tempdir_in(shm).unwrap() } else { tempfile::tempdir().unwrap() }
}

fn open(folder: &Path) -> Arc<dyn Store> {
    Arc::new(Sqlite::open(&folder.join("segue.db")).unwrap())
}

/// Says many things in one append, and returns the message in their middle.
async fn say_many(world: &mut World, count: usize) -> Seq {
    let prior = world.state().await;
    let (mut state, mut records) = (prior.clone(), Vec::new());
    let mut middle = Seq::ZERO;
    for n in 0..count {
        let role = if n % 2 == 0 { Role::User } else { Role::Assistant };
        let message = Message::text(format!("message {n}"));
        let decided = world.decide(&state, &Command::Say { role, message }).unwrap();
        if n == count / 2 {
            middle = decided.about.unwrap();
        }
        records.extend(decided.records);
        state = Arc::new(decided.state);
    }
    let append = Append {
        id: world.append_id(),
        prior,
        next: state,
        records,
        message_id: None,
        garbage: Vec::new(),
        erase: Vec::new(),
    };
    world.store.append(append).await.unwrap();
    middle
}

/// Measures every operation on a session of so many messages.
async fn costs(folder: &Path, messages: usize) -> BTreeMap<&'static str, Cost> {
    let mut world = World::new(open(folder));
    world.say("an older session").await;
    world.run(&Command::New { first: None }).await.unwrap();
    let middle = say_many(&mut world, messages).await;
    let long = Number(2);
    let mut costs = BTreeMap::new();
    macro_rules! measure {
        ($name:literal, $work:expr) => {
            meter::reset();
            let _done = $work;
            costs.insert($name, meter::read());
        };
    }
    measure!("message", world.say_as("one more", "id").await.unwrap());
    measure!("the same message again", world.say_as("one more", "id").await.unwrap_err());
    measure!("new", world.run(&Command::New { first: None }).await.unwrap());
    measure!("undo new", world.run(&Command::Undo).await.unwrap());
    measure!("resume another", world.run(&Command::Resume { session: Number(1) }).await.unwrap());
    measure!("resume", world.run(&Command::Resume { session: long }).await.unwrap());
    measure!("undo resume", world.run(&Command::Undo).await.unwrap());
    measure!("fork", world.run(&Command::Fork { session: long, at: None }).await.unwrap());
    measure!("undo fork", world.run(&Command::Undo).await.unwrap());
    measure!("fork in the middle", {
        let at = Some(world.cut(long, middle).await);
        world.run(&Command::Fork { session: long, at }).await.unwrap()
    });
    world.run(&Command::Resume { session: long }).await.unwrap();
    measure!("split in the middle", {
        let at = world.cut(long, middle).await;
        world.run(&Command::Split { at }).await.unwrap()
    });
    measure!("undo split", world.run(&Command::Undo).await.unwrap());
    measure!("read the newest 50", {
        let view = world.state().await.view(long);
        let reading = Reading { view, filter: Filter::Messages, take: Take::Newest(50) };
        world.store.read(&world.scope, &reading).await.unwrap()
    });
    measure!("read the first", {
        let view = world.state().await.view(long);
        world.store.read(&world.scope, &Reading::first_message(view)).await.unwrap()
    });
    world.verify().await;
    let scope = world.scope.clone();
    drop(world);
    measure!("load, cold", open(folder).load(&scope).await.unwrap());
    costs
}

/// Runs a verb of a task whose history is empty.
async fn task(world: &mut World, verb: TaskVerb) {
    let prior = world.state().await;
    let command = Command::Task(TaskCommand { session: None, verb });
    let mut facts = Facts::default();
    for need in world.needs(&prior, &command) {
        if let Need::TaskHistory { session, reach } = need {
            let task = prior.extras.tasks.get(&session).unwrap();
            facts.task = Some(Box::new(TaskHistory::new(task, reach, "do it".into(), String::new())));
        }
    }
    let mut decided = world.decide_knowing(&prior, &command, &facts).unwrap();
    let append = Append::of(world.append_id(), prior, &mut decided, None);
    world.store.append(append).await.unwrap();
}

/// Tells what an observation writes in a scope with so many ended tasks: rows, and bytes of the write-ahead log.
async fn observation(folder: &Path, tasks: usize) -> (i64, u64) {
    let mut world = World::new(open(folder));
    world.say("hello").await;
    let start = || TaskVerb::Start { description: Description::new("do it").ok(), message: None, cut: None };
    let observe = || {
        let note = Observation::Note(Note::text(NoteKind::Note, "something"));
        TaskVerb::Observe { observations: vec![note] }
    };
    for _ in 0..tasks {
        task(&mut world, start()).await;
        task(&mut world, TaskVerb::Finish { summary: "done".into() }).await;
        task(&mut world, TaskVerb::Confirm).await;
        world.run(&Command::New { first: None }).await.unwrap();
    }
    task(&mut world, start()).await;
    task(&mut world, observe()).await;
    assert_eq!(world.state().await.extras.tasks.len(), tasks + 1);
    other_program(folder).query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    meter::reset();
    task(&mut world, observe()).await;
    let written = meter::read().rows_written;
    let bytes = std::fs::metadata(folder.join("segue.db-wal")).unwrap().len();
    world.verify().await;
    (written, bytes)
}

#[test]
fn an_observation_writes_the_same_after_a_thousand_ended_tasks() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    meter::reset();
    let (few, many) = (folder(), folder());
    let (few, many) = (block_on(observation(few.path(), 10)), block_on(observation(many.path(), 1_000)));
    assert_eq!(few.0, many.0, "rows");
    // A tree that is higher has a page more on the way.
    assert!(many.1 <= few.1 + 2 * 4_120, "bytes: {few:?} {many:?}");
}

fn block_on<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

#[test]
fn cost_does_not_grow_with_the_session() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    meter::reset();
    let (small, large) = (folder(), folder());
    let mut short = block_on(costs(small.path(), SHORT));
    // Ten messages are not fifty.
    let newest = "read the newest 50";
    short.insert(newest, block_on(costs(folder().path(), 50)).remove(newest).unwrap());
    let long = block_on(costs(large.path(), LONG));
    println!("{:24} {:>16} {:>20} {:>22}", "", "rows read", "rows written", "steps");
    for (name, short) in &short {
        let long = &long[name];
        println!(
            "{name:24} {:>7} {:>8} {:>10} {:>9} {:>10} {:>8} {:.2}",
            short.rows_read,
            long.rows_read,
            short.rows_written,
            long.rows_written,
            short.steps,
            long.steps,
            long.steps as f64 / short.steps as f64
        );
    }
    for (name, short) in &short {
        let long = &long[name];
        assert_eq!(short.rows_written, long.rows_written, "{name}");
        assert_eq!(short.rows_read, long.rows_read, "{name}");
        assert!(2 * long.steps <= 3 * short.steps, "{name}: {short:?} {long:?}");
        assert_eq!((short.scanned, long.scanned), (0, 0), "{name}");
    }
}

/// Every statement of every operation goes by an index: its plan has no scan.
#[test]
fn nothing_is_scanned() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    meter::reset();
    let folder = folder();
    let mut statements: Vec<String> =
        block_on(costs(folder.path(), SHORT)).into_values().flat_map(|cost| cost.statements).collect();
    let store = open(folder.path());
    meter::reset();
    block_on(list(&store, 5));
    statements.extend(meter::read().statements);
    // A file without a log beside it is looked at before it is opened.
    let copy = self::folder();
    std::fs::copy(folder.path().join("segue.db"), copy.path().join("segue.db")).unwrap();
    meter::reset();
    drop(open(copy.path()));
    statements.extend(meter::read().statements);
    assert!(statements.iter().any(|statement| statement.starts_with("SELECT session FROM in_use")));
    statements.sort();
    statements.dedup();
    let db = other_program(folder.path());
    let mut explained = 0;
    for statement in statements {
        let verb = statement.split_whitespace().next().unwrap_or_default();
        // Opening looks at the schema, once; triggers are told of as comments.
        if !["SELECT", "INSERT", "UPDATE", "DELETE"].contains(&verb) || statement.contains("sqlite_schema") {
            continue;
        }
        for step in plan(&db, &statement) {
            assert!(!step.starts_with("SCAN") && !step.contains("TEMP B-TREE"), "{statement}: {step}");
        }
        explained += 1;
    }
    assert!(explained >= 15, "{explained}");
}

#[allow(clippy::disallowed_methods, reason = "asks SQLite for its plans")]
fn other_program(folder: &Path) -> Connection {
    Connection::open(folder.join("segue.db")).unwrap()
}

fn plan(db: &Connection, statement: &str) -> Vec<String> {
    let mut query = db.prepare(&format!("EXPLAIN QUERY PLAN {statement}")).unwrap();
    let mut rows = query.raw_query();
    let mut steps = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        steps.push(row.get::<_, String>(3).unwrap());
    }
    steps
}

/// Lists the newest scopes, two pages of them.
async fn list(store: &Arc<dyn Store>, limit: usize) {
    let first = store.scopes(&Page::first(limit)).await.unwrap();
    store.scopes(&Page { after: first.next, ..Page::first(limit) }).await.unwrap();
}

#[test]
fn the_newest_scopes_cost_the_same_however_many_there_are() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    meter::reset();
    let cost = |scopes: usize| {
        let folder = folder();
        let store = open(folder.path());
        block_on(async {
            for n in 0..scopes {
                let mut world = World::at(store.clone(), &format!("agent:main:cli:direct:p{n}"));
                // Some at the same moment: then the key decides.
                world.now += jiff::SignedDuration::from_secs((n / 3) as i64);
                world.say("hello").await;
            }
            list(&store, 50).await;
            meter::reset();
            list(&store, 50).await;
            meter::read()
        })
    };
    let (few, many) = (cost(120), cost(3_000));
    // One row more for each page tells whether there is another.
    assert_eq!(few.rows_read, 102);
    assert_eq!(
        (few.rows_read, few.rows_written, few.scanned),
        (many.rows_read, many.rows_written, many.scanned)
    );
    assert!(2 * many.steps <= 3 * few.steps, "{few:?} {many:?}");
}
