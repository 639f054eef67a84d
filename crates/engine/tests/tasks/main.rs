//! Tasks through the engine, on every store: the same test for each, and nothing is left to the process's memory.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod bad_input;
mod coming_back;
mod interrupts;
mod kept;
mod states;
mod undo;
mod world;
