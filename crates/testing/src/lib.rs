//! Real servers for tests, started from the machine's own binaries.
//!
//! Nothing here is mocked: a test that needs PostgreSQL gets a cluster of its own on a free port, which is removed at the
//! end.

mod frames;
pub mod pooler;
pub mod postgres;
pub mod processes;
pub mod proxy;
pub mod session;
