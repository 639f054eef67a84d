//! A full disk, without filling one: this program has its own `write` and `pwrite`, which give up with
//! `ENOSPC` once a budget is spent, as a file system does: what fits is written, the rest is not.

#![cfg(target_os = "linux")]
#![allow(unsafe_code, reason = "stands in for functions of the C library, to run out of space")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may do as tests do")]

#[allow(dead_code, reason = "other tests use the rest")]
use segue_core::session::Number;
use segue_store::conformance::World;
use segue_store::{Error, Location};
use std::ffi::{c_int, c_long, c_void};
use std::path::Path;
use std::sync::atomic::{AtomicI64, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};

/// How many bytes are left on the disk.
static LEFT: AtomicI64 = AtomicI64::new(i64::MAX);

/// Held by the test that plays with the disk.
static DISK: Mutex<()> = Mutex::new(());

/// Only what lies below here is on the full disk.
const MARK: &str = "segue-full-disk";

fn is_on_the_disk(file: c_int) -> bool {
    std::fs::read_link(format!("/proc/self/fd/{file}"))
        .is_ok_and(|path| path.components().any(|part| part.as_os_str().to_string_lossy().starts_with(MARK)))
}

fn room_for(file: c_int, count: usize) -> Option<usize> {
    let left = LEFT.load(SeqCst);
    if left == i64::MAX || !is_on_the_disk(file) {
        return Some(count);
    }
    let taken = left.clamp(0, count as i64);
    LEFT.fetch_sub(taken, SeqCst);
    (taken > 0 || count == 0).then_some(taken as usize)
}

fn no_space() -> isize {
    // SAFETY: the C library gives each thread a place for its error number.
    unsafe { *libc::__errno_location() = libc::ENOSPC };
    -1
}

// SAFETY: name, types and meaning are those of the C library.
#[unsafe(no_mangle)]
extern "C" fn write(file: c_int, from: *const c_void, count: usize) -> isize {
    match room_for(file, count) {
        // SAFETY: the caller's buffer has `count` bytes, and no more than those are asked for.
        Some(count) => unsafe { libc::syscall(libc::SYS_write, file, from, count) as isize },
        None => no_space(),
    }
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn pwrite(file: c_int, from: *const c_void, count: usize, at: c_long) -> isize {
    match room_for(file, count) {
        // SAFETY: as above.
        Some(count) => unsafe { libc::syscall(libc::SYS_pwrite64, file, from, count, at) as isize },
        None => no_space(),
    }
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn pwrite64(file: c_int, from: *const c_void, count: usize, at: c_long) -> isize {
    pwrite(file, from, count, at)
}

fn folder() -> tempfile::TempDir {
    tempfile::Builder::new().prefix(MARK).tempdir().unwrap()
}

fn run_out_of_space(store: &Location) {
    let _alone = DISK.lock().unwrap_or_else(PoisonError::into_inner);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let mut world = World::new(store.open().unwrap());
        let mut kept = Vec::new();
        let mut failures = 0;
        // More room each time: the disk runs full in every part of an append.
        for left in (0..40_000).step_by(450) {
            LEFT.store(left, SeqCst);
            let failed = loop {
                let text = format!("message {} with {left} bytes left {}", kept.len(), "x".repeat(300));
                match world.say_as(&text, &format!("id-{}-{left}", kept.len())).await {
                    Ok(()) => kept.push(text),
                    Err(error) => break error,
                }
                if LEFT.load(SeqCst) <= 0 && kept.len() > 10_000 {
                    panic!("the disk is never full");
                }
            };
            assert!(matches!(failed, Error::Unavailable { .. }), "{failed:?}");
            let sentence = failed.to_string();
            assert!(sentence.contains("full") || sentence.contains("No space left"), "{sentence}");
            failures += 1;
            // Reading goes on, also with no space at all, and nothing that was acknowledged is lost.
            assert_eq!(world.texts(Number(1)).await, kept);
            LEFT.store(i64::MAX, SeqCst);
            let text = format!("there is space again, {left}");
            world.say(&text).await;
            kept.push(text);
        }
        assert_eq!(world.texts(Number(1)).await, kept);
        world.verify().await;
        assert!(failures > 50);
        drop(world);
        let world = World::new(store.open().unwrap());
        assert_eq!(world.texts(Number(1)).await, kept, "after a restart");
        world.verify().await;
        assert_eq!(world.store.audit(None).await.unwrap(), Vec::<String>::new());
    });
}

#[test]
fn a_full_disk_loses_nothing_in_sqlite() {
    let folder = folder();
    run_out_of_space(&Location::Sqlite(folder.path().join("segue.db")));
}

#[test]
fn a_full_disk_loses_nothing_in_files() {
    let folder = folder();
    run_out_of_space(&Location::Files(folder.path().to_owned()));
}

#[test]
fn a_store_is_not_made_on_a_full_disk() {
    let _alone = DISK.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = folder();
    let open = |path: &Path| {
        LEFT.store(0, SeqCst);
        let opened = Location::Sqlite(path.to_owned()).open();
        LEFT.store(i64::MAX, SeqCst);
        opened.map(drop)
    };
    let path = folder.path().join("segue.db");
    let error = open(&path).unwrap_err();
    assert!(error.to_string().contains("the disk is full"), "{error}");
    Location::Sqlite(path).open().unwrap();
}
