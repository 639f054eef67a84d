//! A compaction takes memory that does not grow with what was observed (C-8): this program counts what it allocates.

#![allow(unsafe_code, reason = "stands in front of the allocator, to count")]
#![allow(clippy::unwrap_used, reason = "helpers of tests may do as tests do")]

use segue_core::entry::Seq;
use segue_core::task::blob::Blob;
use segue_core::task::observation::{Note, NoteKind, Observation};
use segue_core::task::path::WorkPath;
use segue_engine::Engine;
use segue_engine::config::Config;
use segue_engine::tasks::Tasks;
use segue_store::Location;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicIsize, Ordering::SeqCst};

struct Counting;

static NOW: AtomicIsize = AtomicIsize::new(0);
static MOST: AtomicIsize = AtomicIsize::new(0);

fn count(bytes: isize) {
    let now = NOW.fetch_add(bytes, SeqCst) + bytes;
    MOST.fetch_max(now, SeqCst);
}

// SAFETY: everything is passed on to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as above.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size as isize - layout.size() as isize);
        // SAFETY: as above.
        unsafe { System.realloc(memory, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns how much more memory is held at any one time during some work than before it.
async fn most_during<T>(work: impl Future<Output = T>) -> (isize, T) {
    let before = NOW.load(SeqCst);
    MOST.store(before, SeqCst);
    let done = work.await;
    (MOST.load(SeqCst) - before, done)
}

fn observation(n: usize) -> Observation {
    match n % 4 {
        0 => {
            Observation::Note(Note::text(NoteKind::Note, format!("step {n}: {}", "still at it ".repeat(20))))
        }
        1 => {
            let path = WorkPath::new(&format!("src/part{}.rs", n % 20)).unwrap();
            let content = format!("fn part() {{ {n} }}\n").repeat(100);
            Observation::FileRead { path, content: Blob::of(content.as_bytes()) }
        }
        2 => {
            let (command, output) = (format!("cargo test part{}", n % 12), Blob::of(b"ok\n"));
            Observation::Command { command, exit_code: Some(0), output }
        }
        _ => Observation::Plan { text: format!("then part {}", n % 20) },
    }
}

#[test]
fn c8_ten_times_the_observations_take_no_more_memory() {
    let folder = tempfile::tempdir().unwrap();
    let store = Location::Sqlite(folder.path().join("segue.db"));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let most = runtime.block_on(async {
        let config = Config::load(vec![], &jiff::tz::TimeZone::UTC).unwrap();
        let engine = Arc::new(Engine::open(store.open().unwrap(), config).await.unwrap());
        let mut most = Vec::new();
        for observations in [1_000, 10_000, 20_000] {
            let scope = format!("agent:main:cli:direct:p{observations}");
            let tasks = Tasks::new(engine.clone(), scope.parse().unwrap());
            tasks.start_session("Count").await.unwrap();
            for part in 0..observations / 100 {
                let part = (part * 100..part * 100 + 100).map(observation).collect();
                engine.observe_task(tasks.scope(), engine.now(), None, part).await.unwrap();
            }
            let (compacting, commit) = Box::pin(most_during(tasks.compact_session("counted"))).await;
            assert_eq!(commit.unwrap().totals.observations, observations as u64);
            // What it would take to hold it all, so that a bound means something.
            let all = engine.store().tail(tasks.scope(), Seq::ZERO, usize::MAX);
            let (holding, log) = most_during(all).await;
            assert!(log.unwrap().len() > observations);
            println!("{observations} observations: {compacting} bytes to compact, {holding} to hold");
            most.push((compacting, holding));
        }
        most
    });
    let [(few, few_held), (many, many_held), (more, _)] = most[..] else {
        unreachable!("three were measured")
    };
    assert!(many_held > 5 * few_held, "the meter shows what grows: {few_held} and {many_held}");
    // A task of more than 1,000 observations has full steps to read; more steps than that take nothing.
    assert!(many < 2 * few, "1,000 observations took {few} bytes, 10,000 took {many}");
    assert!(10 * more < 11 * many, "10,000 observations took {many} bytes, 20,000 took {more}");
}
