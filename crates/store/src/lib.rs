//! Where the log of Segue is kept.
//!
//! One small trait, [`Store`]; three stores that pass the same conformance suite (`tests/conformance`): in [`memory`], in
//! [`sqlite`] (the default) and in [`files`] that a person can read. [`verify`] checks any of them.

pub mod error;
pub mod files;
pub mod memory;
pub mod search;
pub mod sqlite;
mod store;
pub mod types;
mod url;
pub mod verify;

pub use error::Error;
pub use store::Store;
pub use types::{Append, Copies, Filter, Impression, Page, Reading, ScopeRow, SetAside, Take};
pub use url::Location;
