//! A disk on which the process dies: this program has its own `write`, `fsync`, `rename` and so on, which the SQLite
//! inside it and the standard library call. Once armed, each change of the store is counted, and one of them is the
//! last thing that the process does.

use std::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::os::unix::ffi::OsStrExt;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};

/// Only what lies below a folder with this name is the store.
pub const MARK: &str = "segue-task-kills";

/// How much of the last change is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Nothing of it.
    None,
    /// Half of its bytes, if it has any.
    Half,
}

/// How many changes are left; negative if nobody counts.
static LEFT: AtomicI64 = AtomicI64::new(-1);
static HALF: AtomicBool = AtomicBool::new(false);

/// What was changed, in order: `b` for bytes, `-` for what is done as a whole or not at all.
static DONE: Mutex<String> = Mutex::new(String::new());

/// Counts from here on, and dies at a change.
pub fn arm(at: u64, extent: Extent) {
    HALF.store(extent == Extent::Half, SeqCst);
    LEFT.store(i64::try_from(at).unwrap_or(i64::MAX), SeqCst);
}

/// Tells what was changed since it was armed, one letter each: `b` for bytes.
pub fn changes() -> String {
    DONE.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

fn die() -> ! {
    // SAFETY: both calls take plain numbers.
    unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
    loop {
        std::thread::park();
    }
}

fn is_marked(path: &[u8]) -> bool {
    path.windows(MARK.len()).any(|part| part == MARK.as_bytes())
}

fn is_ours(file: c_int) -> bool {
    LEFT.load(SeqCst) >= 0
        && std::fs::read_link(format!("/proc/self/fd/{file}"))
            .is_ok_and(|path| is_marked(path.as_os_str().as_bytes()))
}

/// # Safety
///
/// The path ends with a zero.
unsafe fn is_our_path(path: *const c_char) -> bool {
    // SAFETY: as the caller says.
    LEFT.load(SeqCst) >= 0 && is_marked(unsafe { CStr::from_ptr(path) }.to_bytes())
}

/// Counts a change; true if it is the last one.
fn is_last(kind: char) -> bool {
    DONE.lock().unwrap_or_else(PoisonError::into_inner).push(kind);
    LEFT.fetch_sub(1, SeqCst) == 1
}

/// Counts a change that is done as a whole or not at all.
fn change() {
    if is_last('-') {
        die();
    }
}

/// Counts a write. The last one may still write half of its bytes.
fn bytes_change(count: usize, half: impl FnOnce(usize)) {
    if is_last('b') {
        if HALF.load(SeqCst) {
            half(count / 2);
        }
        die();
    }
}

// SAFETY: here and below, names, types and meaning are those of the C library.
#[unsafe(no_mangle)]
extern "C" fn write(file: c_int, from: *const c_void, count: usize) -> isize {
    // SAFETY: the caller's buffer has `count` bytes, and no more than those are asked for.
    let write = |count: usize| unsafe { libc::syscall(libc::SYS_write, file, from, count) as isize };
    if is_ours(file) {
        bytes_change(count, |half| _ = write(half));
    }
    write(count)
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn pwrite(file: c_int, from: *const c_void, count: usize, at: c_long) -> isize {
    // SAFETY: as above.
    let write = |count: usize| unsafe { libc::syscall(libc::SYS_pwrite64, file, from, count, at) as isize };
    if is_ours(file) {
        bytes_change(count, |half| _ = write(half));
    }
    write(count)
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn pwrite64(file: c_int, from: *const c_void, count: usize, at: c_long) -> isize {
    pwrite(file, from, count, at)
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn fsync(file: c_int) -> c_int {
    if is_ours(file) {
        change();
    }
    // SAFETY: the call takes a number.
    unsafe { libc::syscall(libc::SYS_fsync, file) as c_int }
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn fdatasync(file: c_int) -> c_int {
    if is_ours(file) {
        change();
    }
    // SAFETY: the call takes a number.
    unsafe { libc::syscall(libc::SYS_fdatasync, file) as c_int }
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn ftruncate(file: c_int, length: c_long) -> c_int {
    if is_ours(file) {
        change();
    }
    // SAFETY: the call takes numbers.
    unsafe { libc::syscall(libc::SYS_ftruncate, file, length) as c_int }
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn ftruncate64(file: c_int, length: c_long) -> c_int {
    ftruncate(file, length)
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    // SAFETY: the caller's paths end with a zero.
    if unsafe { is_our_path(to) } {
        change();
    }
    let here = libc::AT_FDCWD;
    // SAFETY: as above.
    unsafe { libc::syscall(libc::SYS_renameat2, here, from, here, to, 0) as c_int }
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn unlink(path: *const c_char) -> c_int {
    // SAFETY: the caller's path ends with a zero.
    if unsafe { is_our_path(path) } {
        change();
    }
    // SAFETY: as above.
    unsafe { libc::syscall(libc::SYS_unlinkat, libc::AT_FDCWD, path, 0) as c_int }
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn mkdir(path: *const c_char, mode: libc::mode_t) -> c_int {
    // SAFETY: the caller's path ends with a zero.
    if unsafe { is_our_path(path) } {
        change();
    }
    // SAFETY: as above.
    unsafe { libc::syscall(libc::SYS_mkdirat, libc::AT_FDCWD, path, mode) as c_int }
}
