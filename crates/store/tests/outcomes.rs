//! N-2: an append is committed, not committed, or nobody knows; what nobody knows is settled, and written once.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may do as tests do")]

use segue_core::decide::Command;
use segue_core::message::{Message, MessageId, Role};
use segue_core::session::Number;
use segue_store::conformance::{Call, Hook, Hooked, World, folder};
use segue_store::files::Files;
use segue_store::memory::Memory;
use segue_store::sqlite::Sqlite;
use segue_store::{Append, Error, Store, settle};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command as Process, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

/// Loses acknowledgements: of some calls before they are made, of some behind.
struct Losing {
    calls: AtomicUsize,
    before: Vec<usize>,
    after: Vec<usize>,
}

fn lost() -> Error {
    Error::Unknown { what: "an append".into(), why: "the line was cut".into() }
}

impl Hook for Losing {
    fn before(&self, call: Call) -> Result<(), Error> {
        let is_append = matches!(call, Call::Append | Call::AppendMany);
        if is_append && self.before.contains(&self.calls.fetch_add(1, SeqCst)) { Err(lost()) } else { Ok(()) }
    }

    fn after(&self, call: Call, _: usize) -> Result<(), Error> {
        let is_append = matches!(call, Call::Append | Call::AppendMany);
        let nth = self.calls.load(SeqCst).wrapping_sub(1);
        if is_append && self.after.contains(&nth) { Err(lost()) } else { Ok(()) }
    }
}

fn message(text: &str, id: Option<String>) -> Command {
    let message = Message { message_id: id.map(MessageId), ..Message::text(text) };
    Command::Say { role: Role::User, message }
}

#[tokio::test]
async fn n2_lost_acknowledgements_are_settled() {
    for with_id in [false, true] {
        let hook = Losing { calls: 0.into(), before: vec![1, 2, 7], after: vec![0, 4, 9, 10] };
        let mut world = World::new(Arc::new(Hooked::new(Arc::new(Memory::default()), hook)));
        let mut expected = Vec::new();
        for n in 0..12 {
            let command = message(&format!("message {n}"), with_id.then(|| format!("id{n}")));
            let (append, _) = world.append_of(world.state().await, &command).unwrap();
            settle::append(world.store.as_ref(), append).await.unwrap();
            expected.push(format!("message {n}"));
        }
        assert_eq!(world.texts(Number(1)).await, expected);
        world.verify().await;
    }
}

#[tokio::test]
async fn n2_many_appends_are_settled_one_by_one() {
    for (before, after) in [(vec![0], vec![]), (vec![], vec![0]), (vec![0, 2], vec![1, 3])] {
        let hook = Losing { calls: 0.into(), before, after };
        let mut world = World::new(Arc::new(Hooked::new(Arc::new(Memory::default()), hook)));
        let (mut state, mut appends) = (world.state().await, Vec::new());
        for n in 0..5 {
            let (append, _) = world.append_of(state, &message(&format!("message {n}"), None)).unwrap();
            state = append.next.clone();
            appends.push(append);
        }
        assert!(matches!(settle::append_many(world.store.as_ref(), appends).await, (5, Ok(()))));
        assert_eq!(world.texts(Number(1)).await.len(), 5);
        world.verify().await;
    }
}

#[tokio::test]
async fn n2_a_store_that_never_answers_is_told_as_unknown() {
    let hook = Losing { calls: 0.into(), before: (0..100).collect(), after: Vec::new() };
    let mut world = World::new(Arc::new(Hooked::new(Arc::new(Memory::default()), hook)));
    let (append, _) = world.append_of(world.state().await, &message("hello", None)).unwrap();
    let done = settle::append(world.store.as_ref(), append).await;
    assert!(matches!(done, Err(Error::Unknown { .. })), "{done:?}");
    assert!(world.texts(Number(1)).await.is_empty());
}

/// What becomes of calls, one after the other; behind the last one all is well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// Done, and the acknowledgement is lost.
    Lost,
    /// Not done, and nobody says so.
    Dropped,
    /// The store is away, and says that nothing was done.
    Away,
}

struct Fated {
    appends: Mutex<VecDeque<Fate>>,
    questions: Mutex<VecDeque<Fate>>,
    after: AtomicBool,
}

impl Hook for Fated {
    fn before(&self, call: Call) -> Result<(), Error> {
        let fates = match call {
            Call::Append | Call::AppendMany => &self.appends,
            Call::Appended => &self.questions,
            _ => return Ok(()),
        };
        let fate = fates.lock().unwrap().pop_front();
        self.after.store(fate == Some(Fate::Lost), SeqCst);
        match fate {
            Some(Fate::Dropped) => Err(lost()),
            Some(Fate::Away) => Err(Error::unavailable("the store", "it is away")),
            Some(Fate::Lost) | None => Ok(()),
        }
    }

    fn after(&self, _: Call, _: usize) -> Result<(), Error> {
        if self.after.swap(false, SeqCst) { Err(lost()) } else { Ok(()) }
    }
}

