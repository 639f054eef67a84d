//! The conformance suite: what every store must do, with a naive model that says what that is.
//!
//! A store in another crate passes it with a [`Bench`] and a line:
//!
//! ```ignore
//! struct InMine(tempfile::TempDir);
//!
//! impl segue_store::conformance::Bench for InMine {
//!     fn open(&self) -> Arc<dyn Store> {
//!         Arc::new(Mine::open(self.0.path()).unwrap())
//!     }
//!     fn is_durable(&self) -> bool {
//!         true
//!     }
//! }
//!
//! segue_store::conformance_tests!(InMine(tempfile::tempdir().unwrap()));
//! ```
//!
//! [`Hooked`] counts, delays or fails the calls of a store, and [`World`] drives a scope by the rules and nothing else.

#![allow(clippy::unwrap_used, clippy::panic, reason = "this is for tests, and does as tests do")]
#![allow(missing_docs, reason = "the tests' names say what they test")]

mod hooked;
pub mod model;
mod operations;
mod searching;
mod services;
pub mod suite;
mod tasks;
mod world;

pub use hooked::{Call, Cheat, Hook, Hooked};
pub use world::{World, said, text};

use crate::store::Store;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::runtime::Runtime;

/// Whose clock ends a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeaseClock {
    /// The one of whoever asks.
    Caller,
    /// The store's own.
    Store,
}

/// A store under test, and how to open it again.
pub trait Bench {
    /// Opens the store, or opens it again after the one before was dropped.
    fn open(&self) -> Arc<dyn Store>;
    /// Tells whether what was written is still there when the store is opened again.
    fn is_durable(&self) -> bool;
    /// Opens the store once more beside the one that is open, as another process does; nothing if only one may have it.
    fn open_beside(&self) -> Option<Arc<dyn Store>> {
        None
    }
    /// Tells whose clock ends a lease.
    fn lease_clock(&self) -> LeaseClock {
        LeaseClock::Caller
    }
    /// Makes the runtime of a test.
    fn runtime(&self) -> Runtime {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap()
    }
}

/// Makes a folder in memory where there is one: thousands of sequences need no real disk.
pub fn folder() -> tempfile::TempDir {
    let shm = PathBuf::from("/dev/shm");
    if shm.is_dir() { tempfile::tempdir_in(shm).unwrap() } else { tempfile::tempdir().unwrap() }
}
