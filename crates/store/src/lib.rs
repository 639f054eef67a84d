//! Where the log of Segue is kept.
//!
//! A part of Segue. Programs add the crate `segue`; what is public here is for the other parts, and changes without notice.
//!
//! One contract, [`Store`], split by what a back end can do; stores that pass the same `conformance` suite: in [`memory`], in
//! [`sqlite`] (the default), in [`files`] that a person can read, and in `postgres` for many nodes. [`verify`] checks any of them.

mod commits;
#[cfg(feature = "conformance")]
pub mod conformance;
pub mod copy;
pub mod encryption;
pub mod error;
#[cfg(feature = "files")]
pub mod files;
pub mod leases;
pub mod memory;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod older_extras;
#[cfg(feature = "postgres")]
pub mod postgres;
pub mod private;
pub mod search;
pub mod settle;
#[cfg(feature = "sqlite")]
pub mod sqlite;
mod store;
pub mod types;
mod url;
pub mod values;
pub mod verify;

pub use commits::{Commit, Commits, Position};
pub use error::Error;
pub use leases::Leased;
pub use store::{
    Catalog, Embeddings, Encryption, Leases, Log, Maintenance, Purged, Quarantine, Search, Store, Values,
    Watch,
};
pub use types::{
    Append, AppendId, Cursor, Embedding, Filter, Page, QuarantineCause, Quarantined, QuarantinedFile,
    Reading, ScopeOrder, ScopePage, ScopeRow, Subject, Take,
};
pub use url::{Location, redacted};
pub use values::Value;
