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

/// A store under test, and how to open it again.
pub trait Bench {
    /// Opens the store, or opens it again after the one before was dropped.
    fn open(&self) -> Arc<dyn Store>;
    /// Tells whether what was written is still there when the store is opened again.
    fn is_durable(&self) -> bool;
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