/// After an unknown outcome only an answer counts that holds for the append whenever it was sent.
#[tokio::test]
async fn n2_a_store_that_is_away_says_nothing_about_what_it_did_before() {
    use Fate::{Away, Dropped, Lost};
    let away = [Away; 10];
    let dropped_then_away = [&[Dropped][..], &away].concat();
    for (appends, questions, expected, is_there) in [
        (&[Lost][..], &away[..], None, true),
        (&dropped_then_away, &[][..], None, false),
        (&[Lost], &[Away, Away], Some(()), true),
        (&[Dropped, Away, Dropped], &[Away], Some(()), true),
        // The first answer is one: nothing was done.
        (&[Away], &[], None, false),
    ] {
        for many in [false, true] {
            // Many appends tell how many were made.
            if many && appends[0] == Lost {
                continue;
            }
            let hook = Fated {
                appends: Mutex::new(appends.iter().copied().collect()),
                questions: Mutex::new(questions.iter().copied().collect()),
                after: AtomicBool::new(false),
            };
            let mut world = World::new(Arc::new(Hooked::new(Arc::new(Memory::default()), hook)));
            let (append, _) = world.append_of(world.state().await, &message("hello", None)).unwrap();
            let done = match many {
                false => settle::append(world.store.as_ref(), append).await,
                true => settle::append_many(world.store.as_ref(), vec![append]).await.1,
            };
            let what = format!("{appends:?} {questions:?} {many}: {done:?}");
            match (expected, appends[0]) {
                (Some(()), _) => assert!(done.is_ok(), "{what}"),
                (None, Away) => assert!(matches!(done, Err(Error::Unavailable { .. })), "{what}"),
                (None, _) => assert!(matches!(done, Err(Error::Unknown { .. })), "{what}"),
            }
            assert_eq!(world.texts(Number(1)).await.len(), usize::from(is_there), "{what}");
        }
    }
}

// The kills. A child process makes the appends of a fixed conversation, and is killed with SIGKILL when the commit of one
// has returned and before it is acknowledged. The next child sends the same append again.

const CHILD: &str = "SEGUE_OUTCOMES_CHILD";

fn open(kind: &str, folder: &Path) -> Arc<dyn Store> {
    match kind {
        "sqlite" => Arc::new(Sqlite::open(&folder.join("segue.db")).unwrap()),
        "files" => Arc::new(Files::open(folder).unwrap()),
        other => panic!("{other}"),
    }
}

/// The append of a turn: the same bytes and the same id in every process.
fn append_of(world: &mut World, state: Arc<segue_core::state::State>, turn: usize) -> Append {
    let id = turn.is_multiple_of(2).then(|| format!("id{turn}"));
    let (mut append, _) = world.append_of(state, &message(&format!("turn {turn}"), id)).unwrap();
    append.id = segue_store::AppendId((turn as u128 + 1).to_be_bytes());
    append
}

/// Plays the child: reads the number of a turn, appends it, and says so; asked to die, it dies between the two.
#[test]
fn child() {
    let Ok(place) = std::env::var(CHILD) else { return };
    let (kind, folder) = place.split_once(' ').unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut world = World::new(open(kind, Path::new(folder)));
    for line in std::io::stdin().lines() {
        let line = line.unwrap();
        let (verb, turn) = line.split_once(' ').unwrap();
        let turn: usize = turn.parse().unwrap();
        let done = runtime.block_on(async {
            // The state that the turn was decided on, as the one who retries still has it.
            let mut state = Arc::new(segue_core::state::State::empty(world.scope.clone()));
            let head = world.state().await;
            if head.messages as usize == turn {
                state = head;
            } else {
                for record in world.whole_log().await {
                    if state.messages as usize == turn && record.kind.role().is_some() {
                        break;
                    }
                    segue_core::evolve::evolve(Arc::make_mut(&mut state), &record).unwrap();
                }
            }
            let append = append_of(&mut world, state, turn);
            settle::append(world.store.as_ref(), append).await
        });
        if verb == "die" {
            Process::new("kill").args(["-9", &std::process::id().to_string()]).status().unwrap();
            loop {
                std::thread::park();
            }
        }
        println!("turn {turn} {}", if done.is_ok() { "ok".to_owned() } else { format!("{done:?}") });
    }
}

struct Running {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

fn start(kind: &str, folder: &Path) -> Running {
    let mut child = Process::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--nocapture", "--test-threads=1"])
        .env(CHILD, format!("{kind} {}", folder.display()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
    Running { child, input, output }
}

fn ask(running: &mut Running, verb: &str, turn: usize) -> Option<String> {
    writeln!(running.input, "{verb} {turn}").unwrap();
    let mut line = String::new();
    while running.output.read_line(&mut line).unwrap() > 0 {
        // The harness begins its line before the first answer.
        if let Some(at) = line.find(&format!("turn {turn} ")) {
            return Some(line[at..].trim().to_owned());
        }
        line.clear();
    }
    None
}

fn kills(kind: &str, kills: usize) {
    let folder = folder();
    let mut turn = 0;
    for _ in 0..kills {
        let mut running = start(kind, folder.path());
        // One that is sent again, or for the first time; then one whose acknowledgement is lost.
        assert_eq!(ask(&mut running, "append", turn), Some(format!("turn {turn} ok")));
        turn += 1;
        assert_eq!(ask(&mut running, "die", turn), None);
        running.child.wait().unwrap();
    }
    let mut running = start(kind, folder.path());
    assert_eq!(ask(&mut running, "append", turn), Some(format!("turn {turn} ok")));
    drop(running.input);
    running.child.wait().unwrap();
    let world = World::new(open(kind, folder.path()));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let expected: Vec<String> = (0..=turn).map(|turn| format!("turn {turn}")).collect();
        assert_eq!(world.texts(Number(1)).await, expected);
        world.verify().await;
    });
}

/// How many kills; `SEGUE_KILLS` says otherwise.
fn count(of: usize) -> usize {
    std::env::var("SEGUE_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(of)
}

#[test]
fn n2_a_kill_between_commit_and_acknowledgement_writes_once() {
    kills("sqlite", count(600));
}

#[test]
fn n2_a_kill_between_commit_and_acknowledgement_writes_once_in_files() {
    kills("files", count(400));
}
