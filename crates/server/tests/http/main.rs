//! The daemon from outside: a real engine on SQLite, real connections, a scripted model.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod background;
mod bad_input;
mod chat;
mod description;
mod events;
mod harness;
mod native;
mod nodes;
mod own;
mod raw;
mod responses;
mod tenants;
mod upstream;
