//! The process is killed at every single write of every transition of a task (C-2, C-7): before it, and in the middle
//! of its bytes. State, question, response, queue, staging pointer and observations are all there, or none of that step
//! is; and the step can be made again.

#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "stands in for functions of the C library, to die in them")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may do as tests do")]

mod disk;
mod story;

use disk::{Extent, MARK};
use segue_core::task::state::StateName;
use segue_core::task::transition;
use segue_store::Location;
use std::collections::BTreeSet;
use std::future::Future;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use story::{STORY, Seen, look, make, open};

const STORE: &str = "KILLS_STORE";
const STEP: &str = "KILLS_STEP";
const AT: &str = "KILLS_AT";
const HALF: &str = "KILLS_HALF";

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work)
}

/// The child's side: does nothing in an ordinary test run. Closing the store is part of it: what is tidied up then
/// writes, too.
#[test]
fn makes_one_step() {
    let Ok(store) = std::env::var(STORE) else { return };
    let number = |name| std::env::var(name).unwrap().parse::<u64>().unwrap();
    let (step, at) = (usize::try_from(number(STEP)).unwrap(), number(AT));
    let extent = if number(HALF) == 1 { Extent::Half } else { Extent::None };
    run(async {
        let engine = open(&store.parse().unwrap(), step).await;
        disk::arm(at, extent);
        make(&engine, step).await;
        println!("\nmade");
    });
    println!("changes {}", disk::changes());
}

/// What a child came to.
struct Child {
    /// The step was acknowledged.
    made: bool,
    /// What was changed, one letter each; nothing if it was killed.
    changes: Option<String>,
}

fn child(store: &Location, step: usize, at: u64, extent: Extent) -> Child {
    let out = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "makes_one_step", "--nocapture", "--test-threads=1"])
        .env(STORE, store.to_string())
        .env(STEP, step.to_string())
        .env(AT, at.to_string())
        .env(HALF, u8::from(extent == Extent::Half).to_string())
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    let told = String::from_utf8(out.stdout).unwrap();
    let changes = told.lines().find_map(|line| line.strip_prefix("changes ")).map(str::to_owned);
    assert_eq!(out.status.success(), changes.is_some(), "{told}");
    Child { made: told.lines().any(|line| line == "made"), changes }
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (entry, to) = (entry.as_ref().unwrap(), to.join(entry.as_ref().unwrap().file_name()));
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(std::fs::copy(entry.path(), to).unwrap()),
        }
    }
}

async fn seen(store: &Location, step: usize) -> Seen {
    let engine = open(store, step).await;
    let seen = look(&engine).await;
    if seen.state.is_some() {
        let report = segue_store::verify::verify(engine.store().as_ref(), &story::scope()).await.unwrap();
        assert_eq!(report.problems, Vec::<String>::new());
    }
    seen
}

/// Each change is a place to die: before it, and where it has bytes, in the middle of them.
fn deaths(changes: &str) -> impl Iterator<Item = (u64, Extent)> {
    (1..).zip(changes.chars()).flat_map(|(at, kind)| {
        let half = (kind == 'b').then_some((at, Extent::Half));
        [(at, Extent::None)].into_iter().chain(half)
    })
}

/// Held by a test: a child that is just being started by another one holds the files that are open here.
static ALONE: Mutex<()> = Mutex::new(());

fn kill_at_every_write(place: impl Fn(&Path) -> Location) {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    // A kill leaves what was written, synced or not, so memory will do for a disk; and it is faster.
    let memory = Path::new("/dev/shm");
    let place_for_it = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    let folder = tempfile::Builder::new().prefix(MARK).tempdir_in(place_for_it).unwrap();
    let (template, victim) = (folder.path().join("template"), folder.path().join("victim"));
    std::fs::create_dir_all(&template).unwrap();
    let (mut kills, mut lost, mut kept) = (0, 0, 0);
    let mut states = vec![StateName::None];
    let mut before = run(seen(&place(&template), 0));
    for (step, what) in STORY.iter().enumerate() {
        let fresh = || {
            if victim.exists() {
                std::fs::remove_dir_all(&victim).unwrap();
            }
            copy(&template, &victim);
            place(&victim)
        };
        let changes = child(&fresh(), step, u64::MAX >> 1, Extent::None).changes.unwrap();
        let after = run(seen(&place(&victim), step));
        assert!(!changes.is_empty() && after.log.len() > before.log.len(), "step {step}, {what:?}, writes");
        for (at, extent) in deaths(&changes) {
            let store = fresh();
            let child = child(&store, step, at, extent);
            let found = run(seen(&store, step));
            let told = format!("step {step}, {what:?}, killed at {at} of {changes:?}, {extent:?}");
            kills += u32::from(child.changes.is_none());
            match found == after {
                true => kept += 1,
                false => {
                    assert!(!child.made, "{told}: it was acknowledged, and is not there");
                    assert_eq!(found, before, "{told}: it is there by half");
                    lost += 1;
                }
            }
            // Whoever got no answer tries again.
            if found == before {
                run(async { make(&open(&store, step).await, step).await });
                assert_eq!(run(seen(&store, step)), after, "{told}: made again");
            }
        }
        std::fs::remove_dir_all(&template).unwrap();
        std::fs::rename(&victim, &template).unwrap();
        // The last victim is as good as any: it has the whole step.
        before = after;
        let state = before.state.as_ref().unwrap();
        states.push(state.extras.task_state(state.latest().unwrap()));
    }
    println!("{kills} kills: {lost} steps were never made, {kept} were there as a whole");
    assert!(lost > 0 && kept > 0 && kills > 100, "{kills} kills, {lost} lost, {kept} kept");
    every_transition_was_made(&states);
}

fn every_transition_was_made(states: &[StateName]) {
    let made: BTreeSet<_> = states.windows(2).map(|pair| (pair[0].name(), pair[1].name())).collect();
    for row in transition::TRANSITIONS {
        assert!(made.contains(&(row.from.name(), row.to.name())), "{} to {} was not made", row.from, row.to);
    }
}

#[test]
fn c2_c7_a_kill_at_any_write_leaves_no_half_in_sqlite() {
    kill_at_every_write(|folder| Location::Sqlite(folder.join("segue.db")));
}

#[test]
fn c2_c7_a_kill_at_any_write_leaves_no_half_in_files() {
    kill_at_every_write(|folder| Location::Files(folder.join("log")));
}
