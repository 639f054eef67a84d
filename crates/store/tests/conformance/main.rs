//! One suite that every store passes.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may do as tests do")]

mod model;
mod operations;
mod searching;
mod suite;
mod tasks;
mod world;

use segue_store::Store;
use segue_store::files::Files;
use segue_store::memory::Memory;
use segue_store::sqlite::Sqlite;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::runtime::Runtime;

/// A store under test, and how to open it again.
pub trait Bench {
    /// Opens the store, or opens it again after the one before was dropped.
    fn open(&self) -> Arc<dyn Store>;
    /// Tells whether what was written is still there when the store is opened again.
    fn is_durable(&self) -> bool;
    /// Makes what the tests run on.
    fn runtime(&self) -> Runtime {
        tokio::runtime::Builder::new_current_thread().build().unwrap()
    }
}

/// A folder in memory where there is one: thousands of sequences need no real disk.
fn folder() -> tempfile::TempDir {
    let shm = PathBuf::from("/dev/shm");
    if shm.is_dir() { tempfile::tempdir_in(shm).unwrap() } else { tempfile::tempdir().unwrap() }
}

struct InMemory;

impl Bench for InMemory {
    fn open(&self) -> Arc<dyn Store> {
        Arc::new(Memory::default())
    }

    fn is_durable(&self) -> bool {
        false
    }
}

struct InSqlite(tempfile::TempDir);

impl Bench for InSqlite {
    fn open(&self) -> Arc<dyn Store> {
        Arc::new(Sqlite::open(&self.0.path().join("segue.db")).unwrap())
    }

    fn is_durable(&self) -> bool {
        true
    }
}

/// Where there is more than one thread, a turn is written where it is if nobody else waits.
struct OnThreads(InSqlite);

impl Bench for OnThreads {
    fn open(&self) -> Arc<dyn Store> {
        self.0.open()
    }

    fn is_durable(&self) -> bool {
        true
    }

    fn runtime(&self) -> Runtime {
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().unwrap()
    }
}

struct InFiles(tempfile::TempDir);

impl Bench for InFiles {
    fn open(&self) -> Arc<dyn Store> {
        Arc::new(Files::open(self.0.path()).unwrap())
    }

    fn is_durable(&self) -> bool {
        true
    }
}

macro_rules! stores {
    ($($name:ident: $bench:expr;)*) => {$(
        mod $name {
            use super::*;
            suite::tests!($bench);
        }
    )*};
}

stores! {
    memory: InMemory;
    sqlite: InSqlite(folder());
    files: InFiles(folder());
}

mod sqlite_on_threads {
    use super::*;
    suite::tests!(written OnThreads(InSqlite(folder())));
}
