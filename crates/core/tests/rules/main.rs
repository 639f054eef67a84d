//! The rules of the lifecycle, played on `decide` alone: no store, no engine. After every step the fold of the log must
//! be the state.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod archive;
mod erased;
mod growth;
mod moved_task;
mod offers;
mod orphans;
mod undo;
mod world;
