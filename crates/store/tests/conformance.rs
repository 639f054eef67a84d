//! The stores of this crate pass the suite.

#![allow(clippy::unwrap_used, reason = "helpers of tests may do as tests do")]

use segue_store::Store;
use segue_store::conformance::{Bench, folder};
use segue_store::encryption::{MasterKey, MasterKeys};
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

    fn open_beside(&self) -> Option<Arc<dyn Store>> {
        Some(self.open())
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

/// A key for tests.
fn master_keys() -> MasterKeys {
    MasterKeys::new(MasterKey::new([7; 32]), [])
}

struct InEncryptedSqlite(tempfile::TempDir);

impl Bench for InEncryptedSqlite {
    fn open(&self) -> Arc<dyn Store> {
        Arc::new(Sqlite::open_with(&self.0.path().join("segue.db"), Some(&master_keys())).unwrap())
    }

    fn is_durable(&self) -> bool {
        true
    }
}

struct InEncryptedFiles(tempfile::TempDir);

impl Bench for InEncryptedFiles {
    fn open(&self) -> Arc<dyn Store> {
        Arc::new(Files::open_with(self.0.path(), Some(&master_keys())).unwrap())
    }

    fn is_durable(&self) -> bool {
        true
    }
}

mod encrypted_sqlite {
    use super::*;
    segue_store::conformance_tests!(InEncryptedSqlite(folder()));
}

mod encrypted_files {
    use super::*;
    segue_store::conformance_tests!(InEncryptedFiles(folder()));
}
