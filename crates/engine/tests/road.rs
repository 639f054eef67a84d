//! The road of a message, as it is: which functions a plain message passes from `receive` to its durable commit and back.
//!
//! While a message is taken, each time memory is allocated the functions that are under way are recorded, on every thread.
//! So this finds each function that allocates, and each that calls one, however the compiler has put them together; a
//! function that only computes is not found. ARCHITECTURE.md says how many there are. If there are more, the road has grown.

#![allow(unsafe_code, reason = "stands in for the allocator, to see who calls it")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests may do as tests do"
)]

use jiff::tz::TimeZone;
use segue_core::message::{Message, Role};
use segue_engine::config::Config;
use segue_engine::{Engine, Inbound, Request};
use segue_store::Location;
use std::alloc::{GlobalAlloc, Layout, System};
use std::backtrace::Backtrace;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};

/// The crates that are ours and on the road.
const CRATES: [&str; 4] = ["core", "engine", "signals", "store"];

/// How many allocations are looked at.
const SEEN_MAX: usize = 20_000;

static RECORDS: AtomicBool = AtomicBool::new(false);
static SEEN: Mutex<Vec<Backtrace>> = Mutex::new(Vec::new());

thread_local! {
    /// Whether this thread records just now: that allocates, too.
    static IS_RECORDING: Cell<bool> = const { Cell::new(false) };
}

struct Recording;

// SAFETY: all of it is done by the system's allocator.
unsafe impl GlobalAlloc for Recording {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if RECORDS.load(SeqCst) {
            record();
        }
        // SAFETY: the caller keeps the rules of the same method.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Recording = Recording;

fn record() {
    // A thread that ends has none of this any more.
    let begins = IS_RECORDING.try_with(|recording| !recording.replace(true)).unwrap_or(false);
    if begins {
        let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.len() < SEEN_MAX {
            seen.push(Backtrace::force_capture());
        }
        drop(seen);
        IS_RECORDING.with(|recording| recording.set(false));
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Returns the file below the root and the line of a frame, if it is ours.
fn ours(at: &str) -> Option<(String, usize)> {
    let (place, _) = at.trim().strip_prefix("at ")?.rsplit_once(':')?;
    let (file, line) = place.rsplit_once(':')?;
    let file = match file.strip_prefix("./") {
        Some(rest) if rest.starts_with("src/") => format!("crates/engine/{rest}"),
        Some(_) => return None,
        None => file.strip_prefix(root().to_str().unwrap())?.trim_start_matches('/').to_owned(),
    };
    let is_ours = CRATES.iter().any(|name| file.starts_with(&format!("crates/{name}/src/")));
    Some((file, line.parse().ok()?)).filter(|_| is_ours)
}

/// Finds the function that a line stands in: the last one that begins before it and is not inside of another block.
fn function(lines: &[&str], line: usize) -> Option<String> {
    let name = |text: &str| {
        let (_, rest) = text.split_once("fn ")?;
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_')?;
        let is_head =
            ["fn ", "pub", "async", "unsafe", "const"].iter().any(|head| text.trim_start().starts_with(head));
        is_head.then(|| rest[..end].to_owned())
    };
    lines[..line.min(lines.len())].iter().rev().find_map(|text| name(text))
}

/// The functions on the road, by file.
fn passed() -> BTreeMap<String, BTreeSet<String>> {
    let traces = std::mem::take(&mut *SEEN.lock().unwrap_or_else(PoisonError::into_inner));
    assert!(traces.len() < SEEN_MAX && !traces.is_empty(), "{} allocations", traces.len());
    let mut places = BTreeSet::new();
    for trace in traces {
        places.extend(trace.to_string().lines().filter_map(ours));
    }
    let mut files: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (file, line) in places {
        let text = std::fs::read_to_string(root().join(&file)).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        files.entry(file).or_default().extend(function(&lines, line));
    }
    files
}

/// Reads the numbers of files and functions that ARCHITECTURE.md states.
fn stated() -> (usize, usize) {
    let page = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let (_, rest) = page.split_once("Counted: ").expect("ARCHITECTURE.md states what was counted");
    let numbers: Vec<usize> = rest.split_whitespace().filter_map(|word| word.parse().ok()).take(2).collect();
    (numbers[1], numbers[0])
}

#[test]
fn the_road_of_a_message_has_not_grown() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let config = Config::load(vec![], &TimeZone::UTC).unwrap();
        let location = Location::Sqlite(folder.path().join("segue.db"));
        let engine = Engine::open(location.open().unwrap(), config).await.unwrap();
        let scope: segue_core::scope::Key = "agent:main:cli:direct:me".parse().unwrap();
        let at = |minute: u32| format!("2026-03-01T10:{minute:02}:00Z").parse().unwrap();
        let say = async |minute, text: &str| {
            engine.receive(Inbound::user(scope.clone(), at(minute), text)).await.unwrap()
        };
        // What is done once is not on the road of each message.
        for (minute, text) in
            (0..).zip(["Which hotel in Lisbon has a garden?", "And a pool?", "Is it quiet there?"])
        {
            let outcome = say(minute, text).await;
            let reply = Message::text("The Olissippo has one.");
            let request = Request::Reply(Role::Assistant, reply, outcome.session);
            engine.request(&scope, at(minute), &request).await.unwrap();
            engine.context(&scope).await.unwrap();
        }
        RECORDS.store(true, SeqCst);
        say(9, "How far is the hotel from the airport?").await;
        RECORDS.store(false, SeqCst);
    });
    let files = passed();
    let functions: usize = files.values().map(BTreeSet::len).sum();
    for (file, functions) in &files {
        println!("{file}: {}", functions.iter().cloned().collect::<Vec<_>>().join(", "));
    }
    println!("{functions} functions in {} files", files.len());
    let (files_max, functions_max) = stated();
    assert!(
        files.len() <= files_max && functions <= functions_max,
        "the road has grown: {functions} functions in {} files, where ARCHITECTURE.md states {functions_max} in {files_max}",
        files.len()
    );
    // A number that is far from true says nothing.
    assert!(10 * functions >= 9 * functions_max, "the road is shorter: {functions} functions; state that");
}
