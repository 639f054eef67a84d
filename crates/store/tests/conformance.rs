//! The stores of this crate pass the suite.

#![allow(clippy::unwrap_used, reason = "helpers of tests may do as tests do")]

use segue_store::Store;
use segue_store::conformance::{Bench, folder};
use segue_store::files::Files;
use segue_store::memory::Memory;
use segue_store::sqlite::Sqlite;
use std::sync::Arc;

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

mod memory {
    use super::*;
    segue_store::conformance_tests!(InMemory);
}

mod sqlite {
    use super::*;
    segue_store::conformance_tests!(InSqlite(folder()));
}

mod files {
    use super::*;
    segue_store::conformance_tests!(InFiles(folder()));
}
